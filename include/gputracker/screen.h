/*
 * Untrusted text on a terminal: names of files, commands, processes and code blocks may contain
 * escape sequences.
 *
 *     char name[] = "evil\033[2J";
 *     printf("%.*s\n", (int)gput_screen_text(name, sizeof name - 1), name);
 */
#ifndef GPUTRACKER_SCREEN_H
#define GPUTRACKER_SCREEN_H

#include <gputracker/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes text harmless for a terminal, in its place. These become "?", and all other text stays as
 * it is:
 *
 * - control characters: C0 but line ends and tabs, DEL, C1;
 * - bidirectional controls: U+202A to U+202E, U+2066 to U+2069;
 * - bytes that are not UTF-8.
 *
 * Returns: the new length, at most `length`. Nothing is appended: a final 0 is the caller's.
 */
GPUT_API size_t gput_screen_text(char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
