#include "machine/os/launcher.h"

#include "base/number.h"
#include "base/str.h"
#include "base/text.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Who starts the processes of a job, the innermost first. */
static const struct launcher_row {
    const char *name;
    const char *also; /* must be set too: the others are common names; or NULL */
    const char *rank; /* NULL: it gives none */
    const char *world_size, *local_rank, *local_size;
    const char *node, *node_rank, *node_count;
    long first_rank;
    const char *run,
        *other_run; /* distinguish its runs; the other one: where the first has no id */
} rows[] = {
    {"torchrun", "TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
        NULL, "GROUP_RANK", "GROUP_WORLD_SIZE", 0, .run = "TORCHELASTIC_RUN_ID",
        .other_run = "MASTER_PORT"},
    {"Open MPI", NULL, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_HOSTNAME", NULL, "OMPI_MCA_orte_num_nodes", 0,
        .run = "PMIX_NAMESPACE"},
    /* It sets PMI_RANK, too. */
    {"PALS", NULL, "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID", NULL, NULL, "PALS_NODEID", NULL,
        0, .run = "PALS_APID"},
    /* Intel's alone calls its runs anything: see hydra_parse(). */
    {"MPICH", NULL, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_HOSTNAME",
        NULL, NULL, 0, .run = "I_MPI_HYDRA_UUID"},
    {"MVAPICH", NULL, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
        "MV2_COMM_WORLD_LOCAL_SIZE", NULL, NULL, NULL, 0, .run = NULL},
    {"jsrun", NULL, "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", NULL,
        NULL, NULL, NULL, 0, .run = NULL},
    {"Flux", NULL, "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", NULL, NULL, NULL,
        "FLUX_JOB_NNODES", 0, .run = NULL},
    {"LSF", NULL, "LSF_PM_TASKID", NULL, NULL, NULL, NULL, NULL, NULL, 1, .run = NULL},
    {"Ray", "RAY_RAYLET_PID", NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, .run = NULL},
    {"Spark", "SPARK_EXECUTOR_DIRS", NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, .run = NULL},
    {"Dask", "DASK_INTERNAL_INHERIT_CONFIG", NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0,
        .run = NULL},
    /* Its operator in Kubernetes. */
    {"Dask", "DASK_WORKER_NAME", NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, .run = NULL},
    /* DeepSpeed, Kubeflow's PyTorchJob, and what people set by hand for init_method="env://".
     * Inside Slurm's steps and Kubernetes' indexed jobs: their tasks and pods may start several
     * each. */
    {"PyTorch", "MASTER_ADDR", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_SIZE", NULL, "CROSS_RANK",
        "CROSS_SIZE", 0, .run = "MASTER_PORT"},
    /* The batch script has a rank too, and no step: it is not one of the ranks. */
    {"Slurm", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", NULL,
        "SLURMD_NODENAME", "SLURM_NODEID", "SLURM_STEP_NUM_NODES", 0, .run = NULL},
    {"PMIx", NULL, "PMIX_RANK", NULL, "PMIX_LOCAL_RANK", NULL, "PMIX_HOSTNAME", NULL, NULL, 0,
        .run = "PMIX_NAMESPACE"},
    {"Kubernetes", NULL, "JOB_COMPLETION_INDEX", NULL, NULL, NULL, NULL, NULL, NULL, 0,
        .run = NULL},
};

/* A longer one stands for none. */
#define MAX_TIME_LIMIT_SECONDS (10.0 * 365 * 24 * 3600)

#define ROW_COUNT (sizeof rows / sizeof rows[0])

/* Who gives jobs their ids: schedulers before launchers. */
static const struct id_variable {
    const char *name;
    const char *also; /* must be set too: the other is a common name; or NULL */
} job_ids[] = {{"SLURM_ARRAY_JOB_ID", NULL}, {"SLURM_JOB_ID", NULL}, {"FLUX_JOB_ID", NULL},
    {"LSB_JOBID", NULL}, {"PBS_JOBID", NULL}, {"JOB_ID", "SGE_TASK_ID"}, {"AWS_BATCH_JOB_ID", NULL},
    {"TRAINING_JOB_NAME", NULL}, {"TORCHELASTIC_RUN_ID", NULL}, {"RAY_JOB_ID", NULL},
    {"PMIX_NAMESPACE", NULL}};

/* Texts that stand for a missing id: torchrun without --rdzv-id, Ray before a job has one. */
static const char *const no_ids[] = {"none", "ffffffff"};

/* The names of jobs. Where there is another id, SGE's is a common word. */
static const struct id_variable job_names[] = {{"SLURM_JOB_NAME", "SLURM_JOB_ID"},
    {"PBS_JOBNAME", "PBS_JOBID"}, {"LSB_JOBNAME", "LSB_JOBID"}, {"JOB_NAME", "SGE_TASK_ID"}};

/* Which element of an array a job is, and the lowest that there is. */
static const struct element_variable {
    const char *name;
    long first;
    bool is_in_id; /* the job's id ends with it */
} elements[] = {{"SLURM_ARRAY_TASK_ID", 0, false}, {"LSB_JOBINDEX", 1, false},
    {"PBS_ARRAY_INDEX", 0, true}, {"PBS_ARRAYID", 0, true}, {"SGE_TASK_ID", 1, false},
    {"AWS_BATCH_JOB_ARRAY_INDEX", 0, true}};

static const char *text_of(launcher_variable *variable, void *user, const char *name)
{
    const char *text = name ? variable(user, name) : NULL;
    return text && text[0] ? text : NULL;
}

/* Reads a number of a rank; -1: not set, or no whole number. */
static long number_of(launcher_variable *variable, void *user, const char *name)
{
    const char *text = text_of(variable, user, name);
    const char *end = text ? text + strlen(text) : NULL;
    uint64_t number;
    bool is_number = text && number_parse_uint64(text, end, &number) == end;
    return is_number && number < INT_MAX ? (long)number : -1;
}

/* Returns whether a scheduler set the variables of MPICH's mpirun, as srun --mpi=pmi2 and Flux do:
 * their own variables say more. */
static bool is_pmi_of_scheduler(launcher_variable *variable, void *user)
{
    long rank = number_of(variable, user, "PMI_RANK"), size = number_of(variable, user, "PMI_SIZE");
    return !text_of(variable, user, "MPI_LOCALRANKID") &&
           ((rank == number_of(variable, user, "SLURM_PROCID") &&
                size == number_of(variable, user, "SLURM_STEP_NUM_TASKS")) ||
               (rank == number_of(variable, user, "FLUX_TASK_RANK") &&
                   size == number_of(variable, user, "FLUX_JOB_SIZE")));
}

/* A script of srun's task often sets them from Slurm's own, or before srun, alike for all tasks:
 * where there are as many ranks as tasks, these are the ranks, and Slurm's say more. */
static bool are_of_pytorch(launcher_variable *variable, void *user)
{
    long world_size = number_of(variable, user, "WORLD_SIZE");
    bool is_step = text_of(variable, user, "SLURM_STEP_ID") != NULL;
    return number_of(variable, user, "RANK") < world_size &&
           !(is_step && world_size == number_of(variable, user, "SLURM_STEP_NUM_TASKS"));
}

/* Returns whether the variables of a launcher are set by that launcher. */
static bool applies(launcher_variable *variable, void *user, const struct launcher_row *row)
{
    if (row->rank && strcmp(row->rank, "PMI_RANK") == 0 && is_pmi_of_scheduler(variable, user))
        return false;
    if (strcmp(row->name, "PyTorch") == 0 && !are_of_pytorch(variable, user))
        return false;
    if (row->also && !text_of(variable, user, row->also))
        return false;
    return !row->rank || number_of(variable, user, row->rank) >= row->first_rank;
}

/* Returns whether a text is an id, not a launcher's word for none. */
static bool is_id(const char *text)
{
    for (size_t i = 0; text && i < sizeof no_ids / sizeof no_ids[0]; i++) {
        if (strcmp(text, no_ids[i]) == 0)
            return false;
    }
    return text != NULL;
}

/* ---- SageMaker: names of hosts, and which of them this one is ---- */

/* Cuts the next text from a list as JSON has it: ["algo-1", "algo-2"]. NULL: there is none. */
static const char *next_in_list(const char *list, const char **text, size_t *length)
{
    const char *begin = list ? strchr(list, '"') : NULL;
    const char *end = begin ? strchr(begin + 1, '"') : NULL;
    if (!end)
        return NULL;
    *text = begin + 1;
    *length = (size_t)(end - *text);
    return end + 1;
}

/* Reads the rank from the list of hosts that SageMaker sets. */
static void read_sagemaker(launcher_variable *variable, void *user, struct launcher *launcher)
{
    const char *own = text_of(variable, user, "SM_CURRENT_HOST");
    const char *list = text_of(variable, user, "SM_HOSTS"), *host;
    size_t length;
    long count = 0, index = -1;
    while (own && (list = next_in_list(list, &host, &length))) {
        if (strlen(own) == length && memcmp(own, host, length) == 0)
            index = count;
        count++;
    }
    if (index < 0)
        return;
    launcher->name = "SageMaker";
    launcher->rank = launcher->node_rank = index;
    launcher->world_size = launcher->node_count = count;
    text_fit(launcher->node, sizeof launcher->node, "%s", own);
}

/* ---- Everything ---- */

/* Returns how long the job may take: Slurm says when it began and when it has to end. NaN: not
 * known, or there is no limit. */
static double time_limit_of(launcher_variable *variable, void *user)
{
    const char *begin = text_of(variable, user, "SLURM_JOB_START_TIME");
    const char *end = text_of(variable, user, "SLURM_JOB_END_TIME");
    const char *seconds = text_of(variable, user, "PBS_WALLTIME");
    double first = 0, last, limit;
    bool is_slurm = begin && end;
    if (is_slurm && !number_parse_double(begin, begin + strlen(begin), &first))
        return NAN;
    const char *text = is_slurm ? end : seconds;
    if (!text || !number_parse_double(text, text + strlen(text), &last))
        return NAN;
    limit = last - first;
    return limit > 0 && limit < MAX_TIME_LIMIT_SECONDS ? limit : NAN;
}

/* Slurm has one daemon per node, so these variables hold for every process that it starts. */
static void read_node(launcher_variable *variable, void *user, struct launcher *launcher)
{
    const char *node = text_of(variable, user, "SLURMD_NODENAME");
    if (node && !launcher->node[0])
        text_fit(launcher->node, sizeof launcher->node, "%s", node);
    if (launcher->node_rank < 0)
        launcher->node_rank = number_of(variable, user, "SLURM_NODEID");
    if (launcher->node_count < 0)
        launcher->node_count = number_of(variable, user, "SLURM_JOB_NUM_NODES");
}

void launcher_parse(launcher_variable *variable, void *user, struct launcher *launcher)
{
    *launcher = (struct launcher){.rank = -1,
        .world_size = -1,
        .local_rank = -1,
        .local_size = -1,
        .node_rank = -1,
        .node_count = -1,
        .restarts = -1};
    size_t at = 0;
    while (at < ROW_COUNT && !applies(variable, user, &rows[at]))
        at++;
    if (at < ROW_COUNT) {
        const struct launcher_row *row = &rows[at];
        const char *node = text_of(variable, user, row->node);
        launcher->name = row->name;
        launcher->rank = row->rank ? number_of(variable, user, row->rank) - row->first_rank : -1;
        launcher->world_size = number_of(variable, user, row->world_size);
        launcher->local_rank = number_of(variable, user, row->local_rank);
        launcher->local_size = number_of(variable, user, row->local_size);
        launcher->node_rank = number_of(variable, user, row->node_rank);
        launcher->node_count = number_of(variable, user, row->node_count);
        if (node)
            text_fit(launcher->node, sizeof launcher->node, "%s", node);
        launcher->run = text_of(variable, user, row->run);
        if (!is_id(launcher->run))
            launcher->run = text_of(variable, user, row->other_run);
    } else
        read_sagemaker(variable, user, launcher);
    if (launcher->name)
        launcher->depth = (int)(ROW_COUNT - at) + 1;

    for (size_t i = 0; i < sizeof job_ids / sizeof job_ids[0] && !launcher->job; i++) {
        const char *id = text_of(variable, user, job_ids[i].name);
        bool applies_here = !job_ids[i].also || text_of(variable, user, job_ids[i].also);
        launcher->job = applies_here && is_id(id) ? id : NULL;
    }
    launcher->step = text_of(variable, user, "SLURM_STEP_ID");
    for (size_t i = 0; i < sizeof job_names / sizeof job_names[0] && !launcher->job_name; i++) {
        if (text_of(variable, user, job_names[i].also))
            launcher->job_name = text_of(variable, user, job_names[i].name);
    }
    launcher->time_limit_seconds = time_limit_of(variable, user);

    for (size_t i = 0; i < sizeof elements / sizeof elements[0] && !launcher->element; i++) {
        if (number_of(variable, user, elements[i].name) < elements[i].first)
            continue;
        launcher->element = text_of(variable, user, elements[i].name);
        launcher->array_task = elements[i].is_in_id ? NULL : launcher->element;
    }
    if (number_of(variable, user, "PARALLEL_SEQ") >= 0)
        launcher->sequence = text_of(variable, user, "PARALLEL_SEQ");
    if (launcher->sequence && launcher->rank < 0)
        launcher->run = text_of(variable, user, "PARALLEL_PID");
    if (launcher->sequence && !launcher->job && !launcher->step) /* as earlier versions have it */
        launcher->step = text_of(variable, user, "PARALLEL_PID");

    read_node(variable, user, launcher);
    launcher->restarts = number_of(variable, user, "TORCHELASTIC_RESTART_COUNT");
    if (launcher->restarts < 0)
        launcher->restarts = number_of(variable, user, "SLURM_RESTART_COUNT");
}

/* ---- Slurm ---- */

#define MEBIBYTE 1048576.0

/* Reads a number; NaN: not set, no number, or 0, which stands for all of the machine. */
static double allowed_of(launcher_variable *variable, void *user, const char *name)
{
    uint64_t number;
    const char *text = variable(user, name);
    const char *end = text ? scan_uint64(text, &number) : NULL;
    return end && *end == '\0' && number > 0 ? (double)number : NAN;
}

void slurm_parse(launcher_variable *variable, void *user, struct slurm_allocation *allocation)
{
    const char *step = variable(user, "SLURM_STEP_ID");
    double of_node = allowed_of(variable, user, "SLURM_CPUS_ON_NODE");
    double of_task = allowed_of(variable, user, "SLURM_CPUS_PER_TASK");
    double ram = allowed_of(variable, user, "SLURM_MEM_PER_NODE");
    double ram_of_core = allowed_of(variable, user, "SLURM_MEM_PER_CPU");
    allocation->cores = step && of_task <= of_node ? of_task : of_node;
    allocation->ram_bytes = MEBIBYTE * (isnan(ram) ? ram_of_core * of_node : ram);
}

/* ---- Hydra ---- */

/* A rank may be started by scripts in scripts, but not by so many. */
#define MAX_PARENTS 32

static bool is_proxy(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strncmp(slash ? slash + 1 : program, "hydra_", 6) == 0;
}

bool hydra_parse(const char *line, size_t length, char *address, size_t size)
{
    const char *end = line + length;
    bool is_next = false;
    for (const char *word = line; word < end && memchr(word, '\0', (size_t)(end - word));
         word += strlen(word) + 1) {
        if (word == line && !is_proxy(word))
            return false;
        if (is_next && word[0]) {
            text_fit(address, size, "%s", word);
            return true;
        }
        is_next = strcmp(word, "--control-port") == 0;
    }
    return false;
}

int hydra_read(struct bounded_calls *calls, const char *root, pid_t pid, char *address, size_t size,
    struct gput_error *error)
{
    struct str line = {0};
    struct proc_stat stat = {.ppid = pid};
    int code = GPUT_OK;
    bool is_found = false;
    for (int i = 0; i < MAX_PARENTS && stat.ppid > 1 && code == GPUT_OK && !is_found; i++) {
        if (procfs_read_bounded(calls, root, stat.ppid, "cmdline", &line, error) == GPUT_OK)
            is_found = hydra_parse(str_text(&line), line.length, address, size);
        code = proc_stat_read_bounded(calls, root, stat.ppid, &stat, error);
    }
    str_finish(&line);
    if (is_found || code != GPUT_OK)
        return is_found ? GPUT_OK : code;
    return error_set(
        error, GPUT_ERROR_NOT_FOUND, "No proxy of Hydra started process %ld.", (long)pid);
}
