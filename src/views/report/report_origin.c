#include "views/report/report_origin.h"

#include "base/text.h"
#include "files/marks/sub_tracking_file.h"
#include "files/tracking/tracking_identity.h"
#include "model/results_columns.h"
#include "model/results_identity.h"
#include "views/report/loaders/report_loader.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* A sample may be taken, and its time written, a little before or after the times of results. */
#define MAX_DIFFERENCE_SECONDS 2

void report_origin_init(struct report_origin *origin)
{
    *origin = (struct report_origin){.rank = NAN, .pid = NAN, .start = NAN, .end = NAN};
}

/* Takes over whose session it is: a process of a boot, and its start. */
static void take_session(struct report_origin *origin, const struct gput_identity *identity)
{
    origin->pid = identity->pid;
    origin->rank = identity->rank;
    origin->has_ended = identity->end[0];
    if (identity->boot_id[0] && identity->start[0] && !isnan(identity->pid))
        text_fit(origin->session, sizeof origin->session, "%s %.0f %s", identity->boot_id,
            identity->pid, identity->start);
}

void report_origin_of_results(const char *path, struct report_origin *origin)
{
    struct gput_results *results;
    report_origin_init(origin);
    if (gput_results_load(path, &results, NULL) != GPUT_OK)
        return;
    take_session(origin, &results->identity);
    origin->start = results_identity_seconds(results->identity.start);
    origin->end = origin->start + results->elapsed_seconds;
    origin->extent = results->elapsed_seconds;
    gput_results_destroy(results);
}

void report_origin_of_tracking(const char *path, struct report_origin *origin)
{
    struct tracking_reader *reader;
    struct gput_results described = {0};
    report_origin_init(origin);
    if (tracking_reader_salvage(path, &reader, NULL) != GPUT_OK)
        return;
    results_forget(&described);
    if (tracking_identity_of(reader, path, &described, NULL) == GPUT_OK)
        take_session(origin, &described.identity);

    struct tracking_row row;
    struct stat info;
    size_t count = 0;
    if (tracking_reader_next(reader, &row, 1, &count, NULL) == GPUT_OK && count == 1)
        origin->start = origin->end = row.timestamp;

    origin->extent = stat(path, &info) == 0 ? (double)info.st_size : 0;
    results_finish(&described);
    tracking_reader_close(reader);
}

void report_origin_of_marks(const char *path, struct report_origin *origin)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_reader *reader;
    struct sub_tracking_mark mark;
    size_t count = 0;
    report_origin_init(origin);
    if (names && sub_tracking_reader_salvage(path, names, &reader, NULL) == GPUT_OK) {
        if (sub_tracking_reader_next(reader, &mark, 1, &count, NULL) == GPUT_OK && count == 1) {
            origin->pid = (double)mark.process_id;
            origin->start = origin->end = mark.timestamp;
        }
        sub_tracking_reader_close(reader);
    }
    sub_tracking_names_destroy(names);
}

bool report_origin_is_more_complete(
    const struct report_origin *file, const struct report_origin *than)
{
    return file->has_ended != than->has_ended ? file->has_ended : file->extent > than->extent;
}

bool report_origin_fits(const struct report_origin *results, const struct report_origin *tracking)
{
    if (results->session[0] && tracking->session[0])
        return strcmp(results->session, tracking->session) == 0;
    return !(tracking->start < results->start - MAX_DIFFERENCE_SECONDS) &&
           !(tracking->start > results->end + MAX_DIFFERENCE_SECONDS);
}
