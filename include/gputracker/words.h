/*
 * Suggestions for words that were mistyped.
 *
 *     char near[GPUT_NEAREST_SIZE];
 *     if (gput_nearest_words("text, json, csv", "jsno", near) > 0)
 *         printf("Did you mean %s?\n", near);
 */
#ifndef GPUTRACKER_WORDS_H
#define GPUTRACKER_WORDS_H

#include <gputracker/error.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Size of the buffer of gput_nearest_words(), with the final 0. */
#define GPUT_NEAREST_SIZE 80

/**
 * Writes at most two of `words` that a mistyped `word` may stand for: "json", "min or max". `words`
 * is a text of words separated by a blank, a comma or both. A word is near if it begins with
 * `word`, or differs from it in at most a third of its letters, or in one if it has fewer than 7.
 * Words of more than 32 bytes never match.
 *
 * Returns: how many it wrote; where it is 0, `text` is "".
 */
GPUT_API int gput_nearest_words(const char *words, const char *word, char text[GPUT_NEAREST_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
