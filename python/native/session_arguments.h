/* The arguments of gpu_tracker._native.Session as options of the library. */
#pragma once

#include "native.h"

struct session_arguments {
    struct gput_session_options options;
    struct gput_limits limits;
    const char *ram, *gpu_ram, *time, *energy, *ram_mode;
    int overwrite, processes, command_lines, energy_sqlite, energy_continue, enforce;
    int n_expected_cores, keep_samples;
    PyObject *tracking_file, *resource_usage_file, *energy_folder; /* bytes, or NULL; owned */
};

/* Reads them. False with an exception. `given` must not move: its options point into it, and into
 * the arguments. */
bool session_arguments_read(PyObject *args, PyObject *kwargs, struct session_arguments *given);

/* When the session was created. */
void session_arguments_finish(struct session_arguments *given);
