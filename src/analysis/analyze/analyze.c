#include "analysis/analyze/analysis.h"
#include "analysis/analyze/block_energy.h"
#include "analysis/analyze/block_groups.h"
#include "analysis/analyze/call_table.h"
#include "analysis/analyze/exact_figures.h"
#include "analysis/analyze/quantile_sketch.h"
#include "analysis/analyze/self_time.h"
#include "analysis/analyze/sweep.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/text.h"
#include "files/marks/sub_tracking_children.h"
#include "files/marks/sub_tracking_labels.h"
#include "files/sqlite_file.h"
#include "files/tracking/tracking_reader.h"
#include "model/measurement_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Facts that the user of an analysis is warned of. */
#define MAX_NAMED 3

/* Passes a warning on; an empty one is none. */
static void pass(const struct gput_analysis_options *options, const struct str *warning)
{
    if (warning->length > 0 && !warning->failed && options->warn)
        options->warn(options->user, str_text(warning));
}

/* Warns of calls outside of the time of the samples, and of those that did not end. */
static void warn_of_calls(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, const struct call_table *calls)
{
    uint64_t outside = 0, open = 0, n_named = 0, skipped = calls->n_skipped;
    CLEANUP_STR struct str names = {0}, about_outside = {0}, about_open = {0};
    for (size_t i = 0; i < analysis->n_blocks; i++) {
        const struct gput_code_block *block = &analysis->blocks[i];
        outside += block->num_outside_calls;
        open += block->num_open_calls;
        if (block->num_open_calls > 0 && ++n_named <= MAX_NAMED)
            str_printf(&names, "%s%.60s", n_named > 1 ? ", " : "", block->name);
    }
    if (outside > 0)
        str_printf(&about_outside,
            "%llu of %zu calls in %s stopped before the first sample of %s or started after its "
            "last: they count as calls, but what they used is not known.",
            (unsigned long long)outside, calls->n_calls, options->sub_tracking_file,
            options->tracking_file);
    pass(options, &about_outside);
    if (open > 0)
        str_printf(&about_open,
            "%llu call%s in %s did not end (%s%s): up to the last sample %s part of their block's "
            "time and figures, but not of its calls.",
            (unsigned long long)open, open > 1 ? "s" : "", options->sub_tracking_file,
            str_text(&names), n_named > MAX_NAMED ? " and others" : "",
            open > 1 ? "they are" : "it is");
    else if (skipped > 0)
        str_printf(&about_open,
            "%llu call%s in %s did not end, and %s skipped. --open-calls counts %s up to the last "
            "sample.",
            (unsigned long long)skipped, skipped > 1 ? "s" : "", options->sub_tracking_file,
            skipped > 1 ? "are" : "is", skipped > 1 ? "them" : "it");
    pass(options, &about_open);
}

/*
 * Warns of calls outside of the samples, calls that did not end, samples whose time goes back,
 * and missing values. `n_backward_rows` is the number of samples before the one before them. A
 * warning that cannot be made for lack of memory is skipped.
 */
static void analysis_warn_of_gaps(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, const struct call_table *calls,
    uint64_t n_backward_rows)
{
    warn_of_calls(analysis, options, calls);
    /* Warn of samples that are earlier than the one before them, and of values that some lack. */
    CLEANUP_STR struct str names = {0}, about_order = {0}, about_values = {0};
    unsigned long long n_rows = analysis->num_timepoints;
    if (n_backward_rows > 0)
        str_printf(&about_order,
            "%llu of %llu samples in %s lie before the sample before them. If the system's time "
            "was set back, what code blocks used around that time is wrong.",
            (unsigned long long)n_backward_rows, n_rows, options->tracking_file);
    pass(options, &about_order);
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        uint64_t missing = analysis->overall[i].n_missing;
        if (missing > 0 && missing < n_rows)
            str_printf(&names, "%s%s in %llu", names.length ? ", " : "", analysis->measurements[i],
                (unsigned long long)missing);
    }
    if (names.length && !names.failed)
        str_printf(&about_values,
            "Values are missing in some of the %llu samples of %s (%s): statistics are of the "
            "others, and none where those are all 0.",
            n_rows, options->tracking_file, str_text(&names));
    pass(options, &about_values);
}

/* The table energy_data of a tracking file: joules since the start of the session, at moments in
 * time. */
struct energy_rows {
    const char *path;
    double origin; /* of the clock of the calls */
    sqlite3 *database;
    sqlite3_stmt *rows; /* NULL: there is no such table */
    int timestamp;      /* the index of the column; -1: there is none */
    int figures[GPUT_ENERGY_FIGURE_COUNT];
};

/* Opens the table, which a session without energy does not have. */
static int open_rows(struct energy_rows *table, struct gput_error *error)
{
    bool has_table;
    TRY(sqlite_file_open(table->path, &table->database, error));
    TRY(sqlite_file_find_table(table->database, "energy_data", &has_table, error));
    if (!has_table)
        return GPUT_OK;
    TRY(sqlite_file_prepare(
        table->database, "SELECT * FROM energy_data", table->path, &table->rows, error));
    for (int column = 0; column < sqlite3_column_count(table->rows); column++) {
        const char *name = sqlite3_column_name(table->rows, column);
        if (!name)
            return error_memory(error);
        if (strcmp(name, "timestamp") == 0)
            table->timestamp = column;
        for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
            if (strcmp(name, gput_energy_figure_name((enum gput_energy_figure)i)) == 0)
                table->figures[i] = column;
        }
    }
    return GPUT_OK;
}

static double value_at(const struct energy_rows *table, int column)
{
    return column < 0 || sqlite3_column_type(table->rows, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(table->rows, column);
}

/* Reads the next row, for block_energy_compute(). */
static int next_row(void *user, double *time, double joules[GPUT_ENERGY_FIGURE_COUNT], bool *end,
    struct gput_error *error)
{
    const struct energy_rows *table = user;
    int result = sqlite3_step(table->rows);
    *end = result == SQLITE_DONE;
    if (*end)
        return GPUT_OK;
    if (result != SQLITE_ROW)
        return sqlite_file_error(table->database, "read", table->path, error);
    *time = value_at(table, table->timestamp) - table->origin;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        joules[i] = value_at(table, table->figures[i]);
    return GPUT_OK;
}

/* Computes the joules of the targets, where the file has a table of energy. */
static int compute(struct energy_rows *table, const struct sweep_input *input,
    struct session_energy *session, double (**joules)[GPUT_ENERGY_FIGURE_COUNT],
    struct gput_error *error)
{
    const struct energy_points points = {next_row, table};
    TRY(open_rows(table, error));
    if (!table->rows || table->timestamp < 0)
        return GPUT_OK;
    *joules = calloc(input->n_targets + 1, sizeof **joules);
    if (!*joules)
        return error_memory(error);
    return block_energy_compute(input, &points, session, *joules, error);
}

/*
 * Reads the curve of energy of a tracking file, whose times `origin` brings to the clock of the
 * calls, and gives the session and each target their joules, as block_energy_compute() does.
 * `*joules` is NULL where the file has no such table, or after an error; free() it. Errors:
 * GPUT_ERROR_MEMORY, and those of reading.
 */
static int analysis_energy_read(const char *tracking_file, double origin,
    const struct sweep_input *input, struct session_energy *session,
    double (**joules)[GPUT_ENERGY_FIGURE_COUNT], struct gput_error *error)
{
    struct energy_rows table = {.path = tracking_file, .origin = origin, .timestamp = -1};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        table.figures[i] = -1;
    *joules = NULL;
    if (!text_ends_with(tracking_file, ".sqlite"))
        return GPUT_OK;
    int code = compute(&table, input, session, joules, error);
    sqlite3_finalize(table.rows);
    sqlite3_close(table.database);
    if (code != GPUT_OK) {
        free(*joules);
        *joules = NULL;
    }
    return code;
}

#define BATCH 256

/* The share of reading marks in the progress; reading rows is most of the work. */
#define MARKS_SHARE 0.3

/* The state of a running analysis. */
struct work {
    const struct gput_analysis_options *options;
    struct tracking_reader *reader;
    struct sub_tracking_names *names;
    struct call_table table;
    const struct call_window *window;  /* outside of which calls are skipped; NULL: all count */
    struct sub_tracking_labels labels; /* of processes and threads */
    struct block_groups groups;
    struct sweep_lane *lanes; /* one for each lane of the table */
    uint32_t n_parts;
    struct sweep *sweep;
    double first_row, last_row; /* times on the clock of the calls; infinities: there is no row */
    double previous_row;
    uint64_t n_backward_rows;                   /* that lie before the row before them */
    struct tracking_row first;                  /* row, by time */
    double (*energy)[GPUT_ENERGY_FIGURE_COUNT]; /* joules of each target; NULL: unknown */
    struct gput_analysis *analysis;
    enum gput_measurement_id ids[TRACKED_MEASUREMENTS]; /* of its measurements */
};

static const struct gput_analysis_options usual = {.size = sizeof usual};

void gput_analysis_options_init(struct gput_analysis_options *options, size_t size)
{
    sized_init(options, size, &usual, sizeof usual);
}

static void warn(const struct work *work, const char *message)
{
    if (message && work->options->warn)
        work->options->warn(work->options->user, message);
}

static void report_progress(
    const struct work *work, double from, double share, uint64_t done, uint64_t total)
{
    if (work->options->progress && total > 0)
        work->options->progress(
            work->options->user, from + share * fmin((double)done / (double)total, 1));
}

/* ---- Marks ---- */

/* Reads all marks into the table of calls and pairs them, and warns of what the file lacks. */
static int read_marks(
    struct work *work, struct sub_tracking_reader *reader, struct gput_error *error)
{
    const char *path = work->options->sub_tracking_file;
    struct sub_tracking_mark rows[BATCH];
    size_t count;
    int64_t first_ns = INT64_MAX;
    do {
        uint64_t done, total;
        TRY(sub_tracking_reader_next(reader, rows, BATCH, &count, error));
        if (first_ns == INT64_MAX && count > 0) {
            /* A file that has no marks needs no thread ids. */
            bool has_threads = sub_tracking_reader_columns(reader) & SUB_TRACKING_COLUMN_THREAD_ID;
            if (work->options->split == GPUT_SPLIT_THREAD && !has_threads)
                return error_set(error, GPUT_ERROR_INVALID,
                    "Sub-tracking file %s has no thread ids: its code blocks can be split by "
                    "process only.",
                    path);
            first_ns = rows[0].timestamp_ns;
        }
        TRY(call_table_add(&work->table, rows, count, error));
        sub_tracking_reader_progress(reader, &done, &total);
        report_progress(work, 0, MARKS_SHARE, done, total);
    } while (count > 0);
    warn(work, sub_tracking_reader_warning(reader));
    CLEANUP_FREE char *children = sub_tracking_children_warning(path, first_ns);
    warn(work, children);

    const struct sub_tracking_lost *lost = sub_tracking_reader_lost(reader);
    work->analysis->lost = (struct lost_calls){lost->calls, lost->at_least};
    work->table.has_lost = lost->at_least;
    work->labels = *sub_tracking_reader_labels(reader);
    *sub_tracking_reader_labels(reader) = (struct sub_tracking_labels){0};
    if (work->options->split == GPUT_SPLIT_RANK)
        work->table.ranks = &work->labels;
    TRY(call_table_pair(&work->table, error));
    char warning[CALL_TABLE_WARNING_SIZE];
    if (call_table_warning(&work->table, path, warning))
        warn(work, warning);
    return GPUT_OK;
}

/* Reads the marks of the sub-tracking file, and keeps the calls that lie in the window. */
static int load_calls(struct work *work, struct gput_error *error)
{
    const char *path = work->options->sub_tracking_file;
    enum sub_tracking_format format;
    struct sub_tracking_reader *reader;
    TRY(sub_tracking_format_of(path, &format, error));
    work->names = sub_tracking_names_create();
    if (!work->names)
        return error_memory(error);
    TRY(sub_tracking_reader_open(path, work->names, &reader, error));
    call_table_init(&work->table, work->names, sub_tracking_reader_columns(reader),
        format == SUB_TRACKING_LOG, true);
    work->table.keep_open = work->options->open_calls;
    work->analysis->exact = work->table.exact;
    int code = read_marks(work, reader, error);
    struct call_window_rest rest;
    if (code == GPUT_OK && work->window)
        code = call_window_apply(work->window, &work->table, &rest, error);
    sub_tracking_reader_close(reader);
    return code == GPUT_OK ? call_table_join_open(&work->table, error) : code;
}

/* Sets the targets of each lane: blocks are numbered first, then their parts. Lanes of one part
 * are next to each other. */
static int number_targets(struct work *work, struct gput_error *error)
{
    const struct call_table *table = &work->table;
    enum gput_split split = work->options->split;
    work->lanes = calloc(table->n_lanes + 1, sizeof *work->lanes);
    if (!work->lanes)
        return error_memory(error);
    for (size_t i = 0; i < table->n_lanes; i++) {
        const struct call_lane *lane = &table->lanes[i], *before = i > 0 ? lane - 1 : NULL;
        work->lanes[i] =
            (struct sweep_lane){.block = work->groups.group_of[lane->block], .part = SWEEP_NO_PART};
        if (split == GPUT_SPLIT_NONE)
            continue;
        bool is_same_process =
            before && before->process_id == lane->process_id &&
            (split == GPUT_SPLIT_PROCESS || before->thread_id == lane->thread_id);
        bool is_same_part = before && before->block == lane->block && before->rank == lane->rank &&
                            (split == GPUT_SPLIT_RANK || is_same_process);
        work->n_parts += !is_same_part;
        work->lanes[i].part = (uint32_t)work->groups.count + work->n_parts - 1;
    }
    return GPUT_OK;
}

/* ---- Rows ---- */

_Static_assert((int)TRACKED_CPU_COMBINED_HARDWARE == (int)GPUT_CPU_COMBINED_HARDWARE &&
                   TRACKED_CPU_COMBINED_HARDWARE + 1 == TRACKED_TIME,
    "columns before the timestamp have the order of their ids");

/* Passes a row on to the sweep, with its values in the order of the measurements. */
static int add_row(struct work *work, const struct tracking_row *row, double values[ROW_COLUMNS],
    struct gput_error *error)
{
    double time = row->timestamp - work->table.origin;
    if (time < work->first_row) {
        work->first_row = time;
        work->first = *row;
    }
    work->last_row = fmax(work->last_row, time);
    work->n_backward_rows += time < work->previous_row;
    work->previous_row = time;

    /* Copied at once: one by one they would take a tenth of an analysis. */
    memcpy(values, row->values, TRACKED_TIME * sizeof *values);
    for (size_t c = TRACKED_TIME; c < work->analysis->n_measurements; c++)
        values[c] = row->values[work->ids[c]];
    return sweep_add_row(work->sweep, time, values, error);
}

/* Passes all samples through the sweep. */
static int read_rows(struct work *work, struct gput_error *error)
{
    CLEANUP_FREE struct tracking_row *rows = malloc(BATCH * sizeof *rows);
    if (!rows)
        return error_memory(error);
    double values[ROW_COLUMNS] = {0};
    double share = work->options->sub_tracking_file ? 1 - MARKS_SHARE : 1;
    size_t count;
    do {
        uint64_t done, total;
        TRY(tracking_reader_next(work->reader, rows, BATCH, &count, error));
        for (size_t i = 0; i < count; i++)
            TRY(add_row(work, &rows[i], values, error));
        tracking_reader_progress(work->reader, &done, &total);
        report_progress(work, 1 - share, share, done, total);
    } while (count > 0);
    warn(work, tracking_reader_warning(work->reader));
    return sweep_end(work->sweep, error);
}

/* ---- Energy ---- */

static struct sweep_input input_of(const struct work *work)
{
    return (struct sweep_input){
        work->table.calls, work->table.n_calls, work->lanes, work->groups.count + work->n_parts};
}

/* Reads joules of the session and of each target. Joules of only a part of the session are unknown
 * for the session: they would be compared with those of complete sessions. */
static int read_energy(struct work *work, struct gput_error *error)
{
    struct session_energy session;
    struct gput_analysis *analysis = work->analysis;
    const struct sweep_input input = input_of(work);
    TRY(analysis_energy_read(
        work->options->tracking_file, work->table.origin, &input, &session, &work->energy, error));
    CLEANUP_STR struct str warning = {0};
    double seconds = 0;
    for (int i = 0; work->energy && i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        bool is_known = !isnan(session.joules[i]);
        bool is_partly = !is_known && session.unknown_seconds[i] < session.seconds;
        analysis->energy[i] = session.joules[i];
        analysis->has_energy |= is_known || is_partly;
        if (!is_partly)
            continue;
        str_printf(&warning, "%s%s", warning.length ? ", " : "No joules of the session: ",
            gput_energy_figure_name((enum gput_energy_figure)i));
        seconds = fmax(seconds, session.unknown_seconds[i]);
    }
    if (warning.length) {
        str_printf(&warning, ", of which up to %.1f of its %.1f seconds are not known.", seconds,
            session.seconds);
        warn(work, str_text(&warning));
    }
    return GPUT_OK;
}

/* ---- Results ---- */

/* Makes the analysis, with the measurements that the file has and what it says of the session. */
static int create_analysis(struct work *work, struct gput_error *error)
{
    const char *names[TRACKED_MEASUREMENTS];
    size_t n_measurements = 0;
    for (size_t i = 0; i < TRACKED_MEASUREMENTS; i++) {
        enum gput_measurement_id id = tracked_measurements[i];
        if (measurement_came_later(id) && !tracking_reader_has(work->reader, id))
            continue;
        work->ids[n_measurements] = id;
        names[n_measurements++] = gput_measurement(id)->name;
    }
    work->analysis = analysis_create(names, n_measurements);
    if (!work->analysis)
        return error_memory(error);
    work->analysis->details = work->options->details;
    work->analysis->split = work->options->split;
    struct doc *static_data = work->analysis->static_data;
    size_t count;
    const struct tracking_static_cell *cells = tracking_reader_static_cells(work->reader, &count);
    for (const struct tracking_static_cell *cell = cells; cell < cells + count; cell++) {
        const char *end = cell->text + strlen(cell->text);
        int64_t integer;
        double number;
        if (cell->text == end)
            doc_add_null(static_data, cell->name);
        else if (number_parse_int64(cell->text, end, &integer) == end)
            doc_add_int(static_data, cell->name, integer);
        else if (number_parse_double(cell->text, end, &number) == end)
            doc_add_double(static_data, cell->name, number);
        else
            doc_add_string(static_data, cell->name, cell->text);
    }
    return doc_failed(static_data) ? error_memory(error) : GPUT_OK;
}

/* Copies the figures of a target; without rows all stay unknown. `has_first`: the first row is
 * among its rows. */
static uint64_t fill_usage(const struct work *work, const struct sweep_target *target,
    bool has_first, struct gput_statistics *statistics, struct gput_percentiles *percentiles)
{
    for (unsigned c = 0; target->total && c < work->analysis->n_measurements; c++) {
        /* A rate covers the time since the sample before, which the first one does not have. */
        enum gput_measurement_id id = work->ids[c];
        bool lacks_first =
            has_first && measurement_curves[id].is_of_interval && isnan(work->first.values[id]);
        statistics[c] = row_total_statistics(target->total, c, target->total->rows - lacks_first);
        if (percentiles && !isnan(statistics[c].max))
            percentiles[c] = quantile_sketch_percentiles(&target->sketches[c]);
    }
    return target->total ? target->total->rows : 0;
}

/* Sums over the calls of a block or a part. */
struct call_sums {
    struct duration_statistics durations; /* of those that ended */
    double open_seconds;                  /* of the others, up to the last sample */
    uint64_t n_open;
    double self_time;
    double exact[GPUT_EXACT_FIGURE_COUNT]; /* each NaN when some lane does not have it */
    uint64_t n_outside;                    /* outside of the time that has rows */
    bool has_first;                        /* the first row is in some call */
};

/* Adds a call to the sums of its block or part. One that lies outside of the time of the samples
 * counts as such. */
static int add_call(
    struct work *work, struct call_sums *sum, size_t index, struct gput_error *error)
{
    const struct call *call = &work->table.calls[index];
    double seconds = call->stop - call->start;
    bool has_first = call->start <= work->first_row && work->first_row <= call->stop;
    sum->has_first |= has_first;
    if (!work->table.is_open || !work->table.is_open[index]) {
        sum->n_outside += call->stop < work->first_row || call->start > work->last_row;
        return duration_statistics_add(&sum->durations, seconds, work->options->details, error);
    }
    sum->n_open++;
    sum->open_seconds += seconds;
    return GPUT_OK;
}

/* Adds all calls, and what is known of the calls of a lane together: exact figures, and with
 * details the time in which none of the blocks called inside ran. */
static int add_calls(struct work *work, struct call_sums *sums, struct gput_error *error)
{
    const struct call_table *table = &work->table;
    for (size_t i = 0; i < table->n_calls; i++) {
        const struct sweep_lane *lane = &work->lanes[table->calls[i].lane];
        TRY(add_call(work, &sums[lane->block], i, error));
        if (lane->part != SWEEP_NO_PART)
            TRY(add_call(work, &sums[lane->part], i, error));
    }
    CLEANUP_FREE double *self_times = calloc(table->n_lanes + 1, sizeof *self_times);
    if (!self_times)
        return error_memory(error);
    if (work->options->details)
        TRY(self_time_compute(table, self_times, error));
    for (size_t i = 0; i < table->n_lanes; i++) {
        const struct exact_figures *exact = table->lanes[i].exact;
        struct call_sums *block = &sums[work->lanes[i].block];
        block->self_time += self_times[i];
        if (table->exact)
            exact_figures_sum(exact, block->exact);
        if (work->lanes[i].part == SWEEP_NO_PART)
            continue;
        struct call_sums *part = &sums[work->lanes[i].part];
        part->self_time += self_times[i];
        if (table->exact)
            exact_figures_sum(exact, part->exact);
    }
    return GPUT_OK;
}

/* Sets the figures of a block or part, which is that target. */
static void fill_block(
    struct work *work, size_t target, struct call_sums *sums, struct gput_code_block *block)
{
    const struct sweep_target *swept = sweep_target(work->sweep, target);
    struct call_sums *sum = &sums[target];
    block->num_timepoints =
        fill_usage(work, swept, sum->has_first, block->resource_usage, block->percentiles);
    block->num_calls = sum->durations.count;
    block->num_open_calls = sum->n_open;
    block->num_non_empty_calls = swept->n_non_empty_calls - sum->n_open; /* no row was after them */
    block->num_outside_calls = sum->n_outside;
    block->compute_time = duration_statistics_get(&sum->durations);
    block->compute_time_total = duration_statistics_total(&sum->durations) + sum->open_seconds;
    if (work->energy)
        memcpy(block->energy, work->energy[target], sizeof block->energy);
    if (work->table.exact)
        memcpy(block->exact, sum->exact, sizeof block->exact);
    if (work->options->details) {
        block->compute_time_percentiles = quantile_sketch_percentiles(&sum->durations.sketch);
        block->self_time_total = sum->self_time;
        block->cpu_time_total = block->exact[GPUT_EXACT_THREAD_CPU_TIME];
    }
}

/* Sets whose calls a part has. */
static int identify_part(struct work *work, const struct call_lane *lane,
    struct gput_code_block *part, struct gput_error *error)
{
    if (work->options->split == GPUT_SPLIT_RANK) {
        part->rank = lane->rank;
        return GPUT_OK;
    }
    part->process_id = lane->process_id;
    if (work->options->split != GPUT_SPLIT_THREAD)
        return GPUT_OK;
    part->thread_id = lane->thread_id;
    const char *name = sub_tracking_labels_thread(&work->labels, lane->process_id, lane->thread_id);
    part->thread_name = name ? strdup(name) : NULL;
    work->analysis->has_thread_names |= name != NULL;
    return name && !part->thread_name ? error_memory(error) : GPUT_OK;
}

/* Adds to the block of lane `first` a part for each process, thread or rank; `*next` is the first
 * lane of the next block. */
static int fill_parts(
    struct work *work, size_t first, size_t *next, struct call_sums *sums, struct gput_error *error)
{
    const struct call_lane *lanes = work->table.lanes;
    struct gput_code_block *block = &work->analysis->blocks[lanes[first].block];
    size_t end = first;
    while (end < work->table.n_lanes && lanes[end].block == lanes[first].block)
        end++;
    *next = end;
    if (work->lanes[first].part == SWEEP_NO_PART)
        return GPUT_OK;
    uint32_t first_part = work->lanes[first].part;
    size_t n_parts = work->lanes[end - 1].part - first_part + 1;
    block->parts = analysis_create_blocks(work->analysis, n_parts, work->options->details);
    if (!block->parts)
        return error_memory(error);
    block->n_parts = n_parts;
    for (size_t i = first; i < end; i++) {
        struct gput_code_block *part = &block->parts[work->lanes[i].part - first_part];
        if (part->name)
            continue;
        TRY(analysis_name_block(part, block->name, error));
        TRY(identify_part(work, &lanes[i], part, error));
        fill_block(work, work->lanes[i].part, sums, part);
    }
    return GPUT_OK;
}

/* Makes the blocks of the analysis, with their names, figures and parts. */
static int fill_blocks(struct work *work, struct call_sums *sums, struct gput_error *error)
{
    const struct call_table *table = &work->table;
    struct gput_analysis *analysis = work->analysis;
    TRY(add_calls(work, sums, error));
    analysis->blocks = analysis_create_blocks(analysis, work->groups.count, analysis->details);
    if (!analysis->blocks)
        return error_memory(error);
    analysis->n_blocks = work->groups.count;
    for (size_t i = 0; i < work->groups.count; i++) {
        struct gput_code_block *block = &analysis->blocks[i];
        const char *category = sub_tracking_labels_category(&work->labels, work->groups.names[i]);
        TRY(analysis_name_block(block, work->groups.names[i], error));
        if (category) {
            size_t length;
            category = region_category_text(category, &length);
            TRY(analysis_set_category(analysis, block, category, length, error));
        }
        fill_block(work, i, sums, block);
    }
    size_t next;
    for (size_t first = 0; first < table->n_lanes; first = next)
        TRY(fill_parts(work, first, &next, sums, error));
    return GPUT_OK;
}

/* Drops the measurements after the timestamp that no sample has: those of where the time went, in a
 * program that tracks itself. */
static void drop_unused(struct gput_analysis *analysis, const struct row_total *total)
{
    while (analysis->n_measurements > TRACKED_TIME && total && total->rows > 0 &&
           total->count[analysis->n_measurements - 1] == 0) {
        size_t last = --analysis->n_measurements;
        free(analysis->measurements[last]);
        analysis->measurements[last] = NULL;
    }
}

/* Reads marks, then samples, then energy, and makes the results of all. */
static int analyze(struct work *work, struct gput_error *error)
{
    TRY(tracking_reader_open(work->options->tracking_file, &work->reader, error));
    tracking_reader_use_cores(work->reader, work->options->cores ? work->options->cores : 1);
    TRY(create_analysis(work, error));
    if (work->options->sub_tracking_file)
        TRY(load_calls(work, error));
    TRY(block_groups_init(
        &work->groups, &work->table, &work->labels, work->options->grouping, error));
    TRY(number_targets(work, error));
    const struct sweep_input input = input_of(work);
    TRY(sweep_create(&input, work->options->details, &work->sweep, error));
    TRY(read_rows(work, error));
    TRY(call_table_close_open(&work->table, work->last_row, error));
    TRY(read_energy(work, error));
    /* Set the figures of the session and of its blocks. */
    struct gput_analysis *analysis = work->analysis;
    size_t n_targets = work->groups.count + work->n_parts;
    drop_unused(analysis, sweep_session(work->sweep)->total);
    if (analysis->details) {
        analysis->overall_percentiles = analysis_create_percentiles(analysis->n_measurements);
        if (!analysis->overall_percentiles)
            return error_memory(error);
    }
    analysis->num_timepoints = fill_usage(
        work, sweep_session(work->sweep), true, analysis->overall, analysis->overall_percentiles);
    CLEANUP_FREE struct call_sums *sums = calloc(n_targets + 1, sizeof *sums);
    if (!sums)
        return error_memory(error);
    int code = fill_blocks(work, sums, error);
    for (size_t i = 0; i < n_targets; i++)
        duration_statistics_finish(&sums[i].durations);
    TRY(code);
    analysis_warn_of_gaps(analysis, work->options, &work->table, work->n_backward_rows);
    return GPUT_OK;
}

/* Frees what the analysis needed, and the analysis where it was not given away. */
static void work_finish(struct work *work)
{
    if (work->reader)
        tracking_reader_close(work->reader);
    sweep_destroy(work->sweep);
    free(work->lanes);
    block_groups_finish(&work->groups);
    free(work->energy);
    call_table_finish(&work->table);
    sub_tracking_labels_finish(&work->labels);
    sub_tracking_names_destroy(work->names);
    gput_analysis_destroy(work->analysis);
}

int analysis_create_within(const struct gput_analysis_options *given,
    const struct call_window *window, struct gput_analysis **analysis, struct gput_error *error)
{
    struct gput_analysis_options options = usual;
    CLEANUP(work_finish)
    struct work work = {.options = &options,
        .window = window,
        .first_row = INFINITY,
        .last_row = -INFINITY,
        .previous_row = -INFINITY};
    *analysis = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    if (!options.tracking_file)
        return error_set(error, GPUT_ERROR_INVALID, "A tracking file is needed.");
    if (options.grouping != GPUT_GROUP_NONE && options.split != GPUT_SPLIT_NONE)
        return error_set(error, GPUT_ERROR_INVALID,
            "Code blocks can be grouped or split, not both: choose one of grouping and split.");
    TRY(analyze(&work, error));
    *analysis = STEAL(work.analysis);
    return GPUT_OK;
}

int gput_analysis_create(const struct gput_analysis_options *options,
    struct gput_analysis **analysis, struct gput_error *error)
{
    return analysis_create_within(options, NULL, analysis, error);
}
