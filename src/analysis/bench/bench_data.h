/*
 * The runs of a benchmark: variants, the figures of each run, and what disturbed it. The analysis
 * and all formats are made of this; it is read back from a file of an earlier day.
 */
#pragma once

#include "analysis/bench/bench_figures.h"
#include "base/doc.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One run of one variant. */
struct bench_run {
    size_t variant;
    size_t block;      /* in each block every variant runs once */
    double at_seconds; /* when it began, since the benchmark began */
    int status;        /* as of wait(2); -1: not known, as of functions */
    bool timed_out;
    double figures[BENCH_FIGURE_COUNT]; /* NaN: not known */
    double causes[BENCH_CAUSE_COUNT];   /* NaN: not known */
    /* For which it counts in no figure; BENCH_CAUSE_COUNT: it counts. */
    enum bench_cause left_out;
};

struct bench_parameter {
    char *name, *value; /* owned */
};

struct bench_variant {
    char *name;    /* "new", or the command; owned */
    char *command; /* as a shell has it; owned */
    struct bench_parameter *parameters;
    size_t n_parameters;
};

/* What of the machine explains a difference from another day. */
struct bench_machine {
    char *name, *cpu_model, *kernel, *clock_policy; /* owned; NULL: not known */
    double n_cores;                                 /* that this process may use */
    double load; /* mean number of runnable threads in the minute before */
    double ram_bytes;
    char *gpus; /* owned */
};

struct bench_data {
    struct bench_variant *variants;
    size_t n_variants;
    struct bench_run *runs; /* in the order in which they ran */
    size_t n_runs, capacity;
    char *missing[BENCH_FIGURE_COUNT]; /* why no run has it; NULL: no reason is known; owned */
    struct bench_machine machine;
    char *date; /* of the begin: "2026-11-29T23:40:00Z"; owned */
    char *version;
    uint64_t seed;
    bool is_in_order;
    bool has_calls; /* units of work are calls of functions */
    unsigned n_warmups;
    double precision_percent; /* NaN: the number of runs was given */
    double seconds;           /* that all of it took */
    const char *stopped_by;   /* "runs", "precision", "time", "interrupt", "failure"; static */
    char *failure;            /* of the run that ended it; owned */
};

void bench_data_finish(struct bench_data *data);

/* Adds a variant; copies both texts. Errors: GPUT_ERROR_MEMORY. */
int bench_data_add_variant(struct bench_data *data, const char *name, const char *command,
    struct bench_variant **variant, struct gput_error *error);

/* Adds a parameter of a variant. Errors: GPUT_ERROR_MEMORY. */
int bench_variant_add_parameter(
    struct bench_variant *variant, const char *name, const char *value, struct gput_error *error);

/* Adds a run, of which nothing is known yet. NULL: no memory. */
struct bench_run *bench_data_add_run(struct bench_data *data, size_t variant, size_t block);

/* How many runs of a variant there are, and how many of them count. */
size_t bench_data_count_runs(const struct bench_data *data, size_t variant, size_t *n_counted);

/* The figure of each run of a variant that counts, in their order; returns how many they are.
 * `values` has room for all runs. */
size_t bench_data_values(
    const struct bench_data *data, size_t variant, enum bench_figure figure, double *values);

/* The same by block; NaN where the variant did not run, or where its run does not count. `values`
 * has room for bench_data_block_count(). */
void bench_data_blocks(
    const struct bench_data *data, size_t variant, enum bench_figure figure, double *values);
size_t bench_data_block_count(const struct bench_data *data);

/*
 * Decides which runs do not count, by what disturbed them, never by their figures. Where more than
 * a third of a variant's runs would be left out, none is: then that is how this machine is.
 */
void bench_data_judge_runs(struct bench_data *data);

/* Reads what bench_document() wrote. `name` is used in messages. On success the caller calls
 * bench_data_finish(). Errors: GPUT_ERROR_FORMAT, GPUT_ERROR_MEMORY. */
int bench_data_read(
    const struct doc *doc, const char *name, struct bench_data *data, struct gput_error *error);
