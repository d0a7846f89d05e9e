/*
 * Parses the command line by the tables of options and commands in the way docopt parsed the old
 * command's: options and operands in any order, long options by any unique prefix, values as
 * `--st=0.3`, `--st 0.3`, `-o x` or `-ox`.
 */
#pragma once

#include "options/arguments.h"

/*
 * Fills `arguments`, whose texts point into `argv`. Does not check the number of operands: help may
 * have been asked for. To be freed by arguments_finish(), also after a failure.
 * Errors: GPUT_ERROR_INVALID with the option or word that is wrong, and the way out.
 */
int parse_arguments(int argc, char **argv, struct arguments *arguments, struct gput_error *error);

/* Whether a shell would find a program of that name. */
bool parse_is_program(const char *name);

/* Checks that there are as many operands as the command takes. */
int parse_check_operands(const struct arguments *arguments, struct gput_error *error);
