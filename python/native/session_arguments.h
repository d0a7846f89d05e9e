/* The arguments of gpu_tracker._native.Session as options of the library. */
#pragma once

#include "native.h"

struct session_arguments {
    struct gput_session_options options;
    struct gput_limits limits;
    int keep_samples;
    PyObject *held; /* holds the other objects that the options point into */
};

/* Reads the arguments. Returns false with an exception. `given` must not be moved or copied,
 * because its options point into it and into the arguments. */
bool session_arguments_read(PyObject *args, PyObject *kwargs, struct session_arguments *given);

/* Call it when the session has been created. */
void session_arguments_finish(struct session_arguments *given);
