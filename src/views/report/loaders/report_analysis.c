#include "views/report/loaders/report_analysis.h"

#include "analysis/analyze/analysis.h"
#include "analysis/analyze/exact_figures.h"
#include "analysis/analyze/quantile_sketch.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "model/results_identity.h"

#include <stdlib.h>
#include <string.h>

struct call_window report_analysis_window(const struct report_session *session)
{
    const struct gput_results *known = session->results ? session->results : session->described;
    double start = NAN, end = NAN;
    bool is_unfinished = false;
    struct call_window window = {-INFINITY, INFINITY, SUB_TRACKING_UNKNOWN};
    if (known) {
        start = results_identity_seconds(known->identity.start);
        end = results_identity_seconds(known->identity.end);
        is_unfinished = !isnan(start) && isnan(end);
        if (!isnan(known->identity.pid))
            window.pid = (int64_t)known->identity.pid;
    }
    if (session->has_samples) {
        start = fmin(start, session->first_sample);
        end = isnan(end) ? session->end + session->sample_seconds : fmax(end, session->end);
    }
    if (!isnan(start))
        window.from = start - REPORT_CLOCK_DOUBT;
    if (!isnan(end) && !is_unfinished)
        window.to = end + REPORT_CLOCK_DOUBT;
    return window;
}

int report_analysis_make(
    struct report_session *session, const char *marks, struct gput_error *error)
{
    struct gput_analysis_options options = gput_analysis_options_default();
    struct gput_error reason;
    options.tracking_file = session->path;
    options.sub_tracking_file = marks;
    options.details = options.open_calls = marks != NULL;
    if (!session->has_samples)
        return GPUT_OK;
    const struct call_window window = report_analysis_window(session);
    int code = analysis_create_within(&options, &window, &session->analysis, &reason);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    if (code == GPUT_OK)
        return GPUT_OK;
    CLEANUP_STR struct str text = {0};
    str_printf(&text, "%s%s",
        marks && code == GPUT_ERROR_FORMAT ? "There are no figures of code blocks but their times. "
                                           : "",
        reason.message);
    report_session_warn(session, str_text(&text));
    return GPUT_OK;
}

double report_analysis_factor(const struct gput_static_data *data, const char *name)
{
    const struct gput_measurement *measurement = gput_measurement_find(name);
    return measurement ? 1 / static_data_unit_factor(data, measurement->quantity) : 1;
}

/* ---- Columns of code blocks ---- */

#define STATISTICS 4

/* Statistics of one figure: its minimum, maximum, mean and standard deviation, a row a block. */
struct statistics {
    struct report_column columns[STATISTICS];
};

enum { NAME, CALLS, TOTAL, OPEN, SAMPLES, SELF, COLUMNS };
static const struct {
    const char *key;
    double step;
} columns[COLUMNS] = {{"name", REPORT_STEP_WHOLE}, {"calls", REPORT_STEP_WHOLE},
    {"total_s", REPORT_STEP_CALL}, {"open", REPORT_STEP_WHOLE}, {"samples", REPORT_STEP_WHOLE},
    {"self_s", REPORT_STEP_CALL}};

struct blocks {
    struct report_session *session;
    struct report_column columns[COLUMNS];
    bool has_open;
    struct statistics seconds; /* a call */
    struct statistics *usage;  /* of each measurement; owned */
    struct report_column exact[GPUT_EXACT_FIGURE_COUNT];
    double *factors; /* to its base unit; owned */
    size_t n_measurements;
};

static void init_statistics(struct statistics *statistics, struct report_spool *spool, double step)
{
    for (int i = 0; i < STATISTICS; i++)
        report_column_init(&statistics->columns[i], spool, step);
}

static void finish_statistics(struct statistics *statistics)
{
    for (int i = 0; i < STATISTICS; i++)
        report_column_finish(&statistics->columns[i]);
}

/* Adds a row of statistics in base units. */
static int add_statistics(struct statistics *statistics, const struct gput_statistics *values,
    double factor, struct gput_error *error)
{
    const double row[STATISTICS] = {values->min, values->max, values->mean, values->std};
    for (int i = 0; i < STATISTICS; i++)
        TRY(report_column_add(&statistics->columns[i], row[i] * factor, error));
    return GPUT_OK;
}

/* Adds the columns of statistics to an object. */
static int put_statistics(struct report_payload *payload, struct doc *object,
    struct statistics *statistics, struct gput_error *error)
{
    static const char *const names[STATISTICS] = {"min", "max", "mean", "std"};
    for (int i = 0; i < STATISTICS; i++)
        TRY(report_payload_add_column(payload, object, names[i], &statistics->columns[i], error));
    return GPUT_OK;
}

/* The step of an exact figure, by its unit. */
static double step_of(const char *unit)
{
    if (!unit || strcmp(unit, "bytes") == 0)
        return REPORT_STEP_WHOLE;
    return strcmp(unit, "seconds") == 0 ? REPORT_STEP_CALL : REPORT_STEP_FRACTION;
}

/* Begins the columns of code blocks. */
static void init_blocks(struct blocks *blocks, struct report_session *session)
{
    struct report_spool *spool = &session->payload->spool;
    *blocks = (struct blocks){.session = session};
    for (int i = 0; i < COLUMNS; i++)
        report_column_init(&blocks->columns[i], spool, columns[i].step);
    init_statistics(&blocks->seconds, spool, REPORT_STEP_CALL);
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        report_column_init(&blocks->exact[i], spool, step_of(gput_exact_figure_unit(i)));
}

/* Frees the columns of code blocks. */
static void finish_blocks(struct blocks *blocks)
{
    for (int i = 0; i < COLUMNS; i++)
        report_column_finish(&blocks->columns[i]);
    finish_statistics(&blocks->seconds);
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        report_column_finish(&blocks->exact[i]);
    for (size_t i = 0; i < blocks->n_measurements; i++)
        finish_statistics(&blocks->usage[i]);
    free(blocks->usage);
    free(blocks->factors);
}

/* Adds the columns to the document. `analysis` gives the names of the measurements; NULL: there are
 * none. */
static int put_blocks(
    struct blocks *blocks, const struct gput_analysis *analysis, struct gput_error *error)
{
    struct report_payload *payload = blocks->session->payload;
    struct doc *object = doc_add_object(blocks->session->doc, "blocks");
    for (int i = NAME; i <= TOTAL; i++)
        TRY(report_payload_add_column(payload, object, columns[i].key, &blocks->columns[i], error));
    TRY(put_statistics(payload, doc_add_object(object, "call_s"), &blocks->seconds, error));
    if (!analysis)
        return GPUT_OK;
    for (int i = blocks->has_open ? OPEN : SAMPLES; i < COLUMNS; i++)
        TRY(report_payload_add_column(payload, object, columns[i].key, &blocks->columns[i], error));

    /* In the order of the blocks; null where one has none. */
    struct doc *categories = analysis->has_categories ? doc_add_array(object, "category") : NULL;
    for (size_t i = 0; categories && i < analysis->n_blocks; i++) {
        if (analysis->blocks[i].category)
            doc_add_string(categories, NULL, analysis->blocks[i].category);
        else
            doc_add_null(categories, NULL);
    }

    struct doc *usage = doc_add_array(object, "usage");
    for (size_t i = 0; i < blocks->n_measurements; i++) {
        const char *name = gput_analysis_measurement_name(analysis, i);
        if (!report_session_curve(blocks->session, name)) /* of GPUs where there are none */
            continue;
        struct doc *item = doc_add_object(usage, NULL);
        doc_add_string(item, "series", name);
        TRY(put_statistics(payload, item, &blocks->usage[i], error));
    }

    /* Sums over the calls, "total", or the largest of them, "max"; of the figures that the marks
     * have. */
    struct doc *exact = analysis->exact ? doc_add_array(object, "exact") : NULL;
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        const char *unit = gput_exact_figure_unit(i);
        if (!analysis_shows_exact(analysis, i))
            continue;
        struct doc *item = doc_add_object(exact, NULL);
        doc_add_string(item, "figure", gput_exact_figure_name(i));
        doc_add_string(item, "unit", unit ? unit : "count");
        TRY(report_payload_add_column(
            payload, item, exact_figure_total_name(i), &blocks->exact[i], error));
    }
    return GPUT_OK;
}

/* ---- From the analysis ---- */

/* Adds all code blocks of an analysis but those whose calls were all before or after the session.
 */
static int add_all_analyzed(struct blocks *blocks, const struct gput_analysis *analysis,
    const struct names *names, const struct call_table *calls, struct gput_error *error)
{
    CLEANUP_FREE bool *called = calloc(names->count + 1, sizeof *called);
    if (!called)
        return error_memory(error);
    for (size_t i = 0; i < calls->n_calls; i++)
        called[calls->lanes[calls->calls[i].lane].name] = true;
    for (size_t i = 0; i < calls->n_open; i++)
        called[calls->lanes[calls->open[i].lane].name] = true;

    /* Begin the columns of what code blocks used of each curve. */
    size_t count = gput_analysis_measurement_count(analysis);
    blocks->usage = calloc(count + 1, sizeof *blocks->usage);
    blocks->factors = calloc(count + 1, sizeof *blocks->factors);
    if (!blocks->usage || !blocks->factors)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        double factor = report_analysis_factor(
            &blocks->session->static_data, gput_analysis_measurement_name(analysis, i));
        blocks->factors[i] = factor;
        init_statistics(&blocks->usage[i], &blocks->session->payload->spool,
            factor == 1 ? REPORT_STEP_FRACTION : REPORT_STEP_WHOLE);
    }
    blocks->n_measurements = count;

    for (size_t i = 0; i < gput_analysis_block_count(analysis); i++) {
        const struct gput_code_block *block = gput_analysis_block(analysis, i);
        const char *text = gput_code_block_name(block);
        uint32_t name = names_find(names, text, strlen(text));
        if (name == NAMES_NONE || called[name]) {
            /* Add a code block with what the analysis says of it. */
            const double row[COLUMNS] = {[NAME] = name == NAMES_NONE ? NAN : name,
                [CALLS] = (double)gput_code_block_calls(block),
                [TOTAL] = gput_code_block_compute_time_total(block),
                [OPEN] = (double)block->num_open_calls,
                [SAMPLES] = (double)gput_code_block_timepoints(block),
                [SELF] = gput_code_block_self_time(block)};
            blocks->has_open |= block->num_open_calls > 0;
            for (int k = 0; k < COLUMNS; k++)
                TRY(report_column_add(&blocks->columns[k], row[k], error));
            TRY(add_statistics(&blocks->seconds, gput_code_block_compute_time(block), 1, error));
            for (size_t k = 0; k < blocks->n_measurements; k++)
                TRY(add_statistics(
                    &blocks->usage[k], gput_code_block_usage(block, k), blocks->factors[k], error));
            for (enum gput_exact_figure k = 0; k < GPUT_EXACT_FIGURE_COUNT; k++)
                TRY(report_column_add(
                    &blocks->exact[k], gput_code_block_exact_figure(block, k), error));
        }
    }
    return put_blocks(blocks, analysis, error);
}

/* ---- From the calls alone ---- */

/* Adds all code blocks of a session without samples: how often they were called, and for how long.
 */
static int add_all_counted(
    struct blocks *blocks, const struct call_table *calls, struct gput_error *error)
{
    CLEANUP_FREE struct duration_statistics *durations =
        calloc(calls->n_blocks + 1, sizeof *durations);
    int code = durations ? GPUT_OK : error_memory(error);
    for (size_t i = 0; code == GPUT_OK && i < calls->n_calls; i++) {
        const struct call *call = &calls->calls[i];
        code = duration_statistics_add(
            &durations[calls->lanes[call->lane].block], call->stop - call->start, false, error);
    }
    for (size_t i = 0; code == GPUT_OK && i < calls->n_blocks; i++) {
        const struct duration_statistics *all = &durations[i];
        struct gput_statistics statistics = duration_statistics_get(all);
        const double row[] = {
            calls->block_names[i], (double)all->count, duration_statistics_total(all)};
        for (int k = NAME; code == GPUT_OK && k <= TOTAL; k++)
            code = report_column_add(&blocks->columns[k], row[k], error);
        if (code == GPUT_OK)
            code = add_statistics(&blocks->seconds, &statistics, 1, error);
    }
    for (size_t i = 0; durations && i < calls->n_blocks; i++)
        duration_statistics_finish(&durations[i]);
    return code == GPUT_OK ? put_blocks(blocks, NULL, error) : code;
}

int report_blocks_add(struct report_session *session, const char *marks, const struct names *names,
    const struct call_table *calls, struct gput_error *error)
{
    if (calls->n_calls + calls->n_open == 0)
        return GPUT_OK;
    TRY(report_analysis_make(session, marks, error));
    if (calls->n_calls == 0 && !session->analysis)
        return GPUT_OK;
    CLEANUP(finish_blocks) struct blocks blocks;
    init_blocks(&blocks, session);
    return session->analysis ? add_all_analyzed(&blocks, session->analysis, names, calls, error)
                             : add_all_counted(&blocks, calls, error);
}
