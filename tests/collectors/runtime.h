/*
 * What the library of runtime.c was called with.
 */
#pragma once

#include <stdint.h>

#pragma GCC visibility push(default)

struct runtime_calls {
    long communicator;
    char message[64];
    int depth;
    uint64_t started, stopped;
};

extern struct runtime_calls runtime_calls;

int PMPI_Barrier(long communicator);
int PMPI_Sendrecv(const void *buffer, int count, long type, int to, int tag, void *received,
    int n_received, long received_type, int from, int received_tag, long communicator,
    void *status);
int PMPI_Allreduce(
    const void *from, void *to, int count, long type, long operation, long communicator);
int PMPI_Type_size(long type, int *size);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);

#pragma GCC visibility pop
