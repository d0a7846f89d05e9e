/*
 * The runs of a benchmark: variants, the figures of each run, and what disturbed it. The analysis
 * and all formats are made of this; it is read back from a file of an earlier day.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_figure {
    BENCH_WALL,
    BENCH_WALL_WITHOUT_WAIT,
    BENCH_CPU,
    BENCH_CPU_USER,
    BENCH_CPU_SYSTEM,
    BENCH_RAM,
    BENCH_RAM_AT_MOST,
    BENCH_GPU_RAM,
    BENCH_GPU_TIME,
    BENCH_ENERGY,
    BENCH_CPU_ENERGY,
    BENCH_GPU_ENERGY,
    BENCH_WORK,
    BENCH_WALL_PER_WORK,
    BENCH_CPU_PER_WORK,
    BENCH_ENERGY_PER_WORK,
    BENCH_RAM_PER_WORK,
    BENCH_INSTRUCTIONS,
    BENCH_CYCLES,
    BENCH_CACHE_MISSES,
    BENCH_READ,
    BENCH_WRITTEN,
    BENCH_STORAGE_READ,
    BENCH_STORAGE_WRITTEN,
    BENCH_MINOR_FAULTS,
    BENCH_MAJOR_FAULTS,
    BENCH_VOLUNTARY_SWITCHES,
    BENCH_INVOLUNTARY_SWITCHES,
    BENCH_PROCESSES,
    BENCH_WAIT,
    BENCH_OTHER_CPU,
    BENCH_FIGURE_COUNT,
};

enum bench_unit { BENCH_SECONDS, BENCH_BYTES, BENCH_JOULES, BENCH_COUNT };

struct bench_figure_info {
    const char *key; /* "wall_seconds" */
    const char *label;
    enum bench_unit unit;
    const char *column;  /* of gput_results that has it; NULL: bench_run makes it */
    const char *source;  /* of the results whose reason says why it is missing; NULL: `column`'s */
    const char *meaning; /* in a few words */
    const char
        *needs; /* a source without which there is none of it, where `source` gives no reason */
    const char *label_of_calls; /* of functions, whose units of work are calls; NULL: the same */
    bool is_detail;             /* text shows it only where variants differ in it */
    bool is_of_machine; /* what others did: it says nothing of the command, and has no verdict */
    bool is_optional;   /* that it is missing is no news */
    bool is_bound;      /* a limit of the figure before it, which has no verdict of its own */
};

extern const struct bench_figure_info bench_figures[BENCH_FIGURE_COUNT];

/* Causes that can disturb a run, as a share of its wall time unless the table says otherwise. */
enum bench_cause {
    BENCH_CAUSE_WAIT,     /* runnable, but waiting for a CPU */
    BENCH_CAUSE_QUOTA,    /* the control group had used up its CPU quota */
    BENCH_CAUSE_STEAL,    /* other virtual machines had the CPUs */
    BENCH_CAUSE_THROTTLE, /* times that a CPU was slowed down because it was hot */
    BENCH_CAUSE_PAGING,   /* page faults that needed storage */
    BENCH_CAUSE_COLD,     /* bytes from storage in the first run, which later ones find in RAM */
    BENCH_CAUSE_COUNT,
};

struct bench_cause_info {
    const char *key;
    const char *label;  /* "waited for a CPU" */
    const char *remedy; /* what would help */
    double noticeable;  /* from here on it is shown */
    /* From here on the run is left out of all figures. Infinite where the command itself may be the
     * cause: leaving such runs out would favour whoever has more of them. */
    double leaves_out;
    bool is_share; /* shown in percent */
};

extern const struct bench_cause_info bench_causes[BENCH_CAUSE_COUNT];

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

/* Facts of the machine that can explain a difference from another day. */
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

/* "seconds", "bytes", "joules"; NULL: a count. */
const char *bench_unit_name(enum bench_unit unit);

/* The figure of that key, or of a word that people use for it ("ram", "cpu", "wall");
 * BENCH_FIGURE_COUNT: there is none. */
enum bench_figure bench_figure_find(const char *word);
