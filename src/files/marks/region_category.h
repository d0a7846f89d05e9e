/*
 * The category of a region is a part of its name, "nvtx:train/step [phase]", or its number,
 * "nvtx:train/step [7]". A label says which brackets are categories: names end in others, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REGION_CATEGORY_SIZE 1024

/*
 * The domain and the category that the name of a region may have: "nvtx:train [phase]" of
 * "nvtx:train/step [phase]", and of itself. Longer ones are cut. False: it ends in no bracket.
 */
bool region_category_of(const char *name, char category[REGION_CATEGORY_SIZE]);

/* The bracket with which the last part of a name begins; NULL: it ends in none. */
const char *region_category_find(const char *name);

/* The category alone, "phase" of "nvtx:train [phase]", up to the last character. */
const char *region_category_text(const char *category, size_t *length);
