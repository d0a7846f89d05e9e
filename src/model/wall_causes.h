/*
 * What a thread's wall time goes to. Each cause in one row: the enum, the columns of the results,
 * and the words of summaries are made of it. The first three are counted by the kernel, the last
 * one is what remains; the others are the rest of the time, divided as samples of what a thread
 * sleeps in say.
 *
 *     CAUSE(ID, name, word, meaning)
 *
 * WALL_CAUSES_OF() hands a macro of the caller on to each row, for tables within tables.
 */
#pragma once

/* clang-format off */
#define WALL_CAUSES_OF(CAUSE, OF) \
    CAUSE(OF, COMPUTING, computing, "computing", "ran on a CPU") \
    CAUSE(OF, CPU, cpu_wait, "waiting for a CPU", "was ready to run, and waited while others had the CPUs") \
    CAUSE(OF, QUOTA, quota, "held by a CPU quota", "was ready to run, and its control group had used up its CPU quota") \
    CAUSE(OF, STORAGE, storage, "storage", "waited for storage or a file system") \
    CAUSE(OF, PAGING, paging, "paging", "waited for pages of memory: page faults from storage or swap, reclaim") \
    CAUSE(OF, STOPPED, stopped, "stopped", "was stopped by a signal, a debugger or a freezer") \
    CAUSE(OF, PIPE, pipe, "asleep (pipe)", "slept in a pipe") \
    CAUSE(OF, SOCKET, socket, "asleep (socket)", "slept in a socket") \
    CAUSE(OF, LOCK, lock, "asleep (lock)", "slept in a lock or another wait between threads (futex)") \
    CAUSE(OF, POLL, poll, "asleep (poll)", "slept until one of several descriptors was ready") \
    CAUSE(OF, CHILD, child, "asleep (child)", "waited for a child process of which nothing more is known") \
    CAUSE(OF, TIMER, timer, "asleep (timer)", "slept for a time that it had chosen") \
    CAUSE(OF, GPU, gpu, "GPU driver", "slept in a driver of a GPU") \
    CAUSE(OF, OTHER, other, "asleep (other)", "slept in something else") \
    CAUSE(OF, UNKNOWN, unknown, "unknown", "did not run, and no sample says why")
/* clang-format on */

#define WALL_CAUSE_ALONE(CAUSE, ID, name, word, meaning) CAUSE(ID, name, word, meaning)
#define WALL_CAUSES(CAUSE) WALL_CAUSES_OF(WALL_CAUSE_ALONE, CAUSE)

enum wall_cause {
#define WALL_CAUSE_ID(ID, name, word, meaning) WALL_##ID,
    WALL_CAUSES(WALL_CAUSE_ID)
#undef WALL_CAUSE_ID
        WALL_CAUSE_COUNT
};

/* The causes from here to WALL_UNKNOWN, which is excluded, are sampled. */
#define WALL_FIRST_SAMPLED WALL_STORAGE
