/*
 * Taking from a damaged file whatever is whole: rows that are damaged are left out and counted,
 * where a file that figures are computed from would be refused for them.
 */
#ifndef FORMATS_SALVAGE_H
#define FORMATS_SALVAGE_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct salvage {
    bool wanted;             /* false: damage is an error */
    bool cut_short;          /* what follows a place cannot be read */
    uint64_t rows_left_out;  /* that are damaged */
    struct gput_error first; /* what was wrong first */
};

/* Given the code of reading a row and its error: GPUT_OK when the row is just to be left out. */
int salvage_row(struct salvage *salvage, int code, const struct gput_error *error);

/* Likewise of reading on: GPUT_OK when the file just ends here. */
int salvage_rest(struct salvage *salvage, int code, const struct gput_error *error);

/* Whether anything was left out. */
static inline bool salvage_lost(const struct salvage *salvage)
{
    return salvage->cut_short || salvage->rows_left_out > 0;
}

/* What was wrong, and how much was left out: "… line 5 has 3 cells …. 1 row was left out, 14 were
 * kept." */
void salvage_describe(const struct salvage *salvage, uint64_t rows_kept, struct str *text);

#endif
