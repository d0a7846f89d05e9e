#include "timeline/event_sorter.h"

#include "base/array.h"
#include "base/file.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RUN_BUFFER (512u << 10)
#define RADIX_BITS 11
#define RADIX_SIZE (1u << RADIX_BITS)
#define MAX_RECORD (256u << 20)

struct entry {
    int64_t start_ns;
    int64_t duration_ns;
    uint32_t offset; /* in the arena, in units of 8 bytes */
    uint32_t length;
};

/* What stands before a record in the temporary file. */
struct run_header {
    int64_t start_ns;
    int64_t duration_ns;
    uint64_t length;
};

/* A sorted run of the temporary file, read through a buffer. */
struct run {
    int64_t file_at;
    int64_t file_end;
    unsigned char *buffer;
    size_t capacity;
    size_t at;
    size_t length;
    struct run_header head; /* of the record at hand */
    bool ended;
};

/* Records start at multiples of 8, in memory and in the file. */
static size_t padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

struct event_sorter {
    char *folder;
    size_t memory_bytes;
    char *arena;
    size_t arena_used, arena_capacity;
    struct entry *entries;
    struct entry *scratch; /* as many */
    size_t count, capacity;
    int fd; /* -1: nothing was spilled */
    int64_t file_length;
    struct run *runs;
    size_t run_count;
    uint32_t *heap; /* run numbers, the first record's on top */
    size_t heap_count;
    bool taking;
    bool advance; /* the run on top of the heap must move on first */
    size_t taken; /* when all is in memory */
};

int event_sorter_create(
    const char *folder, size_t memory_bytes, struct event_sorter **sorter, struct gput_error *error)
{
    *sorter = calloc(1, sizeof **sorter);
    if (!*sorter)
        return error_memory(error);
    (*sorter)->fd = -1;
    (*sorter)->memory_bytes = memory_bytes < (1u << 20) ? 1u << 20 : memory_bytes;
    (*sorter)->folder = strdup(folder);
    if ((*sorter)->folder)
        return GPUT_OK;
    event_sorter_destroy(*sorter);
    *sorter = NULL;
    return error_memory(error);
}

/* One stable pass over RADIX_BITS bits of the start. False when all share them: nothing to do. */
static bool radix_pass(
    const struct entry *from, struct entry *to, size_t count, int64_t least, unsigned shift)
{
    size_t counts[RADIX_SIZE] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        counts[((uint64_t)from[i].start_ns - (uint64_t)least) >> shift & (RADIX_SIZE - 1)]++;
    for (unsigned digit = 0; digit < RADIX_SIZE; digit++) {
        size_t here = counts[digit];
        if (here == count)
            return false;
        counts[digit] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = ((uint64_t)from[i].start_ns - (uint64_t)least) >> shift & (RADIX_SIZE - 1);
        to[counts[digit]++] = from[i];
    }
    return true;
}

static void swap_entries(struct event_sorter *sorter)
{
    struct entry *entries = sorter->entries;
    sorter->entries = sorter->scratch;
    sorter->scratch = entries;
}

/* Of equal starts: the longer first, else in the order of the arena. */
static int compare_equal_starts(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->duration_ns != b->duration_ns)
        return a->duration_ns > b->duration_ns ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool entry_before(const struct entry *a, const struct entry *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return compare_equal_starts(a, b) < 0;
}

/* Most traces are nearly in order: each entry is moved forward by a few places. False when that
 * turns out to be too much work; the entries then are in another order than before. */
static bool sort_nearly_sorted(struct entry *entries, size_t count)
{
    size_t moves = 0, most = count * 16;
    for (size_t i = 1; i < count; i++) {
        size_t at = i;
        struct entry entry = entries[i];
        for (; at > 0 && entry_before(&entry, entries + at - 1); at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
        moves += i - at;
        if (moves > most)
            return false;
    }
    return true;
}

static void sort_entries(struct event_sorter *sorter)
{
    struct entry *entries = sorter->entries;
    size_t count = sorter->count;
    int64_t least = INT64_MAX, most = INT64_MIN;
    if (sort_nearly_sorted(entries, count))
        return;
    for (size_t i = 0; i < count; i++) {
        least = entries[i].start_ns < least ? entries[i].start_ns : least;
        most = entries[i].start_ns > most ? entries[i].start_ns : most;
    }
    uint64_t span = (uint64_t)most - (uint64_t)least;
    for (unsigned shift = 0; shift < 64 && span >> shift != 0; shift += RADIX_BITS)
        if (radix_pass(sorter->entries, sorter->scratch, count, least, shift))
            swap_entries(sorter);
    entries = sorter->entries;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && entries[end].start_ns == entries[first].start_ns;)
            end++;
        if (end - first > 1)
            qsort(entries + first, end - first, sizeof *entries, compare_equal_starts);
    }
}

static const char *record_bytes(const struct event_sorter *sorter, const struct entry *entry)
{
    return sorter->arena + (size_t)entry->offset * 8;
}

static int add_run(struct event_sorter *sorter, struct gput_error *error)
{
    if (!ARRAY_EXTEND(sorter->runs, sorter->run_count))
        return error_memory(error);
    sorter->runs[sorter->run_count++] =
        (struct run){.file_at = sorter->file_length, .file_end = sorter->file_length};
    return GPUT_OK;
}

static int flush(struct event_sorter *sorter, struct str *buffer, struct gput_error *error)
{
    if (buffer->failed)
        return error_memory(error);
    TRY(file_write_fd(sorter->fd, "the temporary file", buffer->data, buffer->length, error));
    sorter->file_length += (int64_t)buffer->length;
    buffer->length = 0;
    return GPUT_OK;
}

static int write_entries(struct event_sorter *sorter, struct str *buffer, struct gput_error *error)
{
    for (size_t i = 0; i < sorter->count; i++) {
        const struct entry *entry = sorter->entries + i;
        struct run_header head = {entry->start_ns, entry->duration_ns, entry->length};
        str_append_bytes(buffer, &head, sizeof head);
        str_append_bytes(buffer, record_bytes(sorter, entry), padded(entry->length));
        if (buffer->length >= RUN_BUFFER)
            TRY(flush(sorter, buffer, error));
    }
    return buffer->length > 0 ? flush(sorter, buffer, error) : GPUT_OK;
}

/* Sorts what is in memory and moves it to the temporary file. */
static int spill(struct event_sorter *sorter, struct gput_error *error)
{
    struct str buffer = {0};
    if (sorter->count == 0)
        return GPUT_OK;
    if (sorter->fd < 0)
        TRY(file_open_temporary(sorter->folder, &sorter->fd, error));
    TRY(add_run(sorter, error));
    sort_entries(sorter);
    int code = write_entries(sorter, &buffer, error);
    str_finish(&buffer);
    sorter->runs[sorter->run_count - 1].file_end = sorter->file_length;
    sorter->count = 0;
    sorter->arena_used = 0;
    return code;
}

static bool grow_entries(struct event_sorter *sorter)
{
    if (sorter->count < sorter->capacity)
        return true;
    size_t capacity = sorter->capacity ? sorter->capacity * 2 : 1024;
    struct entry *entries = realloc(sorter->entries, capacity * sizeof *entries);
    if (entries)
        sorter->entries = entries;
    struct entry *scratch = realloc(sorter->scratch, capacity * sizeof *scratch);
    if (scratch)
        sorter->scratch = scratch;
    if (!entries || !scratch)
        return false;
    sorter->capacity = capacity;
    return true;
}

static bool grow_arena(struct event_sorter *sorter, size_t length)
{
    size_t needed = sorter->arena_used + length + SORTER_PADDING;
    if (needed <= sorter->arena_capacity)
        return true;
    size_t capacity = needed > sorter->memory_bytes ? needed * 2 : sorter->memory_bytes;
    /* All of it at once: what is not touched costs nothing, and huge pages make touching cheap. */
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

/* What the records in memory cost, with one more of that length. */
static size_t held_bytes(const struct event_sorter *sorter, size_t length)
{
    return sorter->arena_used + length + (sorter->count + 1) * 2 * sizeof(struct entry);
}

void *event_sorter_add(struct event_sorter *sorter, int64_t start_ns, int64_t duration_ns,
    size_t length, struct gput_error *error)
{
    size_t space = padded(length);
    if (sorter->taking || length > MAX_RECORD) {
        error_set(error, GPUT_ERROR_STATE, "An event is too large or comes too late to be sorted");
        return NULL;
    }
    if (held_bytes(sorter, space) > sorter->memory_bytes && spill(sorter, error) != GPUT_OK)
        return NULL;
    if (!grow_entries(sorter) || !grow_arena(sorter, space)) {
        error_memory(error);
        return NULL;
    }
    char *place = sorter->arena + sorter->arena_used;
    sorter->entries[sorter->count++] =
        (struct entry){start_ns, duration_ns, (uint32_t)(sorter->arena_used / 8), (uint32_t)length};
    sorter->arena_used += space;
    if (space > 0)
        memset(place + space - 8, 0, 8);
    return place;
}

/* Has at least `length` bytes of a run in its buffer. */
static int buffer_run(
    struct event_sorter *sorter, struct run *run, size_t length, struct gput_error *error)
{
    if (run->length - run->at >= length)
        return GPUT_OK;
    if (length > run->capacity) {
        size_t capacity = length > RUN_BUFFER ? length : RUN_BUFFER;
        unsigned char *buffer = realloc(run->buffer, capacity + SORTER_PADDING);
        if (!buffer)
            return error_memory(error);
        run->buffer = buffer;
        run->capacity = capacity;
    }
    memmove(run->buffer, run->buffer + run->at, run->length - run->at);
    run->length -= run->at;
    run->at = 0;
    size_t space = run->capacity - run->length, left = (size_t)(run->file_end - run->file_at), got;
    TRY(file_read_at(sorter->fd, "the temporary file", run->buffer + run->length,
        space < left ? space : left, (uint64_t)run->file_at, &got, error));
    run->length += got;
    run->file_at += (int64_t)got;
    if (run->length < length)
        return error_set_errno(error, EIO, "Cannot read the temporary file");
    return GPUT_OK;
}

/* Moves a run to its next record. */
static int advance_run(struct event_sorter *sorter, struct run *run, struct gput_error *error)
{
    if (run->at == run->length && run->file_at == run->file_end) {
        run->ended = true;
        return GPUT_OK;
    }
    TRY(buffer_run(sorter, run, sizeof run->head, error));
    memcpy(&run->head, run->buffer + run->at, sizeof run->head);
    return buffer_run(sorter, run, sizeof run->head + padded(run->head.length), error);
}

/* The order of two runs by their records at hand; earlier runs hold what was added earlier. */
static bool run_before(const struct event_sorter *sorter, uint32_t left, uint32_t right)
{
    const struct run_header *a = &sorter->runs[left].head, *b = &sorter->runs[right].head;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    if (a->duration_ns != b->duration_ns)
        return a->duration_ns > b->duration_ns;
    return left < right;
}

static void sift_down(struct event_sorter *sorter, size_t at)
{
    uint32_t *heap = sorter->heap;
    for (;;) {
        size_t first = at, child = 2 * at + 1;
        for (size_t i = child; i < child + 2 && i < sorter->heap_count; i++)
            if (run_before(sorter, heap[i], heap[first]))
                first = i;
        if (first == at)
            return;
        uint32_t run = heap[at];
        heap[at] = heap[first];
        heap[first] = run;
        at = first;
    }
}

static void free_memory(struct event_sorter *sorter)
{
    if (sorter->arena)
        munmap(sorter->arena, sorter->arena_capacity);
    free(sorter->entries);
    free(sorter->scratch);
    sorter->arena = NULL;
    sorter->entries = sorter->scratch = NULL;
}

static int start_merging(struct event_sorter *sorter, struct gput_error *error)
{
    TRY(spill(sorter, error));
    free_memory(sorter);
    sorter->heap = calloc(sorter->run_count, sizeof *sorter->heap);
    if (!sorter->heap)
        return error_memory(error);
    for (size_t i = 0; i < sorter->run_count; i++) {
        TRY(advance_run(sorter, sorter->runs + i, error));
        sorter->heap[sorter->heap_count++] = (uint32_t)i;
    }
    for (size_t i = sorter->heap_count; i-- > 0;)
        sift_down(sorter, i);
    return GPUT_OK;
}

static int next_merged(struct event_sorter *sorter, struct sorted_record *record, bool *there,
    struct gput_error *error)
{
    struct run *run = sorter->runs + sorter->heap[0];
    if (sorter->advance) {
        run->at += sizeof run->head + padded(run->head.length);
        TRY(advance_run(sorter, run, error));
        if (run->ended)
            sorter->heap[0] = sorter->heap[--sorter->heap_count];
        sift_down(sorter, 0);
    }
    sorter->advance = *there = sorter->heap_count > 0;
    if (!*there)
        return GPUT_OK;
    run = sorter->runs + sorter->heap[0];
    *record = (struct sorted_record){run->head.start_ns, run->head.duration_ns,
        (uint32_t)run->head.length, run->buffer + run->at + sizeof run->head};
    return GPUT_OK;
}

int event_sorter_next(struct event_sorter *sorter, struct sorted_record *record, bool *there,
    struct gput_error *error)
{
    if (!sorter->taking) {
        sorter->taking = true;
        if (sorter->run_count > 0)
            TRY(start_merging(sorter, error));
        else
            sort_entries(sorter);
    }
    if (sorter->run_count > 0)
        return next_merged(sorter, record, there, error);
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
    for (size_t i = 0; i < sorter->run_count; i++)
        free(sorter->runs[i].buffer);
    free(sorter->runs);
    free(sorter->heap);
    free(sorter->folder);
    if (sorter->fd >= 0)
        close(sorter->fd);
    free(sorter);
}
