/*
 * The status of a collector in one process, in a small file next to its log. The collector maps it
 * and the command reads it. It survives any end of the process.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define REGION_STATUS_MAGIC "GPUTRGN"
#define REGION_STATUS_VERSION 2
#define REGION_STATUS_SLOTS 62

/* Reasons why ranges are not in the log. */
enum region_left_out {
    REGION_LEFT_OUT_BY_NAME,     /* excluded by the filter */
    REGION_LEFT_OUT_BY_DEPTH,    /* nested too deeply */
    REGION_LEFT_OUT_BY_DURATION, /* too short */
    REGION_LEFT_OUT_BY_NUMBER,   /* too many open at once, or no memory */
    REGION_LEFT_OUT_BY_PAUSE,    /* the program has paused recording */
    REGION_UNMATCHED_ENDS,       /* ends of ranges that are not open */
    REGION_LEFT_OUT_REASONS,
};

/* Counters of some threads, on a cache line of their own. */
struct region_status_slot {
    _Atomic uint64_t left_out[REGION_LEFT_OUT_REASONS];
    uint64_t reserved[8 - REGION_LEFT_OUT_REASONS];
};

struct region_status {
    char magic[8];
    uint32_t version;
    int32_t process_id; /* the first process that shares it after a fork */
    char source[16];    /* "nvtx" */
    char failure[96];   /* why it does not record; empty: it records */
    struct region_status_slot slots[REGION_STATUS_SLOTS];
};
