/*
 * One word out of a list: the values of an option, commands, topics. What is not in the list is
 * refused with the names nearest to it and all valid ones.
 */
#pragma once

#include "option.h"

#include <gputracker/error.h>

#include <stddef.h>

/* Lists of words are texts with a blank between two: "text json csv". */

/* The position of a word in a list; -1: it is not there. */
int choice_find(const char *words, const char *word);

/*
 * Writes at most two words of the list that a mistyped `word` may stand for, each with `prefix`
 * before it: "--output or --overwrite". "" when none is near.
 */
void choice_suggest(
    const char *words, const char *word, const char *prefix, char *text, size_t size);

/* The same of words that have a part between dashes in common with it, as --limit-ram and --limit
 * have. The first two of the list. */
void choice_suggest_by_part(const char *words, const char *word, char *text, size_t size);

/*
 * Reads the word given to an option: *choice is its position in the option's list. `noun` is what
 * messages call the value. Errors: GPUT_ERROR_INVALID, `"jsno" is not a valid format: did you mean
 * "json"? Valid values are "text", "json" or "csv".`
 */
int choice_read(
    enum option_id id, const char *word, const char *noun, int *choice, struct gput_error *error);
