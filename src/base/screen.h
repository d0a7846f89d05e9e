/*
 * Text that people read, made harmless for a terminal (gputracker/screen.h).
 */
#pragma once

#include "base/str.h"

#include <gputracker/screen.h>

#include <stdbool.h>
#include <stdint.h>

/* Whether a character moves the cursor, or turns the direction of the text after it. */
bool screen_is_control(uint32_t point);

/* What was appended since `start`: texts of files, programs and drivers. */
void screen_sanitize(struct str *text, size_t start);
