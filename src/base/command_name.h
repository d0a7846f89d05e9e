/*
 * The name of a command for what others may read: the program, and the script or module that it
 * runs, as in "python3 train.py". A command that env, nohup, nice or time runs has its own name. No
 * other argument is part of it: arguments may be secrets.
 */
#pragma once

#include <stddef.h>

/* The program, an option such as -m, the script or module, and NULL. */
#define COMMAND_NAME_WORDS 4

/*
 * Fills `words`, which ends with NULL, with those words of `argv` that name the command, and
 * returns how many they are. `argv` ends with NULL; NULL is a command without words.
 *
 * The script is looked for after the options of known interpreters. Where an option is not known,
 * its value could be taken for the script, so the program alone is the name. That is also so for
 * code in an argument (python -c, sh -c) or on standard input.
 */
size_t command_name_of(const char *const *argv, const char *words[COMMAND_NAME_WORDS]);
