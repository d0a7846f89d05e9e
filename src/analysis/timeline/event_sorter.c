#include "analysis/timeline/event_sorter.h"

#include "base/array.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RADIX_BITS 11
#define RADIX_SIZE (1u << RADIX_BITS)
#define MAX_RECORD (256u << 20)

struct entry {
    int64_t start_ns;
    int64_t duration_ns;
    uint32_t offset; /* in the arena, in units of 8 bytes */
    uint32_t length : 31;
    uint32_t is_pair : 1;
};

/* Precedes each record in the temporary file. */
struct record_head {
    int64_t start_ns;
    int64_t duration_ns;
    int64_t order; /* among records of equal start and duration */
    uint64_t length;
};

/* Records start at multiples of 8, in memory and in the file. */
static size_t padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

struct event_sorter {
    size_t memory_bytes;
    char *arena;
    size_t arena_used, arena_capacity;
    struct entry *entries;
    struct entry *scratch; /* memory to sort into; as large as `entries` */
    size_t count, capacity;
    struct sorted_runs *runs;
    bool taking;
    size_t taken; /* number of records returned, when all are in memory */
};

/* Orders records as in memory: by start; among equal starts, the longer one first. */
static int compare_heads(const void *left, const void *right)
{
    const struct record_head *a = left, *b = right;
    ORDER_BY(a->start_ns, b->start_ns);
    ORDER_BY(b->duration_ns, a->duration_ns);
    return ORDER(a->order, b->order);
}

static size_t record_length(const void *head)
{
    return sizeof(struct record_head) + padded(((const struct record_head *)head)->length);
}

int event_sorter_create(
    const char *folder, size_t memory_bytes, struct event_sorter **sorter, struct gput_error *error)
{
    static const struct record_order order = {
        sizeof(struct record_head), record_length, compare_heads};
    *sorter = calloc(1, sizeof **sorter);
    if (!*sorter)
        return error_memory(error);
    (*sorter)->memory_bytes = memory_bytes < (1u << 20) ? 1u << 20 : memory_bytes;
    int code = sorted_runs_create(folder, &order, &(*sorter)->runs, error);
    if (code != GPUT_OK) {
        free(*sorter);
        *sorter = NULL;
    }
    return code;
}

/* Sorts by RADIX_BITS bits of the start, stably. Returns false, and does nothing, if all starts
 * share these bits. */
static bool radix_pass(
    const struct entry *from, struct entry *to, size_t count, int64_t min, unsigned shift)
{
    size_t counts[RADIX_SIZE] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        counts[((uint64_t)from[i].start_ns - (uint64_t)min) >> shift & (RADIX_SIZE - 1)]++;
    for (unsigned digit = 0; digit < RADIX_SIZE; digit++) {
        size_t here = counts[digit];
        if (here == count)
            return false;
        counts[digit] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = ((uint64_t)from[i].start_ns - (uint64_t)min) >> shift & (RADIX_SIZE - 1);
        to[counts[digit]++] = from[i];
    }
    return true;
}

/* Swaps `entries` and `scratch`. */
static void swap_entries(struct event_sorter *sorter)
{
    struct entry *entries = sorter->entries;
    sorter->entries = sorter->scratch;
    sorter->scratch = entries;
}

/* Returns the order of an entry among equals, by its place in the arena: pairs in reverse, before
 * all others. */
static int64_t order_of(const struct entry *entry)
{
    return entry->is_pair ? -1 - (int64_t)entry->offset : (int64_t)entry->offset;
}

/* Orders entries with the same start: the longer one first. */
static int compare_equal_starts(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    ORDER_BY(b->duration_ns, a->duration_ns);
    return ORDER(order_of(a), order_of(b));
}

/* Whether an entry comes before another in the sorted order. */
static bool entry_before(const struct entry *a, const struct entry *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return compare_equal_starts(a, b) < 0;
}

/* Sorts by moving each entry forward a few places, as most traces are nearly in order. Returns
 * false when that became too much work; the entries are then partly sorted. */
static bool sort_nearly_sorted(struct entry *entries, size_t count)
{
    size_t moves = 0, max = count * 16;
    for (size_t i = 1; i < count; i++) {
        size_t at = i;
        struct entry entry = entries[i];
        for (; at > 0 && entry_before(&entry, entries + at - 1); at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
        moves += i - at;
        if (moves > max)
            return false;
    }
    return true;
}

/* Sorts the entries in memory. */
static void sort_entries(struct event_sorter *sorter)
{
    struct entry *entries = sorter->entries;
    size_t count = sorter->count;
    int64_t min = INT64_MAX, max = INT64_MIN;
    if (sort_nearly_sorted(entries, count))
        return;
    for (size_t i = 0; i < count; i++) {
        min = entries[i].start_ns < min ? entries[i].start_ns : min;
        max = entries[i].start_ns > max ? entries[i].start_ns : max;
    }
    uint64_t span = (uint64_t)max - (uint64_t)min;
    for (unsigned shift = 0; shift < 64 && span >> shift != 0; shift += RADIX_BITS)
        if (radix_pass(sorter->entries, sorter->scratch, count, min, shift))
            swap_entries(sorter);
    entries = sorter->entries;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && entries[end].start_ns == entries[first].start_ns;)
            end++;
        if (end - first > 1)
            qsort(entries + first, end - first, sizeof *entries, compare_equal_starts);
    }
}

/* Returns the bytes of a record in the arena. */
static const char *record_bytes(const struct event_sorter *sorter, const struct entry *entry)
{
    return sorter->arena + (size_t)entry->offset * 8;
}

/* Sorts the records in memory and moves them to the temporary file. */
static int spill(struct event_sorter *sorter, struct gput_error *error)
{
    if (sorter->count == 0)
        return GPUT_OK;
    sort_entries(sorter);

    for (size_t i = 0; i < sorter->count; i++) {
        const struct entry *entry = sorter->entries + i;
        int64_t runs = (int64_t)sorted_runs_count(sorter->runs) << 32;
        struct record_head head = {entry->start_ns, entry->duration_ns,
            order_of(entry) + (entry->is_pair ? -runs : runs), entry->length};
        TRY(sorted_runs_write(sorter->runs, &head, sizeof head, error));
        TRY(sorted_runs_write(
            sorter->runs, record_bytes(sorter, entry), padded(entry->length), error));
    }
    TRY(sorted_runs_end_run(sorter->runs, error));

    sorter->count = 0;
    sorter->arena_used = 0;
    return GPUT_OK;
}

/* Makes space for another entry. Returns false without memory. */
static bool grow_entries(struct event_sorter *sorter)
{
    if (sorter->count < sorter->capacity)
        return true;
    size_t capacity = sorter->capacity ? sorter->capacity * 2 : 1024;
    if (!ARRAY_RESIZE(sorter->entries, capacity) || !ARRAY_RESIZE(sorter->scratch, capacity))
        return false;
    sorter->capacity = capacity;
    return true;
}

/* Makes space for the bytes of a record. Returns false without memory. */
static bool grow_arena(struct event_sorter *sorter, size_t length)
{
    size_t needed = sorter->arena_used + length + SORTER_PADDING;
    if (needed <= sorter->arena_capacity)
        return true;
    size_t capacity = needed > sorter->memory_bytes ? needed * 2 : sorter->memory_bytes;
    /* Map all of it at once: untouched pages cost nothing, and huge pages make touching cheap. */
    void *arena = sorter->arena
                      ? mremap(sorter->arena, sorter->arena_capacity, capacity, MREMAP_MAYMOVE)
                      : mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
        return false;
    madvise(arena, capacity, MADV_HUGEPAGE);
    sorter->arena = arena;
    sorter->arena_capacity = capacity;
    return true;
}

/* Returns the memory that the records need, including one more of that length. */
static size_t held_bytes(const struct event_sorter *sorter, size_t length)
{
    return sorter->arena_used + length + (sorter->count + 1) * 2 * sizeof(struct entry);
}

/* Adds a record. If memory would be exceeded, first moves all others to the temporary file. Returns
 * NULL with `error` set on failure. */
static void *add(struct event_sorter *sorter, struct entry entry, struct gput_error *error)
{
    size_t length = entry.length;
    size_t space = padded(length);
    if (held_bytes(sorter, space) > sorter->memory_bytes && spill(sorter, error) != GPUT_OK)
        return NULL;
    if (!grow_entries(sorter) || !grow_arena(sorter, space)) {
        error_memory(error);
        return NULL;
    }
    char *place = sorter->arena + sorter->arena_used;
    entry.offset = (uint32_t)(sorter->arena_used / 8);
    sorter->entries[sorter->count++] = entry;
    sorter->arena_used += space;
    if (space > 0)
        memset(place + space - 8, 0, 8);
    return place;
}

/* Whether a record cannot be added: it is too large, or reading has begun. */
static bool refuses(const struct event_sorter *sorter, size_t length, struct gput_error *error)
{
    if (!sorter->taking && length <= MAX_RECORD)
        return false;
    error_set(error, GPUT_ERROR_STATE, "An event is too large or comes too late to be sorted");
    return true;
}

void *event_sorter_add(struct event_sorter *sorter, int64_t start_ns, int64_t duration_ns,
    size_t length, struct gput_error *error)
{
    struct entry entry = {start_ns, duration_ns, .length = (uint32_t)length & INT32_MAX};
    return refuses(sorter, length, error) ? NULL : add(sorter, entry, error);
}

void *event_sorter_add_pair(struct event_sorter *sorter, int64_t start_ns, int64_t duration_ns,
    size_t length, struct gput_error *error)
{
    struct entry entry = {
        start_ns, duration_ns, .length = (uint32_t)length & INT32_MAX, .is_pair = 1};
    return refuses(sorter, length, error) ? NULL : add(sorter, entry, error);
}

/* Frees the records in memory. */
static void free_memory(struct event_sorter *sorter)
{
    if (sorter->arena)
        munmap(sorter->arena, sorter->arena_capacity);
    free(sorter->entries);
    free(sorter->scratch);
    sorter->arena = NULL;
    sorter->entries = sorter->scratch = NULL;
}

int event_sorter_next(struct event_sorter *sorter, struct sorted_record *record, bool *there,
    struct gput_error *error)
{
    bool first = !sorter->taking;
    sorter->taking = true;
    if (sorted_runs_count(sorter->runs) > 0) {
        /* Read the next record of all runs in the file. */
        const void *next;
        if (first) {
            TRY(spill(sorter, error));
            free_memory(sorter);
            TRY(sorted_runs_first(sorter->runs, sorter->memory_bytes, &next, error));
        } else
            TRY(sorted_runs_next(sorter->runs, &next, error));
        *there = next != NULL;
        if (!next)
            return GPUT_OK;
        const struct record_head *head = next;
        *record = (struct sorted_record){
            head->start_ns, head->duration_ns, (uint32_t)head->length, head + 1};
        return GPUT_OK;
    }
    if (first)
        sort_entries(sorter);
    *there = sorter->taken < sorter->count;
    if (*there) {
        const struct entry *entry = sorter->entries + sorter->taken++;
        *record = (struct sorted_record){
            entry->start_ns, entry->duration_ns, entry->length, record_bytes(sorter, entry)};
    }
    return GPUT_OK;
}

void event_sorter_destroy(struct event_sorter *sorter)
{
    if (!sorter)
        return;
    free_memory(sorter);
    sorted_runs_destroy(sorter->runs);
    free(sorter);
}
