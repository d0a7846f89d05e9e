/*
 * One word out of a list: the values of an option, commands, topics. What is not in the list is
 * refused with the names nearest to it and all valid ones.
 */
#pragma once

#include "base/nearest.h"
#include "options/option.h"

#include <gputracker/error.h>
#include <gputracker/words.h>

/* Lists of words are texts with a blank between two: "text json csv". */

/* The position of a word in a list; -1: it is not there. */
int choice_find(const char *words, const char *word);

/*
 * Writes at most two words of the list that have a part between dashes in common with `word`, as
 * --limit-ram and --limit have: "--limit or --limit-x". "" when there is none.
 */
void choice_suggest_by_part(const char *words, const char *word, char text[GPUT_NEAREST_SIZE]);

/*
 * Reads the word given to an option: *choice is its position in the option's list. `noun` is what
 * messages call the value. Errors: GPUT_ERROR_INVALID, `"jsno" is not a valid format: did you mean
 * "json"? Valid values are "text", "json" or "csv".`
 */
int choice_read(
    enum option_id id, const char *word, const char *noun, int *choice, struct gput_error *error);
