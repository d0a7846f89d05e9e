/*
 * The processes and threads of a timeline merged from many sources: their numbers and names, and
 * lanes for slices that do not nest.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"

#include <stdbool.h>
#include <stdint.h>

/* What processes came from. */
struct timeline_trace {
    char *name;         /* of its file, without the folder; owned */
    int64_t rank;       /* -1: not known */
    int64_t world_size; /* -1: not known */
};

struct timeline_process {
    char *name;       /* owned */
    char *labels;     /* "GPU 0", or NULL; owned */
    uint32_t trace;   /* or TRACK_NONE */
    char own_pid[24]; /* in its trace, as it is spelled there; empty: it came from none */
    int64_t pid;      /* in the output; 0 until timeline_process_number() */
    bool written;     /* its metadata is in the output */
};

struct timeline_lane {
    int64_t tid;      /* in the output */
    bool written;     /* its name is in the output */
    char heading[64]; /* the common beginning of its events' lines, for the writer */
    size_t heading_length;
    int64_t *ends_ns; /* of the slices that are open, the innermost last; owned */
    uint32_t open;
    size_t capacity;
};

struct timeline_thread {
    uint32_t process;
    uint32_t source;             /* distinguishes equal numbers of different nodes or files */
    int64_t number;              /* in its source */
    char *name;                  /* or NULL; owned */
    struct timeline_lane *lanes; /* owned; the second and later ones for what overlaps */
    uint32_t lane_count;
};

struct timeline_tracks {
    struct names keys; /* of processes, by number */
    struct timeline_process *processes;
    uint32_t process_count;
    struct names trace_keys; /* by number */
    struct timeline_trace *traces;
    uint32_t trace_count;
    struct timeline_thread *threads;
    uint32_t thread_count;
    uint32_t *slots; /* of threads: number + 1 */
    uint32_t slot_count;
    uint32_t last_thread; /* the one found last: consecutive events often have the same thread */
    uint64_t *taken;      /* the output's (pid, tid), as hashes */
    uint32_t taken_count;
    uint32_t taken_capacity;
    int64_t used_in_range[16]; /* numbers given out by timeline_process_number(), by prefix */
};

#define TRACK_NONE UINT32_MAX

/* An empty set is all zeroes. All that give a number give TRACK_NONE without memory. */

/* The trace of that key, made at first sight. */
uint32_t timeline_trace(struct timeline_tracks *tracks, const char *key, const char *name,
    int64_t rank, int64_t world_size);

/* The process of that key, made at first sight and then called `name`. */
uint32_t timeline_process(struct timeline_tracks *tracks, const char *key, const char *name);

bool timeline_process_rename(struct timeline_tracks *tracks, uint32_t process, const char *name);
bool timeline_process_label(struct timeline_tracks *tracks, uint32_t process, const char *labels);

uint32_t timeline_thread(
    struct timeline_tracks *tracks, uint32_t process, uint32_t source, int64_t number);

bool timeline_thread_rename(struct timeline_tracks *tracks, uint32_t thread, const char *name);

/* The pid of a process in the output, given out at the first call by the prefix of its name. */
int64_t timeline_process_number(struct timeline_tracks *tracks, uint32_t process);

/*
 * The lane of a thread that a slice fits in, so that slices nest. Slices must come in order of
 * their starts, of equal starts the longer first. NULL without memory.
 */
struct timeline_lane *timeline_lane(
    struct timeline_tracks *tracks, uint32_t thread, int64_t start_ns, int64_t end_ns);

/* The first lane of a thread, for what has no length. */
struct timeline_lane *timeline_first_lane(struct timeline_tracks *tracks, uint32_t thread);

void timeline_tracks_finish(struct timeline_tracks *tracks);
