/*
 * Which ranges are recorded, by their names.
 */
#pragma once

#include <stdbool.h>

/* All zero: everything is recorded. */
struct region_filter {
    char *patterns; /* owned; NUL between two, an empty one at the end */
    bool has_wanted;
};

/*
 * Takes patterns, a line each: `domain:name`, or a name in any domain, with `*`, `?` and `[…]` as
 * in a shell; with a `!` before it, what is not recorded. Without memory false: then everything is.
 */
bool region_filter_read(struct region_filter *filter, const char *lines);

/* Whether a range is wanted: it fits some pattern, if there are any, and none with a `!`. */
bool region_filter_wants(const struct region_filter *filter, const char *domain, const char *name);
