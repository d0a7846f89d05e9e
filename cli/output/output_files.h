/*
 * Checks the output file before a command does anything.
 */
#pragma once

#include "options/arguments.h"

#include <stdbool.h>

/*
 * Whether the file that -o or --report names has a name, and is named by nothing else of the same
 * command line, to be read or written. Nor may it be a part of such a file: SQLite's log of a
 * database, a file of a recording. Errors: GPUT_ERROR_INVALID with the option, and the other name
 * of the file.
 */
int output_files_check(const struct arguments *arguments, struct gput_error *error);

/*
 * Expands the placeholders (%h, %t …; see gputracker/rank.h) in names of the files that a command
 * writes. Those of a tracked session are expanded with its other files: ranks share none. Errors:
 * those of gput_rank_expand().
 */
int output_files_expand(struct arguments *arguments, struct gput_error *error);

/*
 * The same for a file that did not come from the command line: `output` (NULL and "-": no file)
 * must not be `other` (NULL: no file), which `what` describes: "the tracking file".
 * Errors: GPUT_ERROR_INVALID.
 */
int output_files_keep(
    const char *output, const char *other, const char *what, struct gput_error *error);

/* The same for the output of another option than -o: "--report". */
int output_files_keep_of(const char *option, const char *output, const char *other,
    const char *what, struct gput_error *error);

/*
 * Makes a folder that no other user can write to. One that is there already is used if `is_reused`
 * and no other user could have written to it. Errors: GPUT_ERROR_EXISTS, GPUT_ERROR_IO.
 * `error` says "Folder …" and then `has` and `way_out` of one that is there.
 */
int output_files_make_private(const char *path, bool is_reused, const char *has,
    const char *way_out, struct gput_error *error);

/*
 * Finds a free name (x.1.html) for a file that the command names itself, where such a file
 * exists, and says so in a line, unless --overwrite was given. `*name` is the caller's; NULL:
 * the name stays. Errors: GPUT_ERROR_MEMORY.
 */
int output_files_find_free(
    const struct arguments *arguments, const char *path, char **name, struct gput_error *error);

/* Says where the output is that was given no name; nothing of standard output. */
void output_files_say(const char *path);
