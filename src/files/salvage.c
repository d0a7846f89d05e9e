#include "files/salvage.h"

#include <inttypes.h>

/* Keeps the first error. */
static void note(struct salvage *salvage, const struct gput_error *error)
{
    if (!salvage_lost(salvage))
        salvage->first = *error;
}

int salvage_row(struct salvage *salvage, int code, const struct gput_error *error)
{
    if (code != GPUT_ERROR_FORMAT || !salvage->wanted)
        return code;
    note(salvage, error);
    salvage->rows_skipped++;
    return GPUT_OK;
}

int salvage_rest(struct salvage *salvage, int code, const struct gput_error *error)
{
    if (code != GPUT_ERROR_FORMAT || !salvage->wanted)
        return code;
    note(salvage, error);
    salvage->cut_short = true;
    return GPUT_OK;
}

void salvage_gap(struct salvage *salvage, const struct gput_error *error)
{
    note(salvage, error);
    salvage->has_gaps = true;
}

void salvage_describe(const struct salvage *salvage, uint64_t rows_kept, struct str *text)
{
    str_clear(text);
    str_append_sentence(text, salvage->first.message);
    if (salvage->rows_skipped > 0)
        str_printf(text, "%" PRIu64 " row%s skipped%s, ", salvage->rows_skipped,
            salvage->rows_skipped == 1 ? " was" : "s were",
            salvage->cut_short  ? ", and all rows after an unreadable place"
            : salvage->has_gaps ? ", and all rows in unreadable places"
                                : "");
    else
        str_printf(
            text, "%s skipped, ", salvage->cut_short ? "The rest was" : "Unreadable parts were");
    str_printf(text, "%" PRIu64 " %s kept.", rows_kept, rows_kept == 1 ? "was" : "were");
}
