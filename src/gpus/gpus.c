/*
 * One reading of all GPUs: every process of this procfs counts as tracked, so that drivers which
 * list only those that they are asked for list all.
 */
#include "gpus/gpus_state.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/text.h"
#include "machine/os/proc_stat.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"
#include "model/session_options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long to wait for a slow driver. What it answered meanwhile (a list may hang alone) is not too
 * old then. */
#define TIMEOUT_SECONDS 5.0
#define MAX_AGE_SECONDS (TIMEOUT_SECONDS + 3)
/* Likewise for parts of the chip, after figures that came: these are to be of this moment. */
#define PARTS_TIMEOUT_SECONDS 2.0
/* Between two samples of parts of the chip. */
#define PARTS_INTERVAL_NS 250000000
/* Longer command lines are cut. */
#define MAX_COMMAND_BYTES 4096

/* Lists all processes, sorted. Without procfs the list stays empty: some drivers list processes
 * themselves. */
static int list_pids(const char *procfs_root, struct pid_vector *pids, struct gput_error *error)
{
    CLEANUP_FD int folder = open(procfs_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return GPUT_OK; /* then drivers that list processes themselves do */
    TRY(procfs_list_fd(folder, pids) == GPUT_ERROR_MEMORY ? error_memory(error) : GPUT_OK);
    if (pids->count > 1)
        qsort(pids->pids, pids->count, sizeof *pids->pids, pid_compare);
    return GPUT_OK;
}

/* Its command line, else its name in brackets, as ps shows it; NULL without either. */
static char *read_command(const char *procfs_root, pid_t pid)
{
    CLEANUP_STR struct str text = {0};
    struct proc_stat stat;
    if (procfs_read_bounded(NULL, procfs_root, pid, "cmdline", &text, NULL) == GPUT_OK) {
        size_t length = text.length < MAX_COMMAND_BYTES ? text.length : MAX_COMMAND_BYTES;
        while (length > 0 && text.data[length - 1] == '\0')
            length--;
        for (size_t i = 0; i < length; i++)
            if (text.data[i] == '\0')
                text.data[i] = ' ';
        if (length > 0)
            return strndup(text.data, length);
    }
    if (proc_stat_read(procfs_root, pid, &stat, NULL) != GPUT_OK)
        return NULL;
    str_clear(&text);
    str_printf(&text, "[%.*s]", (int)sizeof stat.name, stat.name);
    return text.failed ? NULL : strdup(str_text(&text));
}

static void describe(struct gput_gpus *gpus, struct gpus_process *process)
{
    struct proc_status status;
    process->command = read_command(gpus->procfs_root, process->pid);
    if (proc_status_read(gpus->procfs_root, process->pid, &status, NULL) == GPUT_OK)
        passwd_users_name(&gpus->users, status.uid, process->user, sizeof process->user);
}

/* "No GPU was found: nvml: no NVIDIA driver; …": each source that was asked. */
static void describe_absence(struct gput_gpus *gpus)
{
    size_t count;
    const struct gpu_source_status *sources = gpu_set_sources(gpus->set, &count);
    text_fit(gpus->missing, sizeof gpus->missing, "%s",
        gpu_set_is_empty(gpus->set) ? "No GPU was found" : "No GPU can be read");
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(gpus->missing);
        if (sources[i].state != GPU_SOURCE_SKIPPED)
            text_fit(gpus->missing + length, sizeof gpus->missing - length, "%s%s: %s",
                strchr(gpus->missing, ':') ? "; " : ": ", sources[i].name, sources[i].detail);
    }
}

/* Frees the processes of the previous reading. */
static void forget_processes(struct gput_gpus *gpus)
{
    for (size_t i = 0; i < gpus->n_processes; i++)
        free(gpus->processes[i].command);
    free(gpus->processes);
    gpus->processes = NULL;
    gpus->n_processes = 0;
}

/* Copies the processes that the drivers list, with their users and commands. */
static int take_processes(struct gput_gpus *gpus, struct gput_error *error)
{
    size_t count;
    const struct gpu_use *uses = gpu_set_uses(gpus->set, &count);
    struct gpus_process *processes = calloc(count + 1, sizeof *processes);
    if (!processes)
        return error_memory(error);
    forget_processes(gpus);
    gpus->processes = processes;
    passwd_users_update(&gpus->users, passwd_path);
    for (size_t i = 0; i < count; i++) {
        if (uses[i].device >= gpus->sample.n_devices)
            continue;
        struct gpus_process *process = &processes[gpus->n_processes++];
        *process = (struct gpus_process){.gpu = uses[i].device,
            .pid = uses[i].pid,
            .ram_bytes = uses[i].ram_bytes,
            .sm_percent = uses[i].sm_percent};
        describe(gpus, process);
    }
    return GPUT_OK;
}

int gput_gpus_update(struct gput_gpus *gpus, struct gput_error *error)
{
    struct pid_vector pids = {0};
    struct timespec now;
    int code = list_pids(gpus->procfs_root, &pids, error);
    if (code == GPUT_OK) {
        const struct gpu_tree tree = {.main = 0,
            .descendants = pids.pids,
            .n_descendants = pids.count,
            .generation = (uint64_t)clock_monotonic_ns()};
        gpu_set_request_lists(gpus->set, &tree, true);
        gpu_set_await_all(gpus->set, gpus->with_parts ? PARTS_TIMEOUT_SECONDS : TIMEOUT_SECONDS);
        gpu_set_sample(gpus->set, &tree, &gpus->sample);
        describe_absence(gpus);
        clock_gettime(CLOCK_REALTIME, &now);
        gpus->time_seconds = (double)now.tv_sec + (double)(now.tv_nsec / 1000) * 1e-6;
        code = take_processes(gpus, error);
    }
    pid_vector_finish(&pids);
    return code;
}

CLEANUP_DEFINE(struct gput_gpus, gput_gpus_destroy)

int gput_gpus_create(
    const struct gput_session_options *given, struct gput_gpus **gpus, struct gput_error *error)
{
    struct gput_session_options options;
    struct gput_limits limits;
    *gpus = NULL;
    TRY(session_options_read(given, &options, &limits, error));
    CLEANUP(gput_gpus_destroy_pointer) struct gput_gpus *made = calloc(1, sizeof *made);
    if (made)
        made->procfs_root = strdup(options.procfs_root ? options.procfs_root : "/proc");
    if (!made || !made->procfs_root)
        return error_memory(error);
    const struct gpu_options gpu_options = {
        .procfs_root = options.procfs_root,
        .sysfs_root = options.sysfs_root,
        .nvml_path = options.nvml_path,
        .brand = options.gpu_brand,
        .uuids = options.gpu_uuids,
        .max_age_seconds = MAX_AGE_SECONDS,
        .each_process = true,
        .parts = options.gpu_parts,
    };
    TRY(gpu_set_open(&gpu_options, &made->set, error));
    TRY(gput_gpus_update(made, error));
    made->with_parts = options.gpu_parts;
    if (options.gpu_parts) {
        const struct timespec pause = {0, PARTS_INTERVAL_NS};
        TRY(gput_gpus_update(made, error));
        nanosleep(&pause, NULL);
        TRY(gput_gpus_update(made, error));
    }
    *gpus = STEAL(made);
    return GPUT_OK;
}

void gput_gpus_destroy(struct gput_gpus *gpus)
{
    if (!gpus)
        return;
    forget_processes(gpus);
    gpu_set_close(gpus->set);
    passwd_users_finish(&gpus->users);
    free(gpus->procfs_root);
    free(gpus);
}

const char *gput_gpus_missing(const struct gput_gpus *gpus, bool *is_failure)
{
    const char *why = gpu_set_missing(gpus->set);
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(gpus->set, &count);
    bool is_unread = why && !gpu_set_is_empty(gpus->set);
    for (size_t i = 0; i < count; i++)
        is_unread |= devices[i].selected && gpu_set_is_unread(gpus->set, i);
    if (is_failure)
        *is_failure = is_unread;
    return why ? gpus->missing : NULL;
}
