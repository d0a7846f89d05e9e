/*
 * Numbers that programs announce with their ranges, added up by name: payloads of NVTX, bytes sent
 * by calls of MPI. They are in a small file next to the log, which survives any end of the process;
 * forks share it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define REGION_VALUES_MAGIC "GPUTVAL"
#define REGION_VALUES_VERSION 1

/* Maximum number of names with numbers; further ones are skipped. */
#define REGION_VALUES_MAX 512

/* The numbers of one name; several rows may have the same name. Doubles are stored as their
 * bits. */
struct region_value {
    char name[200]; /* "mpi:collective/MPI_Bcast"; truncated */
    char unit[16];  /* "bytes"; "payload": only the program knows */
    _Atomic uint32_t is_written;
    uint32_t reserved;
    _Atomic uint64_t count;
    _Atomic uint64_t sum, min, max;
};

struct region_values {
    char magic[8];
    uint32_t version;
    _Atomic uint32_t used; /* number of rows used; above REGION_VALUES_MAX if some were skipped */
    struct region_value rows[REGION_VALUES_MAX];
};
