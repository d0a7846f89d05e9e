/*
 * Salvage of damaged files: damaged rows are skipped and counted. (Without salvage, as for
 * computing figures, such a file is refused.)
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct salvage {
    bool wanted;             /* false: damage is an error */
    bool cut_short;          /* the rest of the file cannot be read */
    bool has_gaps;           /* places before the end cannot */
    uint64_t rows_skipped;   /* damaged ones */
    struct gput_error first; /* the first error */
};

/* Takes the result of reading a row: GPUT_OK when the row is to be skipped. */
int salvage_row(struct salvage *salvage, int code, const struct gput_error *error);

/* Takes an error after which nothing can be read: GPUT_OK when the file is to end here. */
int salvage_rest(struct salvage *salvage, int code, const struct gput_error *error);

/* Notes a place that is skipped, and why it cannot be read. */
void salvage_gap(struct salvage *salvage, const struct gput_error *error);

/* Whether anything was skipped. */
static inline bool salvage_lost(const struct salvage *salvage)
{
    return salvage->cut_short || salvage->has_gaps || salvage->rows_skipped > 0;
}

/* Appends the first error and how much was skipped: "… line 5 has 3 cells …. 1 row was skipped, 14
 * were kept." */
void salvage_describe(const struct salvage *salvage, uint64_t rows_kept, struct str *text);
