/* Results: a session's figures without its curves, as kept while it runs or as its report in JSON.
 */
#include "report/report_loader.h"

#include "formats/results/results_read.h"
#include "formats/tracking/tracking_identity.h"
#include "model/results_columns.h"
#include "model/results_identity.h"

#include <math.h>
#include <stdlib.h>

/* A sample may be taken, and its time written, a little before or after the times of results. */
#define MAX_DIFFERENCE_SECONDS 2

/* Also the pickle of the older gpu_tracker. */
static int load_results(const char *path, struct gput_results **results, struct gput_error *error)
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
    TRY(load_results(path, &session->loaded_results, error));
    session->results = session->loaded_results;
    return GPUT_OK;
}

/* Whether a sample at that time may be of the session; NaN: the time is not known. */
static bool is_within(double timestamp, const struct gput_results *results)
{
    double start = results_identity_seconds(results->identity.start);
    return !(timestamp < start - MAX_DIFFERENCE_SECONDS) &&
           !(timestamp > start + results->elapsed_seconds + MAX_DIFFERENCE_SECONDS);
}

static bool is_of_file(
    const struct gput_results *results, struct tracking_reader *reader, const char *path)
{
    struct gput_results described = {0};
    struct tracking_row row = {.timestamp = NAN};
    size_t count = 0;
    results_forget(&described);
    bool differs = tracking_identity_of(reader, path, &described, NULL) == GPUT_OK &&
                   results_identity_differs(&described.identity, &results->identity);
    bool has_sample =
        !differs && tracking_reader_next(reader, &row, 1, &count, NULL) == GPUT_OK && count == 1;
    results_finish(&described);
    return !differs && (!has_sample || is_within(row.timestamp, results));
}

bool report_results_fit(const char *path, const char *tracking_file)
{
    struct tracking_reader *reader;
    struct gput_results *results;
    if (load_results(path, &results, NULL) != GPUT_OK)
        return true;
    bool fits = true;
    if (tracking_reader_salvage(tracking_file, &reader, NULL) == GPUT_OK) {
        fits = is_of_file(results, reader, tracking_file);
        tracking_reader_close(reader);
    }
    gput_results_destroy(results);
    return fits;
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
