#include "training/row_sorter.h"

#include "base/file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_MEMORY ((size_t)192 << 20)
/* A frame and a view have up to three with many rows, and qsort() takes as much as one. */
#define SORTERS_AT_A_TIME 4
#define MAX_BUFFERED ((size_t)256 << 10)

/* A sorted run of the temporary file, read through a buffer. */
struct run {
    int64_t begin, end; /* in the file */
    int64_t next;       /* what follows the buffer */
    char *buffer;
    size_t at, length;
};

struct row_sorter {
    struct row_memory memory;
    struct row_order order;
    char *rows; /* those in memory; NULL while runs are merged */
    size_t count, capacity;
    bool sorted;
    size_t taken;
    char name[256]; /* of the temporary file, for messages */
    int fd;         /* -1: nothing was spilled */
    int64_t file_length;
    struct run *runs;
    size_t run_count;
    size_t buffer_bytes;
    size_t *heap; /* runs that have rows left, that of the first row on top */
    size_t heap_count;
    char *last; /* the row that was given */
};

struct row_memory row_memory_of(size_t bytes, const char *folder)
{
    return (struct row_memory){.bytes = (bytes ? bytes : DEFAULT_MEMORY) / SORTERS_AT_A_TIME,
        .folder = folder ? folder : "/var/tmp"};
}

int row_sorter_create(const struct row_memory *memory, const struct row_order *order,
    struct row_sorter **sorter, struct gput_error *error)
{
    *sorter = malloc(sizeof **sorter);
    if (!*sorter)
        return error_memory(error);
    **sorter = (struct row_sorter){
        .memory = *memory, .order = *order, .last = malloc(order->row_size), .fd = -1};
    snprintf((*sorter)->name, sizeof(*sorter)->name, "a temporary file in %s", memory->folder);
    if ((*sorter)->last)
        return GPUT_OK;
    row_sorter_destroy(*sorter);
    *sorter = NULL;
    return error_memory(error);
}

static void sort_rows(struct row_sorter *sorter)
{
    if (!sorter->sorted && sorter->count > 1)
        qsort(sorter->rows, sorter->count, sorter->order.row_size, sorter->order.compare);
    sorter->sorted = true;
}

/* Moves what is in memory to the file, as a run. */
static int spill(struct row_sorter *sorter, struct gput_error *error)
{
    if (sorter->count == 0)
        return GPUT_OK;
    if (sorter->fd < 0)
        TRY(file_open_temporary(sorter->memory.folder, &sorter->fd, error));
    struct run *runs = realloc(sorter->runs, (sorter->run_count + 1) * sizeof *runs);
    if (!runs)
        return error_memory(error);
    sorter->runs = runs;
    sort_rows(sorter);
    size_t bytes = sorter->count * sorter->order.row_size;
    TRY(file_write_fd(sorter->fd, sorter->name, sorter->rows, bytes, error));
    runs[sorter->run_count++] =
        (struct run){.begin = sorter->file_length, .end = sorter->file_length + (int64_t)bytes};
    sorter->file_length += (int64_t)bytes;
    sorter->count = 0;
    return GPUT_OK;
}

/* Space for one row more. */
static int make_space(struct row_sorter *sorter, struct gput_error *error)
{
    size_t most = sorter->memory.bytes / sorter->order.row_size;
    if (sorter->count < sorter->capacity)
        return GPUT_OK;
    most = most < 2 ? 2 : most;
    if (sorter->count == most)
        return spill(sorter, error);
    size_t capacity = sorter->capacity ? sorter->capacity * 2 : 256;
    capacity = capacity < most ? capacity : most;
    char *rows = realloc(sorter->rows, capacity * sorter->order.row_size);
    if (!rows)
        return error_memory(error);
    sorter->rows = rows;
    sorter->capacity = capacity;
    return GPUT_OK;
}

int row_sorter_add(struct row_sorter *sorter, const void *row, struct gput_error *error)
{
    TRY(make_space(sorter, error));
    memcpy(sorter->rows + sorter->count++ * sorter->order.row_size, row, sorter->order.row_size);
    sorter->sorted = false;
    return GPUT_OK;
}

/* Has at least one row in a run's buffer, if the run has one left. */
static int fill(struct row_sorter *sorter, struct run *run, struct gput_error *error)
{
    if (run->at < run->length || run->next == run->end)
        return GPUT_OK;
    size_t left = (size_t)(run->end - run->next);
    size_t wanted = left < sorter->buffer_bytes ? left : sorter->buffer_bytes;
    run->at = 0;
    TRY(file_read_at(
        sorter->fd, sorter->name, run->buffer, wanted, (uint64_t)run->next, &run->length, error));
    run->next += (int64_t)run->length;
    return run->length == wanted ? GPUT_OK
                                 : error_set_errno(error, EIO, "Cannot read %s", sorter->name);
}

static bool run_before(const struct row_sorter *sorter, size_t left, size_t right)
{
    const struct run *a = sorter->runs + left, *b = sorter->runs + right;
    int order = sorter->order.compare(a->buffer + a->at, b->buffer + b->at);
    return order != 0 ? order < 0 : left < right;
}

static void sift_down(struct row_sorter *sorter, size_t at)
{
    size_t *heap = sorter->heap;
    for (;;) {
        size_t first = at, child = 2 * at + 1;
        for (size_t i = child; i < child + 2 && i < sorter->heap_count; i++)
            if (run_before(sorter, heap[i], heap[first]))
                first = i;
        if (first == at)
            return;
        size_t run = heap[at];
        heap[at] = heap[first];
        heap[first] = run;
        at = first;
    }
}

/* From adding to walking: all is in the file, and the memory of rows becomes that of buffers. */
static int make_buffers(struct row_sorter *sorter, struct gput_error *error)
{
    if (sorter->heap)
        return GPUT_OK;
    TRY(spill(sorter, error));
    free(sorter->rows);
    sorter->rows = NULL;
    size_t bytes = sorter->memory.bytes / sorter->run_count;
    size_t rows = (bytes < MAX_BUFFERED ? bytes : MAX_BUFFERED) / sorter->order.row_size;
    sorter->buffer_bytes = (rows ? rows : 1) * sorter->order.row_size;
    sorter->heap = calloc(sorter->run_count, sizeof *sorter->heap);
    bool made = sorter->heap != NULL;
    for (size_t i = 0; i < sorter->run_count; i++) {
        sorter->runs[i].buffer = malloc(sorter->buffer_bytes);
        made = made && sorter->runs[i].buffer;
    }
    return made ? GPUT_OK : error_memory(error);
}

static int start_merging(struct row_sorter *sorter, struct gput_error *error)
{
    TRY(make_buffers(sorter, error));
    sorter->heap_count = sorter->run_count;
    for (size_t i = 0; i < sorter->run_count; i++) {
        struct run *run = sorter->runs + i;
        run->at = run->length = 0;
        run->next = run->begin;
        TRY(fill(sorter, run, error));
        sorter->heap[i] = i;
    }
    for (size_t i = sorter->heap_count; i-- > 0;)
        sift_down(sorter, i);
    return GPUT_OK;
}

/* Moves on from the row that was given last. */
static int advance(struct row_sorter *sorter, struct gput_error *error)
{
    struct run *run = sorter->runs + sorter->heap[0];
    run->at += sorter->order.row_size;
    TRY(fill(sorter, run, error));
    if (run->at == run->length)
        sorter->heap[0] = sorter->heap[--sorter->heap_count];
    sift_down(sorter, 0);
    return GPUT_OK;
}

/* The next row in order, NULL after the last. */
static int next_row(struct row_sorter *sorter, const char **row, struct gput_error *error)
{
    *row = NULL;
    if (sorter->run_count == 0) {
        if (sorter->taken < sorter->count)
            *row = sorter->rows + sorter->taken++ * sorter->order.row_size;
        return GPUT_OK;
    }
    if (sorter->taken++ > 0 && sorter->heap_count > 0)
        TRY(advance(sorter, error));
    if (sorter->heap_count > 0) {
        const struct run *run = sorter->runs + sorter->heap[0];
        *row = run->buffer + run->at;
    }
    return GPUT_OK;
}

/* Hands a row out. */
static const void *keep(struct row_sorter *sorter, const char *row)
{
    return row ? memcpy(sorter->last, row, sorter->order.row_size) : NULL;
}

int row_sorter_first(struct row_sorter *sorter, const void **row, struct gput_error *error)
{
    const char *first;
    sorter->taken = 0;
    if (sorter->run_count > 0)
        TRY(start_merging(sorter, error));
    else
        sort_rows(sorter);
    TRY(next_row(sorter, &first, error));
    *row = keep(sorter, first);
    return GPUT_OK;
}

int row_sorter_next(struct row_sorter *sorter, const void **row, struct gput_error *error)
{
    const char *next;
    TRY(next_row(sorter, &next, error));
    while (sorter->order.once && next && sorter->order.compare(sorter->last, next) == 0)
        TRY(next_row(sorter, &next, error));
    *row = keep(sorter, next);
    return GPUT_OK;
}

void row_sorter_destroy(struct row_sorter *sorter)
{
    if (!sorter)
        return;
    for (size_t i = 0; i < sorter->run_count; i++)
        free(sorter->runs[i].buffer);
    free(sorter->runs);
    free(sorter->heap);
    free(sorter->rows);
    free(sorter->last);
    if (sorter->fd >= 0)
        close(sorter->fd);
    free(sorter);
}
