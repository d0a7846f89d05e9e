#include "analysis/timeline/step_search.h"

#include "base/error.h"

#include <inttypes.h>

void step_search_note(struct step_search *search, int64_t step, int64_t begin_ns)
{
    if (step < 0)
        return;
    if (step == search->first_step && begin_ns < search->first_begin_ns)
        search->first_begin_ns = begin_ns;
    if (search->is_after_last && step > search->last_step &&
        (search->next_step == 0 || step < search->next_step)) {
        search->next_step = step;
        search->last_begin_ns = INT64_MAX;
    }
    bool is_last = search->is_after_last ? step > search->last_step && step == search->next_step
                                         : step == search->last_step;
    if (is_last && begin_ns < search->last_begin_ns)
        search->last_begin_ns = begin_ns;
    if (step < search->min_step)
        search->min_step = step;
    if (step > search->max_step)
        search->max_step = step;
}

int step_search_refuse(const struct step_search *search, int64_t step, struct gput_error *error)
{
    if (search->max_step < 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "The inputs have no steps");
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        "There is no step %" PRId64 "; steps go from %" PRId64 " to %" PRId64, step,
        search->min_step, search->max_step);
}
