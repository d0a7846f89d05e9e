/*
 * Ranges that a program identifies by ids of its own.
 */
#pragma once

#include "regions.h"

/* Identifies an open range. */
struct region_key {
    uint64_t parts[4];
};

/* Begins a range that any thread may end by the same key. */
void region_named_begin(struct regions *regions, struct region_domain *domain,
    const struct region_key *key, const char *text);

/* Ends the range of that key; counts it as unmatched if there is none. */
void region_named_end(struct regions *regions, const struct region_key *key);
