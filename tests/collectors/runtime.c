/*
 * A library in place of those of MPI and rocTX: what test_mpi.c and test_roctx.c preload ours for.
 * Each function keeps what it was given.
 */
#include "runtime.h"

#include <string.h>

struct runtime_calls runtime_calls;

int PMPI_Barrier(long communicator)
{
    runtime_calls.communicator = communicator;
    return 0;
}

/* The last arguments come on the stack. */
int PMPI_Sendrecv(const void *buffer, int count, long type, int to, int tag, void *received,
    int n_received, long received_type, int from, int received_tag, long communicator, void *status)
{
    (void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)received, (void)n_received;
    (void)received_type, (void)from, (void)received_tag;
    runtime_calls.communicator = communicator;
    *(int *)status = 77;
    return 5;
}

int PMPI_Allreduce(
    const void *from, void *to, int count, long type, long operation, long communicator)
{
    (void)from, (void)to, (void)count, (void)type, (void)operation, (void)communicator;
    return 0;
}

int PMPI_Type_size(long type, int *size)
{
    *size = type == 8 ? 8 : 4;
    return 0;
}

int roctxRangePushA(const char *message)
{
    strncpy(runtime_calls.message, message, sizeof runtime_calls.message - 1);
    return 40 + runtime_calls.depth++;
}

int roctxRangePop(void)
{
    return 40 + --runtime_calls.depth;
}

uint64_t roctxRangeStartA(const char *message)
{
    strncpy(runtime_calls.message, message, sizeof runtime_calls.message - 1);
    return ++runtime_calls.started + 1000;
}

void roctxRangeStop(uint64_t id)
{
    runtime_calls.stopped = id;
}
