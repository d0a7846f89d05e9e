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
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of an object (a file, a shared memory segment) that one process maps. */
struct shared_range {
    uint64_t device, inode; /* the object */
    uint64_t start, end;    /* the bytes of it */
    uint64_t private_bytes; /* resident, mapped by this process alone */
    uint64_t shared_bytes;  /* resident, mapped by others too */
    uint64_t pss_bytes;     /* private + each shared page divided by the number of its mappers */
    uint64_t grown_bytes;   /* that may have become private since the reading */
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
