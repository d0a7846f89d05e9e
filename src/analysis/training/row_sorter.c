#include "analysis/training/row_sorter.h"

#include "base/array.h"
#include "base/sorted_runs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MEMORY ((size_t)192 << 20)
/* A frame and a view have up to three sorters with many rows, and qsort() takes as much memory as
 * one. */
#define SORTERS_AT_A_TIME 4

struct row_sorter {
    struct row_memory memory;
    struct row_order order;
    char *rows; /* rows in memory; NULL while runs are merged */
    size_t count, capacity;
    bool sorted;
    size_t taken;
    struct sorted_runs *runs;
    char *last; /* the row that was returned last */
};

struct row_memory row_memory_of(size_t bytes, const char *folder)
{
    return (struct row_memory){.bytes = (bytes ? bytes : DEFAULT_MEMORY) / SORTERS_AT_A_TIME,
        .folder = folder ? folder : "/var/tmp"};
}

int row_sorter_create(const struct row_memory *memory, const struct row_order *order,
    struct row_sorter **sorter, struct gput_error *error)
{
    const struct record_order records = {order->row_size, NULL, order->compare};
    *sorter = malloc(sizeof **sorter);
    if (!*sorter)
        return error_memory(error);
    **sorter =
        (struct row_sorter){.memory = *memory, .order = *order, .last = malloc(order->row_size)};
    int code = (*sorter)->last ? GPUT_OK : error_memory(error);
    if (code == GPUT_OK)
        code = sorted_runs_create(memory->folder, &records, &(*sorter)->runs, error);
    if (code != GPUT_OK) {
        row_sorter_destroy(*sorter);
        *sorter = NULL;
    }
    return code;
}

/* Sorts the rows in memory, unless they are sorted already. */
static void sort_rows(struct row_sorter *sorter)
{
    if (!sorter->sorted && sorter->count > 1)
        qsort(sorter->rows, sorter->count, sorter->order.row_size, sorter->order.compare);
    sorter->sorted = true;
}

/* Moves the rows in memory to the temporary file, as a run. */
static int spill(struct row_sorter *sorter, struct gput_error *error)
{
    if (sorter->count == 0)
        return GPUT_OK;
    sort_rows(sorter);
    TRY(sorted_runs_write(
        sorter->runs, sorter->rows, sorter->count * sorter->order.row_size, error));
    sorter->count = 0;
    return sorted_runs_end_run(sorter->runs, error);
}

/* Makes space for another row. If memory is full, moves all rows to the temporary file. */
static int make_space(struct row_sorter *sorter, struct gput_error *error)
{
    size_t max_rows = sorter->memory.bytes / sorter->order.row_size;
    if (sorter->count < sorter->capacity)
        return GPUT_OK;
    max_rows = max_rows < 2 ? 2 : max_rows;
    if (sorter->count == max_rows)
        return spill(sorter, error);
    size_t capacity = sorter->capacity ? sorter->capacity * 2 : 256;
    capacity = capacity < max_rows ? capacity : max_rows;
    if (!ARRAY_RESIZE(sorter->rows, capacity * sorter->order.row_size))
        return error_memory(error);
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

/* Copies a row to `last`, where it stays valid until the next one. Returns it; NULL for NULL. */
static const void *keep(struct row_sorter *sorter, const void *row)
{
    return row ? memcpy(sorter->last, row, sorter->order.row_size) : NULL;
}

/* Gets the next row in order; NULL after the last. */
static int next_row(struct row_sorter *sorter, const void **row, struct gput_error *error)
{
    if (sorted_runs_count(sorter->runs) > 0)
        return sorted_runs_next(sorter->runs, row, error);
    bool left = sorter->taken < sorter->count;
    *row = left ? sorter->rows + sorter->taken++ * sorter->order.row_size : NULL;
    return GPUT_OK;
}

int row_sorter_first(struct row_sorter *sorter, const void **row, struct gput_error *error)
{
    const void *first;
    sorter->taken = 0;
    if (sorted_runs_count(sorter->runs) > 0) {
        /* Move all to the file, and use the memory of the rows for the buffers of the runs. */
        TRY(spill(sorter, error));
        free(sorter->rows);
        sorter->rows = NULL;
        TRY(sorted_runs_first(sorter->runs, sorter->memory.bytes, &first, error));
    } else {
        sort_rows(sorter);
        TRY(next_row(sorter, &first, error));
    }
    *row = keep(sorter, first);
    return GPUT_OK;
}

int row_sorter_next(struct row_sorter *sorter, const void **row, struct gput_error *error)
{
    const void *next;
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
    sorted_runs_destroy(sorter->runs);
    free(sorter->rows);
    free(sorter->last);
    free(sorter);
}
