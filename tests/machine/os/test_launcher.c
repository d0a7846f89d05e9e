#include "machine/os/launcher.h"

#include "base/str.h"
#include "testing.h"
#include "variables.h"

#include <math.h>
#include <string.h>

#define PARSE(launcher, ...) launcher_parse(VARIABLES(__VA_ARGS__), launcher)
#define EXPECT(expected, ...) expect(expected, VARIABLES(__VA_ARGS__))

/* Appends a text that is known. */
static void add_text(struct str *all, const char *name, const char *text)
{
    if (text && text[0])
        str_printf(all, "%s %s, ", name, text);
}

/* Appends a number, and of how many it is, as far as they are known. */
static void add_number(struct str *all, const char *name, long number, long count)
{
    if (number >= 0)
        str_printf(all, count >= 0 ? "%s %ld of %ld, " : "%s %ld, ", name, number, count);
    else if (count >= 0)
        str_printf(all, "%s ? of %ld, ", name, count);
}

/* Compares all that is made of some variables, as one text: what is not known is not in it. */
static void expect(const char *expected, launcher_variable *variable, void *user)
{
    struct launcher launcher;
    struct str all = {0};
    launcher_parse(variable, user, &launcher);
    assert_true((launcher.depth > 0) == (launcher.name != NULL));
    add_text(&all, "by", launcher.name);
    add_number(&all, "rank", launcher.rank, launcher.world_size);
    add_number(&all, "local", launcher.local_rank, launcher.local_size);
    add_number(&all, "node", launcher.node_rank, launcher.node_count);
    add_text(&all, "at", launcher.node);
    add_text(&all, "job", launcher.job);
    add_text(&all, "called", launcher.job_name);
    if (!isnan(launcher.time_limit_seconds))
        str_printf(&all, "limit %g s, ", launcher.time_limit_seconds);
    add_text(&all, "task", launcher.array_task);
    add_text(&all, "element", launcher.element);
    add_text(&all, "sequence", launcher.sequence);
    add_text(&all, "step", launcher.step);
    add_text(&all, "run", launcher.run);
    add_number(&all, "restarts", launcher.restarts, -1);
    if (all.length > 0)
        all.data[all.length - 2] = '\0';
    assert_string_equal(str_text(&all), expected);
    str_finish(&all);
}

TEST(knows_nothing_without_a_launcher)
{
    EXPECT("", "HOME=/root", "RANK=3", "WORLD_SIZE=8"); /* of somebody else */
}

TEST(reads_the_ranks_of_open_mpi)
{
    EXPECT("by Open MPI, rank 2 of 4, local 1 of 2, job 3521642497, run 3521642497",
        "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=1",
        "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_RANK=2", "PMIX_NAMESPACE=3521642497");
}

TEST(takes_the_ranks_of_mpirun_within_a_slurm_job)
{
    EXPECT("by Open MPI, rank 3 of 4, job 4711, step 0", "SLURM_JOB_ID=4711", "SLURM_STEP_ID=0",
        "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2", "OMPI_COMM_WORLD_RANK=3",
        "OMPI_COMM_WORLD_SIZE=4");
}

TEST(a_scheduler_says_the_name_and_the_time_limit_of_a_job)
{
    EXPECT("job 4711, called train.sh, limit 3600 s", "SLURM_JOB_ID=4711",
        "SLURM_JOB_NAME=train.sh", "SLURM_JOB_START_TIME=1700000000",
        "SLURM_JOB_END_TIME=1700003600");
    EXPECT("job 12.srv, called solve, limit 60 s", "PBS_JOBID=12.srv", "PBS_JOBNAME=solve",
        "PBS_WALLTIME=60");
    /* UNLIMITED, which ends in a year far away, and what is no number */
    EXPECT("job 1", "SLURM_JOB_ID=1", "SLURM_JOB_START_TIME=1700000000",
        "SLURM_JOB_END_TIME=9000000000");
    EXPECT("job 1", "SLURM_JOB_ID=1", "SLURM_JOB_START_TIME=1700000000", "SLURM_JOB_END_TIME=x");
    EXPECT("", "JOB_NAME=of-jenkins", "JOB_ID=4");
}

TEST(takes_torchrun_before_all_others)
{
    EXPECT("by torchrun, rank 5 of 8, local 1, restarts 2", "TORCHELASTIC_RUN_ID=none", "RANK=5",
        "WORLD_SIZE=8", "LOCAL_RANK=1", "TORCHELASTIC_RESTART_COUNT=2", "PMI_RANK=0",
        "PMI_SIZE=1"); /* "none" is not an id */
}

TEST(takes_ranks_of_pytorch_inside_slurm_and_under_mpi)
{
    static const char *const less[] = {"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=n1"};
    for (size_t i = 0; i < 3; i++)
        EXPECT("", less[i], less[(i + 1) % 3]);             /* not all three */
    EXPECT("", "RANK=2", "WORLD_SIZE=2", "MASTER_ADDR=n1"); /* there is no such rank */
    EXPECT("by Open MPI, rank 0 of 2", "RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=n1",
        "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2");
    /* One task of srun for each node, which starts four: */
    EXPECT("by PyTorch, rank 6 of 8, job 5, step 0", "RANK=6", "WORLD_SIZE=8", "MASTER_ADDR=n1",
        "SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2",
        "JOB_COMPLETION_INDEX=1");
    /* One task for each rank, with a RANK of the batch script: */
    EXPECT("by Slurm, rank 1 of 2, job 5, step 0", "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=n1",
        "SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2");
}

TEST(takes_no_rank_in_the_batch_script_of_slurm)
{
    EXPECT("job 4711", "SLURM_JOB_ID=4711", "SLURM_PROCID=0", "SLURM_NTASKS=8");
}

TEST(reads_elements_of_arrays_and_counts_from_1)
{
    EXPECT("by Slurm, rank 1, local 0, job 12, task 7, element 7, step 1", "SLURM_ARRAY_JOB_ID=12",
        "SLURM_ARRAY_TASK_ID=7", "SLURM_JOB_ID=19", "SLURM_STEP_ID=1", "SLURM_PROCID=1",
        "SLURM_LOCALID=0");
    EXPECT("", "LSB_JOBINDEX=0", "SGE_TASK_ID=undefined", "PARALLEL_SEQ=");
    EXPECT("element 0, sequence 4", "PBS_ARRAYID=0",
        "PARALLEL_SEQ=4"); /* PBS has it in the job's id */
    EXPECT("job 55, task 2, element 2", "JOB_ID=55", "SGE_TASK_ID=2", "SGE_TASK_LAST=2");
    EXPECT("job 55", "JOB_ID=55", "SGE_TASK_ID=undefined");
    EXPECT("", "JOB_ID=55"); /* anybody's */
    EXPECT("job 1e7f:3, element 3", "AWS_BATCH_JOB_ID=1e7f:3", "AWS_BATCH_JOB_ARRAY_INDEX=3");
    EXPECT("sequence 4, step 1940, run 1940", "PARALLEL_SEQ=4", "PARALLEL_PID=1940");
    EXPECT("", "PARALLEL_PID=1940"); /* descendants of a task have both */
    EXPECT(
        "job 19, sequence 4, run 1940", "PARALLEL_SEQ=4", "PARALLEL_PID=1940", "SLURM_JOB_ID=19");
    EXPECT("by LSF, rank 0, job 9", "LSB_JOBID=9", "LSF_PM_TASKID=1");
    EXPECT("", "LSF_PM_TASKID=0"); /* they count from 1 */
}

TEST(takes_no_text_for_a_rank)
{
    static const char *const wrong[] = {"PMI_RANK=", "PMI_RANK=-1", "PMI_RANK=x", "PMI_RANK=1x",
        "PMI_RANK= 1", "PMI_RANK=99999999999999999999", "PMI_RANK=4294967296"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT("", wrong[i]);
}

/* What each says, as recorded, and what is made of it. */
static const struct recording {
    const char *environment[12];
    const char *expected;
} recordings[] = {
    /* Open MPI 4.1.4 */
    {{"PMIX_NAMESPACE=16384001", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2",
         "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_RANK=1",
         "PMIX_HOSTNAME=vm", "OMPI_MCA_orte_num_nodes=1"},
        "by Open MPI, rank 1 of 2, local 1 of 2, node ? of 1, at vm, job 16384001, run 16384001"},
    /* Open MPI 5.0.11 */
    {{"PMIX_NAMESPACE=prterun-vm-4711@1", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2",
         "OMPI_COMM_WORLD_LOCAL_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_RANK=0",
         "PMIX_HOSTNAME=vm", "PRTE_LAUNCHED=1", "OMPI_VERSION=5.0.11"},
        "by Open MPI, rank 0 of 2, local 0 of 2, at vm, job prterun-vm-4711@1, run "
        "prterun-vm-4711@1"},
    /* MPICH 5 */
    {{"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2", "PMI_HOSTNAME=vm"},
        "by MPICH, rank 1 of 2, local 1 of 2, at vm"},
    /* Slurm 22.05: a task of srun, on the second of two nodes */
    {{"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=4",
         "SLURM_LOCALID=1", "SLURMD_NODENAME=n2", "SLURM_NODEID=1", "SLURM_STEP_NUM_NODES=2",
         "SLURM_JOB_NUM_NODES=2"},
        "by Slurm, rank 3 of 4, local 1, node 1 of 2, at n2, job 5, step 0"},
    /* srun --mpi=pmi2 */
    {{"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=4",
         "SLURM_LOCALID=1", "SLURMD_NODENAME=n2", "SLURM_NODEID=1", "SLURM_STEP_NUM_NODES=2",
         "PMI_RANK=3", "PMI_SIZE=4"},
        "by Slurm, rank 3 of 4, local 1, node 1 of 2, at n2, job 5, step 0"},
    /* MPICH's mpirun in a step of srun: rank 0 has the numbers of the step's only task, too */
    {{"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1",
         "SLURM_LOCALID=0", "PMI_RANK=0", "PMI_SIZE=1", "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=1"},
        "by MPICH, rank 0 of 1, local 0 of 1, job 5, step 0"},
    /* its batch script: no rank, but a node */
    {{"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURMD_NODENAME=n1", "SLURM_NODEID=0",
         "SLURM_JOB_NUM_NODES=2"},
        "node 0 of 2, at n1, job 5"},
    /* element 0 of an array */
    {{"SLURM_ARRAY_JOB_ID=7", "SLURM_ARRAY_TASK_ID=0", "SLURM_JOB_ID=8"},
        "job 7, task 0, element 0"},
    /* torchrun, two nodes */
    {{"TORCHELASTIC_RUN_ID=exp1", "RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4",
         "GROUP_RANK=1", "GROUP_WORLD_SIZE=2"},
        "by torchrun, rank 5 of 8, local 1 of 4, node 1 of 2, job exp1, run exp1"},
    /* DeepSpeed, the second of two nodes */
    {{"MASTER_ADDR=n1", "MASTER_PORT=29500", "RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1",
         "LOCAL_SIZE=2", "CROSS_RANK=1", "CROSS_SIZE=2"},
        "by PyTorch, rank 3 of 4, local 1 of 2, node 1 of 2, run 29500"},
    /* a worker of Kubeflow's PyTorchJob */
    {{"MASTER_ADDR=job-master-0", "MASTER_PORT=23456", "RANK=1", "WORLD_SIZE=2"},
        "by PyTorch, rank 1 of 2, run 23456"},
    {{"RAY_RAYLET_PID=12", "RAY_JOB_ID=ffffffff"}, "by Ray"},
    {{"RAY_RAYLET_PID=12", "RAY_JOB_ID=01000000"}, "by Ray, job 01000000"},
    {{"DASK_INTERNAL_INHERIT_CONFIG=e30="}, "by Dask"},
    {{"DASK_WORKER_NAME=c-default-worker-5f4e5766de", "DASK_SCHEDULER_ADDRESS=tcp://c:8786"},
        "by Dask"},
    {{"FLUX_JOB_ID=f23", "FLUX_TASK_RANK=2", "FLUX_JOB_SIZE=4", "FLUX_TASK_LOCAL_ID=0",
         "FLUX_JOB_NNODES=2"},
        "by Flux, rank 2 of 4, local 0, node ? of 2, job f23"},
    {{"FLUX_JOB_ID=f23", "FLUX_TASK_RANK=2", "FLUX_JOB_SIZE=4", "FLUX_TASK_LOCAL_ID=0",
         "FLUX_JOB_NNODES=2", "PMI_RANK=2", "PMI_SIZE=4"},
        "by Flux, rank 2 of 4, local 0, node ? of 2, job f23"},
    /* mpirun of MPICH in a job of Flux */
    {{"FLUX_JOB_ID=f23", "FLUX_TASK_RANK=0", "FLUX_JOB_SIZE=1", "PMI_RANK=0", "PMI_SIZE=1",
         "MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=1"},
        "by MPICH, rank 0 of 1, local 0 of 1, job f23"},
    {{"PBS_JOBID=12.head", "PALS_RANKID=3", "PALS_LOCAL_RANKID=1", "PALS_NODEID=1"},
        "by PALS, rank 3, local 1, node 1, job 12.head"},
    {{"PBS_JOBID=12.head", "PALS_RANKID=3", "PALS_LOCAL_RANKID=1", "PALS_NODEID=1", "PMI_RANK=3",
         "PMI_SIZE=4"},
        "by PALS, rank 3 of 4, local 1, node 1, job 12.head"},
    {{"LSB_JOBID=9", "LSB_JOBINDEX=0", "JSM_NAMESPACE_RANK=2", "JSM_NAMESPACE_SIZE=6",
         "JSM_NAMESPACE_LOCAL_RANK=0"},
        "by jsrun, rank 2 of 6, local 0, job 9"},
    {{"JOB_COMPLETION_INDEX=4"}, "by Kubernetes, rank 4"},
    {{"TRAINING_JOB_NAME=tune", "SM_CURRENT_HOST=algo-2", "SM_HOSTS=[\"algo-1\", \"algo-2\"]"},
        "by SageMaker, rank 1 of 2, node 1 of 2, at algo-2, job tune"},
};

TEST(reads_what_each_launcher_says)
{
    for (size_t i = 0; i < sizeof recordings / sizeof recordings[0]; i++)
        expect(recordings[i].expected, test_variable, (void *)recordings[i].environment);
}

TEST(knows_no_host_of_sagemaker_that_is_not_in_its_list)
{
    EXPECT("", "SM_CURRENT_HOST=algo-3", "SM_HOSTS=[\"algo-1\", \"algo-2\"]");
    EXPECT("", "SM_CURRENT_HOST=algo-1", "SM_HOSTS=[\"algo-1");
    EXPECT("", "SM_CURRENT_HOST=algo-1");
}

TEST(distinguishes_the_runs_of_one_job)
{
    EXPECT("by Open MPI, rank 3, job 47, run prterun-n1-9@1", "SLURM_JOB_ID=47",
        "OMPI_COMM_WORLD_RANK=3", "PMIX_NAMESPACE=prterun-n1-9@1");
    EXPECT("by MPICH, rank 0 of 2, run 69200000-9702", "PMI_RANK=0", "PMI_SIZE=2",
        "I_MPI_HYDRA_UUID=69200000-9702");
    EXPECT("by MPICH, rank 0 of 2", "PMI_RANK=0", "PMI_SIZE=2");
    EXPECT("by torchrun, rank 0, run 29501", "TORCHELASTIC_RUN_ID=none", "RANK=0",
        "MASTER_PORT=29501");
    EXPECT(
        "job 47, sequence 3, run 1940", "SLURM_JOB_ID=47", "PARALLEL_SEQ=3", "PARALLEL_PID=1940");
    EXPECT("by MPICH, rank 0 of 2, sequence 3, step 1940", "PARALLEL_SEQ=3", "PARALLEL_PID=1940",
        "PMI_RANK=0", "PMI_SIZE=2"); /* that of mpiexec, which is to be found */
}

TEST(the_inner_launcher_is_deeper)
{
    struct launcher torchrun, mpi, slurm;
    PARSE(&torchrun, "TORCHELASTIC_RUN_ID=none", "RANK=0");
    PARSE(&mpi, "OMPI_COMM_WORLD_RANK=0");
    PARSE(&slurm, "SLURM_STEP_ID=0", "SLURM_PROCID=0");
    assert_true(torchrun.depth > mpi.depth && mpi.depth > slurm.depth);
}

RUN_TESTS(NULL, NULL)
