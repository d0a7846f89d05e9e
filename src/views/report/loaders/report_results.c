/* Results: a session's figures without its curves, as kept while it runs or as its report in JSON.
 */
#include "views/report/loaders/report_loader.h"

#include "files/results/results_read.h"

#include <stdlib.h>

int report_results_load(const char *path, struct gput_results **results, struct gput_error *error)
{
    *results = calloc(1, sizeof **results);
    int code = *results ? results_read(path, *results, NULL, error) : error_memory(error);
    if (code == GPUT_OK)
        return code;
    gput_results_destroy(*results);
    *results = NULL;
    return code == GPUT_ERROR_UNSUPPORTED ? gput_results_load(path, results, error) : code;
}

int report_results_read(struct report_session *session, const char *path, struct gput_error *error)
{
    TRY(report_results_load(path, &session->loaded_results, error));
    session->results = session->loaded_results;
    return GPUT_OK;
}

static int load(struct report_session *session, struct gput_error *error)
{
    return session->results ? GPUT_OK : report_results_read(session, session->path, error);
}

static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    struct gput_results *results;
    if (is_folder)
        return report_session_refuse(path, error);
    int code = report_results_load(path, &results, error);
    gput_results_destroy(results);
    return code == GPUT_ERROR_MEMORY || code == GPUT_OK ? code : report_session_refuse(path, error);
}

const struct report_loader report_results_loader = {"results", probe, load};
