/*
 * Text that people read, made harmless for a terminal: names of files, commands, processes and code
 * blocks may contain escape sequences.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a character moves the cursor, or turns the direction of the text after it. */
bool screen_is_control(uint32_t point);

/*
 * Makes text harmless, in its place. These become "?", and all other text stays as it is:
 *
 * - control characters: C0 but line ends and tabs, DEL, C1;
 * - bidirectional controls: U+202A to U+202E, U+2066 to U+2069;
 * - bytes that are not UTF-8.
 *
 * Returns the new length, at most `length`. Nothing is appended: a final 0 is the caller's.
 */
size_t screen_clean(char *text, size_t length);

/* The same for what was appended since `start`: texts of files, programs and drivers. */
void screen_sanitize(struct str *text, size_t start);
