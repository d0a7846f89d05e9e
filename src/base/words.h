/*
 * Splitting a command line into words as a POSIX shell does: at blanks, with single quotes, double
 * quotes and backslashes, but without expanding anything.
 */
#pragma once

#include <gputracker/error.h>

/*
 * On success `*words` ends with NULL and is to be freed by words_free(). There may be none.
 * Errors: GPUT_ERROR_INVALID for a quote that is not closed, GPUT_ERROR_MEMORY.
 */
int words_split(const char *text, char ***words, struct gput_error *error);

void words_free(char **words);
