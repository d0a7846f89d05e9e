/*
 * The figures of a run, and what can disturb it: one table each, which runs, statistics and every
 * format walk over.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

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

/* "seconds", "bytes", "joules"; NULL: a count. */
const char *bench_unit_name(enum bench_unit unit);

/* The figure of that key, or of a word that people use for it ("ram", "cpu", "wall");
 * BENCH_FIGURE_COUNT: there is none. */
enum bench_figure bench_figure_find(const char *word);

/* What can disturb a run, as a share of its wall time unless the table says otherwise. */
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
