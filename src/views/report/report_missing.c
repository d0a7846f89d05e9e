#include "views/report/report_missing.h"

#include "base/doubles.h"
#include "base/error.h"
#include "base/str.h"
#include "views/output/missing_ranks.h"

#include <math.h>
#include <stdlib.h>

/* The ranks of all sessions, sorted, all different, and how many the job has. NULL: they are not
 * those of one job. */
static double *ranks_of(const struct doc *sessions, double *world_size)
{
    size_t count = 0;
    double *ranks = calloc(sessions->count + 1, sizeof *ranks);
    *world_size = NAN;
    bool are_of_one_job = true;
    for (const struct doc *session = sessions->first; ranks && session; session = session->next) {
        const struct doc *identity = doc_get(session, "identity");
        double rank = doc_get_number(identity, "rank");
        double size = doc_get_number(identity, "world_size");
        are_of_one_job &= rank >= 0 && rank < size && (count == 0 || size == *world_size);
        *world_size = size;
        ranks[count++] = are_of_one_job ? rank : 0;
    }
    if (ranks)
        qsort(ranks, count, sizeof *ranks, doubles_compare);
    for (size_t i = 1; ranks && i < count; i++)
        are_of_one_job &= ranks[i] != ranks[i - 1];
    if (!are_of_one_job) {
        free(ranks);
        return NULL;
    }
    return ranks;
}

int report_missing_warn(struct report_payload *payload, const struct gput_report_options *options,
    struct gput_error *error)
{
    const struct doc *sessions = doc_get(payload->root, "sessions");
    double world_size, *ranks = ranks_of(sessions, &world_size);
    size_t count = sessions->count;
    struct str text = {0};
    if (ranks && (double)count < world_size) {
        str_printf(&text, "%.0f of %.0f ranks %s missing: ", world_size - (double)count, world_size,
            world_size - (double)count > 1 ? "are" : "is");
        missing_ranks_list(ranks, count, world_size, &text);
        str_append(&text, ". They have no file.");
        report_payload_warn(payload, str_text(&text));
        if (options->warn)
            options->warn(options->user, str_text(&text));
    }
    bool has_failed = text.failed;
    str_finish(&text);
    free(ranks);
    return has_failed ? error_memory(error) : GPUT_OK;
}
