#include "report/report_comparison.h"

#include "analyze/analysis.h"
#include "analyze/comparison.h"
#include "report/document/report_table.h"
#include "report/loaders/report_analysis.h"

#include <stdio.h>

static void scale(struct gput_statistics *statistics, double factor)
{
    statistics->min *= factor;
    statistics->max *= factor;
    statistics->mean *= factor;
    statistics->std *= factor;
}

/* Files may have different units: bytes are comparable. */
static void use_base_units(
    struct gput_analysis *analysis, const struct gput_static_data *static_data)
{
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        double factor = report_analysis_factor(static_data, analysis->measurements[i]);
        scale(&analysis->overall[i], factor);
        for (size_t k = 0; k < analysis->n_blocks; k++)
            scale(&analysis->blocks[k].resource_usage[i], factor);
    }
}

int report_comparison_add(
    struct gput_comparison *comparison, struct report_session *session, struct gput_error *error)
{
    if (!session->analysis)
        TRY(report_analysis_make(session, NULL, error));
    struct gput_analysis *analysis = session->analysis;
    session->analysis = NULL;
    if (!analysis)
        return GPUT_OK;
    use_base_units(analysis, &session->static_data);
    return comparison_add(comparison, session->name, analysis, error);
}

/* Sessions of different programs have no code blocks in common: they are compared as a whole. */
static void forget_blocks(struct gput_comparison *comparison)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        struct gput_analysis *analysis = comparison->sessions[i].runs[0];
        analysis_destroy_blocks(analysis->blocks, analysis->n_blocks);
        analysis->blocks = NULL;
        analysis->n_blocks = 0;
    }
}

/* Why code blocks are not compared goes to the page: sessions need not be of one program. */
static int match(struct gput_comparison *comparison, struct doc *root,
    const struct gput_report_options *options, struct gput_error *error)
{
    struct gput_error reason;
    int code = comparison_match(comparison, options->warn, options->user, &reason);
    if (code == GPUT_OK)
        return GPUT_OK;
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    doc_add_string(doc_add_array(root, "warnings"), NULL, reason.message);
    forget_blocks(comparison);
    return comparison_match(comparison, options->warn, options->user, error);
}

static int add_table(struct gput_comparison *comparison, enum gput_statistic statistic,
    struct doc *list, struct gput_error *error)
{
    struct gput_comparison_options options = gput_comparison_options_default();
    struct gput_tables *tables;
    char title[64];
    options.statistic = statistic;
    options.relative = true;
    TRY(gput_comparison_tables(comparison, &options, &tables, error));
    snprintf(title, sizeof title, "Comparison: %s", gput_statistic_name(statistic));
    report_table_add(
        list, gput_statistic_name(statistic), title, gput_tables_find(tables, "comparison"));
    gput_tables_destroy(tables);
    return GPUT_OK;
}

int report_comparison_end(struct gput_comparison *comparison, struct doc *root,
    const struct gput_report_options *options, struct gput_error *error)
{
    if (comparison->n_sessions < 2)
        return GPUT_OK;
    int code = match(comparison, root, options, error);
    if (code != GPUT_OK) /* a measurement that a file lacks */
        return code == GPUT_ERROR_MEMORY ? code : GPUT_OK;
    struct doc *list = doc_add_array(root, "comparison");
    TRY(add_table(comparison, GPUT_MEAN, list, error));
    return add_table(comparison, GPUT_MAX, list, error);
}
