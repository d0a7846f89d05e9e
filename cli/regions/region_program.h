/*
 * Whether a program loads the libraries that record its regions.
 */
#pragma once

#include <stdbool.h>

/*
 * Returns why the regions of the program that `command` starts (found as by execvp()) cannot be
 * recorded, as the rest of a sentence: "is linked statically". NULL: they can, or it is not known.
 * For a script its interpreter counts. Static text.
 */
const char *region_program_obstacle(const char *command);

/* Whether that program is linked to a library whose name begins with `library`: "libgomp.so". */
bool region_program_needs(const char *command, const char *library);
