/*
 * Where the wall time of processes and their threads went. While a process waits for a child, it
 * counts as doing what the child does.
 */
#pragma once

#include "machine/process/process_tree.h"

#include <stddef.h>

/* Account of all threads with the same program name. */
struct program_account {
    char name[16];
    uint64_t processes;
    struct wall_account threads; /* of all their threads together */
};

#define MAX_PROGRAMS 32

/* Accounts of processes that ended. Of more names than fit the first ones are kept. */
struct program_accounts {
    struct program_account programs[MAX_PROGRAMS];
    size_t count;
};

/* Adds a process to those of its name. */
void program_accounts_add(struct program_accounts *accounts, const struct process *process);

/* Its leading thread: the first one, or where that only waits for the others, the one of them that
 * ran most. */
struct wall_account process_leading_account(const struct process *process);

/* The same, with what its children did while it waited for them. `living`: of children that have
 * not ended; may be NULL. */
struct wall_account process_path_account(
    const struct process *process, const struct wall_account *living);

/* After its end: its parent (or NULL) has it among its children. */
void process_account_close(struct process *process, struct process *parent);

/* After a reading of threads (process_tree_read_threads()): what main did since this was asked
 * last, with what its children did while it waited for them. No wall time: nothing is known of it.
 */
struct wall_account process_tree_recent_account(struct process_tree *tree);
