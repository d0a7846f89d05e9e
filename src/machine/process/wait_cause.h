/*
 * What a thread sleeps for, by what procfs says of it: the kernel's function that it sleeps in
 * (wchan), and the system call that it is in (syscall).
 */
#pragma once

#include "model/wall_causes.h"

/*
 * By the text of wchan. WALL_COMPUTING: "0", it runs or is ready to, or its reader lacks
 * permission. WALL_CAUSE_COUNT: the function says nothing by itself; wait_cause_of_call() may.
 */
enum wall_cause wait_cause_of_channel(const char *channel);

/* By the text of syscall, of a thread that sleeps in a function which alone says nothing, or waits
 * for a page of a file: of a page fault, or of a read. WALL_CAUSE_COUNT: it has gone on meanwhile,
 * and it is not known for which of these two it waited. */
enum wall_cause wait_cause_of_call(const char *channel, const char *call);

/* By the letter of its state alone: 'D' and so on. */
enum wall_cause wait_cause_of_state(char state);
