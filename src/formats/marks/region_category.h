/*
 * The category of a region is a part of its name: "step [phase]", or its number, "step [7]". Number
 * 0 is none: a region without a category that is called "tensor [3, 4]" has the name
 * "tensor [3, 4] [0]".
 */
#pragma once

/* The bracket with which the last part of the name of a region begins; NULL: it has none. */
const char *region_category_find(const char *name);

#define REGION_CATEGORY_NONE "[0]"
