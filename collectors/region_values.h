/*
 * Numbers that programs announce with their ranges, added up by name: payloads of NVTX, bytes that
 * calls of MPI hand over. They are in a small file next to the log, which survives the end of the
 * process, however it ends; forks share it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define REGION_VALUES_MAGIC "GPUTVAL"
#define REGION_VALUES_VERSION 1

/* The most names with numbers; those of further ones are skipped. */
#define REGION_VALUES_MAX 512

/* Of one name; several rows may have the same. Doubles as their bits. */
struct region_value {
    char name[200]; /* "mpi:collective/MPI_Bcast"; cut where it is longer */
    char unit[16];  /* "bytes"; "payload": the program knows */
    _Atomic uint32_t is_written;
    uint32_t reserved;
    _Atomic uint64_t count;
    _Atomic uint64_t sum, min, max;
};

struct region_values {
    char magic[8];
    uint32_t version;
    _Atomic uint32_t used; /* rows; more than there are where some were skipped */
    struct region_value rows[REGION_VALUES_MAX];
};
