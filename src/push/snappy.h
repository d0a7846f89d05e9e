/*
 * Blocks of snappy, the form that remote write asks for. They are made of literals alone, which
 * every reader takes: requests are small, and go to the node or the cluster.
 */
#pragma once

#include "base/str.h"

/* Replaces the bytes. Errors: GPUT_ERROR_MEMORY, with the bytes as before. */
int snappy_frame(struct str *bytes, struct gput_error *error);
