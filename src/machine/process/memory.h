/*
 * The RAM of one process: a fast reading (statm) at every tick, and an exact one (smaps or
 * smaps_rollup) that is taken rarely, because the kernel holds the process's mmap lock meanwhile.
 * Between two exact readings the fast one gives how far the figures have changed.
 */
#pragma once

#include "base/bounded_calls.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The size of file and shared mappings of several processes with every page counted once.
 *
 * For each mapping the kernel says how many of its resident bytes only this process maps (private),
 * and how many others map too (shared). It does not say which pages those are. Processes that map
 * the same part of the same object share the same pages, so its shared bytes count once: the most
 * that one process has of it. Where the proportional shares (Pss) of all processes add up to more,
 * that sum is nearer to the truth.
 *
 * Readings of different moments are inconsistent. A page that was private to one process may since
 * be mapped by another, where a later reading counts it as shared. Shares of one page may thus add
 * up to more than the page. The lower bound excludes all that may be counted twice for that reason.
 * What a process gained since its reading may be pages that others have: it counts up to the length
 * of the part of the object that they map, and not in the lower bound.
 */

/* Part of an object (a file, a shared memory segment) that one process maps. */
struct shared_range {
    uint64_t device, inode; /* the object */
    uint64_t start, end;    /* the bytes of it */
    uint64_t private_bytes; /* resident, mapped by this process alone */
    uint64_t shared_bytes;  /* resident, mapped by others too */
    uint64_t pss_bytes;     /* private + each shared page divided by the number of its mappers */
    uint64_t grown_bytes;   /* bytes that may have become private since the reading */
    uint32_t owner;         /* index of the process; 0 is the main process */
    int64_t read_ns;        /* time of the reading; the same for all ranges of one owner */
    bool is_stale;          /* some of the private bytes may be shared with others by now */
};

/* Bytes of file and shared memory, each page counted once. */
struct shared_totals {
    uint64_t descendants_bytes; /* of all owners except 0 */
    uint64_t combined_bytes;    /* of all owners */
    uint64_t at_least_bytes;    /* a lower bound of it: nothing counts twice */
};

/* Adds up `count` ranges of any number of objects and processes. Sorts them in place. */
struct shared_totals shared_ranges_total(struct shared_range *ranges, size_t count);

/* Private, shared, and their sum, in bytes. */
struct rss {
    uint64_t total, private, shared;
};

/*
 * Resident memory that no mapping had at the last exact reading: munmap() takes a mapping away
 * first, and its pages from the counters afterwards, one by one. Whether other processes have these
 * pages, too, cannot be known.
 */
struct unmapped {
    uint64_t bytes;
    uint64_t file_bytes; /* of that, file and shared memory pages */
};

struct memory {
    /* The fast reading, without what is unmapped. */
    struct unmapped unmapped;
    uint64_t resident_bytes; /* RSS */
    uint64_t file_bytes;     /* of that, file and shared memory pages */
    uint64_t hugetlb_bytes;  /* pages of hugetlbfs, in neither of these; of status, or of the last
                                exact reading */

    /* The exact reading, and the fast one of the same moment. */
    bool has_exact;
    bool refused;    /* permission denied: only the fast reading can be used */
    bool unanswered; /* the last exact reading did not return */
    uint64_t exact_resident_bytes, exact_file_bytes;
    uint64_t exact_hugetlb_bytes;
    struct rss exact;
    uint64_t anonymous_bytes;         /* neither file nor shared memory pages */
    uint64_t anonymous_private_bytes; /* of that, mapped by this process alone */
    uint64_t anonymous_pss_bytes;     /* each page divided by the number of its mappers */

    uint64_t files_pss_bytes; /* files and shared memory likewise; of smaps_rollup */

    /* true for a fork that was not read with smaps: it has the files and shared memory of
     * another process */
    bool has_inherited_files;

    /* File and shared mappings, from smaps; adjacent ones of one object are merged. */
    bool has_ranges;
    uint64_t ranges_file_bytes;    /* `file_bytes` when they were read, or found inherited */
    uint64_t ranges_hugetlb_bytes; /* hugetlb pages in the ranges: others may map them, too */
    uint64_t ranges_readings;      /* number of readings */
    struct shared_range *ranges;
    size_t range_count, range_capacity;
};

/* Frees what it holds. All zeroes is memory that was not read yet. */
void memory_finish(struct memory *memory);

/* Forgets what was read: the process has other memory now (it called execve). */
void memory_reset(struct memory *memory);

/* Sets what the counters of the kernel say. Until the next exact reading what was unmapped at the
 * last one does not count, as long as the counters still have it. */
void memory_set_fast(struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes);

/*
 * Reads everything from smaps, or, with `rollup`, only the sums, which is faster with many
 * mappings; the ranges stay as they are. Call after memory_set_fast() in the same scan. Errors: see
 * machine/os/procfs.h; with PERMISSION the memory is marked `refused`, with IO `unanswered`. The
 * old figures stay. `calls` NULL: it is read without a bound.
 */
int memory_read_exact(
    struct memory *memory, struct bounded_calls *calls, const char *root, pid_t pid, bool rollup);

/*
 * After a reading of the sums of a fork: its files and shared memory need no reading if next to
 * none of it is its own part. False otherwise.
 */
bool memory_inherit_files(struct memory *memory);

/*
 * Sets a fast reading that was taken right after an exact one. A process that grew meanwhile had,
 * at the moment of the exact reading, something between the two fast ones: without this, that
 * growth would stay added to every later figure.
 *
 * A remaining difference up to `lag_bytes` is the lag of the kernel's counters. Anything more that
 * the counters have is unmapped.
 */
void memory_reconcile(
    struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes, uint64_t lag_bytes);

/* Hugetlb pages that no other process has: copies in private mappings, and what came since the
 * ranges were read. */
uint64_t memory_hugetlb_alone_bytes(const struct memory *memory);

/* The figures of this process alone, as of the last fast reading, with its hugetlb pages. */
struct rss memory_rss(const struct memory *memory);

/* Resident anonymous bytes, as of the last fast reading. */
uint64_t memory_anonymous_bytes(const struct memory *memory);

/* Resident anonymous bytes that other processes map, too (copy-on-write after a fork), as of the
 * last exact reading. */
uint64_t memory_anonymous_shared_bytes(const struct memory *memory);

/* This process's proportional share of its anonymous memory; adds up over all sharers. */
uint64_t memory_anonymous_share_bytes(const struct memory *memory);

/* True when the fast reading has changed by more than 1 % since the exact one, or there is none, or
 * memory was being unmapped then. */
bool memory_has_changed(const struct memory *memory);

/*
 * Sets in `ranges`, a copy of the ranges, what each may have gained of its object since the
 * reading: of the new file and shared memory, as its private memory is to that of all ranges.
 */
void memory_set_growth(const struct memory *memory, struct shared_range *ranges);

/* True when file and shared mappings have changed since the ranges were read, or since they were
 * found to be those of another. */
bool memory_ranges_have_changed(const struct memory *memory);
