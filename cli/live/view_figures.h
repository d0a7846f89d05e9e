/*
 * What the upper part of the view shows: each figure now, its peak, and its last minute; those of
 * each GPU; and how long all of it has lasted.
 */
#pragma once

#include "curve.h"
#include "quantity.h"

#include <gputracker/results.h>
#include <gputracker/snapshot.h>

#include <stdbool.h>

enum figure_id {
    FIGURE_CPU,
    FIGURE_RAM,
    FIGURE_GPU,
    FIGURE_GPU_RAM,
    FIGURE_POWER,
    FIGURE_THREADS,
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
    double ram_bytes, capacity_bytes, watts;
    struct curve utilization;
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
    double cores;     /* of the machine */
    size_t processes;
};

void view_figures_finish(struct view_figures *figures);

/* Adds what a session saw at a tick; `results` are those so far, or NULL. */
void view_figures_add(struct view_figures *figures, const struct gput_snapshot *snapshot,
    const struct gput_results *results);

/* "CPU", "RAM" …, and what its values are. Static. */
const char *figure_name(const struct view_figures *figures, enum figure_id id);
enum quantity figure_quantity(enum figure_id id);

/* A few words on it: "of 8 cores", "412 J". "": nothing to say. */
void figure_note(const struct view_figures *figures, enum figure_id id, char *text, size_t size);

/* Whether it is worth a row. */
bool figure_is_shown(const struct view_figures *figures, enum figure_id id);
