#include "analysis/training/pytorch/kineto_host.h"

#include "analysis/training/pytorch/kineto.h"
#include "base/array.h"
#include "base/order.h"

#include <stdlib.h>

/* ---- Nested operators ---- */

struct open_operator {
    uint32_t name;
    int64_t start_ns, end_ns;
    int64_t inner_ns; /* time of operators that it called */
};

/* All calls of one operator. */
struct operator_sum {
    uint32_t name;
    uint32_t open; /* number of its open calls on the current thread */
    int64_t count, own_ns, max_ns;
    int64_t total_ns; /* without calls inside another call of it, which already counts them */
};

/* One thread of a process, which becomes a row. */
struct host_thread {
    struct gpu_span first;
    int64_t rank; /* INT64_MAX: not known */
    struct span_cover operators, loading, both;
    int64_t end_ns;
    int64_t gaps, longest_gap_ns;
};

struct host {
    struct kineto_spans spans;
    struct open_operator *open;
    size_t depth, open_capacity;
    struct operator_sum *sums; /* by number of the name */
    struct host_thread *threads;
    size_t n_threads;
    int64_t own_ns;
};

/* Ends the innermost operator, and adds its total and own time to its sum. */
static void close_operator(struct host *host)
{
    const struct open_operator *open = &host->open[--host->depth];
    struct operator_sum *sum = &host->sums[open->name];
    int64_t total = open->end_ns - open->start_ns;
    int64_t own = total > open->inner_ns ? total - open->inner_ns : 0;
    sum->name = open->name;
    sum->count++;
    sum->total_ns += --sum->open == 0 ? total : 0;
    sum->own_ns += own;
    sum->max_ns = total > sum->max_ns ? total : sum->max_ns;
    host->own_ns += own;
    if (host->depth > 0)
        host->open[host->depth - 1].inner_ns += total;
}

/* ---- Threads ---- */

/* Orders slices by thread and start; an outer slice comes before those within it. */
static int by_thread(const void *left, const void *right)
{
    const struct gpu_span *a = left, *b = right;
    ORDER_BY_RESULT(kineto_spans_compare_streams(a, b));
    ORDER_BY_RESULT(kineto_spans_compare_starts(a, b));
    return ORDER(b->end_ns, a->end_ns); /* the outer one first */
}

/* Adds a slice to its thread. */
static int add_to_thread(struct host *host, const struct gpu_span *span, struct gput_error *error)
{
    if (host->n_threads == 0 ||
        kineto_spans_compare_streams(&host->threads[host->n_threads - 1].first, span) != 0) {
        /* Begin a thread, after ending all operators of the previous one. */
        int64_t rank = host->spans.run.ranks.all[span->rank].rank;
        while (host->depth > 0)
            close_operator(host);
        if (!ARRAY_EXTEND(host->threads, host->n_threads))
            return error_memory(error);
        host->threads[host->n_threads++] = (struct host_thread){.first = *span,
            .rank = rank >= 0 ? rank : INT64_MAX,
            .end_ns = span->end_ns,
            .operators.until_ns = span->start_ns,
            .loading.until_ns = span->start_ns,
            .both.until_ns = span->start_ns};
    }

    struct host_thread *thread = &host->threads[host->n_threads - 1];
    thread->end_ns = span->end_ns > thread->end_ns ? span->end_ns : thread->end_ns;
    if (span->work == HOST_STEP)
        return GPUT_OK;
    span_cover_add(&thread->both, span);
    if (span->work == HOST_DATA_LOADING) {
        span_cover_add(&thread->loading, span);
        return GPUT_OK;
    }
    int64_t gap = span->start_ns - thread->operators.until_ns;
    thread->gaps += gap > 0;
    thread->longest_gap_ns = gap > thread->longest_gap_ns ? gap : thread->longest_gap_ns;
    span_cover_add(&thread->operators, span);
    /* Open an operator. An operator that only overlaps the end of another is not inside it. */
    while (host->depth > 0 && host->open[host->depth - 1].end_ns < span->end_ns)
        close_operator(host);
    while (host->depth > 0 && host->open[host->depth - 1].end_ns <= span->start_ns)
        close_operator(host);
    if (!ARRAY_RESERVE(host->open, host->depth, host->open_capacity))
        return error_memory(error);
    host->sums[span->name].open++;
    host->open[host->depth++] = (struct open_operator){
        .name = span->name, .start_ns = span->start_ns, .end_ns = span->end_ns};
    return GPUT_OK;
}

/* Orders threads by rank. Those whose rank is unknown come last. */
static int thread_order(const void *left, const void *right)
{
    const struct host_thread *a = left, *b = right;
    ORDER_BY(a->rank, b->rank);
    return by_thread(&a->first, &b->first);
}

/* Reads the slices of the host in order of threads and times. */
static int read_host(struct host *host, const struct gput_kineto_options *options,
    struct read_report *report, struct gput_error *error)
{
    const void *row;
    TRY(kineto_spans_read(options, KINETO_HOST, by_thread, &host->spans, report, error));
    host->sums = calloc(host->spans.run.names.count + 1, sizeof *host->sums);
    if (!host->sums)
        return error_memory(error);
    TRY(row_sorter_first(host->spans.rows, &row, error));
    while (row) {
        TRY(add_to_thread(host, row, error));
        TRY(row_sorter_next(host->spans.rows, &row, error));
    }
    while (host->depth > 0)
        close_operator(host);
    if (host->n_threads > 0)
        qsort(host->threads, host->n_threads, sizeof *host->threads, thread_order);
    return GPUT_OK;
}

/* ---- Tables ---- */

/* Adds a table whose first columns name a thread. */
static struct gput_table *add_thread_table(struct gput_tables *tables, const char *name)
{
    struct gput_table *table = tables_add(tables, name);
    table_add_column(table, "rank", GPUT_COLUMN_INT);
    table_add_column(table, "trace", GPUT_COLUMN_TEXT);
    table_add_columns_of(table, GPUT_COLUMN_INT, "process", "thread", NULL);
    return table;
}

/* Writes the cells that identify a thread, and its duration, which it returns. */
static int64_t put_thread(
    const struct host *host, const struct host_thread *thread, struct gput_table *table)
{
    const struct kineto_rank *rank = &host->spans.run.ranks.all[thread->first.rank];
    int64_t span = thread->end_ns - thread->first.start_ns;
    table_put_int(table, kineto_rank_number(rank));
    table_put_text(table, rank->path);
    table_put_int(table, span_number(thread->first.device));
    table_put_int(table, span_number(thread->first.stream));
    table_put_double(table, span_us(span));
    return span;
}

/* Makes the table of how threads spent their time. */
static void make_threads(const struct host *host, struct gput_tables *tables)
{
    struct gput_table *table = add_thread_table(tables, "threads");
    table_add_columns_of(table, GPUT_COLUMN_DOUBLE, "span_us", "operators_us", "data_loading_us",
        "other_us", "operators_%", "data_loading_%", "other_%", NULL);
    for (size_t i = 0; i < host->n_threads; i++) {
        const struct host_thread *thread = &host->threads[i];
        int64_t span = put_thread(host, thread, table);
        int64_t parts[] = {thread->both.sum_ns - thread->loading.sum_ns, thread->loading.sum_ns,
            span - thread->both.sum_ns};
        for (size_t part = 0; part < 3; part++)
            table_put_double(table, span_us(parts[part]));
        for (size_t part = 0; part < 3; part++)
            table_put_double(table, span_percent(parts[part], span));
    }
}

/* Makes the table of the gaps between operators. */
static void make_gaps(const struct host *host, struct gput_tables *tables)
{
    struct gput_table *table = add_thread_table(tables, "gaps");
    table_add_columns_of(table, GPUT_COLUMN_DOUBLE, "span_us", "idle_us", "data_loading_us",
        "other_us", "longest_us", "idle_%", NULL);
    table_add_column(table, "gaps", GPUT_COLUMN_INT);
    for (size_t i = 0; i < host->n_threads; i++) {
        const struct host_thread *thread = &host->threads[i];
        int64_t span = put_thread(host, thread, table);
        int64_t idle = span - thread->operators.sum_ns, other = span - thread->both.sum_ns;
        int64_t last = thread->end_ns - thread->operators.until_ns;
        table_put_double(table, span_us(idle));
        table_put_double(table, span_us(idle - other));
        table_put_double(table, span_us(other));
        table_put_double(
            table, span_us(last > thread->longest_gap_ns ? last : thread->longest_gap_ns));
        table_put_double(table, span_percent(idle, span));
        table_put_int(table, thread->gaps + (last > 0));
    }
}

/* Orders operators by own time, the longest first. */
static int by_own_time(const void *left, const void *right)
{
    const struct operator_sum *a = left, *b = right;
    ORDER_BY(b->own_ns, a->own_ns);
    return ORDER(a->name, b->name);
}

/* Writes a row of an operator. */
static void put_operator(const struct host *host, const struct operator_sum *sum, const char *name,
    struct gput_table *table)
{
    table_put_text(table, name);
    table_put_int(table, sum->count);
    table_put_double(table, span_us(sum->own_ns));
    table_put_double(table, span_us(sum->total_ns));
    table_put_double(table, span_us(sum->own_ns) / (double)sum->count);
    table_put_double(table, span_us(sum->max_ns));
    table_put_double(table, span_percent(sum->own_ns, host->own_ns));
}

/* Makes the table of operators, those with the most own time first; the rest in one row. */
static void make_operators(struct host *host, size_t limit, struct gput_tables *tables)
{
    struct gput_table *table = tables_add(tables, "operators");
    struct operator_sum rest = {0};
    table_add_column(table, "name", GPUT_COLUMN_TEXT);
    table_add_column(table, "count", GPUT_COLUMN_INT);
    table_add_columns_of(table, GPUT_COLUMN_DOUBLE, "own_us", "total_us", "mean_own_us", "max_us",
        "own_share_%", NULL);
    qsort(host->sums, host->spans.run.names.count, sizeof *host->sums, by_own_time);
    for (uint32_t i = 0; i < host->spans.run.names.count; i++) {
        const struct operator_sum *sum = &host->sums[i];
        if (sum->count > 0 && i < limit)
            put_operator(host, sum, names_text(&host->spans.run.names, sum->name), table);
        if (i < limit)
            continue;
        rest.count += sum->count;
        rest.own_ns += sum->own_ns;
        rest.total_ns += sum->total_ns;
        rest.max_ns = sum->max_ns > rest.max_ns ? sum->max_ns : rest.max_ns;
    }
    if (rest.count > 0)
        put_operator(host, &rest, "others", table);
}

int kineto_host_make(enum gput_kineto_view view, const struct gput_kineto_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct host host = {0};
    struct read_report report = {.cores = options->cores,
        .warn = options->warn,
        .progress = options->progress,
        .progress_span = 1,
        .user = options->user};
    int code = read_host(&host, options, &report, error);
    if (code == GPUT_OK) {
        read_report_warn(&report, host.spans.run.ranks.unknown.count > 0
                                      ? "No GPU activity is understood: this is what the CPU did"
                                      : "There is no GPU activity: this is what the CPU did");
        if (view == GPUT_KINETO_BREAKDOWN)
            make_threads(&host, tables);
        else if (view == GPUT_KINETO_KERNELS)
            make_operators(&host, options->limit ? options->limit : 10, tables);
        else
            make_gaps(&host, tables);
    }
    kineto_spans_finish(&host.spans);
    free(host.open);
    free(host.sums);
    free(host.threads);
    return code;
}
