#include "views/output/comparison_render.h"

#include "base/screen.h"
#include "views/output/comparison_picture.h"
#include "views/plot/drawing.h"

#include <gputracker/table.h>

#include <stdlib.h>

int gput_comparison_create(const struct gput_comparison_session *sessions, size_t count,
    const struct gput_comparison_options *given, struct gput_comparison **result,
    struct gput_error *error)
{
    struct gput_comparison_options options;
    *result = NULL;
    TRY(comparison_options_read(given, &options, error));
    struct gput_comparison *comparison = comparison_create();
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
        code = comparison_match(comparison, options.warn, options.user, error);
    if (code != GPUT_OK)
        gput_comparison_destroy(comparison);
    else
        *result = comparison;
    return code;
}

/* One line a figure and session. */
static int render_csv(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct gput_tables *tables;
    TRY(gput_comparison_tables(comparison, options, &tables, error));
    int code = gput_tables_select(tables, "comparison", error);
    if (code == GPUT_OK)
        code = gput_tables_render(tables, GPUT_FORMAT_CSV, bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}

int gput_comparison_render(const struct gput_comparison *comparison,
    const struct gput_comparison_options *given, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    if (format == GPUT_FORMAT_CSV)
        return render_csv(comparison, given, bytes, length, error);
    static void (*const writers[])(const struct comparison_report *, struct str *) = {
        [GPUT_FORMAT_TEXT] = comparison_write_text,
        [GPUT_FORMAT_JSON] = comparison_write_json,
        [GPUT_FORMAT_PICKLE] = comparison_write_pickle,
    };
    *bytes = NULL;
    if (!drawing_has_format(format) && (size_t)format >= sizeof writers / sizeof writers[0])
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of a comparison.");
    struct gput_comparison_options options;
    TRY(comparison_options_read(given, &options, error));
    if (drawing_has_format(format))
        return comparison_render_picture(comparison, &options, format, bytes, length, error);
    struct comparison_report report = {
        comparison, options, calloc(comparison->n_sessions, sizeof *report.values)};
    if (!report.values)
        return error_memory(error);
    struct str text = {0};
    writers[format](&report, &text);
    if (format == GPUT_FORMAT_TEXT)
        screen_sanitize(&text, 0);
    free(report.values);
    return str_steal_bytes(&text, bytes, length, error);
}
