/* The command line of a running process, for people. */
#pragma once

#include <sys/types.h>

/* Its arguments with blanks between, at most 1 KiB, the program without its folder; NULL: it has
 * none (a kernel thread, a zombie), it may not be read, or there is no memory. The caller frees it.
 * `procfs` is where /proc is. */
char *command_line_read(const char *procfs, pid_t pid);
