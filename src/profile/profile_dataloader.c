#include "profile/profile_views.h"
#include "profile/statistics.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is at least this many times the median is an outlier. */
#define OUTLIER_FACTOR 2

/* The parts of loading data that are looked at. */
enum part { INITIALIZATION, WORKERS, GETNEXT, PARTS };

static bool contains(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; *text; text++)
        if (strncasecmp(text, word, length) == 0)
            return true;
    return false;
}

/* Which part a row belongs to, by its name or, failing that, its phase; PARTS: none. */
static enum part part_of(const struct profile_frame *frame, const struct framework_row *row)
{
    const char *texts[] = {
        profile_frame_text(frame, row->metric), profile_frame_text(frame, row->phase)};
    for (int i = 0; i < 2; i++) {
        if (contains(texts[i], "GetNext"))
            return GETNEXT;
        if (contains(texts[i], "DataLoaderWorker"))
            return WORKERS;
        if (contains(texts[i], "DataLoaderIter"))
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

/* One measured thing: a row, and its duration or its distance to the next. */
struct measured {
    const struct framework_row *row;
    int64_t duration_us;
};

struct measures {
    struct measured *all;
    size_t count;
};

static double median_of(const struct measures *measures)
{
    struct figures figures = {0};
    for (size_t i = 0; i < measures->count; i++)
        figures_add(&figures, (double)measures->all[i].duration_us);
    double median = figures_summarize(&figures).p50;
    figures_finish(&figures);
    return median;
}

static int longest_first(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;
    if (a->duration_us != b->duration_us)
        return a->duration_us > b->duration_us ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void put_row(
    const struct profile_frame *frame, const struct measured *measured, struct gput_table *table)
{
    const struct framework_row *row = measured->row;
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

static struct gput_table *add_row_table(struct gput_tables *tables, const char *name)
{
    static const struct {
        const char *name;
        enum gput_column_type type;
    } columns[] = {{"start_time", GPUT_COLUMN_TEXT}, {"end_time", GPUT_COLUMN_TEXT},
        {"start_time_us", GPUT_COLUMN_INT}, {"end_time_us", GPUT_COLUMN_INT},
        {"duration_us", GPUT_COLUMN_INT}, {"pid", GPUT_COLUMN_INT},
        {"framework_metric", GPUT_COLUMN_TEXT}, {"step", GPUT_COLUMN_INT},
        {"worker_id", GPUT_COLUMN_INT}, {"num_workers", GPUT_COLUMN_INT},
        {"pin_memory", GPUT_COLUMN_TEXT}, {"process", GPUT_COLUMN_TEXT},
        {"node_id", GPUT_COLUMN_TEXT}};
    struct gput_table *table = tables_add(tables, name);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_add_column(table, columns[i].name, columns[i].type);
    return table;
}

/* The outliers of some measures, the longest first. */
static void put_outliers(const struct profile_frame *frame, struct measures *measures,
    const char *name, struct gput_tables *tables)
{
    struct gput_table *table = add_row_table(tables, name);
    double median = median_of(measures);
    if (measures->count > 1)
        qsort(measures->all, measures->count, sizeof *measures->all, longest_first);
    for (size_t i = 0; i < measures->count; i++)
        if ((double)measures->all[i].duration_us >= OUTLIER_FACTOR * median && median > 0)
            put_row(frame, measures->all + i, table);
}

static void put_summary(const char *part, const struct measures *measures, struct gput_table *table)
{
    int64_t longest = INT64_MIN;
    for (size_t i = 0; i < measures->count; i++)
        if (measures->all[i].duration_us > longest)
            longest = measures->all[i].duration_us;
    table_put_text(table, part);
    table_put_int(table, (int64_t)measures->count);
    table_put_double(table, median_of(measures));
    table_put_int(table, longest);
}

/* Iterators by kind, pinned memory and number of workers. */
static bool same_iterator(const struct framework_row *a, const struct framework_row *b)
{
    return a->metric == b->metric && a->pin_memory == b->pin_memory &&
           a->num_workers == b->num_workers;
}

static int put_initialization(const struct profile_frame *frame, const struct measures *measures,
    struct gput_tables *tables, struct gput_error *error)
{
    struct gput_table *table = tables_add(tables, "initialization");
    struct measured *of_kind = malloc((measures->count + 1) * sizeof *of_kind);
    table_add_column(table, "framework_metric", GPUT_COLUMN_TEXT);
    table_add_column(table, "pin_memory", GPUT_COLUMN_TEXT);
    table_add_column(table, "num_workers", GPUT_COLUMN_INT);
    table_add_column(table, "count", GPUT_COLUMN_INT);
    table_add_column(table, "duration_median_us", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "duration_max_us", GPUT_COLUMN_INT);
    if (!of_kind)
        return error_memory(error);
    for (size_t i = 0; i < measures->count; i++) {
        const struct framework_row *row = measures->all[i].row;
        struct measures same = {of_kind, 0};
        int64_t longest = 0;
        bool first = true;
        for (size_t j = 0; j < i && first; j++)
            first = !same_iterator(measures->all[j].row, row);
        for (size_t j = i; first && j < measures->count; j++)
            if (same_iterator(measures->all[j].row, row)) {
                of_kind[same.count++] = measures->all[j];
                if (measures->all[j].duration_us > longest)
                    longest = measures->all[j].duration_us;
            }
        if (!first)
            continue;
        table_put_text(table, profile_frame_text(frame, row->metric));
        table_put_text(table, profile_frame_text(frame, row->pin_memory));
        table_put_int(table, row->num_workers);
        table_put_int(table, (int64_t)same.count);
        table_put_double(table, median_of(&same));
        table_put_int(table, longest);
    }
    free(of_kind);
    return GPUT_OK;
}

/* By node and process, then time: what batch times are differences of. */
static int by_process(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;
    if (a->row->node != b->row->node)
        return a->row->node < b->row->node ? -1 : 1;
    if (a->row->pid != b->row->pid)
        return a->row->pid < b->row->pid ? -1 : 1;
    return a->row->start_us < b->row->start_us ? -1 : a->row->start_us > b->row->start_us;
}

/* From the begin of one GetNext to the begin of the next of the same process. */
static void make_batches(const struct measures *getnext, struct measures *batches)
{
    memcpy(batches->all, getnext->all, getnext->count * sizeof *getnext->all);
    if (getnext->count > 1)
        qsort(batches->all, getnext->count, sizeof *batches->all, by_process);
    for (size_t i = 0; i + 1 < getnext->count; i++) {
        const struct framework_row *row = batches->all[i].row, *next = batches->all[i + 1].row;
        if (row->node == next->node && row->pid == next->pid)
            batches->all[batches->count++] = (struct measured){row, next->start_us - row->start_us};
    }
}

static int put_all(const struct profile_frame *frame, struct measures *parts,
    struct measures *batches, struct gput_tables *tables, struct gput_error *error)
{
    struct gput_table *summary = tables_add(tables, "summary");
    table_add_column(summary, "part", GPUT_COLUMN_TEXT);
    table_add_column(summary, "count", GPUT_COLUMN_INT);
    table_add_column(summary, "duration_median_us", GPUT_COLUMN_DOUBLE);
    table_add_column(summary, "duration_max_us", GPUT_COLUMN_INT);
    make_batches(parts + GETNEXT, batches);
    put_summary("initialization", parts + INITIALIZATION, summary);
    put_summary("workers", parts + WORKERS, summary);
    put_summary("getnext", parts + GETNEXT, summary);
    put_summary("batch_time", batches, summary);
    TRY(put_initialization(frame, parts + INITIALIZATION, tables, error));
    put_outliers(frame, parts + INITIALIZATION, "initialization_outliers", tables);
    put_outliers(frame, parts + WORKERS, "worker_outliers", tables);
    put_outliers(frame, parts + GETNEXT, "getnext_outliers", tables);
    put_outliers(frame, batches, "batch_time_outliers", tables);
    return GPUT_OK;
}

/* All rows of the frame, which are those of data loaders: the caller's to free. */
static int hold_rows(struct profile_frame *frame, struct framework_row **rows, size_t *count,
    struct gput_error *error)
{
    const struct framework_row *row;
    size_t capacity = 0;
    TRY(profile_frame_first_event(frame, &row, error));
    for (*count = 0; row; ++*count) {
        if (*count == capacity) {
            capacity = capacity ? capacity * 2 : 256;
            struct framework_row *larger = realloc(*rows, capacity * sizeof *larger);
            if (!larger)
                return error_memory(error);
            *rows = larger;
        }
        (*rows)[*count] = *row;
        TRY(profile_frame_next_event(frame, &row, error));
    }
    return GPUT_OK;
}

static int put_rows(const struct profile_frame *frame, const struct framework_row *rows,
    size_t count, struct gput_tables *tables, struct gput_error *error)
{
    struct measures parts[PARTS] = {{NULL, 0}}, batches = {NULL, 0};
    size_t counts[PARTS + 1] = {0};
    for (size_t i = 0; i < count; i++)
        counts[part_of(frame, rows + i)]++;
    struct measured *memory = malloc((count + counts[GETNEXT] + 1) * sizeof *memory);
    if (!memory)
        return error_memory(error);
    batches.all = memory;
    parts[GETNEXT].all = batches.all + counts[GETNEXT];
    parts[WORKERS].all = parts[GETNEXT].all + counts[GETNEXT];
    parts[INITIALIZATION].all = parts[WORKERS].all + counts[WORKERS];
    for (size_t i = 0; i < count; i++) {
        struct measures *measures = parts + part_of(frame, rows + i);
        measures->all[measures->count++] =
            (struct measured){rows + i, rows[i].end_us - rows[i].start_us};
    }
    int code = put_all(frame, parts, &batches, tables, error);
    free(memory);
    return code;
}

int profile_dataloader(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct framework_row *rows = NULL;
    size_t count;
    int code = hold_rows(frame, &rows, &count, error);
    if (code == GPUT_OK && count == 0)
        code = error_set(error, GPUT_ERROR_NOT_FOUND,
            "There are no events of a data loader in %s: none is called …DataLoaderIter…, "
            "…DataLoaderWorker… or …GetNext…",
            profile_source(options));
    if (code == GPUT_OK)
        code = put_rows(frame, rows, count, tables, error);
    free(rows);
    return code;
}
