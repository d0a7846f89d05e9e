/*
 * The processes and threads of a timeline merged from many sources: their numbers and names, and
 * lanes for slices that do not nest.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"

#include <stdbool.h>
#include <stdint.h>

/* The trace that processes came from. */
struct timeline_trace {
    char *name;         /* name of its file, without the folder; owned */
    int64_t rank;       /* -1: not known */
    int64_t world_size; /* -1: not known */
};

struct timeline_process {
    char *name;       /* owned */
    char *labels;     /* "GPU 0"; NULL: none; owned */
    uint32_t trace;   /* index of its trace; TRACK_NONE: none */
    char own_pid[24]; /* pid in its trace, as spelled; empty: of no trace */
    int64_t pid;      /* pid in the output; 0 until timeline_process_number() */
    bool written;     /* its metadata is in the output */
};

struct timeline_lane {
    int64_t tid;      /* tid in the output */
    bool written;     /* its name is in the output */
    char heading[64]; /* common beginning of the lines of its events */
    size_t heading_length;
    int64_t *ends_ns; /* ends of the open slices, the innermost last; owned */
    uint32_t open;
    size_t capacity;
};

struct timeline_thread {
    uint32_t process;
    uint32_t source;             /* index of its node or file, which distinguishes equal numbers */
    int64_t number;              /* number in its source */
    char *name;                  /* NULL: none; owned */
    struct timeline_lane *lanes; /* owned; the second and later ones are for overlapping slices */
    uint32_t lane_count;
};

struct timeline_tracks {
    struct names keys; /* keys of processes */
    struct timeline_process *processes;
    uint32_t process_count;
    struct names trace_keys; /* keys of traces */
    struct timeline_trace *traces;
    uint32_t trace_count;
    struct timeline_thread *threads;
    uint32_t thread_count;
    uint32_t *slots; /* hash table of threads: index + 1 */
    uint32_t slot_count;
    uint32_t last_thread; /* the last one found: consecutive events often have the same thread */
    uint64_t *taken;      /* hashes of the output's (pid, tid) */
    uint32_t taken_count;
    uint32_t taken_capacity;
    int64_t used_in_range[16]; /* number of pids assigned by timeline_process_number(), by prefix */
};

#define TRACK_NONE UINT32_MAX

/* An empty set is all zeroes. Functions that return an index return TRACK_NONE without memory. */

/* Returns the trace of that key, adding it when it is new. */
uint32_t timeline_trace(struct timeline_tracks *tracks, const char *key, const char *name,
    int64_t rank, int64_t world_size);

/* Returns the process of that key, adding it with `name` when it is new. */
uint32_t timeline_process(struct timeline_tracks *tracks, const char *key, const char *name);

bool timeline_process_rename(struct timeline_tracks *tracks, uint32_t process, const char *name);
bool timeline_process_label(struct timeline_tracks *tracks, uint32_t process, const char *labels);

uint32_t timeline_thread(
    struct timeline_tracks *tracks, uint32_t process, uint32_t source, int64_t number);

bool timeline_thread_rename(struct timeline_tracks *tracks, uint32_t thread, const char *name);

/* Returns the pid of a process in the output. It is assigned at the first call, by the prefix of
 * its name. */
int64_t timeline_process_number(struct timeline_tracks *tracks, uint32_t process);

/*
 * Returns the lane of a thread in which a slice nests. Slices must come in order of their starts,
 * among equal starts the longer first. NULL without memory.
 */
struct timeline_lane *timeline_lane(
    struct timeline_tracks *tracks, uint32_t thread, int64_t start_ns, int64_t end_ns);

/* Returns the first lane of a thread, for events without a duration. */
struct timeline_lane *timeline_first_lane(struct timeline_tracks *tracks, uint32_t thread);

void timeline_tracks_finish(struct timeline_tracks *tracks);
