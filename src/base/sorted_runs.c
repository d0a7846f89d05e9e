#include "base/sorted_runs.h"

#include "base/array.h"
#include "base/file.h"
#include "base/str.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BUFFER ((size_t)512 << 10)

/* A run of the file, read through a buffer. */
struct run {
    int64_t begin, end; /* in the file */
    int64_t next;       /* what follows the buffer */
    char *buffer;
    size_t capacity;
    size_t at, length; /* in the buffer: the current record, and the end */
    size_t record;     /* the length of the current record; 0: the run has ended */
};

struct sorted_runs {
    struct record_order order;
    char *folder;
    char name[256]; /* of the temporary file, for messages */
    int fd;         /* -1: there is none yet */
    struct str gathered;
    int64_t file_length;
    int64_t run_begin; /* of the run being written */
    struct run *runs;
    size_t count;
    size_t buffer_bytes;
    size_t *heap; /* runs that have records left, that of the first record on top */
    size_t heap_count;
};

int sorted_runs_create(const char *folder, const struct record_order *order,
    struct sorted_runs **runs, struct gput_error *error)
{
    *runs = malloc(sizeof **runs);
    if (!*runs)
        return error_memory(error);
    **runs = (struct sorted_runs){.order = *order, .folder = strdup(folder), .fd = -1};
    snprintf((*runs)->name, sizeof(*runs)->name, "a temporary file in %s", folder);
    if ((*runs)->folder)
        return GPUT_OK;
    sorted_runs_destroy(*runs);
    *runs = NULL;
    return error_memory(error);
}

size_t sorted_runs_count(const struct sorted_runs *runs)
{
    return runs->count;
}

/* ---- Writing ---- */

/* Appends bytes to the temporary file, which is opened with the first of them. */
static int write_bytes(
    struct sorted_runs *runs, const void *bytes, size_t length, struct gput_error *error)
{
    if (runs->fd < 0)
        TRY(file_open_temporary(runs->folder, &runs->fd, error));
    TRY(file_write_fd(runs->fd, runs->name, bytes, length, error));
    runs->file_length += (int64_t)length;
    return GPUT_OK;
}

/* Writes the records gathered so far. */
static int write_gathered(struct sorted_runs *runs, struct gput_error *error)
{
    if (runs->gathered.failed)
        return error_memory(error);
    if (runs->gathered.length > 0)
        TRY(write_bytes(runs, runs->gathered.data, runs->gathered.length, error));
    runs->gathered.length = 0;
    return GPUT_OK;
}

int sorted_runs_write(
    struct sorted_runs *runs, const void *bytes, size_t length, struct gput_error *error)
{
    if (length >= MAX_BUFFER) {
        TRY(write_gathered(runs, error));
        return write_bytes(runs, bytes, length, error);
    }
    str_append_bytes(&runs->gathered, bytes, length);
    return runs->gathered.length >= MAX_BUFFER ? write_gathered(runs, error) : GPUT_OK;
}

int sorted_runs_end_run(struct sorted_runs *runs, struct gput_error *error)
{
    TRY(write_gathered(runs, error));
    str_finish(&runs->gathered);
    if (!ARRAY_EXTEND(runs->runs, runs->count))
        return error_memory(error);
    runs->runs[runs->count++] = (struct run){.begin = runs->run_begin, .end = runs->file_length};
    runs->run_begin = runs->file_length;
    return GPUT_OK;
}

/* ---- Walking ---- */

/* Enlarges the buffer of a run. False: out of memory. */
static bool grow_buffer(struct run *run, size_t capacity)
{
    if (capacity <= run->capacity)
        return true;
    if (!ARRAY_RESIZE(run->buffer, capacity + SORTED_RUNS_PADDING))
        return false;
    run->capacity = capacity;
    return true;
}

/* Has at least `length` bytes of a run in its buffer. */
static int fill(struct sorted_runs *runs, struct run *run, size_t length, struct gput_error *error)
{
    if (run->length - run->at >= length)
        return GPUT_OK;
    if (!grow_buffer(run, length > runs->buffer_bytes ? length : runs->buffer_bytes))
        return error_memory(error);
    run->length -= run->at;
    memmove(run->buffer, run->buffer + run->at, run->length);
    run->at = 0;
    size_t space = run->capacity - run->length, left = (size_t)(run->end - run->next), got;
    TRY(file_read_at(runs->fd, runs->name, run->buffer + run->length, space < left ? space : left,
        (uint64_t)run->next, &got, error));
    run->length += got;
    run->next += (int64_t)got;
    if (run->length < length)
        return error_set_errno(error, EIO, "Cannot read %s", runs->name);
    return GPUT_OK;
}

/* Moves a run to its next record. */
static int advance(struct sorted_runs *runs, struct run *run, struct gput_error *error)
{
    run->at += run->record;
    run->record = 0;
    if (run->at == run->length && run->next == run->end)
        return GPUT_OK;
    TRY(fill(runs, run, runs->order.head_size, error));
    run->record =
        runs->order.length ? runs->order.length(run->buffer + run->at) : runs->order.head_size;
    return fill(runs, run, run->record, error);
}

/* Returns whether the next record of a run comes before that of another. */
static bool run_before(const struct sorted_runs *runs, size_t left, size_t right)
{
    const struct run *a = runs->runs + left, *b = runs->runs + right;
    int order = runs->order.compare(a->buffer + a->at, b->buffer + b->at);
    return order != 0 ? order < 0 : left < right;
}

/* Restores the order of the heap below a place. */
static void sift_down(struct sorted_runs *runs, size_t at)
{
    size_t *heap = runs->heap;
    for (;;) {
        size_t first = at, child = 2 * at + 1;
        for (size_t i = child; i < child + 2 && i < runs->heap_count; i++)
            if (run_before(runs, heap[i], heap[first]))
                first = i;
        if (first == at)
            return;
        size_t run = heap[at];
        heap[at] = heap[first];
        heap[first] = run;
        at = first;
    }
}

/* Returns the first record of all runs; NULL: there is none. */
static const void *first_record(const struct sorted_runs *runs)
{
    if (runs->heap_count == 0)
        return NULL;
    const struct run *run = runs->runs + runs->heap[0];
    return run->buffer + run->at;
}

int sorted_runs_first(
    struct sorted_runs *runs, size_t memory_bytes, const void **record, struct gput_error *error)
{
    size_t share = runs->count > 0 ? memory_bytes / runs->count : 0;
    runs->buffer_bytes = share < MAX_BUFFER ? share : MAX_BUFFER;
    runs->heap_count = 0;
    if (!runs->heap)
        runs->heap = calloc(runs->count + 1, sizeof *runs->heap);
    if (!runs->heap)
        return error_memory(error);
    for (size_t i = 0; i < runs->count; i++) {
        struct run *run = runs->runs + i;
        run->at = run->length = run->record = 0;
        run->next = run->begin;
        TRY(advance(runs, run, error));
        if (run->record > 0)
            runs->heap[runs->heap_count++] = i;
    }
    for (size_t i = runs->heap_count; i-- > 0;)
        sift_down(runs, i);
    *record = first_record(runs);
    return GPUT_OK;
}

int sorted_runs_next(struct sorted_runs *runs, const void **record, struct gput_error *error)
{
    *record = NULL;
    if (runs->heap_count == 0)
        return GPUT_OK;
    struct run *run = runs->runs + runs->heap[0];
    TRY(advance(runs, run, error));
    if (run->record == 0)
        runs->heap[0] = runs->heap[--runs->heap_count];
    sift_down(runs, 0);
    *record = first_record(runs);
    return GPUT_OK;
}

void sorted_runs_destroy(struct sorted_runs *runs)
{
    if (!runs)
        return;
    for (size_t i = 0; i < runs->count; i++)
        free(runs->runs[i].buffer);
    free(runs->runs);
    free(runs->heap);
    free(runs->folder);
    str_finish(&runs->gathered);
    if (runs->fd >= 0)
        close(runs->fd);
    free(runs);
}
