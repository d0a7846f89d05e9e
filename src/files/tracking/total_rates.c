#include "files/tracking/total_rates.h"

#include "base/table.h"

#include <math.h>

/* The year 2255: what is beyond is not a time of a session. */
#define LAST_SECOND 9e9

struct total_rates total_rates_of(
    size_t count, double min_seconds, total_rates_take *take, void *user)
{
    return (struct total_rates){.count = count,
        .min_seconds = min_seconds,
        .take = take,
        .user = user,
        .begin.time = NAN,
        .end.time = NAN,
        .after.time = NAN};
}

/* Returns what came in an interval. The first row has no totals of a source whose baseline it is:
 * those after it count from there. One that was not read then has its own baseline later, which is
 * 0. What was not written after all is subtracted: the kernel does so with pages of removed files.
 */
static double amount_of(const struct total_rates *rates, const struct total_row *end, size_t index)
{
    double before = rates->begin.values[index], after = end->values[index];
    if (!rates->has_interval && !isnan(rates->begin.time) && isnan(before) && after > 0)
        before = 0;
    return after < before ? 0 : after - before;
}

/* Gives the rates up to a row, where the next interval begins. */
static int pass(struct total_rates *rates, const struct total_row *end, struct gput_error *error)
{
    double of_interval[TOTAL_RATES_MAX], seconds = end->time - rates->begin.time;
    for (size_t i = 0; i < rates->count; i++)
        of_interval[i] = seconds > 0 ? amount_of(rates, end, i) / seconds : NAN;
    TRY(rates->take(rates->user, &rates->begin, end, of_interval, error));
    rates->has_interval |= !isnan(rates->begin.time);
    rates->begin = *end;
    return GPUT_OK;
}

int total_rates_end(struct total_rates *rates, struct gput_error *error)
{
    struct total_row last = isnan(rates->after.time) ? rates->end : rates->after;
    rates->end.time = rates->after.time = NAN;
    if (isnan(last.time))
        return GPUT_OK;
    TRY(pass(rates, &last, error));
    return rates->take(rates->user, &rates->begin, NULL, NULL, error);
}

/* Adds a row, which ends an interval that is long enough, or lengthens the one before it. */
static int add_row(struct total_rates *rates, const struct total_row *row, struct gput_error *error)
{
    struct total_row *end = &rates->end, *after = &rates->after;
    bool has_end = !isnan(end->time);
    double before = has_end ? end->time : rates->begin.time;
    if (isnan(before) || row->time < before || row->time < after->time) { /* a clock was set back */
        TRY(total_rates_end(rates, error));
        return pass(rates, row, error);
    }
    if (row->time - before < rates->min_seconds) {
        *after = *row;
        return GPUT_OK;
    }
    if (has_end)
        TRY(pass(rates, end, error));
    *end = *row;
    after->time = NAN;
    return GPUT_OK;
}

int total_rates_add(struct total_rates *rates, const struct gput_table *part, size_t time,
    const size_t *columns, struct gput_error *error)
{
    for (size_t row = 0; row < gput_table_row_count(part); row++) {
        struct total_row totals = {.time = table_cells_number(part, row, time)};
        for (size_t i = 0; i < rates->count; i++)
            totals.values[i] = table_cells_number(part, row, columns[i]);
        if (fabs(totals.time) < LAST_SECOND)
            TRY(add_row(rates, &totals, error));
    }
    return GPUT_OK;
}
