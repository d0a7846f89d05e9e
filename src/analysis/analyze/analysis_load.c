#include "analysis/analyze/analysis_load.h"

#include "base/file.h"

#include <string.h>

/* An analysis of 10,000 code blocks has less. */
#define MAX_BYTES ((size_t)256 << 20)

/* A pickle of protocol 2 and later begins with this byte. */
#define PICKLE_START '\x80'

int gput_analysis_load(const char *path, struct gput_analysis **analysis, struct gput_error *error)
{
    struct str content = {0};
    *analysis = NULL;
    int code = file_read_bounded(path, MAX_BYTES, &content, error);
    if (code == GPUT_OK)
        code = analysis_read(str_text(&content), content.length, path, analysis, error);
    str_finish(&content);
    return code;
}

int analysis_read(const char *bytes, size_t length, const char *name,
    struct gput_analysis **analysis, struct gput_error *error)
{
    *analysis = NULL;
    size_t blanks = strspn(bytes, " \t\r\n");
    if (length > 0 && *bytes == PICKLE_START)
        return error_set(error, GPUT_ERROR_FORMAT,
            "File %s is a pickle, which the Python package reads: "
            "gpu_tracker.SubTrackingResults.load().",
            name);
    if (blanks < length && bytes[blanks] == '{')
        return analysis_read_json(bytes, length, name, analysis, error);
    return error_set(error, GPUT_ERROR_FORMAT,
        "File %s holds neither results in JSON nor a pickle of protocol 2 to 5.", name);
}
