/*
 * A store to a mapped file whose end somebody has cut off is a SIGBUS, which would end the program
 * that marks. Parts of files that are guarded get memory of their own in the place of a page that
 * is gone: what is stored there goes nowhere, and the program lives.
 *
 * There is one handler of a signal in a process, so this is the library's one piece of state that
 * belongs to the process. It is set when the first part is guarded; faults elsewhere go on to what
 * was set before. A program that sets a handler of its own later goes without the guard.
 */
#ifndef FORMATS_MARKS_MAPPED_GUARD_H
#define FORMATS_MARKS_MAPPED_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Guards what was mapped at `start`. False without memory: then it is not guarded. Any thread. */
bool mapped_guard_add(void *start, size_t length);

/* To be called before it is unmapped. What is not guarded is fine. */
void mapped_guard_remove(void *start);

#endif
