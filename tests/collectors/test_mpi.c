/*
 * The MPI collector, a library that this program is linked with before the one in place of MPI: its
 * functions call those of the latter.
 */
#include "region_values.h"
#include "regions_log.h"
#include "runtime.h"

#include <math.h>

/* As a program's MPI library declares them. */
int MPI_Barrier(long communicator);
int MPI_Sendrecv(const void *buffer, int count, long type, int to, int tag, void *received,
    int n_received, long received_type, int from, int received_tag, long communicator,
    void *status);
int MPI_Allreduce(
    const void *from, void *to, int count, long type, long operation, long communicator);
int MPI_Win_fence(int assertion, long window);

static bool attach(void)
{
    return true; /* the first call does */
}

static void call(void)
{
    double numbers[2] = {1, 2};
    int status = 0;
    bool passed = MPI_Barrier(0x123456789ab) == 0 && runtime_calls.communicator == 0x123456789ab;
    passed &= MPI_Sendrecv(numbers, 2, 8, 1, 2, numbers, 2, 8, 3, 4, 99, &status) == 5;
    passed &= status == 77 && runtime_calls.communicator == 99;
    passed &= MPI_Allreduce(numbers, numbers, 3, 4, 0, 0) == 0;
    passed &= MPI_Allreduce(numbers, numbers, -3, 4, 0, 0) == 0;
    passed &= MPI_Win_fence(0, 0) == 16; /* that library has none: MPI_ERR_OTHER */
    if (!passed)
        _exit(3);
}

TEST_WITH(calls_arrive_with_all_of_their_arguments, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, call);
    assert_string_equal(recorded.text,
        "+mpi:collective/MPI_Barrier -mpi:collective/MPI_Barrier "
        "+mpi:point-to-point/MPI_Sendrecv -mpi:point-to-point/MPI_Sendrecv "
        "+mpi:collective/MPI_Allreduce -mpi:collective/MPI_Allreduce "
        "+mpi:collective/MPI_Allreduce -mpi:collective/MPI_Allreduce "
        "+mpi:one-sided/MPI_Win_fence -mpi:one-sided/MPI_Win_fence ");
}

TEST_WITH(bytes_are_counts_times_the_sizes_of_types, make_folder, remove_folder)
{
    record(*state, attach, call);
    struct region_values *values = read_only_file(*state, ".values", sizeof *values);
    assert_int_equal(values->used, 2);
    for (unsigned i = 0; i < 2; i++) {
        double sum;
        uint64_t bits = values->rows[i].sum;
        memcpy(&sum, &bits, sizeof sum);
        assert_string_equal(values->rows[i].unit, "bytes");
        bool is_of_sendrecv = strstr(values->rows[i].name, "Sendrecv") != NULL;
        assert_float_equal(sum, is_of_sendrecv ? 16 : 12, 0);
        assert_int_equal(values->rows[i].count, 1);
    }
    free(values);
}

RUN_TESTS(NULL, NULL)
