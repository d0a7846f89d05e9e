#include "region_thread.h"

#include "analysis/blocks/late_calls.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define RECENT_NAMES 64

/* Maximum number of open ranges that any thread may end. */
#define MAX_STARTED 65536

struct open_region {
    const struct region_name *name; /* NULL: not recorded */
    struct gput_block_call call;
};

/* The open ranges of one domain. */
struct region_stack {
    const struct region_domain *domain;
    struct region_stack *next;
    struct open_region *open;
    size_t depth; /* number of open ranges; the array has at most the first `capacity` of them */
    size_t capacity;
};

struct region_thread {
    unsigned slot;
    unsigned next_started; /* slot at which the search for a free one starts */
    struct region_stack *stacks;
    struct recent_name { /* a cache by the address of the text; it is only a hint, and the texts are
                            compared, too */
        const char *given;
        const struct region_domain *domain;
        const struct region_name *name;
    } recent[RECENT_NAMES];
};

/* ---- The state of a thread ---- */

void region_thread_destroy(void *pointer)
{
    struct region_thread *thread = pointer;
    while (thread->stacks) {
        struct region_stack *stack = thread->stacks;
        thread->stacks = stack->next;
        free(stack->open);
        free(stack);
    }
    free(thread);
}

/* Makes the state of the calling thread. Returns NULL without memory. */
static __attribute__((noinline)) struct region_thread *make_thread(struct regions *regions)
{
    struct region_thread *thread = calloc(1, sizeof *thread);
    if (!thread || pthread_setspecific(regions->key, thread) != 0) {
        free(thread);
        return NULL;
    }
    thread->slot = atomic_fetch_add(&regions->n_threads, 1);
    thread->next_started = thread->slot * 1024;
    return thread;
}

static inline struct region_thread *this_thread(struct regions *regions)
{
    struct region_thread *thread = pthread_getspecific(regions->key);
    return thread ? thread : make_thread(regions);
}

/* Finds the stack of a domain, and moves it to the front. NULL: there is none. */
static struct region_stack *find_stack(
    struct region_thread *thread, const struct region_domain *domain)
{
    struct region_stack **at = &thread->stacks;
    while (*at && (*at)->domain != domain)
        at = &(*at)->next;
    struct region_stack *stack = *at;
    if (stack && at != &thread->stacks) {
        *at = stack->next;
        stack->next = thread->stacks;
        thread->stacks = stack;
    }
    return stack;
}

/* Returns the stack of a domain, adding it at the first range. NULL without memory. */
static struct region_stack *get_stack(
    struct region_thread *thread, const struct region_domain *domain)
{
    struct region_stack *stack = find_stack(thread, domain);
    if (stack)
        return stack;
    stack = calloc(1, sizeof *stack);
    if (stack) {
        stack->domain = domain;
        stack->next = thread->stacks;
        thread->stacks = stack;
    }
    return stack;
}

/* ---- Names ---- */

/* Returns the name of a range, from the thread's cache if possible. NULL without memory. */
static inline const struct region_name *name_of(struct regions *regions,
    struct region_thread *thread, struct region_domain *domain, const char *text)
{
    uintptr_t address = (uintptr_t)text;
    struct recent_name *recent = &thread->recent[(address ^ address >> 6) % RECENT_NAMES];
    if (recent->given == text && recent->domain == domain && recent->name &&
        strcmp(recent->name->full + domain->prefix_length, text) == 0)
        return recent->name;
    *recent = (struct recent_name){text, domain, regions_name(regions, domain, text)};
    return recent->name;
}

/* Returns the name of a range that is to be recorded. NULL: it is not recorded, which is
 * counted. */
static inline const struct region_name *recorded_name(struct regions *regions,
    struct region_thread *thread, struct region_domain *domain, const char *text)
{
    const struct region_name *name = name_of(regions, thread, domain, text ? text : "");
    bool is_paused = atomic_load_explicit(&regions->is_paused, memory_order_relaxed);
    if (__builtin_expect(name && name->is_recorded && !is_paused, 1))
        return name;
    regions_count(regions, thread->slot,
        is_paused ? REGION_LEFT_OUT_BY_PAUSE
        : name    ? REGION_LEFT_OUT_BY_NAME
                  : REGION_LEFT_OUT_BY_NUMBER);
    return NULL;
}

/* ---- Marks ---- */

/* Marks the start of a range. If there is a minimum duration, only its time is kept until it
 * ends. */
static inline void mark_start(struct regions *regions, struct open_region *open)
{
    struct gput_blocks *log = open->name ? regions_log(regions) : NULL;
    if (!log) {
        open->name = NULL;
        return;
    }
    if (regions->min_ns > 0)
        late_call_start(log, &open->call);
    else
        gput_blocks_start_call(log, open->name->full, &open->call);
    uint64_t process = open->call.process; /* it differs after a fork */
    if (__builtin_expect(
            process != atomic_load_explicit(&regions->labelled, memory_order_relaxed), 0))
        regions_label(regions, process);
}

/* Marks the end of a range, unless it was too short. `late`: the thread whose range ends; NULL: the
 * calling one. */
static inline void mark_stop(struct regions *regions, unsigned slot, const struct open_region *open,
    const struct late_thread *late)
{
    struct gput_blocks *log = open->name ? regions_log(regions) : NULL;
    if (!log)
        return;
    if (regions->min_ns > 0 && late_call_elapsed_ns(&open->call) < regions->min_ns)
        regions_count(regions, slot, REGION_LEFT_OUT_BY_DURATION);
    else if (late)
        late_call_stop_of(log, late, open->name->full, &open->call, regions->min_ns > 0);
    else if (regions->min_ns > 0)
        late_call_stop(log, open->name->full, &open->call);
    else
        gput_blocks_stop_call(log, open->name->full, &open->call);
}

/* ---- Nested ranges ---- */

/* Whether there is space for a range on top of the stack. */
static bool has_space(struct region_stack *stack)
{
    if (__builtin_expect(stack->depth < stack->capacity, 1))
        return true;
    if (stack->depth > stack->capacity) /* earlier ranges could not be kept either */
        return false;
    size_t capacity = stack->capacity > 0 ? stack->capacity * 2 : 16;
    if (!ARRAY_RESIZE(stack->open, capacity))
        return false;
    stack->capacity = capacity;
    return true;
}

int region_push(struct regions *regions, struct region_domain *domain, const char *text)
{
    struct region_thread *thread = domain ? this_thread(regions) : NULL;
    struct region_stack *stack = thread ? get_stack(thread, domain) : NULL;
    if (!stack)
        return -1;
    size_t depth = stack->depth;
    if (!has_space(stack)) {
        regions_count(regions, thread->slot, REGION_LEFT_OUT_BY_NUMBER);
    } else if (depth >= regions->max_depth) {
        regions_count(regions, thread->slot, REGION_LEFT_OUT_BY_DEPTH);
        stack->open[depth].name = NULL;
    } else {
        stack->open[depth].name = recorded_name(regions, thread, domain, text);
        mark_start(regions, &stack->open[depth]);
    }
    stack->depth++;
    return (int)depth;
}

/* Ends the range that the thread began last in that domain. */
static inline int pop(struct regions *regions, struct region_thread *thread,
    const struct region_domain *domain, const struct late_thread *late)
{
    struct region_stack *stack = thread ? find_stack(thread, domain) : NULL;
    if (!stack || stack->depth == 0) {
        if (thread)
            regions_count(regions, thread->slot, REGION_UNMATCHED_ENDS);
        return -1;
    }
    size_t depth = --stack->depth;
    if (depth < stack->capacity)
        mark_stop(regions, thread->slot, &stack->open[depth], late);
    return (int)depth;
}

int region_pop(struct regions *regions, struct region_domain *domain)
{
    return pop(regions, domain ? this_thread(regions) : NULL, domain, NULL);
}

void region_arrive(struct regions *regions, struct region_arrival *arrival)
{
    struct gput_blocks *log = regions_log(regions);
    *arrival = (struct region_arrival){.thread = this_thread(regions)};
    if (log)
        late_thread_note(log, &arrival->late);
}

int region_pop_of(
    struct regions *regions, struct region_domain *domain, const struct region_arrival *arrival)
{
    return pop(regions, arrival->thread, domain, &arrival->late);
}

/* ---- Ranges that any thread may end ---- */

/* A range that any thread may end. Its id is a serial number above its slot number. 0: free; 1:
 * being changed. */
struct started_region {
    _Atomic uint64_t id;
    struct open_region open;
};

static struct started_region started[MAX_STARTED];

/* Claims a free slot; MAX_STARTED: there is none. */
static unsigned claim_place(struct region_thread *thread)
{
    for (unsigned tries = 0; tries < MAX_STARTED; tries++) {
        unsigned place = (thread->next_started + tries) % MAX_STARTED;
        uint64_t none = 0;
        if (atomic_load_explicit(&started[place].id, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&started[place].id, &none, 1)) {
            thread->next_started = place;
            return place;
        }
    }
    return MAX_STARTED;
}

uint64_t region_start(struct regions *regions, struct region_domain *domain, const char *text)
{
    static _Atomic uint64_t serial;
    uint64_t id = (atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed) + 1) * MAX_STARTED;
    struct region_thread *thread = domain ? this_thread(regions) : NULL;
    const struct region_name *name = thread ? recorded_name(regions, thread, domain, text) : NULL;
    if (!name)
        return id; /* no range has this id, so its end does nothing */
    unsigned place = claim_place(thread);
    if (place == MAX_STARTED) {
        regions_count(regions, thread->slot, REGION_LEFT_OUT_BY_NUMBER);
        return id;
    }
    struct started_region *region = &started[place];
    region->open.name = name;
    mark_start(regions, &region->open);
    atomic_store_explicit(&region->id, id | place, memory_order_release);
    return id | place;
}

void region_end(struct regions *regions, uint64_t id)
{
    struct region_thread *thread = this_thread(regions);
    struct started_region *region = &started[id % MAX_STARTED];
    uint64_t expected = id;
    if (!thread || id < MAX_STARTED || !atomic_compare_exchange_strong(&region->id, &expected, 1))
        return;
    mark_stop(regions, thread->slot, &region->open, NULL);
    thread->next_started = (unsigned)(id % MAX_STARTED);
    atomic_store_explicit(&region->id, 0, memory_order_release);
}
