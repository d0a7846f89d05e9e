#include "machine/os/launcher.h"

#include "testing.h"
#include "variables.h"

#include <math.h>
#include <string.h>

#define PARSE(launcher, ...) launcher_parse(VARIABLES(__VA_ARGS__), launcher)

static void knows_nothing_without_a_launcher(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "HOME=/root", "RANK=3", "WORLD_SIZE=8"); /* of somebody else */
    assert_null(launcher.name);
    assert_null(launcher.job);
    assert_int_equal(launcher.rank, -1);
    assert_int_equal(launcher.world_size, -1);
    assert_int_equal(launcher.local_rank, -1);
    assert_int_equal(launcher.restarts, -1);
}

static void reads_the_ranks_of_open_mpi(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4",
        "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_RANK=2",
        "PMIX_NAMESPACE=3521642497");
    assert_string_equal(launcher.name, "Open MPI");
    assert_int_equal(launcher.rank, 2);
    assert_int_equal(launcher.world_size, 4);
    assert_int_equal(launcher.local_rank, 1);
    assert_int_equal(launcher.local_size, 2);
    assert_string_equal(launcher.job, "3521642497");
}

static void takes_the_ranks_of_mpirun_within_a_slurm_job(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "SLURM_JOB_ID=4711", "SLURM_STEP_ID=0", "SLURM_PROCID=0",
        "SLURM_STEP_NUM_TASKS=2", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4");
    assert_string_equal(launcher.name, "Open MPI");
    assert_int_equal(launcher.rank, 3);
    assert_string_equal(launcher.job, "4711");
}

static void a_scheduler_says_the_name_and_the_time_limit_of_a_job(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "SLURM_JOB_ID=4711", "SLURM_JOB_NAME=train.sh",
        "SLURM_JOB_START_TIME=1700000000", "SLURM_JOB_END_TIME=1700003600");
    assert_string_equal(launcher.job_name, "train.sh");
    assert_true(launcher.time_limit_seconds == 3600);
    PARSE(&launcher, "PBS_JOBID=12.srv", "PBS_JOBNAME=solve", "PBS_WALLTIME=60");
    assert_string_equal(launcher.job_name, "solve");
    assert_true(launcher.time_limit_seconds == 60);
    /* UNLIMITED, which ends in a year far away, and what is no number */
    PARSE(&launcher, "SLURM_JOB_ID=1", "SLURM_JOB_START_TIME=1700000000",
        "SLURM_JOB_END_TIME=9000000000");
    assert_true(isnan(launcher.time_limit_seconds));
    PARSE(&launcher, "SLURM_JOB_ID=1", "SLURM_JOB_START_TIME=1700000000", "SLURM_JOB_END_TIME=x");
    assert_true(isnan(launcher.time_limit_seconds));
    PARSE(&launcher, "JOB_NAME=of-jenkins", "JOB_ID=4");
    assert_null(launcher.job_name);
}

static void takes_torchrun_before_all_others(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "TORCHELASTIC_RUN_ID=none", "RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1",
        "TORCHELASTIC_RESTART_COUNT=2", "PMI_RANK=0", "PMI_SIZE=1");
    assert_string_equal(launcher.name, "torchrun");
    assert_int_equal(launcher.rank, 5);
    assert_int_equal(launcher.restarts, 2);
    assert_null(launcher.job); /* "none" is not an id */
}

static void takes_ranks_of_pytorch_inside_slurm_and_under_mpi(void **state)
{
    (void)state;
    struct launcher launcher;
    static const char *const less[] = {"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=n1"};
    for (size_t i = 0; i < 3; i++) {
        PARSE(&launcher, less[i], less[(i + 1) % 3]); /* not all three */
        assert_null(launcher.name);
    }
    PARSE(&launcher, "RANK=2", "WORLD_SIZE=2", "MASTER_ADDR=n1"); /* there is no such rank */
    assert_null(launcher.name);
    PARSE(&launcher, "RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=n1", "OMPI_COMM_WORLD_RANK=0",
        "OMPI_COMM_WORLD_SIZE=2");
    assert_string_equal(launcher.name, "Open MPI");
    /* One task of srun for each node, which starts four: */
    PARSE(&launcher, "RANK=6", "WORLD_SIZE=8", "MASTER_ADDR=n1", "SLURM_JOB_ID=5",
        "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "JOB_COMPLETION_INDEX=1");
    assert_string_equal(launcher.name, "PyTorch");
    assert_string_equal(launcher.job, "5");
    assert_int_equal(launcher.rank, 6);
    /* One task for each rank, with a RANK of the batch script: */
    PARSE(&launcher, "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=n1", "SLURM_JOB_ID=5",
        "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2");
    assert_string_equal(launcher.name, "Slurm");
    assert_int_equal(launcher.rank, 1);
}

static void takes_no_rank_in_the_batch_script_of_slurm(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "SLURM_JOB_ID=4711", "SLURM_PROCID=0", "SLURM_NTASKS=8");
    assert_null(launcher.name);
    assert_int_equal(launcher.rank, -1);
    assert_string_equal(launcher.job, "4711");
}

static void reads_elements_of_arrays_and_counts_from_1(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "SLURM_ARRAY_JOB_ID=12", "SLURM_ARRAY_TASK_ID=7", "SLURM_JOB_ID=19",
        "SLURM_STEP_ID=1", "SLURM_PROCID=1", "SLURM_LOCALID=0");
    assert_string_equal(launcher.job, "12");
    assert_string_equal(launcher.array_task, "7");
    assert_string_equal(launcher.step, "1");
    assert_int_equal(launcher.rank, 1);
    assert_string_equal(launcher.element, "7");
    PARSE(&launcher, "LSB_JOBINDEX=0", "SGE_TASK_ID=undefined", "PARALLEL_SEQ=");
    assert_null(launcher.element);
    assert_null(launcher.sequence);
    PARSE(&launcher, "PBS_ARRAYID=0", "PARALLEL_SEQ=4");
    assert_string_equal(launcher.element, "0");
    assert_null(launcher.array_task); /* PBS has it in the job's id */
    assert_string_equal(launcher.sequence, "4");
    assert_null(launcher.step);
    PARSE(&launcher, "JOB_ID=55", "SGE_TASK_ID=2", "SGE_TASK_LAST=2");
    assert_string_equal(launcher.job, "55");
    assert_string_equal(launcher.array_task, "2");
    PARSE(&launcher, "JOB_ID=55", "SGE_TASK_ID=undefined");
    assert_string_equal(launcher.job, "55");
    assert_null(launcher.array_task);
    PARSE(&launcher, "JOB_ID=55"); /* anybody's */
    assert_null(launcher.job);
    PARSE(&launcher, "AWS_BATCH_JOB_ID=1e7f:3", "AWS_BATCH_JOB_ARRAY_INDEX=3");
    assert_string_equal(launcher.job, "1e7f:3");
    assert_string_equal(launcher.element, "3");
    assert_null(launcher.array_task);
    PARSE(&launcher, "PARALLEL_SEQ=4", "PARALLEL_PID=1940");
    assert_string_equal(launcher.step, "1940");
    PARSE(&launcher, "PARALLEL_PID=1940"); /* descendants of a task have both */
    assert_null(launcher.step);
    PARSE(&launcher, "PARALLEL_SEQ=4", "PARALLEL_PID=1940", "SLURM_JOB_ID=19");
    assert_null(launcher.step);
    PARSE(&launcher, "LSB_JOBID=9", "LSF_PM_TASKID=1");
    assert_string_equal(launcher.name, "LSF");
    assert_int_equal(launcher.rank, 0);
    PARSE(&launcher, "LSF_PM_TASKID=0"); /* they count from 1 */
    assert_null(launcher.name);
}

static void takes_no_text_for_a_rank(void **state)
{
    (void)state;
    static const char *const wrong[] = {"PMI_RANK=", "PMI_RANK=-1", "PMI_RANK=x", "PMI_RANK=1x",
        "PMI_RANK= 1", "PMI_RANK=99999999999999999999", "PMI_RANK=4294967296"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct launcher launcher;
        PARSE(&launcher, wrong[i]);
        assert_null(launcher.name);
        assert_int_equal(launcher.rank, -1);
    }
}

/* What each says, as recorded, and what is made of it. -1 and NULL: nothing. */
static const struct recording {
    const char *environment[12];
    const char *name, *job, *node;
    long rank, world_size, local_rank, local_size, node_rank, node_count;
} recordings[] = {
    /* Open MPI 4.1.4 */
    {{"PMIX_NAMESPACE=16384001", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2",
         "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_RANK=1",
         "PMIX_HOSTNAME=vm", "OMPI_MCA_orte_num_nodes=1"},
        "Open MPI", "16384001", "vm", 1, 2, 1, 2, -1, 1},
    /* Open MPI 5.0.11 */
    {{"PMIX_NAMESPACE=prterun-vm-4711@1", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2",
         "OMPI_COMM_WORLD_LOCAL_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_RANK=0",
         "PMIX_HOSTNAME=vm", "PRTE_LAUNCHED=1", "OMPI_VERSION=5.0.11"},
        "Open MPI", "prterun-vm-4711@1", "vm", 0, 2, 0, 2, -1, -1},
    /* MPICH 5 */
    {{"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2", "PMI_HOSTNAME=vm"},
        "MPICH", NULL, "vm", 1, 2, 1, 2, -1, -1},
    /* Slurm 22.05: a task of srun, on the second of two nodes */
    {{"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=4",
         "SLURM_LOCALID=1", "SLURMD_NODENAME=n2", "SLURM_NODEID=1", "SLURM_STEP_NUM_NODES=2",
         "SLURM_JOB_NUM_NODES=2"},
        "Slurm", "5", "n2", 3, 4, 1, -1, 1, 2},
    /* srun --mpi=pmi2 */
    {{"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=4",
         "SLURM_LOCALID=1", "SLURMD_NODENAME=n2", "SLURM_NODEID=1", "SLURM_STEP_NUM_NODES=2",
         "PMI_RANK=3", "PMI_SIZE=4"},
        "Slurm", "5", "n2", 3, 4, 1, -1, 1, 2},
    /* MPICH's mpirun in a step of srun: rank 0 has the numbers of the step's only task, too */
    {{"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1",
         "SLURM_LOCALID=0", "PMI_RANK=0", "PMI_SIZE=1", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=1"},
        "MPICH", "5", "", 0, 1, 0, 1, -1, -1},
    /* its batch script: no rank, but a node */
    {{"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURMD_NODENAME=n1", "SLURM_NODEID=0",
         "SLURM_JOB_NUM_NODES=2"},
        NULL, "5", "n1", -1, -1, -1, -1, 0, 2},
    /* element 0 of an array */
    {{"SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID=0", "SLURM_JOB_ID=8"}, NULL, "7", "", -1, -1, -1,
        -1, -1, -1},
    /* torchrun, two nodes */
    {{"TORCHELASTIC_RUN_ID=exp1", "RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4",
         "GROUP_RANK=1", "GROUP_WORLD_SIZE=2"},
        "torchrun", "exp1", "", 5, 8, 1, 4, 1, 2},
    /* DeepSpeed, the second of two nodes */
    {{"MASTER_ADDR=n1", "MASTER_PORT=29500", "RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1",
         "LOCAL_SIZE=2", "CROSS_RANK=1", "CROSS_SIZE=2"},
        "PyTorch", NULL, "", 3, 4, 1, 2, 1, 2},
    /* a worker of Kubeflow's PyTorchJob */
    {{"MASTER_ADDR=job-master-0", "MASTER_PORT=23456", "RANK=1", "WORLD_SIZE=2"}, "PyTorch", NULL,
        "", 1, 2, -1, -1, -1, -1},
    {{"RAY_RAYLET_PID=12", "RAY_JOB_ID=ffffffff"}, "Ray", NULL, "", -1, -1, -1, -1, -1, -1},
    {{"RAY_RAYLET_PID=12", "RAY_JOB_ID=01000000"}, "Ray", "01000000", "", -1, -1, -1, -1, -1, -1},
    {{"DASK_INTERNAL_INHERIT_CONFIG=e30="}, "Dask", NULL, "", -1, -1, -1, -1, -1, -1},
    {{"DASK_WORKER_NAME=c-default-worker-5f4e5766de", "DASK_SCHEDULER_ADDRESS=tcp://c:8786"},
        "Dask", NULL, "", -1, -1, -1, -1, -1, -1},
    {{"FLUX_JOB_ID=f23", "FLUX_TASK_RANK=2", "FLUX_JOB_SIZE=4", "FLUX_TASK_LOCAL_ID=0",
         "FLUX_JOB_NNODES=2"},
        "Flux", "f23", "", 2, 4, 0, -1, -1, 2},
    {{"FLUX_JOB_ID=f23", "FLUX_TASK_RANK=2", "FLUX_JOB_SIZE=4", "FLUX_TASK_LOCAL_ID=0",
         "FLUX_JOB_NNODES=2", "PMI_RANK=2", "PMI_SIZE=4"},
        "Flux", "f23", "", 2, 4, 0, -1, -1, 2},
    /* mpirun of MPICH in a job of Flux */
    {{"FLUX_JOB_ID=f23", "FLUX_TASK_RANK=0", "FLUX_JOB_SIZE=1", "PMI_RANK=0", "PMI_SIZE=1",
         "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=1"},
        "MPICH", "f23", "", 0, 1, 0, 1, -1, -1},
    {{"PBS_JOBID=12.head", "PALS_RANKID=3", "PALS_LOCAL_RANKID=1", "PALS_NODEID=1"}, "PALS",
        "12.head", "", 3, -1, 1, -1, 1, -1},
    {{"PBS_JOBID=12.head", "PALS_RANKID=3", "PALS_LOCAL_RANKID=1", "PALS_NODEID=1", "PMI_RANK=3",
         "PMI_SIZE=4"},
        "PALS", "12.head", "", 3, 4, 1, -1, 1, -1},
    {{"LSB_JOBID=9", "LSB_JOBINDEX=0", "JSM_NAMESPACE_RANK=2", "JSM_NAMESPACE_SIZE=6",
         "JSM_NAMESPACE_LOCAL_RANK=0"},
        "jsrun", "9", "", 2, 6, 0, -1, -1, -1},
    {{"JOB_COMPLETION_INDEX=4"}, "Kubernetes", NULL, "", 4, -1, -1, -1, -1, -1},
    {{"TRAINING_JOB_NAME=tune", "SM_CURRENT_HOST=algo-2", "SM_HOSTS=[\"algo-1\", \"algo-2\"]"},
        "SageMaker", "tune", "algo-2", 1, 2, -1, -1, 1, 2},
};

static void assert_text(const char *is, const char *expected)
{
    if (!is || !expected)
        assert_ptr_equal(is, expected);
    else
        assert_string_equal(is, expected);
}

static void reads_what_each_launcher_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof recordings / sizeof recordings[0]; i++) {
        const struct recording *recording = &recordings[i];
        struct launcher launcher;
        launcher_parse(test_variable, (void *)recording->environment, &launcher);
        assert_text(launcher.name, recording->name);
        assert_text(launcher.job, recording->job);
        assert_string_equal(launcher.node, recording->node);
        assert_int_equal(launcher.rank, recording->rank);
        assert_int_equal(launcher.world_size, recording->world_size);
        assert_int_equal(launcher.local_rank, recording->local_rank);
        assert_int_equal(launcher.local_size, recording->local_size);
        assert_int_equal(launcher.node_rank, recording->node_rank);
        assert_int_equal(launcher.node_count, recording->node_count);
        assert_true((launcher.depth > 0) == (launcher.name != NULL));
    }
}

static void knows_no_host_of_sagemaker_that_is_not_in_its_list(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "SM_CURRENT_HOST=algo-3", "SM_HOSTS=[\"algo-1\", \"algo-2\"]");
    assert_null(launcher.name);
    PARSE(&launcher, "SM_CURRENT_HOST=algo-1", "SM_HOSTS=[\"algo-1");
    assert_null(launcher.name);
    PARSE(&launcher, "SM_CURRENT_HOST=algo-1");
    assert_null(launcher.name);
}

static void distinguishes_the_runs_of_one_job(void **state)
{
    (void)state;
    struct launcher launcher;
    PARSE(&launcher, "SLURM_JOB_ID=47", "OMPI_COMM_WORLD_RANK=3", "PMIX_NAMESPACE=prterun-n1-9@1");
    assert_string_equal(launcher.job, "47");
    assert_string_equal(launcher.run, "prterun-n1-9@1");
    PARSE(&launcher, "PMI_RANK=0", "PMI_SIZE=2", "I_MPI_HYDRA_UUID=69200000-9702");
    assert_string_equal(launcher.run, "69200000-9702");
    PARSE(&launcher, "PMI_RANK=0", "PMI_SIZE=2");
    assert_null(launcher.run);
    PARSE(&launcher, "TORCHELASTIC_RUN_ID=none", "RANK=0", "MASTER_PORT=29501");
    assert_string_equal(launcher.run, "29501");
    PARSE(&launcher, "SLURM_JOB_ID=47", "PARALLEL_SEQ=3", "PARALLEL_PID=1940");
    assert_string_equal(launcher.run, "1940");
    PARSE(&launcher, "PARALLEL_SEQ=3", "PARALLEL_PID=1940", "PMI_RANK=0", "PMI_SIZE=2");
    assert_null(launcher.run); /* that of mpiexec, which is to be found */
}

static void the_inner_launcher_is_deeper(void **state)
{
    (void)state;
    struct launcher torchrun, mpi, slurm;
    PARSE(&torchrun, "TORCHELASTIC_RUN_ID=none", "RANK=0");
    PARSE(&mpi, "OMPI_COMM_WORLD_RANK=0");
    PARSE(&slurm, "SLURM_STEP_ID=0", "SLURM_PROCID=0");
    assert_true(torchrun.depth > mpi.depth && mpi.depth > slurm.depth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_nothing_without_a_launcher),
        cmocka_unit_test(reads_the_ranks_of_open_mpi),
        cmocka_unit_test(takes_the_ranks_of_mpirun_within_a_slurm_job),
        cmocka_unit_test(a_scheduler_says_the_name_and_the_time_limit_of_a_job),
        cmocka_unit_test(takes_torchrun_before_all_others),
        cmocka_unit_test(takes_ranks_of_pytorch_inside_slurm_and_under_mpi),
        cmocka_unit_test(takes_no_rank_in_the_batch_script_of_slurm),
        cmocka_unit_test(reads_elements_of_arrays_and_counts_from_1),
        cmocka_unit_test(takes_no_text_for_a_rank),
        cmocka_unit_test(reads_what_each_launcher_says),
        cmocka_unit_test(knows_no_host_of_sagemaker_that_is_not_in_its_list),
        cmocka_unit_test(distinguishes_the_runs_of_one_job),
        cmocka_unit_test(the_inner_launcher_is_deeper),
    };
    return cmocka_run_group_tests_name("machine/os/launcher", tests, NULL, NULL);
}
