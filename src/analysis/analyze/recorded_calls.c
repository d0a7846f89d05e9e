#include "analysis/analyze/call_segments.h"
#include "analysis/analyze/call_table.h"
#include "analysis/analyze/recorded_part.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "files/marks/sub_tracking_columns.h"

#include "base/sized.h"

#include <gputracker/recorded.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BATCH 256

/* A sub-tracking file being read. */
struct reading {
    const struct gput_recorded_options *options;
    const char *path;
    struct sub_tracking_names *names;
    struct sub_tracking_reader *reader;
    struct gput_tables *tables;
};

/* Reads the next selected marks; `*end` at the end of the file. */
static int next_marks(struct reading *reading, struct sub_tracking_mark rows[BATCH], size_t *count,
    bool *end, struct gput_error *error)
{
    const char *wanted = reading->options->code_block;
    size_t read, kept = 0;
    TRY(sub_tracking_reader_next(reading->reader, rows, BATCH, &read, error));
    for (size_t i = 0; i < read; i++) {
        const char *name = sub_tracking_names_text(reading->names, rows[i].name);
        if (!wanted || strcmp(name, wanted) == 0)
            rows[kept++] = rows[i];
    }
    *count = kept;
    *end = read == 0;
    const char *warning = *end ? sub_tracking_reader_warning(reading->reader) : NULL;
    if (warning && reading->options->warn)
        reading->options->warn(reading->options->user, warning);
    return GPUT_OK;
}

/* Adds a table with the columns that identify a block. */
static struct gput_table *add_table(struct reading *reading, const char *name)
{
    struct gput_table *table = tables_add(reading->tables, name);
    table_add_columns_of(table, GPUT_COLUMN_INT, "process_id", "thread_id", NULL);
    table_add_column(table, "code_block_name", GPUT_COLUMN_TEXT);
    return table;
}

static void put_block(struct reading *reading, struct gput_table *table, int64_t process_id,
    int64_t thread_id, uint32_t name)
{
    table_put_int(table, process_id);
    table_put_known(table, thread_id);
    table_put_text(table, sub_tracking_names_text(reading->names, name));
}

static void add_moment(struct gput_table *table, const char *name)
{
    table_add_column(table, name, GPUT_COLUMN_DOUBLE);
    table_set_unit(table, "seconds since the epoch");
}

/* ---- Marks ---- */

/* Reads marks as they are, with the exact figures that the file has. */
static int read_marks(struct reading *reading, struct gput_error *error)
{
    enum sub_tracking_column exact[SUB_TRACKING_COLUMN_COUNT];
    size_t n_exact = 0;
    unsigned columns = sub_tracking_reader_columns(reading->reader);
    struct gput_table *table = add_table(reading, "marks");
    table_add_column(table, "position", GPUT_COLUMN_INT);
    add_moment(table, "timestamp");
    for (enum sub_tracking_column i = 0; i < SUB_TRACKING_COLUMN_COUNT; i++) {
        if (!(sub_tracking_column_bit(i) & columns & SUB_TRACKING_COLUMNS_COUNTED))
            continue;
        table_add_column(table, sub_tracking_column_name(i), GPUT_COLUMN_INT);
        exact[n_exact++] = i;
    }

    struct sub_tracking_mark rows[BATCH];
    size_t count;
    bool end = false;
    while (!end) {
        TRY(next_marks(reading, rows, &count, &end, error));
        for (struct sub_tracking_mark *row = rows; row < rows + count; row++) {
            put_block(reading, table, row->process_id, row->thread_id, row->name);
            table_put_int(table, row->position);
            table_put_double(table, row->timestamp);
            for (size_t i = 0; i < n_exact; i++)
                table_put_known(table, *sub_tracking_column_figure(row, exact[i]));
            TRY(recorded_pass_full(reading->options, table, error));
        }
    }
    return recorded_pass_rest(reading->options, table, error);
}

/* ---- Calls ---- */

/* Puts a call. For joins its interval is closed, in the times that samples have. */
static void put_call(struct reading *reading, struct gput_table *table,
    const struct call_table *calls, const struct call *call)
{
    const struct call_lane *lane = &calls->lanes[call->lane];
    double origin = calls->origin, start = origin + call->start, stop = origin + call->stop;
    if (reading->options->for_joins) {
        start = call_segments_from(origin, call->start);
        stop = nextafter(call_segments_after(origin, call->stop), -INFINITY);
    }
    put_block(reading, table, lane->process_id, lane->thread_id, lane->name);
    table_put_double(table, start);
    table_put_double(table, stop);
    table_put_double(table, call->stop - call->start);
    if (!calls->exact)
        return;
    double figures[GPUT_EXACT_FIGURE_COUNT];
    exact_figures_add_call(lane->exact, call->stop, figures);
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        if (calls->exact >> i & 1)
            table_put_double(table, figures[i]);
}

/* Puts the table of calls. */
static int put_calls(
    struct reading *reading, const struct call_table *calls, struct gput_error *error)
{
    struct gput_table *table = add_table(reading, "calls");
    add_moment(table, "start");
    add_moment(table, "stop");
    table_add_column(table, "compute_time", GPUT_COLUMN_DOUBLE);
    table_set_unit(table, "seconds");
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        char name[64];
        if (!(calls->exact >> i & 1))
            continue;
        snprintf(name, sizeof name, "exact_%s", gput_exact_figure_name(i));
        table_add_column(table, name, GPUT_COLUMN_DOUBLE);
        if (gput_exact_figure_unit(i))
            table_set_unit(table, gput_exact_figure_unit(i));
    }
    for (size_t i = 0; i < calls->n_calls; i++) {
        put_call(reading, table, calls, &calls->calls[i]);
        TRY(recorded_pass_full(reading->options, table, error));
    }
    return recorded_pass_rest(reading->options, table, error);
}

/* ---- Segments ---- */

struct segments {
    struct reading *reading;
    const struct call_table *calls;
    struct gput_table *segments, *leaves;
};

/* Puts a segment of time and, when it is the first one of its leaf, the blocks that ran in it. */
static int put_segment(void *user, double start, uint32_t leaf, const uint32_t *blocks,
    size_t n_blocks, struct gput_error *error)
{
    const struct segments *to = user;
    const struct call_table *calls = to->calls;
    table_put_double(to->segments, start);
    table_put_int(to->segments, leaf);
    TRY(recorded_pass_full(to->reading->options, to->segments, error));
    for (size_t i = 0; blocks && i < n_blocks; i++) {
        table_put_int(to->leaves, leaf);
        table_put_text(
            to->leaves, sub_tracking_names_text(to->reading->names, calls->block_names[blocks[i]]));
        TRY(recorded_pass_full(to->reading->options, to->leaves, error));
    }
    return GPUT_OK;
}

/* Puts two tables: segments of time, and which blocks ran in them. */
static int put_segments(
    struct reading *reading, const struct call_table *calls, struct gput_error *error)
{
    struct segments to = {.reading = reading, .calls = calls};
    to.segments = tables_add(reading->tables, "segments");
    add_moment(to.segments, "start");
    table_add_column(to.segments, "leaf", GPUT_COLUMN_INT);
    to.leaves = tables_add(reading->tables, "leaves");
    table_add_column(to.leaves, "leaf", GPUT_COLUMN_INT);
    table_add_column(to.leaves, "code_block_name", GPUT_COLUMN_TEXT);
    TRY(call_segments_walk(calls, put_segment, &to, error));
    TRY(recorded_pass_rest(reading->options, to.segments, error));
    return recorded_pass_rest(reading->options, to.leaves, error);
}

/* ---- A file ---- */

enum recorded { MARKS, CALLS, SEGMENTS };

/* Pairs the marks of a file, and puts its calls one by one or as segments of time. */
static int read_calls(struct reading *reading, bool each_call, struct gput_error *error)
{
    enum sub_tracking_format format;
    TRY(sub_tracking_format_of(reading->path, &format, error));
    CLEANUP(call_table_finish) struct call_table calls;
    call_table_init(&calls, reading->names, sub_tracking_reader_columns(reading->reader),
        format == SUB_TRACKING_LOG, each_call);
    calls.each_call = each_call;

    struct sub_tracking_mark rows[BATCH];
    size_t count;
    bool end = false;
    while (!end) {
        TRY(next_marks(reading, rows, &count, &end, error));
        TRY(call_table_add(&calls, rows, count, error));
    }
    calls.has_lost = sub_tracking_reader_lost(reading->reader)->at_least;
    TRY(call_table_pair(&calls, error));
    char warning[CALL_TABLE_WARNING_SIZE];
    if (call_table_warning(&calls, reading->path, warning) && reading->options->warn)
        reading->options->warn(reading->options->user, warning);
    return each_call ? put_calls(reading, &calls, error) : put_segments(reading, &calls, error);
}

static void reading_finish(struct reading *reading)
{
    if (reading->reader)
        sub_tracking_reader_close(reading->reader);
    sub_tracking_names_destroy(reading->names);
    gput_tables_destroy(reading->tables);
}

/* Reads a file into the tables that were asked for. */
static int read_file(const char *path, const struct gput_recorded_options *given,
    enum recorded recorded, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_recorded_options options = gput_recorded_options_default();
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    CLEANUP(reading_finish)
    struct reading reading = {
        .options = &options,
        .path = path,
        .names = sub_tracking_names_create(),
        .tables = tables_create(),
    };
    if (!reading.names || !reading.tables)
        return error_memory(error);
    TRY(sub_tracking_reader_open(path, reading.names, &reading.reader, error));
    if (recorded == MARKS)
        TRY(read_marks(&reading, error));
    else
        TRY(read_calls(&reading, recorded == CALLS, error));
    return tables_finish_building(STEAL(reading.tables), tables, error);
}

int gput_recorded_marks(const char *path, const struct gput_recorded_options *options,
    struct gput_tables **tables, struct gput_error *error)
{
    return read_file(path, options, MARKS, tables, error);
}

int gput_recorded_calls(const char *path, const struct gput_recorded_options *options,
    struct gput_tables **tables, struct gput_error *error)
{
    return read_file(path, options, CALLS, tables, error);
}

int gput_recorded_segments(const char *path, const struct gput_recorded_options *options,
    struct gput_tables **tables, struct gput_error *error)
{
    return read_file(path, options, SEGMENTS, tables, error);
}
