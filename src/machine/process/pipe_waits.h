/*
 * Whom main waits for in pipes: the processes of the tree that hold the other end, and what they
 * did meanwhile. Main, and the processes that it waits for, are looked at when they sleep in a
 * pipe, or poll one.
 */
#pragma once

#include "machine/process/process_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIPE_MAX_WAITS 8
#define PIPE_MAX_HOLDERS 16
#define PIPE_MAX_KNOWN 8

/* Time for which programs with these names were awaited. */
struct pipe_wait {
    char waiter[16], holder[16];
    bool is_main;                  /* the waiter is */
    bool is_write;                 /* the waiter writes, and the holder is to read */
    size_t n_holders;              /* the most at one moment */
    int64_t ns, polled_ns;         /* for how long it waited; of that, in poll */
    struct wall_samples meanwhile; /* what the holders did during that time */
};

/* Who holds an end of a pipe, as of the last search. */
struct pipe_end {
    uint64_t inode; /* 0: not in use */
    bool is_write;  /* it is waited for by a writer */
    pid_t waiter;
    uint64_t generation, programs; /* of the tree, as of the search */
    pid_t holders[PIPE_MAX_HOLDERS];
    size_t n_holders;
    bool is_own;      /* the waiter itself holds the other end, too */
    bool is_complete; /* all processes of the tree were searched */
};

/* All zeroes at the start. */
struct pipe_waits {
    struct pipe_wait waits[PIPE_MAX_WAITS];
    size_t count;
    struct pipe_end known[PIPE_MAX_KNOWN];
    size_t next_known;
    int64_t not_before_ns; /* the next search for holders */
    uint64_t moments;
};

/* Looks at the processes at one moment, which stands for `weight_ns`. Call after
 * process_tree_sample_states(). */
void pipe_waits_sample(struct pipe_waits *waits, struct process_tree *tree, int64_t weight_ns);
