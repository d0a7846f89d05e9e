/* Results: a session's figures without its curves, as kept while it runs or as its report in JSON.
 */
#include "report/report_loader.h"

#include "base/doc.h"
#include "base/file.h"
#include "formats/results/results_read_doc.h"

#include <stdlib.h>

/* Reports are small; what is larger is none. */
#define MAX_JSON_BYTES ((size_t)64 << 20)

static int read_report(const char *path, const struct str *content, struct gput_results *results,
    struct gput_error *error)
{
    struct doc *doc;
    struct gput_error reason;
    TRY(doc_read_json(str_text(content), content->length, path, &doc, error));
    int code = GPUT_OK;
    if (!results_doc_is_report(doc))
        code = report_session_refuse(path, error);
    else if ((code = results_read_doc(doc, results, &reason)) == GPUT_ERROR_MEMORY)
        code = error_memory(error);
    else if (code != GPUT_OK)
        code = error_set(error, GPUT_ERROR_FORMAT, "%s: %s", path, reason.message);
    doc_destroy(doc);
    return code;
}

/* The report of a session as JSON, ours or that of the older gpu_tracker. */
static int load_json(const char *path, struct gput_results **results, struct gput_error *error)
{
    struct str content = {0};
    *results = calloc(1, sizeof **results);
    int code =
        *results ? file_read_bounded(path, MAX_JSON_BYTES, &content, error) : error_memory(error);
    if (code == GPUT_OK)
        code = read_report(path, &content, *results, error);
    str_finish(&content);
    if (code != GPUT_OK) {
        gput_results_destroy(*results);
        *results = NULL;
    }
    return code;
}

static bool begins_as_object(const char *path)
{
    char first;
    return file_read_beginning(path, &first, 1) == 1 && first == '{';
}

static int load_results(const char *path, struct gput_results **results, struct gput_error *error)
{
    return begins_as_object(path) ? load_json(path, results, error)
                                  : gput_results_load(path, results, error);
}

int report_results_read(struct report_session *session, const char *path, struct gput_error *error)
{
    TRY(load_results(path, &session->loaded_results, error));
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
    int code = load_results(path, &results, error);
    gput_results_destroy(results);
    return code == GPUT_ERROR_MEMORY || code == GPUT_OK ? code : report_session_refuse(path, error);
}

const struct report_loader report_results_loader = {"results", probe, load};
