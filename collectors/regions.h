/*
 * What all collectors share: ranges that a program announces to some other tool become code blocks
 * in a log of the process. One collector is one shared library with one `struct regions`.
 *
 * The environment, which `gpu-tracker run --regions` sets:
 *
 *   GPUT_REGIONS_FOLDER   where logs go; not set: nothing is recorded
 *   GPUT_REGION_FILTER    patterns, a line each: see region_filter.h
 *   GPUT_REGION_DEPTH     ranges nested more deeply are skipped
 *   GPUT_REGION_MIN_NS    shorter ranges are skipped
 *   GPUT_BLOCK_EXACT      1: the kernel's counters, too; a list of `peak`, `counters` and `gpu`:
 *                         these, too
 *   GPUT_PROCFS, _SYSFS   where these file systems are
 *
 * A collector never ends or delays its program: what it cannot do it leaves out and counts. It has
 * no thread and no signal handler, and takes no lock that a fork could leave taken.
 */
#pragma once

#include "region_filter.h"
#include "region_status.h"

#include <gputracker/blocks.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest name of a range, with its source and domain; what is longer is cut. */
#define REGION_NAME_MAX 1024

/* The most names of a process; further ones become one name. */
#define REGION_NAMES_MAX 100000

#define REGION_NAME_BUCKETS 4096

struct region_value;

/* A name of a domain. Never freed. */
struct region_name {
    const struct region_domain *domain;
    struct region_name *next; /* in its bucket */
    uint32_t hash;
    bool is_recorded;
    _Atomic(struct region_value *) value; /* of numbers; NULL: none so far */
    char full[];                          /* "nvtx:domain/name" */
};

/* A domain keeps the ranges of a thread apart from those of others. Never freed. */
struct region_domain {
    struct region_domain *next;
    const struct region_name *other_names; /* what names have when there are too many */
    size_t prefix_length;
    char prefix[]; /* "nvtx:domain/" */
};

struct regions {
    const char *source;
    char *folder;                         /* where logs go */
    char *path;                           /* of the log, as of gput_blocks_open() */
    _Atomic(struct gput_blocks *) blocks; /* NULL: see regions_log() */
    _Atomic uint64_t labelled; /* the process whose log has its rank: see regions_label() */
    struct region_status *status;
    struct region_filter filter;
    unsigned max_depth;
    int64_t min_ns;         /* 0: marks are written when they come */
    _Atomic bool is_paused; /* ranges that begin are skipped */
    pthread_key_t key;
    _Atomic unsigned n_threads; /* so far */
    _Atomic(struct region_domain *) domains;
    _Atomic uint32_t n_names;
    _Atomic(struct region_name *) names[REGION_NAME_BUCKETS];
};

/*
 * Reads the environment and makes the status of this process. `source` is static text. False:
 * nothing can be recorded. To be called once in a process.
 */
bool regions_open(struct regions *regions, const char *source);

/* Maps a new file of this process next to its log, `suffix` its extension; all zeroes. NULL: it
 * cannot be made. */
void *regions_map_file(const struct regions *regions, const char *suffix, size_t size);

/* The domain of that name ("" and NULL: "default"). The same text gives the same domain. NULL
 * without memory. */
struct region_domain *regions_domain(struct regions *regions, const char *text);

/* The name in a domain. NULL without memory. */
const struct region_name *regions_name(
    struct regions *regions, struct region_domain *domain, const char *text);

/* The slow path of regions_log(). */
struct gput_blocks *regions_open_log(struct regions *regions);

/* The log, which the first range opens. NULL: it could not be opened. */
static inline struct gput_blocks *regions_log(struct regions *regions)
{
    struct gput_blocks *blocks = atomic_load_explicit(&regions->blocks, memory_order_acquire);
    return __builtin_expect(blocks != NULL, 1) ? blocks : regions_open_log(regions);
}

/* Says in the log of this process which rank it is, where a launcher gave it one. */
void regions_label(struct regions *regions, uint64_t process);

/* Says there that what is in brackets at the end of that name, "nvtx:train/step [phase]", is a
 * category of its domain. */
void regions_name_category(struct regions *regions, const char *name);

/* Says there how the program calls one of its threads. */
void regions_name_thread(struct regions *regions, int64_t thread_id, const char *name);

/* Counts what is not recorded, for the calling thread's slot. */
void regions_count(struct regions *regions, unsigned slot, enum region_left_out reason);
