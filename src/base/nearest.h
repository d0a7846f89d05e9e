/*
 * One word out of a list: what is not in it is refused with the names nearest to it, and all valid
 * ones. Lists of words are texts with a comma and a blank between two: "text, json, csv".
 */
#pragma once

#include <gputracker/error.h>
#include <gputracker/words.h>

enum { NEAREST_QUESTION_SIZE = GPUT_NEAREST_SIZE + 20 };

/* Writes `: did you mean json?` of what gput_nearest_words() found, or "." when that is "", and
 * returns it. */
const char *nearest_question_of(const char *near, char question[NEAREST_QUESTION_SIZE]);

/* The same of the words that are near to `word`. */
const char *nearest_question(
    const char *words, const char *word, char question[NEAREST_QUESTION_SIZE]);

/* GPUT_ERROR_INVALID: `"jsno" is not a valid format: did you mean json? Valid values are text,
 * json, csv`. `noun` is what the word should be. */
int nearest_refuse(const char *words, const char *word, const char *noun, struct gput_error *error);
