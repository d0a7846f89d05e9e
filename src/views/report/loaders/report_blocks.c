#include "views/report/loaders/report_blocks.h"

#include "analysis/analyze/analysis.h"
#include "analysis/analyze/code_block.h"
#include "analysis/analyze/exact_figures.h"
#include "analysis/analyze/quantile_sketch.h"
#include "base/cleanup.h"
#include "views/report/loaders/report_analysis.h"

#include <stdlib.h>
#include <string.h>

/* Statistics of one figure, a row a block. */
struct statistics {
    struct report_column min, max, mean, std;
};

struct blocks {
    struct report_session *session;
    struct report_column name, calls, open, samples, total, self;
    bool has_open;
    struct statistics seconds; /* a call */
    struct statistics *usage;  /* of each measurement; owned */
    struct report_column exact[GPUT_EXACT_FIGURE_COUNT];
    double *factors; /* to its base unit; owned */
    size_t n_measurements;
};

/* ---- Columns ---- */

static void init_statistics(struct statistics *statistics, struct report_spool *spool, double step)
{
    report_column_init(&statistics->min, spool, step);
    report_column_init(&statistics->max, spool, step);
    report_column_init(&statistics->mean, spool, step);
    report_column_init(&statistics->std, spool, step);
}

static void finish_statistics(struct statistics *statistics)
{
    report_column_finish(&statistics->min);
    report_column_finish(&statistics->max);
    report_column_finish(&statistics->mean);
    report_column_finish(&statistics->std);
}

static int add_statistics(struct statistics *statistics, const struct gput_statistics *values,
    double factor, struct gput_error *error)
{
    TRY(report_column_add(&statistics->min, values->min * factor, error));
    TRY(report_column_add(&statistics->max, values->max * factor, error));
    TRY(report_column_add(&statistics->mean, values->mean * factor, error));
    return report_column_add(&statistics->std, values->std * factor, error);
}

static int put_statistics(struct report_payload *payload, struct doc *object,
    struct statistics *statistics, struct gput_error *error)
{
    TRY(report_payload_add_column(payload, object, "min", &statistics->min, error));
    TRY(report_payload_add_column(payload, object, "max", &statistics->max, error));
    TRY(report_payload_add_column(payload, object, "mean", &statistics->mean, error));
    return report_payload_add_column(payload, object, "std", &statistics->std, error);
}

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
    report_column_init(&blocks->name, spool, REPORT_STEP_WHOLE);
    report_column_init(&blocks->calls, spool, REPORT_STEP_WHOLE);
    report_column_init(&blocks->open, spool, REPORT_STEP_WHOLE);
    report_column_init(&blocks->samples, spool, REPORT_STEP_WHOLE);
    report_column_init(&blocks->total, spool, REPORT_STEP_CALL);
    report_column_init(&blocks->self, spool, REPORT_STEP_CALL);
    init_statistics(&blocks->seconds, spool, REPORT_STEP_CALL);
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        report_column_init(&blocks->exact[i], spool, step_of(gput_exact_figure_unit(i)));
}

/* Frees the columns of code blocks. */
static void finish_blocks(struct blocks *blocks)
{
    report_column_finish(&blocks->name);
    report_column_finish(&blocks->calls);
    report_column_finish(&blocks->open);
    report_column_finish(&blocks->samples);
    report_column_finish(&blocks->total);
    report_column_finish(&blocks->self);
    finish_statistics(&blocks->seconds);
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        report_column_finish(&blocks->exact[i]);
    for (size_t i = 0; i < blocks->n_measurements; i++)
        finish_statistics(&blocks->usage[i]);
    free(blocks->usage);
    free(blocks->factors);
}

/* Sums over the calls, "total", or the largest of them, "max"; of the figures that the marks have.
 */
static int put_exact(struct blocks *blocks, const struct gput_analysis *analysis,
    struct doc *object, struct gput_error *error)
{
    struct doc *exact = analysis->exact ? doc_add_array(object, "exact") : NULL;
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        const char *unit = gput_exact_figure_unit(i);
        if (!analysis_shows_exact(analysis, i))
            continue;
        struct doc *item = doc_add_object(exact, NULL);
        doc_add_string(item, "figure", gput_exact_figure_name(i));
        doc_add_string(item, "unit", unit ? unit : "count");
        TRY(report_payload_add_column(
            blocks->session->payload, item, exact_figure_total_name(i), &blocks->exact[i], error));
    }
    return GPUT_OK;
}

/* In the order of the blocks; null where one has none. */
static void put_categories(const struct gput_analysis *analysis, struct doc *object)
{
    struct doc *categories = analysis->has_categories ? doc_add_array(object, "category") : NULL;
    for (size_t i = 0; categories && i < analysis->n_blocks; i++) {
        if (analysis->blocks[i].category)
            doc_add_string(categories, NULL, analysis->blocks[i].category);
        else
            doc_add_null(categories, NULL);
    }
}

/* `analysis` gives the names of the measurements; NULL: there are none. */
static int put_blocks(
    struct blocks *blocks, const struct gput_analysis *analysis, struct gput_error *error)
{
    struct report_payload *payload = blocks->session->payload;
    struct doc *object = doc_add_object(blocks->session->doc, "blocks");
    TRY(report_payload_add_column(payload, object, "name", &blocks->name, error));
    TRY(report_payload_add_column(payload, object, "calls", &blocks->calls, error));
    TRY(report_payload_add_column(payload, object, "total_s", &blocks->total, error));
    TRY(put_statistics(payload, doc_add_object(object, "call_s"), &blocks->seconds, error));
    if (!analysis)
        return GPUT_OK;
    if (blocks->has_open)
        TRY(report_payload_add_column(payload, object, "open", &blocks->open, error));
    TRY(report_payload_add_column(payload, object, "samples", &blocks->samples, error));
    TRY(report_payload_add_column(payload, object, "self_s", &blocks->self, error));
    put_categories(analysis, object);
    struct doc *usage = doc_add_array(object, "usage");
    for (size_t i = 0; i < blocks->n_measurements; i++) {
        const char *name = gput_analysis_measurement_name(analysis, i);
        if (!report_session_curve(blocks->session, name)) /* of GPUs where there are none */
            continue;
        struct doc *item = doc_add_object(usage, NULL);
        doc_add_string(item, "series", name);
        TRY(put_statistics(payload, item, &blocks->usage[i], error));
    }
    return put_exact(blocks, analysis, object, error);
}

/* ---- From the analysis ---- */

/* Begins the columns of what code blocks used of each curve. */
static int prepare_usage(
    struct blocks *blocks, const struct gput_analysis *analysis, struct gput_error *error)
{
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
    return GPUT_OK;
}

/* Adds a code block with what the analysis says of it. */
static int add_analyzed(struct blocks *blocks, const struct gput_code_block *block,
    const struct names *names, struct gput_error *error)
{
    const char *text = gput_code_block_name(block);
    uint32_t name = names_find(names, text, strlen(text));
    TRY(report_column_add(&blocks->name, name == NAMES_NONE ? NAN : name, error));
    TRY(report_column_add(&blocks->calls, (double)gput_code_block_calls(block), error));
    TRY(report_column_add(&blocks->open, (double)block->num_open_calls, error));
    blocks->has_open |= block->num_open_calls > 0;
    TRY(report_column_add(&blocks->samples, (double)gput_code_block_timepoints(block), error));
    TRY(report_column_add(&blocks->total, gput_code_block_compute_time_total(block), error));
    TRY(report_column_add(&blocks->self, gput_code_block_self_time(block), error));
    TRY(add_statistics(&blocks->seconds, gput_code_block_compute_time(block), 1, error));
    for (size_t i = 0; i < blocks->n_measurements; i++)
        TRY(add_statistics(
            &blocks->usage[i], gput_code_block_usage(block, i), blocks->factors[i], error));
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        TRY(report_column_add(&blocks->exact[i], gput_code_block_exact_figure(block, i), error));
    return GPUT_OK;
}

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
    TRY(prepare_usage(blocks, analysis, error));
    for (size_t i = 0; i < gput_analysis_block_count(analysis); i++) {
        const struct gput_code_block *block = gput_analysis_block(analysis, i);
        const char *text = gput_code_block_name(block);
        uint32_t name = names_find(names, text, strlen(text));
        if (name == NAMES_NONE || called[name])
            TRY(add_analyzed(blocks, block, names, error));
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
        code = report_column_add(&blocks->name, calls->block_names[i], error);
        if (code == GPUT_OK)
            code = report_column_add(&blocks->calls, (double)all->count, error);
        if (code == GPUT_OK)
            code = report_column_add(&blocks->total, duration_statistics_total(all), error);
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
