/*
 * Which commands a mistyped word may stand for.
 */
#pragma once

#include "base/nearest.h"
#include "options/arguments.h"

/*
 * Writes `: did you mean sub-track analyze?`, or "." when no name is near. `words` are the names
 * that may stand alone, with a blank between two; after them the second words of the commands are
 * tried, which are suggested with the first.
 */
void suggest_command(const char *words, const char *word, char text[NEAREST_QUESTION_SIZE]);

/* Writes ` Did you mean analyze?` of the commands whose first word is `family`, or "" when none is
 * near. */
void suggest_of_family(const char *family, const char *word, char text[NEAREST_QUESTION_SIZE]);
