/* The arguments of gpu_tracker._native.Session as options of the library. */
#pragma once

#include "native.h"

struct session_arguments {
    struct gput_session_options options;
    struct gput_limits limits;
    int keep_samples;
    PyObject *held; /* what options point to, besides the arguments; owned */
};

/* Reads them. False with an exception. `given` must not move: its options point into it, and into
 * the arguments. */
bool session_arguments_read(PyObject *args, PyObject *kwargs, struct session_arguments *given);

/* When the session was created. */
void session_arguments_finish(struct session_arguments *given);
