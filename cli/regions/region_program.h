/*
 * Whether a program loads the libraries that record its regions.
 */
#pragma once

#include <stdbool.h>

/*
 * Why the program that `command` (as execvp() finds it) starts cannot have its regions recorded, as
 * the rest of a sentence: "is linked statically". NULL: it can, or it cannot be known. Of a script
 * the interpreter counts. Static text.
 */
const char *region_program_obstacle(const char *command);

/* Whether that program is linked to a library whose name begins so: "libgomp.so". */
bool region_program_needs(const char *command, const char *library);
