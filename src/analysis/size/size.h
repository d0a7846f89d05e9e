/*
 * A request for a command: what its runs took, and the bounds made of that.
 */
#pragma once

#include "analysis/size/size_bound.h"
#include "base/str.h"

#include <gputracker/size.h>

/* What is asked for. */
enum size_quantity {
    SIZE_RAM,     /* bytes, of all processes together */
    SIZE_WALL,    /* seconds */
    SIZE_CORES,   /* in use at once */
    SIZE_GPUS,    /* on which it held memory */
    SIZE_GPU_RAM, /* bytes, over all GPUs; no scheduler is asked for it */
    SIZE_QUANTITY_COUNT
};

/* The values of all runs, by quantity. */
struct size_evidence {
    struct size_value *values[SIZE_QUANTITY_COUNT]; /* owned */
    size_t counts[SIZE_QUANTITY_COUNT];
};

struct gput_size {
    double share;
    struct size_evidence runs;
    struct size_bound bounds[SIZE_QUANTITY_COUNT];
    size_t n_runs;            /* that count */
    size_t n_failed;          /* that are left out */
    size_t n_ranks;           /* that are parts of jobs, and left out, too */
    bool has_several;         /* commands */
    size_t n_loose;           /* whose peak of RAM may have been far higher than what was seen */
    double loose_bytes;       /* how high it may have been; NaN: nothing says */
    size_t n_unbounded;       /* of them, those whose peak nothing limits */
    double first_seconds;     /* when the first one began, since the epoch; NaN: not known */
    double last_seconds;      /* and the last one */
    double input_bytes;       /* that was asked for; NaN: none */
    double ranks;             /* likewise */
    bool has_inputs;          /* runs have sizes of inputs: they, not ranks, say what grows */
    double machine_ram_bytes; /* of the last run's machine; NaN: not known */
    double now_seconds;
    char name[256]; /* of the first run */
    struct str evidence;
};
