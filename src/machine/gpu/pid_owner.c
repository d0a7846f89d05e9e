#include "machine/gpu/pid_owner.h"

#include "base/array.h"
#include "machine/os/proc_stat.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- device files ---- */

enum finding { ABSENT, PRESENT, UNKNOWN };

/* Whether one of these descriptors is a device file whose name begins with `prefix`, `but` for one
 * name. */
static enum finding find_in_folder(
    int folder, const struct pid_vector *descriptors, const char *prefix, const char *but)
{
    char number[16], path[PATH_MAX];
    for (size_t i = 0; i < descriptors->count; i++) {
        snprintf(number, sizeof number, "%d", (int)descriptors->pids[i]);
        ssize_t length = readlinkat(folder, number, path, sizeof path - 1);
        if (length < 0 && errno == ENOENT)
            continue; /* closed since */
        if (length < 0)
            return UNKNOWN;
        path[length] = '\0';
        /* In another mount namespace the folder can differ. */
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        if (path[0] == '/' && strncmp(name, prefix, strlen(prefix)) == 0 &&
            !(but && strcmp(name, but) == 0))
            return PRESENT;
    }
    return ABSENT;
}

/* Whether a process has such a device file open. */
static enum finding find_device(
    const char *procfs_root, pid_t pid, const char *prefix, const char *but)
{
    char path[PROCFS_PATH_SIZE];
    struct pid_vector descriptors = {0};
    enum finding finding = UNKNOWN;
    int folder = procfs_path(procfs_root, pid, "fd", path)
                     ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                     : -1;
    if (folder < 0) {
        struct proc_stat stat;
        if (errno == ENOENT || errno == ESRCH)
            return ABSENT;
        /* An ended process has nothing open; until it is waited for, root alone may list that. */
        bool has_ended = proc_stat_read(procfs_root, pid, &stat, NULL) == GPUT_OK &&
                         stat.state == 'Z' && stat.thread_count <= 1;
        return has_ended ? ABSENT : UNKNOWN;
    }
    if (procfs_list_fd(folder, &descriptors) == GPUT_OK)
        finding = find_in_folder(folder, &descriptors, prefix, but);
    pid_vector_finish(&descriptors);
    close(folder);
    return finding;
}

/* Whether a process has a GPU of any driver open. False where that may not be read. */
static bool has_any_gpu(const char *procfs_root, pid_t pid)
{
    static const char *const prefixes[] = {"nvidia", "kfd", "renderD", "dxg"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (find_device(procfs_root, pid, prefixes[i], NULL) == PRESENT)
            return true;
    return false;
}

bool device_files_are_own(const char *name)
{
    return find_device("/proc", getpid(), name, NULL) == PRESENT;
}

bool device_files_none_open(
    const char *procfs_root, const struct gpu_tracked *tracked, const char *prefix, const char *but)
{
    for (size_t i = 0; i < tracked->count; i++)
        if (find_device(procfs_root, tracked->pids[i], prefix, but) != ABSENT)
            return false;
    return tracked->count > 0;
}

bool device_files_prove_pids(const char *procfs_root, const struct gpu_process_list *list,
    const char *prefix, const char *but, const char *own_prefix)
{
    bool has_file = list->count == 0;
    for (size_t i = 0; i < list->count; i++) {
        char path[PROCFS_PATH_SIZE];
        pid_t pid = list->entries[i].pid;
        bool is_own = pid == getpid();
        if (!procfs_path(procfs_root, pid, "", path) || access(path, F_OK) != 0)
            return false;
        if (!has_file)
            has_file = find_device(procfs_root, pid, is_own ? own_prefix : prefix, but) == PRESENT;
    }
    return has_file;
}

/* ---- owners ---- */

void pid_owner_cache_finish(struct pid_owner_cache *pid_owners)
{
    free(pid_owners->aliases);
    free(pid_owners->known);
    outer_procfs_finish(&pid_owners->outer);
    *pid_owners = (struct pid_owner_cache){0};
}

static bool contains(const pid_t *pids, size_t count, pid_t pid)
{
    return count && bsearch(&pid, pids, count, sizeof *pids, pid_compare);
}

static enum pid_owner find_tracked(const struct gpu_tree *tree, pid_t pid)
{
    if (tree->main && pid == tree->main)
        return PID_OWNER_MAIN;
    if (contains(tree->descendants, tree->n_descendants, pid))
        return PID_OWNER_DESCENDANT;
    return PID_OWNER_UNKNOWN;
}

/* Whether a process is there, visible or not. */
static bool exists(const char *procfs_root, pid_t pid)
{
    char path[PROCFS_PATH_SIZE];
    if (!procfs_path(procfs_root, pid, "", path))
        return false;
    if (access(path, F_OK) == 0)
        return true;
    /* With hidepid, processes of other users exist but are not in /proc. */
    return strcmp(procfs_root, "/proc") == 0 && kill(pid, 0) != 0 && errno == EPERM;
}

static void add_alias(struct pid_owner_cache *pid_owners, pid_t alias, pid_t pid)
{
    if (ARRAY_RESERVE(pid_owners->aliases, pid_owners->n_aliases, pid_owners->alias_capacity))
        pid_owners->aliases[pid_owners->n_aliases++] = (struct pid_alias){alias, pid};
}

/* Notes the pids that a process has in inner namespaces. */
static void read_aliases(struct pid_owner_cache *pid_owners, const char *procfs_root, pid_t pid)
{
    struct proc_status status;
    if (proc_status_read(procfs_root, pid, &status, NULL) != GPUT_OK)
        return;
    for (uint32_t i = 0; i < status.namespace_count; i++)
        if (status.namespace_pids[i] != pid)
            add_alias(pid_owners, status.namespace_pids[i], pid);
}

/* Keeps the aliases of processes that are still tracked, and reads those of new ones. */
static void fill(
    struct pid_owner_cache *pid_owners, const char *procfs_root, const struct gpu_tree *tree)
{
    if (pid_owners->filled && pid_owners->generation == tree->generation)
        return;
    size_t count = tree->n_descendants + 1, kept = 0;
    pid_t *pids = calloc(count, sizeof *pids);
    if (!pids)
        return;
    for (size_t i = 0; i < pid_owners->n_aliases; i++)
        if (find_tracked(tree, pid_owners->aliases[i].pid) != PID_OWNER_UNKNOWN)
            pid_owners->aliases[kept++] = pid_owners->aliases[i];
    pid_owners->n_aliases = kept;
    pids[0] = tree->main;
    if (tree->n_descendants)
        memcpy(pids + 1, tree->descendants, tree->n_descendants * sizeof *pids);
    for (size_t i = 0; i < count; i++)
        if (pids[i] > 0 && !contains(pid_owners->known, pid_owners->n_known, pids[i]))
            read_aliases(pid_owners, procfs_root, pids[i]);
    qsort(pids, count, sizeof *pids, pid_compare);
    free(pid_owners->known);
    pid_owners->known = pids;
    pid_owners->n_known = count;
    pid_owners->generation = tree->generation;
    pid_owners->filled = true;
}

/* The tracked process that has this pid in another namespace; 0: none, or not certain. */
static pid_t find_alias(const struct pid_owner_cache *pid_owners, pid_t alias)
{
    pid_t match = 0;
    for (size_t i = 0; i < pid_owners->n_aliases; i++) {
        if (pid_owners->aliases[i].alias != alias)
            continue;
        /* Two namespaces can use one number. */
        if (match && match != pid_owners->aliases[i].pid)
            return 0;
        match = pid_owners->aliases[i].pid;
    }
    return match;
}

/* Our pid of a process in the procfs of an outer namespace; 0: it is there, but not in our
 * namespace; -1: it is not there. */
static pid_t find_in_outer(struct pid_owner_cache *pid_owners, const char *procfs_root, pid_t pid)
{
    if (!pid_owners->outer_searched)
        outer_procfs_find(procfs_root, &pid_owners->outer);
    pid_owners->outer_searched = true;
    return pid_owners->outer.root ? outer_procfs_translate(&pid_owners->outer, procfs_root, pid)
                                  : -1;
}

/* Which namespace a listed pid can be of alone. */
enum proof { PROVES_NOTHING, PROVES_OURS, PROVES_OUTER };

/*
 * A pid of ours that is not in the outer procfs is one of ours. A pid that is in the outer procfs
 * alone may be that of a process of ours that has ended: another process has this number in the
 * outer namespace (kernel threads have most of the small ones). It counts as an outer pid if that
 * process is in our namespace, too, or has a GPU open.
 */
static enum proof proof_of(const struct pid_owner_search *search, pid_t pid)
{
    struct pid_owner_cache *pid_owners = search->pid_owners;
    bool is_here =
        find_tracked(search->tree, pid) != PID_OWNER_UNKNOWN || exists(search->procfs_root, pid);
    if (is_here && !pid_owners->lists_outer)
        return PROVES_NOTHING; /* as most drivers list them */
    pid_t ours = find_in_outer(pid_owners, search->procfs_root, pid);
    if (is_here)
        return ours < 0 ? PROVES_OURS : PROVES_NOTHING;
    bool is_outer = ours > 0 || (ours == 0 && has_any_gpu(pid_owners->outer.root, pid));
    return is_outer ? PROVES_OUTER : PROVES_NOTHING;
}

void pid_owner_learn(const struct pid_owner_search *search, const struct gpu_process_list *list)
{
    struct pid_owner_cache *pid_owners = search->pid_owners;
    bool proves[PROVES_OUTER + 1] = {false};
    pid_owners->is_unproven = list->pids_unproven;
    for (size_t i = 0; i < list->count; i++) {
        if (!list->entries[i].client)
            proves[proof_of(search, list->entries[i].pid)] = true;
    }
    if (proves[PROVES_OURS] != proves[PROVES_OUTER])
        pid_owners->lists_outer = proves[PROVES_OUTER];
}

/* The owner of a pid of our namespace or of one below it. */
static enum pid_owner find_inner(const struct pid_owner_search *search, pid_t *pid)
{
    enum pid_owner owner = find_tracked(search->tree, *pid);
    if (owner != PID_OWNER_UNKNOWN)
        return owner;
    if (exists(search->procfs_root, *pid))
        return PID_OWNER_UNTRACKED;
    fill(search->pid_owners, search->procfs_root, search->tree);
    *pid = find_alias(search->pid_owners, *pid);
    return *pid ? find_tracked(search->tree, *pid) : PID_OWNER_UNKNOWN;
}

bool pid_owner_cache_has_our_pid(
    const struct pid_owner_cache *pid_owners, const struct gpu_process *entry)
{
    return entry->client || !(pid_owners->lists_outer || pid_owners->is_unproven);
}

enum pid_owner pid_owner_find(
    const struct pid_owner_search *search, const struct gpu_process *entry, pid_t *tracked)
{
    struct pid_owner_cache *pid_owners = search->pid_owners;
    bool is_outer = !pid_owner_cache_has_our_pid(pid_owners, entry);
    pid_t ours = is_outer ? find_in_outer(pid_owners, search->procfs_root, entry->pid) : -1;
    enum pid_owner owner = ours > 0 ? find_tracked(search->tree, ours) : PID_OWNER_UNKNOWN;
    if (ours < 0 && !(is_outer && pid_owners->is_unproven)) {
        ours = entry->pid;
        owner = find_inner(search, &ours);
    } else if (ours >= 0 && owner == PID_OWNER_UNKNOWN) {
        owner = PID_OWNER_UNTRACKED;
    }
    if (tracked)
        *tracked = ours;
    return owner;
}
