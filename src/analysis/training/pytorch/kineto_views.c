#include "analysis/training/pytorch/kineto.h"
#include "analysis/training/pytorch/kineto_categories.h"
#include "analysis/training/pytorch/kineto_host.h"
#include "analysis/training/pytorch/kineto_merged.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_text.h"
#include "base/names.h"
#include "base/order.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/table.h"
#include "files/trace/read_report.h"

#include <stdlib.h>
#include <string.h>

#include <gputracker/profile.h>

/*
 * Compares two traces, or two runs with all their ranks, by category and name of their events.
 */

/* All events of one category and name, on both sides. */
struct side_by_side {
    int64_t count[2];
    int64_t total_ns[2];
};

struct comparing {
    struct names keys; /* "category\nname" */
    struct side_by_side *sums;
    size_t count;
    struct str text;
    struct kineto_ranks ranks[2];
    int side; /* the side that is being read */
};

/* Adds up an event under its name and category. */
static int add_event(void *user, struct kineto_merged *file, const struct trace_event *event,
    struct gput_error *error)
{
    struct comparing *comparing = user;
    if (!event->has_duration || event->duration_ns < 0 || event->name.kind != JSON_STRING) {
        file->unusable++;
        return GPUT_OK;
    }
    struct str *text = &comparing->text;
    str_clear(text);
    const struct kineto_category *category = kineto_category_find(&event->category);
    if (category)
        str_append(text, category->name); /* one name for all versions of PyTorch, so that two
                                             versions can be compared */
    else if (event->category.kind == JSON_STRING)
        json_append_string(&event->category, text);
    str_append_char(text, '\n');
    json_append_string(&event->name, text);
    uint32_t key = names_add(&comparing->keys, str_text(text), text->length);
    if (text->failed || key == NAMES_NONE)
        return error_memory(error);
    if (key == comparing->count) {
        if (!ARRAY_EXTEND(comparing->sums, comparing->count))
            return error_memory(error);
        comparing->sums[comparing->count++] = (struct side_by_side){0};
    }
    comparing->sums[key].count[comparing->side]++;
    comparing->sums[key].total_ns[comparing->side] += event->duration_ns;
    return GPUT_OK;
}

struct place {
    int64_t change_ns; /* absolute change */
    uint32_t key;
};

/* Orders names by how much they differ, the largest change first. */
static int by_change_descending(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    ORDER_BY(b->change_ns, a->change_ns);
    return ORDER(a->key, b->key);
}

/* Writes how a name differs between the two sides. */
static void put_row(const struct comparing *comparing, uint32_t key, struct gput_table *table)
{
    const struct side_by_side *sums = comparing->sums + key;
    const char *text = names_text(&comparing->keys, key), *name = strchr(text, '\n') + 1;
    char category[64];
    size_t length = (size_t)(name - text) - 1;
    length = length < sizeof category ? length : sizeof category - 1;
    memcpy(category, text, length);
    category[length] = '\0';
    table_put_text(table, category);
    table_put_text(table, name);
    table_put_int(table, sums->count[0]);
    table_put_int(table, sums->count[1]);
    table_put_int(table, sums->count[1] - sums->count[0]);
    table_put_double(table, (double)sums->total_ns[0] / 1000);
    table_put_double(table, (double)sums->total_ns[1] / 1000);
    table_put_double(table, (double)(sums->total_ns[1] - sums->total_ns[0]) / 1000);
}

/* Frees the members of a comparison. */
static void comparing_finish(struct comparing *comparing)
{
    for (int side = 0; side < 2; side++)
        kineto_ranks_finish(&comparing->ranks[side]);
    names_finish(&comparing->keys);
    free(comparing->sums);
    str_finish(&comparing->text);
}

/* options->paths are two files or folders. */
static int kineto_diff(const struct gput_kineto_options *options, struct gput_tables *tables,
    struct read_report *report, struct gput_error *error)
{
    CLEANUP(comparing_finish) struct comparing comparing = {0};

    /* Read the traces of both sides. */
    for (int side = 0; side < 2; side++)
        TRY(kineto_ranks_add(&comparing.ranks[side], options->paths[side], report, error));
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < comparing.ranks[side].count; i++)
            read_report_expect(report, comparing.ranks[side].all[i].path);
    for (comparing.side = 0; comparing.side < 2; comparing.side++) {
        struct kineto_ranks *ranks = &comparing.ranks[comparing.side];
        const uint32_t files = ranks->count; /* a merged file adds further ranks */
        for (uint32_t i = 0; i < files; i++)
            TRY(kineto_merged_read(ranks, i, add_event, &comparing, report, error));
    }

    if (comparing.keys.count == 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Neither side has events with a duration");

    /* Warn of odd ranks on each side. A trace that was named itself is compared without the other
     * ranks, so these are not missing. */
    for (int side = 0; side < 2; side++) {
        const struct kineto_ranks *ranks = comparing.ranks + side;
        struct str where = {0};
        kineto_ranks_warn_of_impossible(ranks, report);
        kineto_ranks_warn_of_repeated(ranks, report);
        str_printf(&where, " in %s", options->paths[side]);
        if (!where.failed && strcmp(ranks->all[0].path, options->paths[side]) != 0)
            kineto_ranks_warn_of_missing(ranks, str_text(&where), report);
        str_finish(&where);
    }
    kineto_ranks_warn_of_difference(&comparing.ranks[0], &comparing.ranks[1], report);

    /* Write the names that differ the most. */
    uint32_t count = comparing.keys.count;
    CLEANUP_FREE struct place *places = malloc((count + 1) * sizeof *places);
    struct gput_table *table = tables_add(tables, "diff");
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "category", "name", NULL);
    table_add_columns_of(table, GPUT_COLUMN_INT, "count_a", "count_b", "count_change", NULL);
    table_add_columns_of(
        table, GPUT_COLUMN_DOUBLE, "total_a_us", "total_b_us", "total_change_us", NULL);
    if (!places)
        return error_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        const struct side_by_side *sums = comparing.sums + i;
        int64_t change = sums->total_ns[1] - sums->total_ns[0];
        places[i] = (struct place){change < 0 ? -change : change, i};
    }
    qsort(places, count, sizeof *places, by_change_descending);
    for (uint32_t i = 0; i < count && (options->limit == 0 || i < options->limit); i++)
        put_row(&comparing, places[i].key, table);
    return GPUT_OK;
}

/* As in HolisticTraceAnalysis, which has 30 in the unit of its table, microseconds. */
#define DEFAULT_DELAY_NS 30000

/* Orders slices by device and start. */
static int by_device(const void *left, const void *right)
{
    const struct gpu_span *a = left, *b = right;
    ORDER_BY_RESULT(kineto_spans_compare_devices(a, b));
    return kineto_spans_compare_starts(a, b);
}

/* Orders slices by stream, start and end. */
static int by_stream(const void *left, const void *right)
{
    const struct gpu_span *a = left, *b = right;
    ORDER_BY_RESULT(kineto_spans_compare_streams(a, b));
    ORDER_BY_RESULT(kineto_spans_compare_starts(a, b));
    return ORDER(a->end_ns, b->end_ns);
}

/* The time covered by spans of some kinds of work. */
struct coverage {
    unsigned works; /* the kinds of work, a bit each */
    struct span_cover cover;
};

enum {
    BUSY,
    COMPUTING,
    COMMUNICATING,
    COPYING,
    COMPUTING_OR_COMMUNICATING,
    COMPUTING_OR_COPYING,
    COVERAGES
};

struct gpu_time {
    int64_t start_ns;
    struct coverage of[COVERAGES];
};

/* One stream of a GPU: its idle time by cause. */
struct stream_time {
    int64_t start_ns, until_ns;
    int64_t host_ns, kernel_ns, other_ns, unknown_ns;
};

/* A row of the table. */
struct gpu_result {
    int64_t rank; /* INT64_MAX: not known */
    struct gpu_span first;
    union {
        struct gpu_time gpu;
        struct stream_time stream;
    };
};

/* All rows. They are made trace by trace, and shown by rank. */
struct gpu_results {
    struct gpu_result *all;
    size_t count;
};

static void results_free(struct gpu_results *results)
{
    free(results->all);
}

/* Adds the result of a stream or GPU. */
static int add_result(struct gpu_results *results, const struct kineto_run *run,
    struct gpu_result *result, struct gput_error *error)
{
    if (!ARRAY_EXTEND(results->all, results->count))
        return error_memory(error);
    int64_t rank = run->ranks.all[result->first.rank].rank;
    result->rank = rank >= 0 ? rank : INT64_MAX;
    results->all[results->count++] = *result;
    return GPUT_OK;
}

/* Orders results by rank, then by stream. */
static int by_rank(const void *left, const void *right)
{
    const struct gpu_result *a = left, *b = right;
    ORDER_BY(a->rank, b->rank);
    return by_stream(&a->first, &b->first);
}

static void sort_results(struct gpu_results *results)
{
    if (results->count > 0)
        qsort(results->all, results->count, sizeof *results->all, by_rank);
}

/* Returns the times of a GPU before any span is added. */
static struct gpu_time gpu_time_from(const struct gpu_span *first)
{
    const unsigned compute = 1u << GPU_COMPUTE, communication = 1u << GPU_COMMUNICATION;
    const unsigned memory = 1u << GPU_MEMORY;
    return (struct gpu_time){.start_ns = first->start_ns,
        .of = {[BUSY] = {compute | communication | memory, {0, INT64_MIN}},
            [COMPUTING] = {compute, {0, INT64_MIN}},
            [COMMUNICATING] = {communication, {0, INT64_MIN}},
            [COPYING] = {memory, {0, INT64_MIN}},
            [COMPUTING_OR_COMMUNICATING] = {compute | communication, {0, INT64_MIN}},
            [COMPUTING_OR_COPYING] = {compute | memory, {0, INT64_MIN}}}};
}

/* Adds the columns that identify a GPU. The trace is one of them, since several traces may lack a
 * rank. */
static void add_gpu_columns(struct gput_table *table)
{
    table_add_column(table, "rank", GPUT_COLUMN_INT);
    table_add_column(table, "trace", GPUT_COLUMN_TEXT);
    table_add_column(table, "gpu", GPUT_COLUMN_INT);
}

/* Writes the cells that identify the GPU of a row. */
static void put_gpu(
    const struct kineto_run *run, const struct gpu_span *span, struct gput_table *table)
{
    const struct kineto_rank *rank = run->ranks.all + span->rank;
    table_put_int(table, kineto_rank_number(rank));
    table_put_text(table, rank->path);
    table_put_int(table, span_number(span->device));
}

/* Makes the table of how GPUs spent their time. */
static int make_breakdown(const struct gput_kineto_options *options, struct gput_tables *tables,
    struct read_report *report, struct gput_error *error)
{
    static const char *const columns[] = {"span_us", "idle_us", "compute_us", "non_compute_us",
        "communication_us", "memory_us", "communication_overlap_us", "memory_overlap_us", "idle_%",
        "compute_%", "non_compute_%", "communication_overlap_%", "memory_overlap_%"};
    CLEANUP(kineto_spans_finish) struct kineto_spans ordered = {0};
    CLEANUP(results_free) struct gpu_results results = {0};
    struct gput_table *table = tables_add(tables, "breakdown");
    add_gpu_columns(table);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_add_column(table, columns[i], GPUT_COLUMN_DOUBLE);
    TRY(kineto_spans_read(options, KINETO_GPU, by_device, &ordered, report, error));

    /* Walk over the slices of each GPU, and add up its time. */
    const void *row;
    TRY(row_sorter_first(ordered.rows, &row, error));
    while (row) {
        const struct gpu_span *span = row;
        struct gpu_result result = {.first = *span, .gpu = gpu_time_from(span)};
        while (span && span->rank == result.first.rank && span->device == result.first.device) {
            for (int i = 0; i < COVERAGES; i++)
                if (result.gpu.of[i].works >> span->work & 1)
                    span_cover_add(&result.gpu.of[i].cover, span);
            TRY(row_sorter_next(ordered.rows, &row, error));
            span = row;
        }
        TRY(add_result(&results, &ordered.run, &result, error));
    }
    sort_results(&results);

    for (size_t i = 0; i < results.count; i++) {
        put_gpu(&ordered.run, &results.all[i].first, table);

        /* Write the times of a GPU. */
        const struct gpu_time *time = &results.all[i].gpu;
        int64_t span = time->of[BUSY].cover.until_ns - time->start_ns;
        int64_t busy = time->of[BUSY].cover.sum_ns, computing = time->of[COMPUTING].cover.sum_ns;
        int64_t communicating = time->of[COMMUNICATING].cover.sum_ns,
                copying = time->of[COPYING].cover.sum_ns;
        int64_t communication_overlap =
            computing + communicating - time->of[COMPUTING_OR_COMMUNICATING].cover.sum_ns;
        int64_t memory_overlap = computing + copying - time->of[COMPUTING_OR_COPYING].cover.sum_ns;
        table_put_double(table, span_us(span));
        table_put_double(table, span_us(span - busy));
        table_put_double(table, span_us(computing));
        table_put_double(table, span_us(busy - computing));
        table_put_double(table, span_us(communicating));
        table_put_double(table, span_us(copying));
        table_put_double(table, span_us(communication_overlap));
        table_put_double(table, span_us(memory_overlap));
        table_put_double(table, span_percent(span - busy, span));
        table_put_double(table, span_percent(computing, span));
        table_put_double(table, span_percent(busy - computing, span));
        table_put_double(table, span_percent(communication_overlap, communicating));
        table_put_double(table, span_percent(memory_overlap, copying));
    }
    return GPUT_OK;
}

/* The sums over all calls of one kernel. */
struct kernel {
    uint32_t name;
    uint8_t work;
    int64_t count;
    int64_t total_ns;
    int64_t min_ns;
    int64_t max_ns;
};

/* Adds the sums of other calls to those of a kernel. */
static void add_call(struct kernel *kernel, const struct kernel *call)
{
    if (kernel->count == 0 || call->min_ns < kernel->min_ns)
        kernel->min_ns = call->min_ns;
    if (kernel->count == 0 || call->max_ns > kernel->max_ns)
        kernel->max_ns = call->max_ns;
    kernel->count += call->count;
    kernel->total_ns += call->total_ns;
}

/* Orders kernels by total time, the longest first. */
static int by_time_descending(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    ORDER_BY(b->total_ns, a->total_ns);
    ORDER_BY(a->name, b->name);
    return ORDER(a->work, b->work);
}

/* Writes a row of a kernel. */
static void put_kernel(const struct kernel *kernel, const char *name, const char *work,
    int64_t all_ns, struct gput_table *table)
{
    table_put_text(table, name);
    table_put_text(table, work);
    table_put_int(table, kernel->count);
    table_put_double(table, span_us(kernel->total_ns));
    table_put_double(table, span_us(kernel->total_ns) / (double)kernel->count);
    table_put_double(table, span_us(kernel->min_ns));
    table_put_double(table, span_us(kernel->max_ns));
    table_put_double(table, span_percent(kernel->total_ns, all_ns));
}

struct kernels {
    struct kineto_run run;
    struct kernel *sums; /* by number of the name and kind of work; zero for those that were not
                            called */
    size_t capacity;
    int64_t all_ns;
};

#define WORKS (GPU_MEMORY + 1)

/* Adds up a kernel under its name and kind of work. */
static int add_kernel(void *user, const struct gpu_span *span, struct gput_error *error)
{
    struct kernels *kernels = user;
    if (span->name >= kernels->capacity / WORKS) {
        size_t capacity = kernels->run.names.capacity * WORKS;
        if (!ARRAY_RESIZE(kernels->sums, capacity))
            return error_memory(error);
        memset(kernels->sums + kernels->capacity, 0,
            (capacity - kernels->capacity) * sizeof *kernels->sums);
        kernels->capacity = capacity;
    }
    int64_t ns = span->end_ns - span->start_ns;
    struct kernel call = {.count = 1, .total_ns = ns, .min_ns = ns, .max_ns = ns};
    struct kernel *sum = kernels->sums + span->name * WORKS + span->work;
    sum->name = span->name;
    sum->work = span->work;
    add_call(sum, &call);
    kernels->all_ns += ns;
    return GPUT_OK;
}

/* Makes the table of kernels. */
static int make_kernels(const struct gput_kineto_options *options, struct gput_tables *tables,
    struct read_report *report, struct gput_error *error)
{
    struct kernels kernels = {0};
    struct gput_table *table = tables_add(tables, "kernels");
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "name", "work", NULL);
    table_add_column(table, "count", GPUT_COLUMN_INT);
    table_add_columns_of(
        table, GPUT_COLUMN_DOUBLE, "total_us", "mean_us", "min_us", "max_us", "share_%", NULL);
    int code =
        kineto_run_read(options, KINETO_GPU, &kernels.run, add_kernel, &kernels, report, error);
    if (code == GPUT_OK) {
        /* Write the kernels that took the most time, and the rest in one row. */
        const struct names *names = &kernels.run.names;
        struct kernel rest = {0};
        size_t count = 0;
        for (size_t i = 0; i < kernels.capacity; i++)
            if (kernels.sums[i].count > 0)
                kernels.sums[count++] = kernels.sums[i];
        qsort(kernels.sums, count, sizeof *kernels.sums, by_time_descending);
        for (size_t i = 0; i < count; i++) {
            const struct kernel *kernel = kernels.sums + i;
            if (i < (options->limit ? options->limit : 10))
                put_kernel(kernel, names_text(names, kernel->name), gpu_work_name(kernel->work),
                    kernels.all_ns, table);
            else
                add_call(&rest, kernel);
        }
        if (rest.count > 0)
            put_kernel(&rest, "others", NULL, kernels.all_ns, table);
    }

    free(kernels.sums);
    kineto_run_finish(&kernels.run);
    return code;
}

/* Adds the gap before a kernel to the cause of the idle time. */
static void add_gap(struct stream_time *time, const struct gpu_span *span, int64_t delay_ns)
{
    int64_t gap = span->start_ns - time->until_ns;
    if (gap > 0 && span->launched_ns > time->until_ns)
        time->host_ns += gap; /* no work had been requested from the GPU */
    else if (gap > 0 && span->launched_ns == INT64_MIN)
        time->unknown_ns += gap;
    else if (gap > 0 && gap < delay_ns)
        time->kernel_ns += gap; /* launched in time: the delay of one kernel after another */
    else if (gap > 0)
        time->other_ns += gap;
    time->until_ns = span->end_ns > time->until_ns ? span->end_ns : time->until_ns;
}

/* Whether two slices ran on the same stream. */
static bool same_stream(const struct gpu_span *a, const struct gpu_span *b)
{
    return a->rank == b->rank && a->device == b->device && a->stream == b->stream;
}

/* Makes the table of why streams were idle. */
static int make_idle(const struct gput_kineto_options *options, struct gput_tables *tables,
    struct read_report *report, struct gput_error *error)
{
    static const char *const columns[] = {"span_us", "idle_us", "host_wait_us", "kernel_wait_us",
        "other_us", "unknown_us", "host_wait_%", "kernel_wait_%", "other_%", "unknown_%"};
    CLEANUP(kineto_spans_finish) struct kineto_spans ordered = {0};
    CLEANUP(results_free) struct gpu_results results = {0};
    struct gput_table *table = tables_add(tables, "idle");
    add_gpu_columns(table);
    table_add_column(table, "stream", GPUT_COLUMN_INT);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_add_column(table, columns[i], GPUT_COLUMN_DOUBLE);
    int64_t delay_ns = options->kernel_delay_ns ? options->kernel_delay_ns : DEFAULT_DELAY_NS;
    TRY(kineto_spans_read(options, KINETO_GPU_AND_LAUNCHES, by_stream, &ordered, report, error));

    /* Walk over the kernels of each stream, and add up the gaps between them. */
    const void *row;
    TRY(row_sorter_first(ordered.rows, &row, error));
    while (row) {
        const struct gpu_span *first = row;
        struct gpu_result result = {
            .first = *first, .stream = {.start_ns = first->start_ns, .until_ns = first->end_ns}};
        while (row && same_stream(row, &result.first)) {
            add_gap(&result.stream, row, delay_ns);
            TRY(row_sorter_next(ordered.rows, &row, error));
        }
        TRY(add_result(&results, &ordered.run, &result, error));
    }
    sort_results(&results);

    for (size_t i = 0; i < results.count; i++) {
        /* Write the idle time of a stream by cause. */
        const struct gpu_span *first = &results.all[i].first;
        const struct stream_time *time = &results.all[i].stream;
        int64_t idle = time->host_ns + time->kernel_ns + time->other_ns + time->unknown_ns;
        put_gpu(&ordered.run, first, table);
        table_put_int(table, span_number(first->stream));
        table_put_double(table, span_us(time->until_ns - time->start_ns));
        table_put_double(table, span_us(idle));
        table_put_double(table, span_us(time->host_ns));
        table_put_double(table, span_us(time->kernel_ns));
        table_put_double(table, span_us(time->other_ns));
        table_put_double(table, span_us(time->unknown_ns));
        table_put_double(table, span_percent(time->host_ns, idle));
        table_put_double(table, span_percent(time->kernel_ns, idle));
        table_put_double(table, span_percent(time->other_ns, idle));
        table_put_double(table, span_percent(time->unknown_ns, idle));
    }

    return GPUT_OK;
}

/* Reads the traces, and makes the tables of one view. */
static int make_view(enum gput_kineto_view view, const struct gput_kineto_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct read_report report = {.cores = options->cores,
        .warn = options->warn,
        .progress = options->progress,
        .progress_span = 1,
        .user = options->user};
    switch (view) {
    case GPUT_KINETO_BREAKDOWN:
        return make_breakdown(options, tables, &report, error);
    case GPUT_KINETO_KERNELS:
        return make_kernels(options, tables, &report, error);
    case GPUT_KINETO_IDLE:
        return make_idle(options, tables, &report, error);
    default:
        return kineto_diff(options, tables, &report, error);
    }
}

static const struct gput_kineto_options default_options = {.size = sizeof default_options};

void gput_kineto_options_init(struct gput_kineto_options *options, size_t size)
{
    sized_init(options, size, &default_options, sizeof default_options);
}

int gput_kineto_tables(enum gput_kineto_view view, const struct gput_kineto_options *given,
    struct gput_tables **tables, struct gput_error *error)
{
    struct gput_kineto_options options = default_options;
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    if (view < GPUT_KINETO_BREAKDOWN || view > GPUT_KINETO_DIFF)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such view of a trace");
    if (options.n_paths == 0)
        return error_set(error, GPUT_ERROR_INVALID, "Name a trace of PyTorch's profiler");
    if (view == GPUT_KINETO_DIFF && options.n_paths != 2)
        return error_set(
            error, GPUT_ERROR_INVALID, "Name the two traces, or folders of traces, to compare");
    struct gput_tables *made = tables_create();
    int code = made ? make_view(view, &options, made, error) : error_memory(error);
    if (code == GPUT_ERROR_NOT_FOUND && view != GPUT_KINETO_DIFF) {
        gput_tables_destroy(made);
        made = tables_create();
        code = made ? kineto_host_make(view, &options, made, error) : error_memory(error);
    }
    if (code == GPUT_OK)
        return tables_finish_building(made, tables, error);
    gput_tables_destroy(made);
    return code;
}
