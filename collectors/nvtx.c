/*
 * Records the ranges that programs mark for NVIDIA's tools (NVTX). NVTX is a header-only library in
 * the program. At its first call it loads the file that NVTX_INJECTION64_PATH names, and calls
 * InitializeInjectionNvtx2(), which enters our functions in its tables.
 *
 * InitializeInjectionNvtxExtension() is deliberately not exported: without it, programs that ask
 * whether a domain is enabled are told that it is.
 */
#include "region_text.h"
#include "region_thread.h"
#include "region_value.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* ---- What NVTX defines (nvtxTypes.h, nvToolsExt.h) ---- */

enum { TABLE_CALLBACKS = 1 };
enum { MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum {
    CORE_RANGE_START_EX = 4,
    CORE_RANGE_START_A = 5,
    CORE_RANGE_START_W = 6,
    CORE_RANGE_END = 7,
    CORE_RANGE_PUSH_EX = 8,
    CORE_RANGE_PUSH_A = 9,
    CORE_RANGE_PUSH_W = 10,
    CORE_RANGE_POP = 11,
    CORE_NAME_CATEGORY_A = 12,
    CORE_NAME_CATEGORY_W = 13,
    CORE_NAME_OS_THREAD_A = 14,
    CORE_NAME_OS_THREAD_W = 15,
};
enum {
    CORE2_RANGE_START_EX = 2,
    CORE2_RANGE_END = 3,
    CORE2_RANGE_PUSH_EX = 4,
    CORE2_RANGE_POP = 5,
    CORE2_NAME_CATEGORY_A = 8,
    CORE2_NAME_CATEGORY_W = 9,
    CORE2_REGISTER_STRING_A = 10,
    CORE2_REGISTER_STRING_W = 11,
    CORE2_DOMAIN_CREATE_A = 12,
    CORE2_DOMAIN_CREATE_W = 13,
};
enum { MESSAGE_ASCII = 1, MESSAGE_UNICODE = 2, MESSAGE_REGISTERED = 3 };

enum {
    PAYLOAD_UINT64 = 1,
    PAYLOAD_INT64 = 2,
    PAYLOAD_DOUBLE = 3,
    PAYLOAD_UINT32 = 4,
    PAYLOAD_INT32 = 5,
    PAYLOAD_FLOAT = 6,
};

struct event_attributes {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type;
    int32_t reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

typedef void (*function)(void);

struct callbacks_table {
    size_t size;
    int (*get_module)(int module, function ***table, unsigned *size);
};

typedef const void *(*get_export_table)(uint32_t id);

/* ---- Ranges ---- */

static struct regions nvtx;
static struct region_domain *default_domain;

static struct region_domain *domain_of(void *handle)
{
    return handle ? handle : default_domain;
}

/* Returns the message as UTF-8; NULL: there is none. `buffer` is for converted texts. */
static const char *message_of(const struct event_attributes *event, char buffer[REGION_NAME_MAX])
{
    if (!event || event->size < sizeof *event || !event->message)
        return NULL;
    switch (event->message_type) {
    case MESSAGE_ASCII:
    case MESSAGE_REGISTERED: /* the handles are our copies of the texts */
        return event->message;
    case MESSAGE_UNICODE:
        return region_text_of_wide(event->message, buffer, REGION_NAME_MAX);
    default:
        return NULL;
    }
}

/* ---- Categories: numbers to which a domain may give names ---- */

struct category {
    struct category *next;
    const struct region_domain *domain;
    uint32_t number;
    atomic_bool is_labelled;
    char name[];
};

static _Atomic(struct category *) categories;

/* Adds a category, which replaces an earlier one with the same number. */
static struct category *add_category(
    const struct region_domain *domain, uint32_t number, const char *name)
{
    size_t size = strlen(name) + 1;
    struct category *made = calloc(1, sizeof *made + size);
    if (!made)
        return NULL;
    made->domain = domain;
    made->number = number;
    for (size_t i = 0; i < size; i++) /* brackets enclose the category in names */
        made->name[i] = name[i] == '[' ? '(' : name[i] == ']' ? ')' : name[i];
    made->next = atomic_load(&categories);
    while (!atomic_compare_exchange_weak(&categories, &made->next, made))
        ;
    return made;
}

/* Returns a category, adding it with its number as its name if it is new. NULL without memory. */
static struct category *find_category(const struct region_domain *domain, uint32_t number)
{
    char text[16];
    struct category *at = atomic_load(&categories);
    while (at && (at->domain != domain || at->number != number))
        at = at->next;
    snprintf(text, sizeof text, "%u", number);
    return at ? at : add_category(domain, number, text);
}

static void name_category(void *handle, uint32_t number, const char *name)
{
    if (name && *name)
        add_category(domain_of(handle), number, name);
}

/* Writes the category's name to the log, once. */
static void label_category(const struct region_domain *domain, struct category *category)
{
    char name[REGION_NAME_MAX];
    if (atomic_exchange(&category->is_labelled, true))
        return;
    snprintf(name, sizeof name, "%.700s [%.200s]", domain->prefix, category->name);
    regions_name_category(&nvtx, name);
}

/* Writes "name [category]" to `buffer` and returns it; returns the text itself if the event has no
 * category. */
static const char *with_category(const struct region_domain *domain,
    const struct event_attributes *event, const char *text, char buffer[REGION_NAME_MAX])
{
    char named[REGION_NAME_MAX];
    bool has_category = event && event->size >= sizeof *event && event->category != 0;
    struct category *category = has_category ? find_category(domain, event->category) : NULL;
    if (!category)
        return text;
    if (!atomic_load_explicit(&category->is_labelled, memory_order_relaxed))
        label_category(domain, category);
    snprintf(named, sizeof named, "%.700s [%.200s]", text ? text : "", category->name);
    return memcpy(buffer, named, sizeof named);
}

static void domain_name_category_a(void *domain, uint32_t number, const char *name)
{
    name_category(domain, number, name);
}

static void domain_name_category_w(void *domain, uint32_t number, const wchar_t *name)
{
    char buffer[REGION_NAME_MAX];
    name_category(domain, number, region_text_of_wide(name, buffer, sizeof buffer));
}

static void name_category_a(uint32_t number, const char *name)
{
    name_category(NULL, number, name);
}

static void name_category_w(uint32_t number, const wchar_t *name)
{
    domain_name_category_w(NULL, number, name);
}

/* ---- Threads ---- */

static void name_os_thread_a(uint32_t thread_id, const char *name)
{
    regions_name_thread(&nvtx, thread_id, name);
}

static void name_os_thread_w(uint32_t thread_id, const wchar_t *name)
{
    char buffer[REGION_NAME_MAX];
    name_os_thread_a(thread_id, region_text_of_wide(name, buffer, sizeof buffer));
}

/* ---- Payloads ---- */

/* Reads the payload of an event as a double. Returns false if it has none. */
static bool payload_of(const struct event_attributes *event, double *value)
{
    union {
        uint64_t u64;
        int64_t i64;
        double d;
        uint32_t u32;
        int32_t i32;
        float f;
    } payload = {.u64 = event->payload};
    switch (event->payload_type) {
    case PAYLOAD_UINT64:
        return *value = (double)payload.u64, true;
    case PAYLOAD_INT64:
        return *value = (double)payload.i64, true;
    case PAYLOAD_DOUBLE:
        return *value = payload.d, true;
    case PAYLOAD_UINT32:
        return *value = payload.u32, true;
    case PAYLOAD_INT32:
        return *value = payload.i32, true;
    case PAYLOAD_FLOAT:
        return *value = (double)payload.f, true;
    default:
        return false;
    }
}

/* Returns the text of a range that begins, and adds up its payload. */
static const char *begin_of(struct region_domain *domain, const struct event_attributes *event,
    char buffer[REGION_NAME_MAX])
{
    const char *text = with_category(domain, event, message_of(event, buffer), buffer);
    double value;
    if (event && event->size >= sizeof *event && payload_of(event, &value))
        region_value_add(&nvtx, regions_name(&nvtx, domain, text ? text : ""), "payload", value);
    return text;
}

/* ---- Beginning and ending ---- */

static int domain_push_ex(void *handle, const struct event_attributes *event)
{
    char buffer[REGION_NAME_MAX];
    struct region_domain *domain = domain_of(handle);
    return region_push(&nvtx, domain, begin_of(domain, event, buffer));
}

static int domain_pop(void *domain)
{
    return region_pop(&nvtx, domain_of(domain));
}

static uint64_t domain_start_ex(void *handle, const struct event_attributes *event)
{
    char buffer[REGION_NAME_MAX];
    struct region_domain *domain = domain_of(handle);
    return region_start(&nvtx, domain, begin_of(domain, event, buffer));
}

static void domain_end(void *domain, uint64_t id)
{
    (void)domain;
    region_end(&nvtx, id);
}

static int push_ex(const struct event_attributes *event)
{
    return domain_push_ex(NULL, event);
}

static int push_a(const char *message)
{
    return region_push(&nvtx, default_domain, message);
}

static int push_w(const wchar_t *message)
{
    char buffer[REGION_NAME_MAX];
    return push_a(region_text_of_wide(message, buffer, sizeof buffer));
}

static int pop(void)
{
    return region_pop(&nvtx, default_domain);
}

static uint64_t start_ex(const struct event_attributes *event)
{
    return domain_start_ex(NULL, event);
}

static uint64_t start_a(const char *message)
{
    return region_start(&nvtx, default_domain, message);
}

static uint64_t start_w(const wchar_t *message)
{
    char buffer[REGION_NAME_MAX];
    return start_a(region_text_of_wide(message, buffer, sizeof buffer));
}

static void end(uint64_t id)
{
    region_end(&nvtx, id);
}

/* ---- Domains and strings ---- */

/* Without memory it returns NULL, which stands for the default domain. */
static void *domain_create_a(const char *name)
{
    return regions_domain(&nvtx, name);
}

static void *domain_create_w(const wchar_t *name)
{
    char buffer[REGION_NAME_MAX];
    return regions_domain(&nvtx, region_text_of_wide(name, buffer, sizeof buffer));
}

/* The handle is our copy of the text; equal texts have the same handle. */
static const void *register_string_a(void *handle, const char *text)
{
    struct region_domain *domain = domain_of(handle);
    const struct region_name *name = domain && text ? regions_name(&nvtx, domain, text) : NULL;
    return name ? name->full + domain->prefix_length : "";
}

static const void *register_string_w(void *handle, const wchar_t *text)
{
    char buffer[REGION_NAME_MAX];
    return register_string_a(handle, region_text_of_wide(text, buffer, sizeof buffer));
}

/* ---- Attaching ---- */

struct entry {
    unsigned id;
    function function;
};

static const struct entry core[] = {
    {CORE_RANGE_START_EX, (function)start_ex},
    {CORE_RANGE_START_A, (function)start_a},
    {CORE_RANGE_START_W, (function)start_w},
    {CORE_RANGE_END, (function)end},
    {CORE_RANGE_PUSH_EX, (function)push_ex},
    {CORE_RANGE_PUSH_A, (function)push_a},
    {CORE_RANGE_PUSH_W, (function)push_w},
    {CORE_RANGE_POP, (function)pop},
    {CORE_NAME_CATEGORY_A, (function)name_category_a},
    {CORE_NAME_CATEGORY_W, (function)name_category_w},
    {CORE_NAME_OS_THREAD_A, (function)name_os_thread_a},
    {CORE_NAME_OS_THREAD_W, (function)name_os_thread_w},
};

static const struct entry core2[] = {
    {CORE2_RANGE_START_EX, (function)domain_start_ex},
    {CORE2_RANGE_END, (function)domain_end},
    {CORE2_RANGE_PUSH_EX, (function)domain_push_ex},
    {CORE2_RANGE_POP, (function)domain_pop},
    {CORE2_NAME_CATEGORY_A, (function)domain_name_category_a},
    {CORE2_NAME_CATEGORY_W, (function)domain_name_category_w},
    {CORE2_REGISTER_STRING_A, (function)register_string_a},
    {CORE2_REGISTER_STRING_W, (function)register_string_w},
    {CORE2_DOMAIN_CREATE_A, (function)domain_create_a},
    {CORE2_DOMAIN_CREATE_W, (function)domain_create_w},
};

/* Replaces functions in a table of NVTX. */
static void attach(
    const struct callbacks_table *callbacks, int module, const struct entry *entries, size_t count)
{
    function **table = NULL;
    unsigned size = 0;
    if (!callbacks->get_module(module, &table, &size) || !table)
        return;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].id < size && table[entries[i].id])
            *table[entries[i].id] = entries[i].function;
    }
}

static void open_once(void)
{
    if (regions_open(&nvtx, "nvtx"))
        default_domain = regions_domain(&nvtx, NULL);
}

/* Called by each library of NVTX in the process. Returns 0 if it must do without us. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(get_export_table get_table);

int InitializeInjectionNvtx2(get_export_table get_table)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    const struct callbacks_table *callbacks = get_table ? get_table(TABLE_CALLBACKS) : NULL;
    if (!default_domain || !callbacks || callbacks->size < sizeof *callbacks)
        return 0;
    attach(callbacks, MODULE_CORE, core, sizeof core / sizeof *core);
    attach(callbacks, MODULE_CORE2, core2, sizeof core2 / sizeof *core2);
    return 1;
}
