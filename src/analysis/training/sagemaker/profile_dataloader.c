#include "analysis/training/sagemaker/profile_views.h"

#include "analysis/training/statistics.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* A duration of at least this many times the median is an outlier. */
#define OUTLIER_FACTOR 2

/* The parts of data loading, in the order of their tables. */
enum part { INITIALIZATION, WORKERS, GETNEXT, BATCHES, PARTS };

/* Returns the part that a row belongs to, by its name or else by its phase; PARTS: none. */
static enum part part_of(const struct profile_frame *frame, const struct framework_row *row)
{
    const char *texts[] = {
        profile_frame_text(frame, row->metric), profile_frame_text(frame, row->phase)};
    for (int i = 0; i < 2; i++) {
        if (strcasestr(texts[i], "GetNext"))
            return GETNEXT;
        if (strcasestr(texts[i], "DataLoaderWorker"))
            return WORKERS;
        if (strcasestr(texts[i], "DataLoaderIter"))
            return INITIALIZATION;
    }
    return PARTS;
}

bool profile_is_of_dataloader(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct framework_row *row)
{
    (void)options;
    return part_of(frame, row) != PARTS;
}

/* A row with its duration, or its distance to the next one. */
struct measured {
    struct framework_row row;
    int64_t duration_us;
    uint64_t place; /* position of the row in time */
    uint64_t group; /* an enum part, or PARTS and the index of a kind of iterators; 64 bits wide so
                       that rows have no uninitialized padding */
};

/* Orders measures by group and duration, the longest first. */
static int longest_first(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;
    ORDER_BY(a->group, b->group);
    ORDER_BY(b->duration_us, a->duration_us);
    return ORDER(a->place, b->place);
}

/* Orders calls by node, process and time: batch times are differences of neighbours. */
static int by_process(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;
    ORDER_BY(a->row.node, b->row.node);
    ORDER_BY(a->row.pid, b->row.pid);
    return ORDER(a->place, b->place);
}

/* A group of measures. */
struct group {
    struct sorted_figures figures;
    int64_t longest_us; /* INT64_MIN when there is none */
    /* Only of a kind of iterators: */
    uint32_t metric;
    uint32_t pin_memory;
    int32_t num_workers;
};

struct measuring {
    struct row_sorter *measures; /* by group, the longest first */
    struct row_sorter *calls;    /* calls of GetNext, by process */
    struct group *groups;        /* the parts, followed by the kinds of iterators */
    uint32_t count;
};

/* Begins a group of calls of one kind. */
static int add_group(
    struct measuring *measuring, const struct framework_row *row, struct gput_error *error)
{
    if (!ARRAY_EXTEND(measuring->groups, measuring->count))
        return error_memory(error);
    measuring->groups[measuring->count++] = (struct group){.figures = sorted_figures_of(0),
        .longest_us = INT64_MIN,
        .metric = row->metric,
        .pin_memory = row->pin_memory,
        .num_workers = row->num_workers};
    return GPUT_OK;
}

/* Finds the kind of an iterator, by its metric, pinned memory and number of workers, or adds it. */
static int find_kind(struct measuring *measuring, const struct framework_row *row, uint64_t *kind,
    struct gput_error *error)
{
    for (*kind = PARTS; *kind < measuring->count; ++*kind) {
        const struct group *group = measuring->groups + *kind;
        if (group->metric == row->metric && group->pin_memory == row->pin_memory &&
            group->num_workers == row->num_workers)
            return GPUT_OK;
    }
    return add_group(measuring, row, error);
}

/* Counts a measure in its group, and keeps it. */
static int add_measure(
    struct measuring *measuring, const struct measured *measured, struct gput_error *error)
{
    measuring->groups[measured->group].figures.count++;
    return row_sorter_add(measuring->measures, measured, error);
}

/* Adds a call to its group, to the calls of GetNext, and to its kind of iterators. */
static int add_row(struct measuring *measuring, struct measured *measured, struct gput_error *error)
{
    TRY(add_measure(measuring, measured, error));
    if (measured->group == GETNEXT)
        return row_sorter_add(measuring->calls, measured, error);
    if (measured->group != INITIALIZATION)
        return GPUT_OK;
    TRY(find_kind(measuring, &measured->row, &measured->group, error));
    return add_measure(measuring, measured, error);
}

/* Adds all events of data loaders. */
static int add_rows(
    struct profile_frame *frame, struct measuring *measuring, struct gput_error *error)
{
    const struct framework_row *row;
    TRY(profile_frame_first_event(frame, &row, error));
    for (uint64_t place = 0; row; place++) {
        struct measured measured = {.row = *row,
            .duration_us = row->end_us - row->start_us,
            .place = place,
            .group = part_of(frame, row)};
        TRY(add_row(measuring, &measured, error));
        TRY(profile_frame_next_event(frame, &row, error));
    }
    return GPUT_OK;
}

/* Writes a row of an outlier. */
static void put_row(
    const struct profile_frame *frame, const struct measured *measured, struct gput_table *table)
{
    const struct framework_row *row = &measured->row;
    profile_put_moment(table, row->start_us);
    profile_put_moment(table, row->end_us);
    table_put_int(table, row->start_us - frame->start_us);
    table_put_int(table, row->end_us - frame->start_us);
    table_put_int(table, measured->duration_us);
    table_put_int(table, row->pid);
    table_put_text(table, profile_frame_text(frame, row->metric));
    table_put_int(table, row->step);
    table_put_int(table, row->worker_id);
    table_put_int(table, row->num_workers);
    table_put_text(table, profile_frame_text(frame, row->pin_memory));
    table_put_text(table, profile_frame_text(frame, row->phase));
    table_put_text(table, profile_frame_text(frame, row->node));
}

/* Adds a table for rows of outliers. */
static struct gput_table *add_row_table(struct gput_tables *tables, const char *name)
{
    struct gput_table *table = tables_add(tables, name);
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "start_time", "end_time", NULL);
    table_add_columns_of(
        table, GPUT_COLUMN_INT, "start_time_us", "end_time_us", "duration_us", "pid", NULL);
    table_add_column(table, "framework_metric", GPUT_COLUMN_TEXT);
    table_add_columns_of(table, GPUT_COLUMN_INT, "step", "worker_id", "num_workers", NULL);
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "pin_memory", "process", "node_id", NULL);
    return table;
}

/* Adds the columns of a group. */
static void add_group_columns(struct gput_table *table)
{
    table_add_column(table, "count", GPUT_COLUMN_INT);
    table_add_column(table, "duration_median_us", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "duration_max_us", GPUT_COLUMN_INT);
}

/* Writes the cells of a group: count, median and longest duration. */
static void put_group(const struct group *group, struct gput_table *table)
{
    table_put_int(table, (int64_t)group->figures.count);
    table_put_double(table, group->figures.summary.p50);
    table_put_int(table, group->longest_us);
}

/* Reads the events, and computes the durations of batches and groups. */
static int measure(struct profile_frame *frame, const struct gput_profile_options *options,
    struct measuring *measuring, struct gput_error *error)
{
    static const struct framework_row no_row;
    const struct row_memory memory =
        row_memory_of(options->memory_bytes, options->temporary_folder);
    const struct row_order measures = {sizeof(struct measured), longest_first, false};
    const struct row_order calls = {sizeof(struct measured), by_process, false};
    while (measuring->count < PARTS)
        TRY(add_group(measuring, &no_row, error));
    TRY(row_sorter_create(&memory, &measures, &measuring->measures, error));
    TRY(row_sorter_create(&memory, &calls, &measuring->calls, error));
    TRY(add_rows(frame, measuring, error));

    /* A batch lasts from the start of one GetNext to the start of the next in the same process. */
    const void *row;
    TRY(row_sorter_first(measuring->calls, &row, error));
    while (row) {
        struct measured batch = *(const struct measured *)row;
        TRY(row_sorter_next(measuring->calls, &row, error));
        const struct measured *next = row;
        if (!next || next->row.node != batch.row.node || next->row.pid != batch.row.pid)
            continue;
        batch.group = BATCHES;
        batch.duration_us = next->row.start_us - batch.row.start_us;
        TRY(add_measure(measuring, &batch, error));
    }

    /* Find the median and the longest of each group. Rows are read in descending order, which does
     * not change a median. */
    const void *at;
    TRY(row_sorter_first(measuring->measures, &at, error));
    while (at) {
        const struct measured *measured = at;
        struct group *group = measuring->groups + measured->group;
        if (group->longest_us == INT64_MIN)
            group->longest_us = measured->duration_us;
        sorted_figures_next(&group->figures, (double)measured->duration_us);
        TRY(row_sorter_next(measuring->measures, &at, error));
    }
    return GPUT_OK;
}

/* Frees the sorters and the groups. */
static void measuring_finish(struct measuring *measuring)
{
    row_sorter_destroy(measuring->measures);
    row_sorter_destroy(measuring->calls);
    free(measuring->groups);
}

int profile_dataloader(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    CLEANUP(measuring_finish) struct measuring measuring = {0};
    size_t found = 0;
    TRY(measure(frame, options, &measuring, error));
    for (uint32_t part = 0; part < PARTS; part++)
        found += measuring.groups[part].figures.count;
    if (found == 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There are no events of a data loader in %s: none is called …DataLoaderIter…, "
            "…DataLoaderWorker… or …GetNext…",
            profile_source(options));
    /* Add the table of medians and longest times. */
    static const char *const parts[PARTS] = {"initialization", "workers", "getnext", "batch_time"};
    struct gput_table *summary = tables_add(tables, "summary");
    table_add_column(summary, "part", GPUT_COLUMN_TEXT);
    add_group_columns(summary);
    for (uint32_t part = 0; part < PARTS; part++) {
        table_put_text(summary, parts[part]);
        put_group(measuring.groups + part, summary);
    }

    /* Add the table of initializations by kind of data loader. */
    struct gput_table *kinds = tables_add(tables, "initialization");
    table_add_columns_of(kinds, GPUT_COLUMN_TEXT, "framework_metric", "pin_memory", NULL);
    table_add_column(kinds, "num_workers", GPUT_COLUMN_INT);
    add_group_columns(kinds);
    for (uint32_t kind = PARTS; kind < measuring.count; kind++) {
        const struct group *group = measuring.groups + kind;
        table_put_text(kinds, profile_frame_text(frame, group->metric));
        table_put_text(kinds, profile_frame_text(frame, group->pin_memory));
        table_put_int(kinds, group->num_workers);
        put_group(group, kinds);
    }

    struct gput_table *outliers[PARTS] = {add_row_table(tables, "initialization_outliers"),
        add_row_table(tables, "worker_outliers"), add_row_table(tables, "getnext_outliers"),
        add_row_table(tables, "batch_time_outliers")};
    TRY(table_pass_rest(summary, error));
    TRY(table_pass_rest(kinds, error));

    /* Write the outliers of each part, the longest first. */
    const void *row;
    TRY(row_sorter_first(measuring.measures, &row, error));
    for (uint32_t part = 0; part < PARTS; part++) {
        double median = measuring.groups[part].figures.summary.p50;
        while (row && ((const struct measured *)row)->group == part) {
            const struct measured *measured = row;
            if (median > 0 && (double)measured->duration_us >= OUTLIER_FACTOR * median) {
                put_row(frame, measured, outliers[part]);
                TRY(table_pass_full(outliers[part], error));
            }
            TRY(row_sorter_next(measuring.measures, &row, error));
        }
        TRY(table_pass_rest(outliers[part], error));
    }
    return GPUT_OK;
}
