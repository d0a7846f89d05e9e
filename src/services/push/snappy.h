/*
 * Blocks of snappy, the form that remote write asks for: by libsnappy where it is installed.
 * Otherwise they are made of literals alone, which every reader takes and which save nothing.
 */
#pragma once

#include "base/str.h"

/* Replaces the bytes. Errors: GPUT_ERROR_MEMORY, with the bytes as before. */
int snappy_pack(struct str *bytes, struct gput_error *error);
