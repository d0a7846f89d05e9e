#include "session/sinks/owners.h"

#include "base/clock.h"
#include "base/order.h"
#include "base/text.h"
#include "machine/os/environment.h"
#include "machine/os/launcher.h"
#include "machine/os/mountinfo.h"
#include "machine/os/passwd.h"
#include "machine/os/proc_status.h"
#include "machine/process/memory.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A process may change its user and its control group soon after it was started: its owners are
 * read in as many snapshots. */
#define MAX_READINGS 3

/* A process as of the snapshot before. */
struct owned_process {
    pid_t pid;
    uint64_t start_ticks;
    int64_t cpu_ns;
    unsigned readings;
    size_t user, job; /* indexes of owners; `job` SIZE_MAX: no job */
};

struct owner {
    struct owner_figures figures;
    uint64_t used; /* the number of the snapshot in which it had processes last */
    bool shares_gpus;
};

struct owners {
    char *procfs_root; /* owned */
    struct bounded_calls *calls;
    struct owned_process *processes; /* owned; ascending by pid */
    size_t n_processes;
    uint64_t snapshots;
    struct passwd_users users;
    bool are_users_current; /* in this snapshot */
    pthread_mutex_t lock;   /* guards what follows */
    /* Users, then jobs; the last of each is that of all others. */
    struct owner list[2 * OWNERS_MAX];
};

struct owners *owners_create(const char *procfs_root, struct bounded_calls *calls)
{
    struct owners *owners = calloc(1, sizeof *owners);
    if (!owners || !(owners->procfs_root = strdup(procfs_root))) {
        free(owners);
        return NULL;
    }
    owners->calls = calls;
    pthread_mutex_init(&owners->lock, NULL);
    for (int kind = 0; kind < 2; kind++) {
        struct owner_figures *other = &owners->list[(kind + 1) * OWNERS_MAX - 1].figures;
        text_fit(other->user, sizeof other->user, OWNERS_OTHER);
        text_fit(other->job, sizeof other->job, kind ? OWNERS_OTHER : "");
    }
    return owners;
}

void owners_destroy(struct owners *owners)
{
    if (!owners)
        return;
    pthread_mutex_destroy(&owners->lock);
    passwd_users_finish(&owners->users);
    free(owners->procfs_root);
    free(owners->processes);
    free(owners);
}

/* ---- whose a process is ---- */

/* The one of that name; else a new one, where there is space: one that was never used, or the one
 * that has had no process for longest; else that of all others. */
static size_t find_owner(struct owners *owners, bool is_job, const char *user, const char *job)
{
    size_t first = is_job ? OWNERS_MAX : 0, other = first + OWNERS_MAX - 1, best = other;
    for (size_t i = first; i < other; i++) {
        const struct owner *owner = &owners->list[i];
        if (owner->used && strcmp(owner->figures.user, user) == 0 &&
            strcmp(owner->figures.job, job) == 0)
            return i;
        bool is_free = !owner->used || owner->used + 1 < owners->snapshots;
        if (is_free && (best == other || owner->used < owners->list[best].used))
            best = i;
    }
    if (best == other)
        return other;
    owners->list[best] = (struct owner){.used = owners->snapshots};
    text_fit(owners->list[best].figures.user, sizeof owners->list[best].figures.user, "%s", user);
    text_fit(owners->list[best].figures.job, sizeof owners->list[best].figures.job, "%s", job);
    return best;
}

/* "/system.slice/slurmstepd.scope/job_4711/step_0": what Slurm says goes before what the process
 * says of itself. */
static bool read_slurm_job(const char *cgroup, char *job, size_t size)
{
    const char *slurm = strstr(cgroup, "slurm"), *at = slurm ? strstr(slurm, "/job_") : NULL;
    size_t digits = at ? strspn(at + 5, "0123456789") : 0;
    if (digits == 0)
        return false;
    text_fit(job, size, "%.*s", (int)digits, at + 5);
    return true;
}

/* Writes the job of a process: of Slurm's control group, else of its launcher, else its pod or
 * container. "": none. */
static void read_job(const struct owners *owners, pid_t pid, char *job, size_t size)
{
    struct container container;
    struct environment environment = {0};
    struct launcher launcher = {0};
    job[0] = '\0';
    container_read(owners->procfs_root, pid, &container);
    if (read_slurm_job(container.cgroup, job, size))
        return;
    if (environment_read(owners->calls, owners->procfs_root, pid, &environment, NULL) == GPUT_OK)
        launcher_parse(environment_variable, &environment, &launcher);
    if (launcher.job)
        text_fit(job, size, "%s", launcher.job);
    else if (container.pod[0] || container.id[0])
        text_fit(job, size, "%s", container.pod[0] ? container.pod : container.id);
    environment_finish(&environment);
}

/* Finds the user and the job that a process belongs to. */
static void find_owners(struct owners *owners, struct owned_process *owned)
{
    struct proc_status status;
    char user[64], job[96];
    size_t others = OWNERS_MAX - 1;
    owned->user = others;
    owned->job = SIZE_MAX;
    if (proc_status_read(owners->procfs_root, owned->pid, &status, NULL) != GPUT_OK)
        return;
    if (!owners->are_users_current)
        passwd_users_update(&owners->users, passwd_path);
    owners->are_users_current = true;
    passwd_users_name(&owners->users, status.uid, user, sizeof user);
    owned->user = find_owner(owners, false, user, "");
    read_job(owners, owned->pid, job, sizeof job);
    if (job[0])
        owned->job = find_owner(owners, true, user, job);
}

/* ---- adding up ---- */

static int by_pid(const void *a, const void *b)
{
    const struct owned_process *left = a, *right = b;
    return ORDER(left->pid, right->pid);
}

/* Returns a process as of the previous snapshot. NULL: it is new. */
static const struct owned_process *find_owned(const struct owners *owners, pid_t pid)
{
    struct owned_process wanted = {.pid = pid};
    return owners->n_processes
               ? bsearch(&wanted, owners->processes, owners->n_processes, sizeof wanted, by_pid)
               : NULL;
}

/* Adds a process, and its CPU time since the previous snapshot, to one owner. */
static void add_process(
    struct owners *owners, size_t index, double cpu_seconds, const struct process *process)
{
    struct owner *owner = &owners->list[index];
    owner->used = owners->snapshots;
    owner->figures.processes++;
    owner->figures.cpu_seconds += cpu_seconds;
    if (process_has_memory(process))
        owner->figures.ram_bytes += (double)memory_rss(&process->polled->memory).total;
}

/* Adds a process to its user and its job. A process may change both after exec, so they are read
 * a few times. */
static void add_to_owners(
    struct owners *owners, const struct process *process, struct owned_process *owned)
{
    const struct owned_process *before = find_owned(owners, process->pid);
    *owned = (struct owned_process){.pid = process->pid,
        .start_ticks = process->polled->stat.start_time_ticks,
        .cpu_ns = process_cpu_ns(process)};
    if (before && before->start_ticks != owned->start_ticks)
        before = NULL;
    owned->readings = before ? before->readings : 0;
    if (owned->readings < MAX_READINGS) {
        find_owners(owners, owned);
        owned->readings++;
    } else {
        owned->user = before->user;
        owned->job = before->job;
    }
    int64_t used_ns = owned->cpu_ns - (before ? before->cpu_ns : 0);
    double seconds = used_ns > 0 ? clock_seconds_of_ns(used_ns) : 0;
    add_process(owners, owned->user, seconds, process);
    if (owned->job != SIZE_MAX)
        add_process(owners, owned->job, seconds, process);
}

/* The processes of one GPU, of which each owner counts once. */
static void add_gpu(
    struct owners *owners, const struct gpu_use *uses, size_t count, double utilization, bool jobs)
{
    size_t holders[OWNERS_MAX], n_holders = 0;
    for (size_t i = 0; i < count; i++) {
        const struct owned_process *process = find_owned(owners, uses[i].pid);
        size_t index = !process ? SIZE_MAX : jobs ? process->job : process->user, known = 0;
        if (index == SIZE_MAX)
            continue;
        owners->list[index].figures.gpu_ram_bytes += uses[i].ram_bytes;
        while (known < n_holders && holders[known] != index)
            known++;
        if (known == n_holders && n_holders < OWNERS_MAX) {
            holders[n_holders++] = index;
            owners->list[index].figures.gpus++;
        }
    }
    for (size_t i = 0; i < n_holders; i++) {
        owners->list[holders[i]].shares_gpus |= n_holders > 1;
        owners->list[holders[i]].figures.gpu_utilization += utilization;
    }
}

void owners_add(struct owners *owners, const struct snapshot *snapshot)
{
    const struct process_tree *tree = snapshot->listed;
    struct owned_process *owned = calloc(tree->count + 1, sizeof *owned);
    if (!owned)
        return;
    pthread_mutex_lock(&owners->lock);
    owners->snapshots++;
    owners->are_users_current = false;
    for (size_t i = 0; i < 2 * OWNERS_MAX; i++) {
        struct owner *owner = &owners->list[i];
        owner->figures.processes = owner->figures.ram_bytes = owner->figures.gpus = 0;
        owner->figures.gpu_ram_bytes = owner->figures.gpu_utilization = 0;
        owner->shares_gpus = false;
    }
    for (size_t i = 0; i < tree->count; i++)
        add_to_owners(owners, tree->processes[i], &owned[i]);
    qsort(owned, tree->count, sizeof *owned, by_pid);
    free(owners->processes);
    owners->processes = owned;
    owners->n_processes = tree->count;
    size_t count = 0;
    const struct gpu_use *uses = snapshot->gpus ? gpu_set_uses(snapshot->gpus, &count) : NULL;
    /* They ascend by device; those that the set had no space for come last. */
    uint32_t n_devices = snapshot->gpu.n_devices;
    for (size_t first = 0, end; first < count && uses[first].device < n_devices; first = end) {
        uint32_t device = uses[first].device;
        for (end = first + 1; end < count && uses[end].device == device;)
            end++;
        double utilization = snapshot->gpu.devices[device].utilization_percent / 100;
        add_gpu(owners, uses + first, end - first, utilization, false);
        add_gpu(owners, uses + first, end - first, utilization, true);
    }
    for (size_t i = 0; i < 2 * OWNERS_MAX; i++) {
        if (owners->list[i].shares_gpus || snapshot->gpu.n_devices == 0)
            owners->list[i].figures.gpu_utilization = NAN;
    }
    pthread_mutex_unlock(&owners->lock);
}

size_t owners_read(struct owners *owners, struct owner_figures figures[2 * OWNERS_MAX])
{
    size_t count = 0;
    pthread_mutex_lock(&owners->lock);
    for (size_t i = 0; i < 2 * OWNERS_MAX; i++) {
        if (owners->list[i].used)
            figures[count++] = owners->list[i].figures;
    }
    pthread_mutex_unlock(&owners->lock);
    return count;
}
