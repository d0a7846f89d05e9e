/*
 * Memory of processes that were forked from one another: copy-on-write. When all of them were read
 * at one moment, their proportional shares add up to what they have together. Later, and after a
 * fork, this says what each has copied since without reading all of them again.
 *
 * Each copy is a minor fault, which stat counts for nothing. Not each fault is a copy: memory that
 * is taken and given back faults, too. So what one of the forks has of its own is read now and then
 * (smaps_rollup), and gives the part of the faults that were copies. The forks of one family do
 * alike, so it stands for those that were not read since. A process without any such part counts
 * with what it certainly has.
 *
 * Such a reading changes nothing but that: memory that one process has alone because others have
 * copied or freed theirs was counted before.
 */
#pragma once

#include "machine/process/process.h"

#include <stdbool.h>
#include <stdint.h>

/* The anonymous memory of a family, or of one process that shares with nobody. */
struct family_memory {
    uint64_t bytes;         /* each page once */
    uint64_t certain_bytes; /* of that: as of one moment, plus what was allocated since */
    /* Bounded by the largest share of its faults with which a member copied. */
    uint64_t highest_bytes;
    bool is_unread; /* no reading of a fork says yet what part that is: all, in `highest_bytes` */
};

/* Adds up the members of one exec generation as of the last scan. */
struct family_memory family_memory_of(
    struct process *const *members, size_t count, uint64_t page_bytes);

/* Call it at the first scan of a process. A fork begins without memory of its own, and the
 * process that it was forked from, if that is in the tree, then has nothing alone. */
void copies_begin(struct process *process, struct process *parent);

/* All members are as of one moment: later copies are counted from here. */
void copies_set_basis(struct process *const *members, size_t count, uint64_t page_bytes);

/* One member was read alone: how much has it copied? */
void copies_add_reading(struct process *process, struct process *const *members, size_t count,
    uint64_t page_bytes, int64_t now_ns);

/* Returns what a process has alone. Main has alone what none of the others shares with it. */
uint64_t copies_alone_bytes(const struct process *process, struct process *const *members,
    size_t count, uint64_t page_bytes);

/* How much is not known of it: what it may have copied or given back since it was last read, or
 * since it was forked, and, of main, what the others may have. */
uint64_t copies_unknown(const struct process *process, struct process *const *members, size_t count,
    uint64_t page_bytes);
