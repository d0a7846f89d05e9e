/*
 * Text that people read, made harmless for a terminal (gputracker/screen.h).
 */
#pragma once

#include "base/str.h"

#include <gputracker/screen.h>

/* What was appended since `start`: texts of files, programs and drivers. */
void screen_make_harmless(struct str *text, size_t start);
