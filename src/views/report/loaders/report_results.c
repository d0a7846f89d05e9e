/* Results: a session's figures without its curves, as kept while it runs or as its report in JSON.
 */
#include "views/report/loaders/report_loader.h"

int report_results_read(struct report_session *session, const char *path, struct gput_error *error)
{
    TRY(gput_results_load(path, &session->loaded_results, error));
    session->results = session->loaded_results;
    return GPUT_OK;
}

static int load(struct report_session *session, struct gput_error *error)
{
    return session->results ? GPUT_OK : report_results_read(session, session->path, error);
}

/* Whether a file has results. */
static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    struct gput_results *results;
    if (is_folder)
        return report_session_refuse(path, error);
    int code = gput_results_load(path, &results, error);
    gput_results_destroy(results);
    return code == GPUT_ERROR_MEMORY || code == GPUT_OK ? code : report_session_refuse(path, error);
}

const struct report_loader report_results_loader = {"results", probe, load};
