#include "views/report/report_missing.h"

#include "base/cleanup.h"
#include "base/doubles.h"
#include "base/error.h"
#include "base/str.h"
#include "views/output/missing_ranks.h"

#include <math.h>
#include <stdlib.h>

int report_missing_warn(struct report_payload *payload, const struct gput_report_options *options,
    struct gput_error *error)
{
    const struct doc *sessions = doc_get(payload->root, "sessions");
    CLEANUP_FREE double *ranks = calloc(sessions->count + 1, sizeof *ranks);
    CLEANUP_STR struct str text = {0};
    double world_size = NAN;
    size_t count = 0;
    if (!ranks)
        return error_memory(error);
    for (const struct doc *session = sessions->first; session; session = session->next) {
        const struct doc *identity = doc_get(session, "identity");
        double rank = doc_get_number(identity, "rank");
        double size = doc_get_number(identity, "world_size");
        bool is_of_one_job = rank >= 0 && rank < size && (count == 0 || size == world_size);
        if (!is_of_one_job)
            return GPUT_OK;
        world_size = size;
        ranks[count++] = rank;
    }
    qsort(ranks, count, sizeof *ranks, doubles_compare);
    for (size_t i = 1; i < count; i++) {
        if (ranks[i] == ranks[i - 1])
            return GPUT_OK;
    }
    if (!((double)count < world_size))
        return GPUT_OK;

    double n_missing = world_size - (double)count;
    str_printf(&text, "%.0f of %.0f ranks %s missing: ", n_missing, world_size,
        n_missing > 1 ? "are" : "is");
    missing_ranks_list(ranks, count, world_size, &text);
    str_append(&text, ". They have no file.");
    report_payload_warn(payload, str_text(&text));
    if (options->warn)
        options->warn(options->user, str_text(&text));
    return text.failed ? error_memory(error) : GPUT_OK;
}
