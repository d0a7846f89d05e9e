/*
 * Results from a file: of this tool or the older one.
 */
#include "analysis/analyze/results_read_pickle.h"
#include "base/file.h"
#include "files/results/results_codec.h"
#include "files/results/results_file.h"

#include <stdlib.h>

/* Ours have 2 MB, most of it unused; a pickle of the older package has less. */
#define MAX_BYTES ((size_t)16 << 20)

static int read_results(const char *path, struct gput_results *results, struct gput_error *error)
{
    struct str content = {0};
    size_t at;
    int code = file_read_bounded(path, MAX_BYTES, &content, error);
    bool is_kept = results_is_kept(str_text(&content), content.length, &at);
    if (code == GPUT_OK && !is_kept && results_is_pickle(str_text(&content), content.length))
        code = results_read_pickle(str_text(&content), content.length, path, results, error);
    else if (code == GPUT_OK)
        code = results_file_parse(path, &content, results, error);
    str_finish(&content);
    return code;
}

int gput_results_load(const char *path, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    struct gput_results *loaded = calloc(1, sizeof *loaded);
    int code = loaded ? read_results(path, loaded, error) : error_memory(error);
    if (code == GPUT_OK)
        *results = loaded;
    else
        gput_results_destroy(loaded);
    return code;
}
