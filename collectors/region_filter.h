/*
 * Selects by name which ranges are recorded.
 */
#pragma once

#include <stdbool.h>

/* All zero: everything is recorded. */
struct region_filter {
    char *patterns; /* owned; each ends with NUL, an empty one is at the end */
    bool has_wanted;
};

/*
 * Reads patterns, a line each: `domain:name`, or a name in any domain, with `*`, `?` and `[…]` as
 * in a shell. A `!` before a pattern excludes its ranges. Returns false without memory; everything
 * is then recorded.
 */
bool region_filter_read(struct region_filter *filter, const char *lines);

/* Whether a range is recorded: it matches a pattern without `!`, if there are any, and none with a
 * `!`. */
bool region_filter_wants(const struct region_filter *filter, const char *domain, const char *name);
