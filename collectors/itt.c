/*
 * Records the tasks, regions, frames and events that programs mark for Intel's tools (ITT). At its
 * first call, the part of ITT that is linked into a program loads the file that
 * INTEL_LIBITTNOTIFY64 names, and passes its table of functions to __itt_api_init(). A process may
 * have several such parts, each with a table of its own.
 */
#include "region_named.h"
#include "region_thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- What ITT defines (ittnotify.h, ittnotify_config.h) ---- */

struct itt_id {
    unsigned long long parts[3];
};

struct itt_domain {
    int flags; /* 0: the program does not call us for this domain */
    const char *name;
    void *wide_name;
    int reserved;
    void *ours; /* its struct region_domain */
    struct itt_domain *next;
};

struct itt_string {
    const char *text;
    void *wide_text;
    int reserved;
    void *reserved_pointer;
    struct itt_string *next;
};

struct api_function {
    const char *name;
    void **pointer;
    void *initial;
    void *without_tool;
    int group;
};

struct api_table {
    unsigned char magic[8];
    unsigned long version[3];
    long api_initialized;
    long mutex_initialized;
    long atomic_counter;
    pthread_mutex_t mutex;
    void *library;
    void *error_handler;
    const char **library_path;
    struct api_function *functions; /* ends with a name of NULL */
};

/* ---- Domains, names and events ---- */

#define TEXT_BUCKETS 1024

static struct regions itt;
static struct region_domain *event_domain;

/* A text in the forms in which ITT may use it. Each text has one entry, which is never freed. */
struct text {
    struct text *next;
    struct itt_domain domain;
    struct itt_string string;
    char bytes[];
};

static _Atomic(struct text *) texts[TEXT_BUCKETS];

#define MAX_EVENTS 65536
static _Atomic int n_events;
static _Atomic(const char *) events[MAX_EVENTS];

/* Finds a text in the list of a bucket; NULL: it is not there. */
static struct text *find_text(struct text *text, const char *bytes)
{
    while (text && strcmp(text->bytes, bytes) != 0)
        text = text->next;
    return text;
}

/* Makes the entry of a text. Returns NULL without memory. */
static struct text *make_text(const char *bytes)
{
    size_t size = strlen(bytes) + 1;
    struct text *made = calloc(1, sizeof *made + size);
    if (!made)
        return NULL;
    memcpy(made->bytes, bytes, size);
    made->domain =
        (struct itt_domain){.flags = 1, .name = made->bytes, .ours = regions_domain(&itt, bytes)};
    made->string = (struct itt_string){.text = made->bytes};
    return made;
}

/* Returns the entry of a text, adding it if it is new. Threads may add at once; one of two equal
 * entries is freed. */
static struct text *text_of(const char *bytes)
{
    uint32_t hash = 0;
    if (!bytes)
        bytes = "";
    for (const char *at = bytes; *at; at++)
        hash = hash * 31 + (unsigned char)*at;
    _Atomic(struct text *) *bucket = &texts[hash % TEXT_BUCKETS];
    struct text *first = atomic_load_explicit(bucket, memory_order_acquire);
    struct text *found = find_text(first, bytes);
    struct text *made = found ? NULL : make_text(bytes);
    while (made && !found) {
        made->next = first;
        if (atomic_compare_exchange_strong(bucket, &first, made))
            return made;
        found = find_text(first, bytes);
    }
    if (made)
        free(made);
    return found;
}

static struct itt_domain *domain_create(const char *name)
{
    struct text *text = text_of(name);
    return text ? &text->domain : NULL;
}

static struct itt_string *string_handle_create(const char *name)
{
    struct text *text = text_of(name);
    return text ? &text->string : NULL;
}

/* Returns the domain of ranges for a domain of ITT, which may be one that we did not create. */
static struct region_domain *domain_of(const struct itt_domain *domain)
{
    if (!domain)
        return NULL;
    return domain->ours ? domain->ours : regions_domain(&itt, domain->name);
}

static const char *name_of(const struct itt_string *string)
{
    return string ? string->text : NULL;
}

/* ---- Threads, and pausing ---- */

static void thread_set_name(const char *name)
{
    regions_name_thread(&itt, (pid_t)syscall(SYS_gettid), name);
}

static void pause_all(void)
{
    atomic_store(&itt.is_paused, true);
}

static void resume_all(void)
{
    atomic_store(&itt.is_paused, false);
}

/* ---- Nested tasks ---- */

static void task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
    const struct itt_string *name)
{
    (void)id, (void)parent;
    region_push(&itt, domain_of(domain), name_of(name));
}

static void task_begin_ex(const struct itt_domain *domain, void *clock, unsigned long long time,
    struct itt_id id, struct itt_id parent, const struct itt_string *name)
{
    (void)clock, (void)time;
    task_begin(domain, id, parent, name);
}

static void task_end(const struct itt_domain *domain)
{
    region_pop(&itt, domain_of(domain));
}

static void task_end_ex(const struct itt_domain *domain, void *clock, unsigned long long time)
{
    (void)clock, (void)time;
    task_end(domain);
}

/* ---- Ranges with an id: regions, frames, overlapping tasks ---- */

static struct region_key key_of(const struct itt_domain *domain, const struct itt_id *id)
{
    return (struct region_key){{(uintptr_t)domain, id->parts[0], id->parts[1], id->parts[2]}};
}

static void named_begin(const struct itt_domain *domain, const struct itt_id *id, const char *name)
{
    struct region_key key = key_of(domain, id);
    region_named_begin(&itt, domain_of(domain), &key, name);
}

static void named_end(const struct itt_domain *domain, const struct itt_id *id)
{
    struct region_key key = key_of(domain, id);
    region_named_end(&itt, &key);
}

static void region_begin_by_id(const struct itt_domain *domain, struct itt_id id,
    struct itt_id parent, const struct itt_string *name)
{
    (void)parent;
    named_begin(domain, &id, name_of(name));
}

static void region_end_by_id(const struct itt_domain *domain, struct itt_id id)
{
    named_end(domain, &id);
}

/* All frames of a domain that have no id share one. */
static void frame_begin(const struct itt_domain *domain, const struct itt_id *id)
{
    static const struct itt_id none;
    named_begin(domain, id ? id : &none, "frame");
}

static void frame_end(const struct itt_domain *domain, const struct itt_id *id)
{
    static const struct itt_id none;
    named_end(domain, id ? id : &none);
}

/* ---- Events ---- */

/* Adds an event and returns its number, or 0 if there are too many. */
static int event_create(const char *name, int length)
{
    char copy[REGION_NAME_MAX];
    size_t size = length > 0 && (size_t)length < sizeof copy ? (size_t)length : sizeof copy - 1;
    if (!name)
        return 0;
    size = strnlen(name, size);
    memcpy(copy, name, size);
    copy[size] = '\0';
    struct text *text = text_of(copy);
    int number = text ? atomic_fetch_add(&n_events, 1) + 1 : 0;
    if (number <= 0 || number >= MAX_EVENTS)
        return 0;
    atomic_store(&events[number], text->bytes);
    return number;
}

/* Events nest within a thread, as tasks do. */
static int event_start(int event)
{
    const char *name = event > 0 && event < MAX_EVENTS ? atomic_load(&events[event]) : NULL;
    if (name)
        region_push(&itt, event_domain, name);
    return name ? 0 : -1;
}

static int event_end(int event)
{
    if (event > 0 && event < MAX_EVENTS && atomic_load(&events[event]))
        region_pop(&itt, event_domain);
    return 0;
}

/* ---- Attaching ---- */

typedef void (*function)(void);

static const struct {
    const char *name;
    function function;
} functions[] = {
    {"__itt_domain_create", (function)domain_create},
    {"__itt_string_handle_create", (function)string_handle_create},
    {"__itt_thread_set_name", (function)thread_set_name},
    {"__itt_pause", (function)pause_all},
    {"__itt_resume", (function)resume_all},
    {"__itt_detach", (function)pause_all},
    {"__itt_task_begin", (function)task_begin},
    {"__itt_task_begin_ex", (function)task_begin_ex},
    {"__itt_task_end", (function)task_end},
    {"__itt_task_end_ex", (function)task_end_ex},
    {"__itt_task_begin_overlapped", (function)region_begin_by_id},
    {"__itt_task_end_overlapped", (function)region_end_by_id},
    {"__itt_region_begin", (function)region_begin_by_id},
    {"__itt_region_end", (function)region_end_by_id},
    {"__itt_frame_begin_v3", (function)frame_begin},
    {"__itt_frame_end_v3", (function)frame_end},
    {"__itt_event_create", (function)event_create},
    {"__itt_event_start", (function)event_start},
    {"__itt_event_end", (function)event_end},
};

/* Returns our function of that name; NULL: it is not recorded. */
static function find_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    }
    return NULL;
}

static void open_once(void)
{
    if (regions_open(&itt, "itt"))
        event_domain = regions_domain(&itt, "event");
}

/* Called by each part of ITT in the process, with its lock held. Sets the functions of its table to
 * ours. */
__attribute__((visibility("default"))) void __itt_api_init(struct api_table *table, int groups);

void __itt_api_init(struct api_table *table, int groups)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)groups;
    pthread_once(&once, open_once);
    for (struct api_function *at = table->functions; at && at->name; at++) {
        function ours = event_domain ? find_function(at->name) : NULL;
        if (at->pointer)
            *at->pointer = ours ? (void *)ours : at->without_tool;
    }
}
