/*
 * The common part of all collectors: ranges that a program announces to another tool become code
 * blocks in a log of the process. A collector is a shared library with one `struct regions`.
 *
 * The environment variables, which `gpu-tracker run --regions` sets:
 *
 *   GPUT_REGIONS_FOLDER   where logs go; not set: nothing is recorded
 *   GPUT_REGION_FILTER    patterns, a line each: see region_filter.h
 *   GPUT_REGION_DEPTH     ranges nested more deeply are skipped
 *   GPUT_REGION_MIN_NS    shorter ranges are skipped
 *   GPUT_BLOCK_EXACT      1: the kernel's counters, too; a list of `peak`, `counters` and `gpu`:
 *                         these, too
 *   GPUT_PROCFS, _SYSFS   where these file systems are
 *
 * A collector never ends or delays its program: ranges that it cannot record are skipped and
 * counted. It has no thread and no signal handler, and holds no lock that could stay locked in a
 * fork.
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

/* Maximum length of a range's name, with its source and domain; longer ones are truncated. */
#define REGION_NAME_MAX 1024

/* Maximum number of names of a process; further ones share one name. */
#define REGION_NAMES_MAX 100000

#define REGION_NAME_BUCKETS 4096

struct region_value;

/* A name of a domain. Never freed. */
struct region_name {
    const struct region_domain *domain;
    struct region_name *next; /* in its bucket */
    uint32_t hash;
    bool is_recorded;
    _Atomic(struct region_value *) value; /* sums of its numbers; NULL: none so far */
    char full[];                          /* "nvtx:domain/name" */
};

/* A domain keeps the ranges of a thread separate from those of other domains. Never freed. */
struct region_domain {
    struct region_domain *next;
    const struct region_name *other_names; /* the shared name, when there are too many */
    size_t prefix_length;
    char prefix[]; /* "nvtx:domain/" */
};

struct regions {
    const char *source;
    char *folder;                         /* folder of the logs */
    char *path;                           /* path of the log, for gput_blocks_open() */
    _Atomic(struct gput_blocks *) blocks; /* NULL: not open; see regions_log() */
    _Atomic uint64_t labelled; /* the process whose rank is in its log; see regions_label() */
    struct region_status *status;
    struct region_filter filter;
    unsigned max_depth;
    int64_t min_ns;         /* minimum duration; 0: marks are written at once */
    _Atomic bool is_paused; /* ranges that begin are skipped */
    pthread_key_t key;
    _Atomic unsigned n_threads; /* number of threads so far */
    _Atomic(struct region_domain *) domains;
    _Atomic uint32_t n_names;
    _Atomic(struct region_name *) names[REGION_NAME_BUCKETS];
};

/*
 * Reads the environment and makes the status file of this process. `source` is static text. Returns
 * false if nothing can be recorded. Call it once in a process.
 */
bool regions_open(struct regions *regions, const char *source);

/* Maps a new file of this process next to its log, with the extension `suffix`, all zero. NULL: it
 * cannot be made. */
void *regions_map_file(const struct regions *regions, const char *suffix, size_t size);

/* Returns the domain of that name ("" and NULL: "default"). Equal texts have the same domain. NULL
 * without memory. */
struct region_domain *regions_domain(struct regions *regions, const char *text);

/* Returns the name in a domain. NULL without memory. */
const struct region_name *regions_name(
    struct regions *regions, struct region_domain *domain, const char *text);

/* Opens the log for regions_log(). */
struct gput_blocks *regions_open_log(struct regions *regions);

/* Returns the log, which the first range opens. NULL: it could not be opened. */
static inline struct gput_blocks *regions_log(struct regions *regions)
{
    struct gput_blocks *blocks = atomic_load_explicit(&regions->blocks, memory_order_acquire);
    return __builtin_expect(blocks != NULL, 1) ? blocks : regions_open_log(regions);
}

/* Writes the rank of this process to its log, if a launcher gave it one. */
void regions_label(struct regions *regions, uint64_t process);

/* Writes to the log that the text in brackets at the end of that name, "nvtx:train/step [phase]",
 * is a category of its domain. */
void regions_name_category(struct regions *regions, const char *name);

/* Writes the program's name for one of its threads to the log. */
void regions_name_thread(struct regions *regions, int64_t thread_id, const char *name);

/* Counts a range that is not recorded, in the calling thread's slot. */
void regions_count(struct regions *regions, unsigned slot, enum region_left_out reason);
