/*
 * A request for a command: what its runs used, and the bounds computed from that.
 */
#pragma once

#include "analysis/size/size_bound.h"
#include "base/str.h"

#include <gputracker/size.h>

/* The resources that are requested. */
enum size_quantity {
    SIZE_RAM,     /* bytes, of all processes together */
    SIZE_WALL,    /* seconds */
    SIZE_CORES,   /* cores in use at once */
    SIZE_GPUS,    /* GPUs on which it held memory */
    SIZE_GPU_RAM, /* bytes, over all GPUs; shown, but not part of a request */
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
    size_t n_runs;        /* runs that count */
    size_t n_failed;      /* failed runs, which are left out */
    size_t n_ranks;       /* runs that are ranks of jobs, also left out */
    bool has_several;     /* the runs are of several commands */
    size_t n_loose;       /* runs whose peak RAM may have been far higher than what was seen */
    double loose_bytes;   /* how high it may have been; NaN: no bound */
    size_t n_unbounded;   /* of n_loose, those without a bound */
    double first_seconds; /* start of the first run, since the epoch; NaN: not known */
    double last_seconds;  /* start of the last run */
    double input_bytes;   /* size of the input to request for; NaN: none */
    double ranks;         /* number of ranks to request for; NaN: none */
    bool has_inputs; /* runs have sizes of inputs, which then explain growth instead of ranks */
    double machine_ram_bytes; /* RAM of the last run's machine; NaN: not known */
    double now_seconds;
    char name[256]; /* name of the command of the first run */
    struct str evidence;
};
