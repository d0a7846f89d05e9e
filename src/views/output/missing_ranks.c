#include "views/output/missing_ranks.h"

#include "base/doubles.h"

#include <math.h>
#include <stdlib.h>

/* Ranges in a sentence. */
#define MAX_NAMED 8

void missing_ranks_list(double *present, size_t count, double world_size, struct str *list)
{
    size_t ranges = 0;
    double next = 0;
    qsort(present, count, sizeof *present, doubles_compare);
    for (size_t i = 0; i <= count && ranges <= MAX_NAMED; i++) {
        double here = i < count ? fmin(present[i], world_size) : world_size;
        if (here > next && ranges++ < MAX_NAMED) {
            str_printf(list, "%s%.0f", ranges > 1 ? ", " : "", next);
            if (here > next + 1)
                str_printf(list, "-%.0f", here - 1);
        }
        next = here + 1;
    }
    str_append(list, ranges > MAX_NAMED ? " and more" : "");
}
