/*
 * A benchmark: its options, its commands, and the runs so far.
 */
#pragma once

#include "analysis/bench/bench_data.h"
#include "base/error.h"
#include "bench/disturbances.h"

#include <gputracker/bench.h>

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parameter of gput_bench_add_parameter(). */
struct bench_scan {
    char *name;
    char **values;
    size_t n_values;
    bool is_used; /* some command has it in braces */
};

/* How a variant is run; of the same index as in `data`. */
struct bench_command {
    char **argv;        /* NULL at the end; one block; NULL: it is no command */
    char **environment; /* "NAME=value" that it has in addition, NULL at the end; within argv */
    char **own_lines;   /* setup, prepare, conclude, cleanup with its parameters; NULL: none */
};

enum bench_line { BENCH_SETUP, BENCH_PREPARE, BENCH_CONCLUDE, BENCH_CLEANUP, BENCH_LINE_COUNT };

/* Which variant runs next. */
struct bench_order {
    size_t *places; /* variants of this block in their order */
    size_t next;    /* of `places` */
    size_t block;
    uint64_t state; /* of the random numbers */
    int64_t began_ns;
    bool is_due; /* a run was announced, and is to be added */
};

struct gput_bench {
    struct gput_bench_options options;           /* texts are copies, owned */
    struct gput_session_options session_options; /* texts are the caller's */
    regex_t work;
    bool has_work;
    struct bench_scan *scans;
    size_t n_scans;
    struct bench_command *commands;
    struct bench_data data;
    struct bench_data baseline;
    char *baseline_name; /* NULL: there is none */
    struct bench_order order;
    struct disturbances disturbances; /* opened before the first run */
    struct disturbance_counts before; /* when the caller was told which variant is due */
    double wait_before, wait_seconds; /* of the caller's thread: at its begin; in its run; or NaN */
    double shell_seconds, shell_cpu_seconds; /* what `sh -c ''` costs; 0 without --shell */
};

/* bench_commands.c */

/* Frees commands and parameters. */
void bench_commands_finish(struct gput_bench *bench);

/* bench_order.c */

/* Whether another run is due, by number, precision and time; the same as gput_bench_next(). */
bool bench_order_next(struct gput_bench *bench, size_t *variant);

/* Half of the wider 95 % interval of wall time and RAM of the least exact variant, in percent of
 * the mean; NaN: not known yet. */
double bench_order_half_width(const struct gput_bench *bench, enum bench_figure figure);

/* Adds what is known of a run from its session. */
void bench_fill_run(const struct gput_bench *bench, const struct gput_results *results,
    double wall_seconds, struct bench_run *run);

/* Notes why figures are missing that no run has had so far. */
void bench_fill_missing(struct gput_bench *bench, const struct gput_results *results);
