/*
 * The name of a command for files, which others may read: without its arguments.
 */
#pragma once

struct command_name {
    const char *words[3]; /* of the command: its first, its script if it has one, NULL */
};

/*
 * The first word of a command (NULL: none), and the second where that names a regular file, as in
 * "python train.py": the script says what ran. Other arguments may hold what others must not see.
 */
struct command_name command_name_of(const char *const *command);
