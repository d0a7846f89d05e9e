/*
 * The categories of events that PyTorch's profiler (Kineto) writes, in the spellings of all its
 * versions, and the kind of each: one table for all views.
 */
#pragma once

#include "base/json_scan.h"

enum kineto_kind {
    KINETO_KERNEL,     /* a GPU computes or communicates */
    KINETO_MEMORY,     /* a GPU copies or sets memory */
    KINETO_LAUNCH,     /* the host calls the runtime or driver of a GPU */
    KINETO_OPERATOR,   /* the host runs an operator */
    KINETO_ANNOTATION, /* the program annotates what it does */
    KINETO_ASIDE,      /* known, but no work: Python's frames, the profiler's own time, marks */
    KINETO_UNKNOWN,    /* no view understands it */
};

struct kineto_category {
    const char *spelling;
    uint32_t length;  /* of the spelling */
    const char *name; /* name in the newest version */
    enum kineto_kind kind;
};

extern const struct kineto_category kineto_categories[];
extern const size_t kineto_category_count;

/* Finds the category of a spelling. NULL: not in the table, or no string. */
const struct kineto_category *kineto_category_find(const struct json_value *spelling);
