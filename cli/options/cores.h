/*
 * -j: how many cores read.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/error.h>

/* What was asked for, else all that this process may use. */
int cores_read(const struct arguments *arguments, unsigned *cores, struct gput_error *error);
