#include "output/comparison_render.h"

#include <gputracker/table.h>

#include <stdlib.h>
#include <string.h>

struct gput_comparison_options gput_comparison_options_default(void)
{
    return (struct gput_comparison_options){.statistic = GPUT_MEAN};
}

int gput_comparison_create(const struct gput_comparison_session *sessions, size_t count,
    void (*warn)(void *user, const char *message), void *user, struct gput_comparison **result,
    struct gput_error *error)
{
    struct gput_comparison *comparison = comparison_create();
    *result = NULL;
    if (!comparison)
        return error_memory(error);
    int code = GPUT_OK;
    for (size_t i = 0; i < count && code == GPUT_OK; i++) {
        struct gput_analysis *analysis;
        code = gput_analysis_load(sessions[i].path, &analysis, error);
        if (code == GPUT_OK)
            code = comparison_add(comparison, sessions[i].name, analysis, error);
    }
    if (code == GPUT_OK)
        code = comparison_match(comparison, warn, user, error);
    if (code != GPUT_OK)
        gput_comparison_destroy(comparison);
    else
        *result = comparison;
    return code;
}

void comparison_report_values(
    const struct comparison_report *report, const char *measurement, size_t block)
{
    const struct comparison_figure figure = {measurement, block, report->options.statistic};
    comparison_sorted_values(report->comparison, &figure, report->values);
}

/* One line a figure and session. */
static int render_csv(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct gput_tables *tables;
    TRY(gput_comparison_tables(comparison, options, &tables, error));
    int code = gput_tables_render(tables, GPUT_CSV, bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}

int gput_comparison_render(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    if (format == GPUT_CSV)
        return render_csv(comparison, options, bytes, length, error);
    static void (*const writers[])(const struct comparison_report *, struct str *) = {
        [GPUT_TEXT] = comparison_write_text,
        [GPUT_JSON] = comparison_write_json,
        [GPUT_PICKLE] = comparison_write_pickle,
    };
    *bytes = NULL;
    if ((size_t)format >= sizeof writers / sizeof writers[0])
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of a comparison.");
    struct comparison_report report = {
        comparison, *options, calloc(comparison->n_sessions, sizeof *report.values)};
    if (!report.values)
        return error_memory(error);
    struct str text = {0};
    writers[format](&report, &text);
    free(report.values);
    if (length)
        *length = text.length;
    *bytes = str_steal(&text);
    return *bytes ? GPUT_OK : error_memory(error);
}
