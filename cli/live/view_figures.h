/*
 * What the upper part of the view shows: each figure now, its peak, and its last minutes; those of
 * each GPU and of the machine; and how long all of it has lasted.
 */
#pragma once

#include "curve.h"
#include "machine.h"
#include "quantity.h"

#include <gputracker/results.h>
#include <gputracker/snapshot.h>

#include <stdbool.h>

/* How far one can look back. */
#define BACK_SECONDS 600

enum figure_id {
    FIGURE_CPU,
    FIGURE_RAM,
    FIGURE_SWAPPED, /* of the tracked processes alone */
    FIGURE_GPU,
    FIGURE_GPU_RAM,
    FIGURE_POWER,
    FIGURE_THREADS,
    FIGURE_MAIN_COUNT,
    /* Figures of the machine, next to them: */
    FIGURE_CPU_WAIT = FIGURE_MAIN_COUNT,
    FIGURE_STORAGE_WAIT,
    FIGURE_MEMORY_WAIT,
    FIGURE_SWAP,
    FIGURE_DISK,
    FIGURE_NETWORK,
    FIGURE_COUNT,
};

struct figure {
    struct curve curve;
    double peak;   /* the session's: it knows more than snapshots show */
    double full;   /* what there is of it at most; NaN: not known, or nothing of the kind */
    bool is_known; /* it ever was */
};

struct gpu_figure {
    char name[96];
    double capacity_bytes, watts, watts_limit, celsius, slowdown_celsius, clock_mhz;
    char slowed_by[160]; /* "": by nothing */
    struct curve utilization, ram;
    char users[160]; /* those that hold its RAM: "python 4711 12 GB, …" */
};

/* All zeroes is empty. */
struct view_figures {
    bool is_machine; /* figures are of the whole machine, else of the tracked processes */
    struct figure figures[FIGURE_COUNT];
    struct gpu_figure *gpus; /* owned */
    size_t n_gpus, gpu_capacity;
    double elapsed_seconds, joules;
    bool knows_share; /* the power of the tracked processes; else that of the machine is shown */
    size_t processes;
    size_t n_cores;      /* whose use follows */
    double *cores;       /* in percent; owned */
    double back_seconds; /* figures are shown as of that long ago */
    bool is_held;        /* what is shown stays, also where nothing is known of earlier */
    bool is_zoomed;      /* curves are as high as their peak, not as what there is */
};

void view_figures_finish(struct view_figures *figures);

/* Adds what a session saw at a tick; `results` are those so far, `machine` is as of then; or NULL.
 */
void view_figures_add(struct view_figures *figures, const struct gput_snapshot *snapshot,
    const struct gput_results *results, const struct machine *machine);

/* "CPU", "RAM" …, and what its values are. Static. */
const char *figure_name(const struct view_figures *figures, enum figure_id id);
enum quantity figure_quantity(enum figure_id id);
enum palette figure_palette(enum figure_id id);

/* The value that is shown: now, or as of the moment that is looked at. */
double figure_value(const struct view_figures *figures, enum figure_id id);

/* A few words on it: "of 8 cores", "412 J". "": nothing to say. */
void figure_note(const struct view_figures *figures, enum figure_id id, char *text, size_t size);

/* Whether it is worth a row. */
bool figure_is_shown(const struct view_figures *figures, enum figure_id id);
