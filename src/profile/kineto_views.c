#include "base/str.h"
#include "base/table.h"
#include "profile/kineto.h"
#include "profile/kineto_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double us(int64_t ns)
{
    return (double)ns / 1000;
}

static double percent(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole * 100 : NAN;
}

/* How long spans of the kinds of work in a set (a bit each) cover together; spans are by start. */
static int64_t covered(const struct gpu_span *spans, size_t count, unsigned works)
{
    int64_t sum = 0, until = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_span *span = spans + i;
        if (!(works >> span->work & 1) || span->end_ns <= until)
            continue;
        sum += span->end_ns - (span->start_ns > until ? span->start_ns : until);
        until = span->end_ns;
    }
    return sum;
}

static void put_breakdown(const struct kineto_run *run, const struct gpu_span *spans, size_t count,
    struct gput_table *table)
{
    const unsigned compute = 1u << GPU_COMPUTE, communication = 1u << GPU_COMMUNICATION;
    const unsigned memory = 1u << GPU_MEMORY;
    int64_t end_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++)
        end_ns = spans[i].end_ns > end_ns ? spans[i].end_ns : end_ns;
    int64_t span = end_ns - spans[0].start_ns;
    int64_t busy = covered(spans, count, compute | communication | memory);
    int64_t computing = covered(spans, count, compute);
    int64_t communicating = covered(spans, count, communication);
    int64_t overlap = computing + communicating - covered(spans, count, compute | communication);
    table_put_int(table, kineto_rank_number(run, spans[0].rank));
    table_put_int(table, spans[0].device);
    table_put_double(table, us(span));
    table_put_double(table, us(span - busy));
    table_put_double(table, us(computing));
    table_put_double(table, us(busy - computing));
    table_put_double(table, us(communicating));
    table_put_double(table, us(covered(spans, count, memory)));
    table_put_double(table, us(overlap));
    table_put_double(table, percent(span - busy, span));
    table_put_double(table, percent(computing, span));
    table_put_double(table, percent(busy - computing, span));
    table_put_double(table, percent(overlap, communicating));
}

static void make_breakdown(const struct kineto_run *run, struct gput_tables *tables)
{
    static const char *const columns[] = {"span_us", "idle_us", "compute_us", "non_compute_us",
        "communication_us", "memory_us", "communication_overlap_us", "idle_%", "compute_%",
        "non_compute_%", "communication_overlap_%"};
    struct gput_table *table = tables_add(tables, "breakdown");
    table_add_column(table, "rank", GPUT_COLUMN_INT);
    table_add_column(table, "gpu", GPUT_COLUMN_INT);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_add_column(table, columns[i], GPUT_COLUMN_DOUBLE);
    for (size_t first = 0, end; first < run->count; first = end) {
        for (end = first + 1; end < run->count && run->spans[end].rank == run->spans[first].rank &&
                              run->spans[end].device == run->spans[first].device;)
            end++;
        put_breakdown(run, run->spans + first, end - first, table);
    }
}

/* What all calls of one kernel add up to. */
struct kernel {
    uint32_t name;
    uint8_t work;
    int64_t count;
    int64_t total_ns;
    int64_t least_ns;
    int64_t most_ns;
};

static void add_call(struct kernel *kernel, const struct kernel *call)
{
    if (kernel->count == 0 || call->least_ns < kernel->least_ns)
        kernel->least_ns = call->least_ns;
    if (kernel->count == 0 || call->most_ns > kernel->most_ns)
        kernel->most_ns = call->most_ns;
    kernel->count += call->count;
    kernel->total_ns += call->total_ns;
}

static int most_time_first(const void *left, const void *right)
{
    const struct kernel *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static void put_kernel(const struct kernel *kernel, const char *name, const char *work,
    int64_t all_ns, struct gput_table *table)
{
    table_put_text(table, name);
    table_put_text(table, work);
    table_put_int(table, kernel->count);
    table_put_double(table, us(kernel->total_ns));
    table_put_double(table, us(kernel->total_ns) / (double)kernel->count);
    table_put_double(table, us(kernel->least_ns));
    table_put_double(table, us(kernel->most_ns));
    table_put_double(table, percent(kernel->total_ns, all_ns));
}

static int make_kernels(const struct kineto_run *run, size_t limit, struct gput_tables *tables,
    struct gput_error *error)
{
    struct kernel *kernels = calloc(run->names.count + 1, sizeof *kernels);
    struct kernel rest = {0};
    int64_t all_ns = 0;
    struct gput_table *table = tables_add(tables, "kernels");
    table_add_column(table, "name", GPUT_COLUMN_TEXT);
    table_add_column(table, "work", GPUT_COLUMN_TEXT);
    table_add_column(table, "count", GPUT_COLUMN_INT);
    table_add_column(table, "total_us", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "mean_us", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "min_us", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "max_us", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "share_%", GPUT_COLUMN_DOUBLE);
    if (!kernels)
        return error_memory(error);
    for (uint32_t i = 0; i < run->names.count; i++)
        kernels[i].name = i;
    for (size_t i = 0; i < run->count; i++) {
        int64_t ns = run->spans[i].end_ns - run->spans[i].start_ns;
        struct kernel call = {.count = 1, .total_ns = ns, .least_ns = ns, .most_ns = ns};
        kernels[run->spans[i].name].work = run->spans[i].work;
        add_call(&kernels[run->spans[i].name], &call);
        all_ns += ns;
    }
    qsort(kernels, run->names.count, sizeof *kernels, most_time_first);
    for (uint32_t i = 0; i < run->names.count; i++)
        if (i < limit)
            put_kernel(kernels + i, names_text(&run->names, kernels[i].name),
                gpu_work_name(kernels[i].work), all_ns, table);
        else
            add_call(&rest, kernels + i);
    if (rest.count > 0)
        put_kernel(&rest, "others", NULL, all_ns, table);
    free(kernels);
    return GPUT_OK;
}

static int by_stream(const void *left, const void *right)
{
    const struct gpu_span *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static void put_idle(const struct kineto_run *run, const struct gpu_span *spans, size_t count,
    int64_t delay_ns, struct gput_table *table)
{
    int64_t host_ns = 0, kernel_ns = 0, other_ns = 0, until = spans[0].end_ns;
    for (size_t i = 1; i < count; i++) {
        int64_t gap = spans[i].start_ns - until;
        if (gap > 0 && spans[i].launched_ns > until)
            host_ns += gap; /* nothing was asked of the GPU before */
        else if (gap > 0 && gap <= delay_ns)
            kernel_ns += gap;
        else if (gap > 0)
            other_ns += gap;
        until = spans[i].end_ns > until ? spans[i].end_ns : until;
    }
    int64_t idle = host_ns + kernel_ns + other_ns;
    table_put_int(table, kineto_rank_number(run, spans[0].rank));
    table_put_int(table, spans[0].device);
    table_put_int(table, spans[0].stream);
    table_put_double(table, us(until - spans[0].start_ns));
    table_put_double(table, us(idle));
    table_put_double(table, us(host_ns));
    table_put_double(table, us(kernel_ns));
    table_put_double(table, us(other_ns));
    table_put_double(table, percent(host_ns, idle));
    table_put_double(table, percent(kernel_ns, idle));
    table_put_double(table, percent(other_ns, idle));
}

static void make_idle(struct kineto_run *run, int64_t delay_ns, struct gput_tables *tables)
{
    static const char *const columns[] = {"span_us", "idle_us", "host_wait_us", "kernel_wait_us",
        "other_us", "host_wait_%", "kernel_wait_%", "other_%"};
    struct gput_table *table = tables_add(tables, "idle");
    table_add_column(table, "rank", GPUT_COLUMN_INT);
    table_add_column(table, "gpu", GPUT_COLUMN_INT);
    table_add_column(table, "stream", GPUT_COLUMN_INT);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_add_column(table, columns[i], GPUT_COLUMN_DOUBLE);
    qsort(run->spans, run->count, sizeof *run->spans, by_stream);
    for (size_t first = 0, end; first < run->count; first = end) {
        const struct gpu_span *span = run->spans + first;
        for (end = first + 1; end < run->count && run->spans[end].rank == span->rank &&
                              run->spans[end].device == span->device &&
                              run->spans[end].stream == span->stream;)
            end++;
        put_idle(run, span, end - first, delay_ns, table);
    }
}

static int make_view(enum gput_kineto_view view, const struct gput_kineto_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct read_report report = {.warn = options->warn, .user = options->user};
    struct kineto_run run;
    if (view == GPUT_KINETO_DIFF)
        return kineto_diff(options, tables, &report, error);
    int code = kineto_run_read(options, view == GPUT_KINETO_IDLE, &run, &report, error);
    if (code == GPUT_OK && view == GPUT_KINETO_BREAKDOWN)
        make_breakdown(&run, tables);
    else if (code == GPUT_OK && view == GPUT_KINETO_KERNELS)
        code = make_kernels(&run, options->limit ? options->limit : 10, tables, error);
    else if (code == GPUT_OK)
        make_idle(&run, options->kernel_delay_ns ? options->kernel_delay_ns : 30, tables);
    kineto_run_finish(&run);
    return code;
}

int gput_kineto(enum gput_kineto_view view, const struct gput_kineto_options *options,
    struct gput_tables **tables, struct gput_error *error)
{
    *tables = NULL;
    if (view < GPUT_KINETO_BREAKDOWN || view > GPUT_KINETO_DIFF)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such view of a trace");
    if (options->path_count == 0)
        return error_set(error, GPUT_ERROR_INVALID, "Name a trace of PyTorch's profiler");
    if (view == GPUT_KINETO_DIFF && options->path_count != 2)
        return error_set(error, GPUT_ERROR_INVALID, "Name the two traces to compare");
    struct gput_tables *made = tables_create();
    int code = made ? make_view(view, options, made, error) : error_memory(error);
    if (code == GPUT_OK)
        return tables_finish_building(made, tables, error);
    gput_tables_destroy(made);
    return code;
}
