/* The command line of a running process, for people. */
#pragma once

#include <sys/types.h>

/* Its arguments with blanks between, at most 1 KiB, cleaned as below; NULL: it has
 * none (a kernel thread, a zombie), it may not be read, or there is no memory. The caller frees it.
 * `procfs` is where /proc is. */
char *command_line_read(const char *procfs, pid_t pid);

/* Makes of it what people call it: the program without its folder, and the script that it
 * interprets without its folder; what would not show on one line is a blank. `text` is changed. */
void command_line_clean(char *text);
