/*
 * The categories of events that PyTorch's profiler (Kineto) writes, in the spellings of all its
 * versions, and what each says: one table for all views.
 */
#pragma once

#include "base/json_scan.h"

enum kineto_kind {
    KINETO_KERNEL,     /* a GPU computes or communicates */
    KINETO_MEMORY,     /* a GPU copies or sets memory */
    KINETO_LAUNCH,     /* the host calls the runtime or driver of a GPU */
    KINETO_OPERATOR,   /* the host is in an operator */
    KINETO_ANNOTATION, /* the program says what it does */
    KINETO_ASIDE,      /* known, and no work: Python's frames, the profiler's own time, marks */
    KINETO_UNKNOWN,    /* of an accelerator, or a program, that no view understands */
};

struct kineto_category {
    const char *spelling;
    uint32_t length;  /* of the spelling */
    const char *name; /* what the newest version calls it */
    enum kineto_kind kind;
};

extern const struct kineto_category kineto_categories[];
extern const size_t kineto_category_count;

/* NULL: none of the table, or no string. */
const struct kineto_category *kineto_category_find(const struct json_value *spelling);
