#include "session/session_identity.h"

#include "testing.h"
#include "variables.h"

#include <math.h>

static struct session_identity identity;

static int begin(void **state)
{
    (void)state;
    session_identity_init(&identity);
    return 0;
}

#define ADD(...) session_identity_add(&identity, VARIABLES(__VA_ARGS__))

static void nothing_is_known_without_a_launcher(void **state)
{
    (void)state;
    ADD("HOME=/root");
    assert_string_equal(identity.known.launcher, "");
    assert_string_equal(identity.known.job_id, "");
    assert_string_equal(identity.known.ranks, "");
    assert_true(isnan(identity.known.rank) && isnan(identity.known.world_size));
    assert_true(isnan(identity.known.exit_status) && isnan(identity.known.restarts));
}

static void a_rank_is_known_with_its_job(void **state)
{
    (void)state;
    ADD("SLURM_JOB_ID=47", "SLURM_ARRAY_JOB_ID=40", "SLURM_ARRAY_TASK_ID=7", "SLURM_STEP_ID=2",
        "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=8", "SLURM_LOCALID=1", "SLURMD_NODENAME=n2",
        "SLURM_NODEID=1", "SLURM_STEP_NUM_NODES=2", "SLURM_RESTART_COUNT=3");
    assert_string_equal(identity.known.launcher, "Slurm");
    assert_string_equal(identity.known.job_id, "40_7");
    assert_string_equal(identity.known.step, "2");
    assert_string_equal(identity.known.node, "n2");
    assert_string_equal(identity.known.ranks, "5");
    assert_true(identity.known.rank == 5 && identity.known.local_rank == 1);
    assert_true(identity.known.world_size == 8 && isnan(identity.known.local_size));
    assert_true(identity.known.node_rank == 1 && identity.known.node_count == 2);
    assert_true(identity.known.restarts == 3);
}

/* gpu-tracker run -- torchrun, as a task of srun */
static void ranks_of_descendants_replace_that_of_their_launcher(void **state)
{
    (void)state;
    ADD("SLURM_JOB_ID=47", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURMD_NODENAME=n2");
    ADD("SLURM_JOB_ID=47", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "TORCHELASTIC_RUN_ID=none",
        "RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", "GROUP_RANK=1",
        "TORCHELASTIC_RESTART_COUNT=0");
    assert_string_equal(identity.known.launcher, "torchrun");
    assert_true(identity.known.rank == 3 && identity.known.local_rank == 1);
    ADD("TORCHELASTIC_RUN_ID=none", "RANK=2", "WORLD_SIZE=4", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=2",
        "TORCHELASTIC_RESTART_COUNT=1");
    assert_string_equal(identity.known.ranks, "2,3");
    assert_true(isnan(identity.known.rank) && isnan(identity.known.local_rank));
    assert_true(identity.known.world_size == 4 && identity.known.local_size == 2);
    assert_true(identity.known.restarts == 1);
    assert_string_equal(identity.known.job_id, "47");
    assert_string_equal(identity.known.node, "n2");
}

static void an_outer_launcher_replaces_nothing(void **state)
{
    (void)state;
    ADD("OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=11");
    ADD("SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_JOB_ID=5");
    ADD("OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=11");
    assert_string_equal(identity.known.launcher, "Open MPI");
    assert_string_equal(identity.known.job_id, "11");
    assert_string_equal(identity.known.ranks, "2");
    assert_true(identity.known.rank == 2);
}

static void ranks_are_written_as_ranges(void **state)
{
    (void)state;
    static const long ranks[] = {0, 1, 2, 3, 8, 10, 11};
    char text[32];
    session_identity_format_ranks(ranks, 7, text, sizeof text);
    assert_string_equal(text, "0-3,8,10,11");
    session_identity_format_ranks(ranks, 0, text, sizeof text);
    assert_string_equal(text, "");
}

static void the_end_says_how(void **state)
{
    (void)state;
    session_identity_end(&identity, -1);
    assert_true(isnan(identity.known.exit_status) && isnan(identity.known.signal));
    assert_int_equal(strlen(identity.known.end), strlen("2026-01-31T23:59:59.123456Z"));
    session_identity_end(&identity, 3 << 8);
    assert_true(identity.known.exit_status == 3 && isnan(identity.known.signal));
    begin(NULL);
    session_identity_end(&identity, 9);
    assert_true(isnan(identity.known.exit_status) && identity.known.signal == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_known_without_a_launcher, begin),
        cmocka_unit_test_setup(a_rank_is_known_with_its_job, begin),
        cmocka_unit_test_setup(ranks_of_descendants_replace_that_of_their_launcher, begin),
        cmocka_unit_test_setup(an_outer_launcher_replaces_nothing, begin),
        cmocka_unit_test_setup(ranks_are_written_as_ranges, begin),
        cmocka_unit_test_setup(the_end_says_how, begin),
    };
    return cmocka_run_group_tests_name("session/session_identity", tests, NULL, NULL);
}
