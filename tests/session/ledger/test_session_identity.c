#include "session/ledger/session_identity.h"

#include "testing.h"
#include "variables.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static struct session_identity identity;

static int begin(void **state)
{
    (void)state;
    session_identity_init(&identity);
    return 0;
}

#define ADD(...) session_identity_add(&identity, VARIABLES(__VA_ARGS__), false)
#define ADD_DESCENDANT(...) session_identity_add(&identity, VARIABLES(__VA_ARGS__), true)

TEST_WITH(nothing_is_known_without_a_launcher, begin, NULL)
{
    ADD("HOME=/root");
    assert_string_equal(identity.known.launcher, "");
    assert_string_equal(identity.known.job_id, "");
    assert_string_equal(identity.known.ranks, "");
    assert_true(isnan(identity.known.rank) && isnan(identity.known.world_size));
    assert_true(isnan(identity.known.exit_status) && isnan(identity.known.restarts));
}

TEST_WITH(a_rank_is_known_with_its_job, begin, NULL)
{
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
TEST_WITH(ranks_of_descendants_replace_that_of_their_launcher, begin, NULL)
{
    ADD("SLURM_JOB_ID=47", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURMD_NODENAME=n2");
    assert_string_equal(identity.known.ranks_of, "main");
    ADD_DESCENDANT("SLURM_JOB_ID=47", "SLURM_STEP_ID=0", "SLURM_PROCID=1",
        "TORCHELASTIC_RUN_ID=none", "RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2",
        "GROUP_RANK=1", "TORCHELASTIC_RESTART_COUNT=0");
    assert_string_equal(identity.known.launcher, "torchrun");
    assert_string_equal(identity.known.ranks, "3");
    assert_true(isnan(identity.known.rank)); /* of two */
    ADD_DESCENDANT("TORCHELASTIC_RUN_ID=none", "RANK=2", "WORLD_SIZE=4", "LOCAL_RANK=0",
        "LOCAL_WORLD_SIZE=2", "TORCHELASTIC_RESTART_COUNT=1");
    assert_string_equal(identity.known.ranks, "2,3");
    assert_string_equal(identity.known.ranks_of, "descendants");
    assert_true(isnan(identity.known.rank) && isnan(identity.known.local_rank));
    assert_true(identity.known.world_size == 4 && identity.known.local_size == 2);
    assert_true(identity.known.restarts == 1);
    assert_string_equal(identity.known.job_id, "47");
    assert_string_equal(identity.known.node, "n2");
}

TEST_WITH(the_only_rank_of_a_machine_is_that_of_the_session, begin, NULL)
{
    ADD_DESCENDANT(
        "TORCHELASTIC_RUN_ID=none", "RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=1");
    assert_true(identity.known.rank == 1 && identity.known.local_rank == 0);
    assert_string_equal(identity.known.ranks_of, "descendants");
}

/* ---- When environments are read ---- */

#define PID 7

static char root[32], folder[48], file[64]; /* of a procfs with one process */

static void set_environment(const char *variable)
{
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    fwrite(variable, 1, strlen(variable) + 1, stream);
    assert_int_equal(fclose(stream), 0);
}

static struct process *add_process(struct process_table *table)
{
    snprintf(root, sizeof root, "/tmp/gput-identity-XXXXXX");
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/%d", root, PID);
    snprintf(file, sizeof file, "%s/environ", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    struct process *process = process_table_add(table, PID);
    process->state = PROCESS_RUNNING;
    process->polled = calloc(1, sizeof *process->polled);
    process->polled->exec_generation = 1;
    return process;
}

static void remove_process(struct process_table *table, struct process *process)
{
    free(process->polled);
    process_table_finish(table);
    unlink(file);
    rmdir(folder);
    rmdir(root);
}

static size_t read_ranks(const struct process_log *log, double seconds)
{
    session_identity_read_processes(&identity, root, log, (int64_t)(seconds * 1e9));
    return identity.n_ranks;
}

/* mpirun forks, and sets the variables of a rank when it calls execve(), however late that is. */
TEST_WITH(an_environment_is_read_again_after_execve, begin, NULL)
{
    struct process_tree tree = {0};
    struct process_log log = {.options.tree = &tree};
    struct process *process = add_process(&tree.table);
    set_environment("HOME=/root");
    assert_int_equal(read_ranks(&log, 0), 0);
    set_environment("PMI_RANK=1");
    assert_int_equal(read_ranks(&log, 1), 0); /* the same program: it is not read again */
    process->polled->exec_generation = 2;
    assert_int_equal(read_ranks(&log, 1), 1);
    assert_string_equal(identity.known.ranks, "1");
    remove_process(&tree.table, process);
}

/* The first fork of a program is read for its siblings, but not for those that call execve(). */
TEST_WITH(forks_of_one_program_are_read_once, begin, NULL)
{
    struct process_tree tree = {0};
    struct process_log log = {.options.tree = &tree};
    struct process *process = add_process(&tree.table);
    struct process *main = process_table_add(&tree.table, PID - 1);
    main->state = PROCESS_RUNNING;
    main->is_main = true;
    main->polled = calloc(1, sizeof *main->polled);
    main->polled->exec_generation = 1;
    process->polled->stat.ppid = PID - 1;
    process->polled->stat.flags = PROC_STAT_FORKED_NO_EXEC;
    set_environment("PMI_RANK=1");
    assert_int_equal(read_ranks(&log, 1), 1); /* main may have called execve() since the start */
    process->polled->environment.is_read = false; /* as of a sibling */
    set_environment("PMI_RANK=2");
    assert_int_equal(read_ranks(&log, 1), 1);
    process->polled->exec_generation = 2;
    process->polled->stat.flags = 0;
    assert_int_equal(read_ranks(&log, 1), 2);
    free(main->polled);
    main->polled = NULL;
    remove_process(&tree.table, process);
}

/* Without the right to see it, time has to do. */
TEST_WITH(without_exec_generations_a_process_is_read_when_it_has_settled, begin, NULL)
{
    struct process_tree tree = {0};
    struct process_log log = {.options.tree = &tree};
    struct process *process = add_process(&tree.table);
    process->polled->exec_generation = 0;
    set_environment("PMI_RANK=1");
    assert_int_equal(read_ranks(&log, 0.1), 0);
    assert_int_equal(read_ranks(&log, 1), 1);
    remove_process(&tree.table, process);
}

TEST_WITH(an_outer_launcher_replaces_nothing, begin, NULL)
{
    ADD("OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=11");
    ADD("SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_JOB_ID=5");
    ADD("OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=11");
    assert_string_equal(identity.known.launcher, "Open MPI");
    assert_string_equal(identity.known.job_id, "11");
    assert_string_equal(identity.known.ranks, "2");
    assert_true(identity.known.rank == 2);
}

/* gpu-tracker run -- a script that calls mpirun twice */
TEST_WITH(of_several_runs_none_is_that_of_the_session, begin, NULL)
{
    ADD_DESCENDANT("OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=11");
    ADD_DESCENDANT("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=11");
    assert_string_equal(identity.known.run, "11");
    ADD_DESCENDANT("OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=12");
    assert_string_equal(identity.known.run, "");
}

TEST_WITH(a_rank_is_of_the_run_of_main, begin, NULL)
{
    ADD("PMIX_NAMESPACE=11", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2");
    ADD_DESCENDANT("PMIX_NAMESPACE=12", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2");
    assert_string_equal(identity.known.run, "11");
}

TEST_WITH(ranks_are_written_as_ranges, begin, NULL)
{
    static const long ranks[] = {0, 1, 2, 3, 8, 10, 11};
    char text[32];
    session_identity_format_ranks(ranks, 7, text, sizeof text);
    assert_string_equal(text, "0-3,8,10,11");
    session_identity_format_ranks(ranks, 0, text, sizeof text);
    assert_string_equal(text, "");
}

TEST_WITH(the_end_says_how, begin, NULL)
{
    session_identity_end(&identity, -1);
    assert_true(isnan(identity.known.exit_status) && isnan(identity.known.signal));
    assert_int_equal(strlen(identity.known.end), strlen("2026-01-31T23:59:59.123456Z"));
    session_identity_end(&identity, 3 << 8);
    assert_true(identity.known.exit_status == 3 && isnan(identity.known.signal));
    begin(NULL);
    session_identity_end(&identity, 9);
    assert_true(isnan(identity.known.exit_status) && identity.known.signal == 9);
}

RUN_TESTS(NULL, NULL)
