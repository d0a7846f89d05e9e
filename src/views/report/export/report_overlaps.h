/*
 * Calls of a thread that overlap without being nested, such as those of tasks that take turns: each
 * gets a stack in which all calls are nested.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_call {
    double start, stop; /* stop >= start */
    int64_t thread;
    uint32_t process, name;
    uint32_t stack; /* of the thread, from 0 */
};

/*
 * Sets the stacks of a thread's calls, which come in order of their starts, of equal starts the
 * longer first. A call goes onto the first stack in which it is nested. One that stops up to a
 * microsecond after the call around it, as rounded times do, is made to stop with that. Takes
 * O(n log n). False without memory.
 */
bool report_overlaps_split(struct stack_call *calls, size_t count);
