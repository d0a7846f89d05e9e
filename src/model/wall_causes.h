/*
 * What a thread's wall time goes to. Each cause in one row: the enum, the columns of the results,
 * and the words of summaries are made of it. The first three are counted by the kernel, the last
 * one is what remains; the others are the rest of the time, divided as samples of what a thread
 * sleeps in say.
 *
 *     CAUSE(ID, name, word, meaning)
 */
#pragma once

/* clang-format off */
#define WALL_CAUSES(CAUSE) \
    CAUSE(COMPUTING, computing, "computing", "ran on a CPU") \
    CAUSE(CPU, cpu_wait, "waiting for a CPU", "was ready to run, and waited while others had the CPUs") \
    CAUSE(QUOTA, quota, "held by a CPU quota", "was ready to run, and its control group had used up its CPU quota") \
    CAUSE(STORAGE, storage, "storage", "waited for storage or a file system") \
    CAUSE(PAGING, paging, "paging", "waited for pages of memory: page faults from storage or swap, reclaim") \
    CAUSE(STOPPED, stopped, "stopped", "was stopped by a signal, a debugger or a freezer") \
    CAUSE(PIPE, pipe, "asleep (pipe)", "slept in a pipe") \
    CAUSE(SOCKET, socket, "asleep (socket)", "slept in a socket") \
    CAUSE(LOCK, lock, "asleep (lock)", "slept in a lock or another wait between threads (futex)") \
    CAUSE(POLL, poll, "asleep (poll)", "slept until one of several descriptors was ready") \
    CAUSE(CHILD, child, "asleep (child)", "waited for a child process of which nothing more is known") \
    CAUSE(TIMER, timer, "asleep (timer)", "slept for a time that it had chosen") \
    CAUSE(GPU, gpu, "GPU driver", "slept in a driver of a GPU") \
    CAUSE(OTHER, other, "asleep (other)", "slept in something else") \
    CAUSE(UNKNOWN, unknown, "unknown", "did not run, and no sample says why")
/* clang-format on */

enum wall_cause {
#define WALL_CAUSE_ID(ID, name, word, meaning) WALL_##ID,
    WALL_CAUSES(WALL_CAUSE_ID)
#undef WALL_CAUSE_ID
        WALL_CAUSE_COUNT
};

/* From here on, and before WALL_UNKNOWN, samples say it. */
#define WALL_FIRST_SAMPLED WALL_STORAGE
