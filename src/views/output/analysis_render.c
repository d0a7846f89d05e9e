#include "views/output/analysis_render.h"

#include "base/screen.h"

int gput_analysis_render(const struct gput_analysis *analysis, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error)
{
    static void (*const writers[])(const struct gput_analysis *, struct str *) = {
        [GPUT_FORMAT_TEXT] = analysis_write_text,
        [GPUT_FORMAT_JSON] = analysis_write_json,
        [GPUT_FORMAT_CSV] = analysis_write_csv,
        [GPUT_FORMAT_PICKLE] = analysis_write_pickle,
    };
    *bytes = NULL;
    if ((size_t)format >= sizeof writers / sizeof writers[0])
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of an analysis.");
    struct str text = {0};
    writers[format](analysis, &text);
    if (format == GPUT_FORMAT_TEXT)
        screen_sanitize(&text, 0);
    return str_steal_bytes(&text, bytes, length, error);
}
