/*
 * What a session was asked for, and the machine that it runs on. Nothing of it changes while
 * samples are taken, except that GPUs may appear and that limits of the main process become known.
 */
#pragma once

#include "base/bounded_calls.h"
#include "machine/gpu/gpu.h"

#include "machine/os/environment.h"
#include "model/results.h"

#include <gputracker/session.h>

#include <stdbool.h>
#include <stdint.h>

enum session_mode { SESSION_SELF, SESSION_ATTACHED, SESSION_LAUNCHED, SESSION_MACHINE };

struct session_settings {
    struct gput_session_options options; /* its strings are copies, in `strings` and the sinks */
    struct gput_limits limits;
    char *strings[7]; /* owned */
    int64_t interval_ns;
    bool procfs_is_named; /* set by the caller: pids belong to that procfs */
    struct gput_static_data static_data;
    struct gput_allowed allowed; /* known when tracking has begun */
    struct gpu_set *gpus;        /* owned */
    struct bounded_calls *calls; /* for readings that may never return; owned */

    /* Known when tracking begins. */
    enum session_mode mode;
    bool has_own_procfs; /* procfs_root has the pids of our namespace */
    int64_t start_ns;    /* monotonic clock */
    char id[SESSION_ID_SIZE];
    char within[SESSION_IDS_SIZE]; /* of the sessions that have these processes, too */
};

/* Copies the options; texts that sinks name remain the caller's until sinks_open(). On success and
 * failure the caller calls session_settings_finish(). Errors: GPUT_ERROR_INVALID (an option),
 * GPUT_ERROR_UNSUPPORTED (one of a later version), GPUT_ERROR_MEMORY. */
int session_settings_init(struct session_settings *settings,
    const struct gput_session_options *given, struct gput_error *error);

/* Finds the GPUs. gpu_set_start() is due when it is known what is tracked. Errors: those of
 * gpu_set_open(). */
int session_settings_open_gpus(struct session_settings *settings, struct gput_error *error);

/* Sets the number of GPUs and their RAM: GPUs can appear later. */
void session_settings_fill_gpus(
    const struct session_settings *settings, struct gput_static_data *data);

/* Warns of GPUs that cannot be read, and when there is none. `lacks_cpu_energy`: then a recording
 * of power warns of both at once. */
void session_settings_warn_of_gpus(const struct session_settings *settings, bool lacks_cpu_energy);

void session_settings_finish(struct session_settings *settings);

/* One line for the caller of the library. */
void session_warn(const struct session_settings *settings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
