/*
 * Results from a file: what a session kept, its report as JSON, or what the older tool wrote.
 */
#include "analysis/analyze/results_read_pickle.h"
#include "base/file.h"
#include "files/results/results_read.h"

#include <stdlib.h>

/* A pickle of the older package has less. */
#define MAX_BYTES ((size_t)16 << 20)

/* Reads what is neither in a form of this tool: a pickle, or a file of somebody else. */
static int read_older(const char *path, struct gput_results *results, struct gput_error *error)
{
    struct str content = {0};
    int code = file_read_bounded(path, MAX_BYTES, &content, error);
    if (code == GPUT_OK && results_is_pickle(str_text(&content), content.length))
        code = results_read_pickle(str_text(&content), content.length, path, results, error);
    else if (code == GPUT_OK)
        code = error_set(error, GPUT_ERROR_FORMAT,
            "%s is not a resource usage file or report of gpu-tracker.", path);
    str_finish(&content);
    return code;
}

int gput_results_load(const char *path, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    struct gput_results *loaded = calloc(1, sizeof *loaded);
    int code = loaded ? results_read(path, loaded, NULL, error) : error_memory(error);
    if (code == GPUT_ERROR_UNSUPPORTED)
        code = read_older(path, loaded, error);
    if (code == GPUT_OK)
        *results = loaded;
    else
        gput_results_destroy(loaded);
    return code;
}
