#include "machine/process/process_tree.h"

#include "base/array.h"
#include "base/file.h"
#include "machine/os/kcmp.h"
#include "machine/os/proc_list.h"
#include "machine/os/procfs.h"
#include "machine/os/system_stat.h"
#include "machine/process/process_figures.h"
#include "machine/process/wait_cause.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Maximum number of processes that are looked at in one moment. */
#define MAX_SAMPLED 50

struct process *process_tree_get(const struct process_tree *tree, pid_t pid)
{
    struct process *process = process_table_get(&tree->table, pid);
    while (process && !process->polled)
        process = process_table_older(process);
    return process;
}

struct process *process_tree_forked_from(
    const struct process_tree *tree, const struct process *process)
{
    const struct polled *polled = process->polled;
    struct process *parent =
        proc_stat_is_fork(&polled->stat) ? process_tree_get(tree, polled->stat.ppid) : NULL;
    return parent && parent->polled->exec_generation == polled->exec_generation ? parent : NULL;
}

/* ---- vfork parents ---- */

/*
 * The vfork parent need not be the parent: that may have ended, or be another than the process that
 * called clone() (CLONE_PARENT).
 */
static void find_vfork_parent(const struct process_tree *tree, size_t index)
{
    struct process *process = tree->processes[index];
    process->polled->vfork_parent = 0;
    pid_t candidates[KCMP_MAX_OTHERS];
    size_t count = 0;
    for (size_t i = index; i-- > 0 && count < KCMP_MAX_OTHERS;) {
        const struct process *other = tree->processes[i];
        if (!process_is_vfork_child(other) && process_may_share_memory(process, other, &tree->view))
            candidates[count++] = other->pid;
    }
    size_t found = kcmp_find_same_memory(tree->view.calls, process->pid, candidates, count);
    if (found < count)
        process->polled->vfork_parent = candidates[found];
}

/* Vfork parents may end or call execve while their children sleep. */
static void poll_vfork_parents(struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process_is_vfork_child(process))
            continue;
        const struct process *vfork_parent = process_tree_get(tree, process->polled->vfork_parent);
        if (!vfork_parent || process_is_vfork_child(vfork_parent) ||
            vfork_parent->polled->exec_generation != process->polled->exec_generation ||
            process_is_zombie(vfork_parent))
            find_vfork_parent(tree, i);
    }
}

/* ---- descriptors ---- */

bool process_tree_close_cached_files(struct process_tree *tree)
{
    unsigned before = tree->view.free_files;
    for (size_t i = 0; i < tree->count; i++)
        process_close_cached_files(tree->processes[i], &tree->view);
    bool any =
        tree->view.free_files != before || tree->loadavg_fd >= 0 || tree->own_children_fd >= 0;
    tree->view.free_files = 0;
    file_close_fd(&tree->loadavg_fd);
    file_close_fd(&tree->own_children_fd);
    return any || before > 0;
}

void process_tree_read_threads(struct process_tree *tree, bool is_brief, int64_t now_ns)
{
    for (size_t i = 0; i < tree->count; i++)
        process_threads_read(tree->processes[i], &tree->view, is_brief, now_ns, &tree->run_queue);
}

void process_tree_sample_states(struct process_tree *tree, int64_t weight_ns)
{
    size_t n_turns = (tree->count + MAX_SAMPLED - 1) / MAX_SAMPLED;
    size_t turn = n_turns > 0 ? tree->turn++ % n_turns : 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (process->is_main)
            process_states_sample(process, &tree->view, weight_ns);
        else if (i % n_turns == turn)
            process_states_sample(process, &tree->view, weight_ns * (int64_t)n_turns);
    }
}

void process_tree_read_collected(struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (process->last_poll.child_ended)
            process_read_collected(process, &tree->view);
        process->last_poll.child_ended = false;
    }
}

/* True when a call that returned that code should be repeated. */
static bool should_retry(struct process_tree *tree, int code)
{
    return code == GPUT_ERROR_FILES && process_tree_close_cached_files(tree);
}

/* The next scan reads what was skipped. */
static void note_failure(struct process_tree *tree, int code)
{
    tree->lacks_descriptors |= code == GPUT_ERROR_FILES;
}

void process_tree_note_unanswered(struct process_tree *tree, struct process *process)
{
    tree->unanswered += !process->polled->was_unanswered;
    process->polled->was_unanswered = true;
}

/* ---- members ---- */

static int begin_polls(
    struct process_tree *tree, struct process *process, const struct process *parent)
{
    int code = process_begin_polls(process, parent, &tree->view);
    if (should_retry(tree, code))
        code = process_begin_polls(process, parent, &tree->view);
    note_failure(tree, code);
    return code;
}

/*
 * The same process as one that was found now, as events announced it; NULL: they did not, or that
 * one has ended. Its exit may have been that of its first thread alone.
 */
static struct process *announced_as(const struct process_tree *tree, const struct process *found)
{
    struct process *known = process_table_get(&tree->table, found->pid);
    if (!known || known->polled || !process_state_is_open(known->state))
        return NULL;
    bool may_live =
        known->state == PROCESS_EXITED && !process_is_zombie(found) &&
        process_started(known, found->polled->stat.start_time_ticks, tree->view.ns_per_tick);
    return may_live || !process_has_ended(known) ? known : NULL;
}

/* Adds a process. GPUT_ERROR_GONE and the like mean that it cannot be polled. */
static int add(struct process_tree *tree, pid_t pid, const struct process *parent, bool is_old)
{
    struct process found = {.pid = pid};
    if (!ARRAY_RESERVE(tree->processes, tree->count, tree->capacity))
        return GPUT_ERROR_MEMORY;
    TRY(begin_polls(tree, &found, parent));
    struct process *process = announced_as(tree, &found);
    if (!process)
        process = process_table_add(&tree->table, pid);
    if (!process) {
        process_end_polls(&found, &tree->view);
        return GPUT_ERROR_MEMORY;
    }
    process->polled = found.polled;
    process->is_main = pid == tree->options.main;
    tree->processes[tree->count++] = process;
    if (!process_is_vfork_child(process))
        find_vfork_parent(tree, tree->count - 1);
    tree->seen++;
    tree->has_changed = true;
    if (is_old)
        return process_set_baseline(process);
    if (tree->lowest_new_pid == 0 || pid < tree->lowest_new_pid)
        tree->lowest_new_pid = pid;
    if (pid > tree->highest_new_pid)
        tree->highest_new_pid = pid;
    return GPUT_OK;
}

/* Takes a process out of the tree. Its CPU time stays in the sums of removed ones. */
static void remove_process(struct process_tree *tree, struct process *process)
{
    if (!process->is_main) {
        tree->removed.descendants_ns += process_cpu_ns(process);
        if (process->polled->is_other)
            tree->removed.others_ns +=
                process_cpu_ns(process) + process_children_ns(process, &tree->view);
        else
            tree->removed.before_ns += process_before_ns(process, &tree->view);
    }
    if (process->state != PROCESS_FOUND) {
        tree->options.removed(tree->options.user, process);
        return;
    }
    process_end_polls(process, &tree->view);
    process_table_remove(&tree->table, process);
    process_free(process);
}

/* Removes the processes that procfs does not have any more. */
static void remove_reaped(struct process_tree *tree)
{
    size_t kept = 0;
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->processes[i]->polled->is_reaped)
            remove_process(tree, tree->processes[i]);
        else
            tree->processes[kept++] = tree->processes[i];
    }
    tree->count = kept;
}

/* Polls the processes of the tree, parents before their children. */
static void poll_known(struct process_tree *tree, int64_t now_ns)
{
    bool any_removed = false;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        bool was_vfork_child = process_is_vfork_child(process);
        const struct process *vfork_parent =
            was_vfork_child ? process_tree_get(tree, process->polled->vfork_parent) : NULL;
        int code = process_poll(process, vfork_parent, &tree->view, now_ns);
        if (should_retry(tree, code))
            code = process_poll(process, vfork_parent, &tree->view, now_ns);
        note_failure(tree, code);
        if (code == GPUT_ERROR_IO)
            process_tree_note_unanswered(tree, process);
        if (was_vfork_child && !process_is_vfork_child(process))
            find_vfork_parent(tree, i);
        /* Other errors than its end (no free descriptor, a refused file) leave the last figures. */
        process->polled->is_reaped = code == GPUT_ERROR_GONE;
        any_removed |= process->polled->is_reaped;
    }
    if (any_removed) {
        remove_reaped(tree);
        tree->has_changed = true;
    }
    poll_vfork_parents(tree);
}

/* ---- new processes ---- */

static bool is_own_child(const struct process_tree *tree, pid_t pid)
{
    const struct process_tree_options *options = &tree->options;
    return options->is_own_child && options->is_own_child(options->caller, pid);
}

/* The kernel gives orphans to the first thread of a subreaper. Its file stays open, unless files
 * had to be closed. */
static int read_own_children(struct process_tree *tree)
{
    const char *root = tree->view.procfs_root;
    char name[64];
    if (tree->view.free_files == 0)
        return proc_children_read(root, tree->own_pid, 1, &tree->found, NULL);
    snprintf(name, sizeof name, "task/%d/children", (int)tree->own_pid);
    if (tree->own_children_fd < 0)
        TRY(procfs_open(root, tree->own_pid, name, &tree->own_children_fd, NULL));
    return proc_children_reread(tree->own_children_fd, &tree->found);
}

/* `process` is NULL for the calling process. */
static int read_children_files(struct process_tree *tree, struct process *process)
{
    return process ? process_read_children(process, &tree->view, &tree->found)
                   : read_own_children(tree);
}

static int read_list(struct process_tree *tree)
{
    int code = proc_list_read(tree->view.procfs_root, &tree->list, NULL);
    if (should_retry(tree, code))
        code = proc_list_read(tree->view.procfs_root, &tree->list, NULL);
    note_failure(tree, code);
    return code;
}

/* Finds the children of a process, or our own: by its files of children, or else in a list of all
 * processes. */
static int children_of(struct process_tree *tree, struct process *process)
{
    tree->found.count = 0;
    if (tree->has_children_files) {
        int code = read_children_files(tree, process);
        if (should_retry(tree, code)) {
            tree->found.count = 0;
            code = read_children_files(tree, process);
        }
        note_failure(tree, code);
        if (code != GPUT_ERROR_UNSUPPORTED)
            return code;
        tree->has_children_files = false;
        TRY(read_list(tree));
    }
    pid_t pid = process ? process->pid : tree->own_pid;
    return proc_list_children(&tree->list, pid, &tree->found);
}

/* Adds the children that were found and are not in the tree yet. */
static int add_found(struct process_tree *tree, const struct process *parent, bool is_old)
{
    for (size_t i = 0; i < tree->found.count; i++) {
        pid_t pid = tree->found.pids[i];
        /* The tracker never counts itself, not even when a tracked process started it. */
        bool is_tracker = pid == tree->own_pid && tree->options.main != pid;
        if (is_tracker || process_tree_get(tree, pid) || (!parent && is_own_child(tree, pid)))
            continue;
        int code = add(tree, pid, parent, is_old);
        if (code == GPUT_ERROR_MEMORY || code == GPUT_ERROR_FILES)
            return code;
    }
    return GPUT_OK;
}

/* Finds new descendants of every process that may have started some. */
static int find_new(struct process_tree *tree, bool is_old)
{
    if (!tree->has_children_files)
        TRY(read_list(tree));
    /* New ones are appended and visited in turn. */
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process->polled->children_unread)
            continue;
        process->polled->children_unread = false;
        int code = children_of(tree, process);
        if (code == GPUT_OK)
            code = add_found(tree, process, is_old);
        if (code == GPUT_ERROR_MEMORY)
            return code;
        process->polled->children_unread = code == GPUT_ERROR_FILES;
    }
    return GPUT_OK;
}

/* One that has ended before it could be read is skipped. */
static int add_all(struct process_tree *tree, bool is_old)
{
    int fd, code;
    tree->found.count = 0;
    TRY(procfs_open(tree->view.procfs_root, PROCFS_SYSTEM, "", &fd, NULL));
    code = procfs_list_fd(fd, &tree->found);
    close(fd);
    for (size_t i = 0; code == GPUT_OK && i < tree->found.count; i++) {
        pid_t pid = tree->found.pids[i];
        if (!process_tree_get(tree, pid) && add(tree, pid, NULL, is_old) == GPUT_ERROR_MEMORY)
            code = GPUT_ERROR_MEMORY;
    }
    return code;
}

/* Processes that main started are in the tree already, as its descendants. */
static int add_others(struct process_tree *tree)
{
    const struct process_tree_options *options = &tree->options;
    size_t first = tree->count;
    for (size_t i = 0; i < options->n_others; i++) {
        pid_t pid = options->others[i];
        if (pid == tree->own_pid || process_tree_get(tree, pid))
            continue;
        if (add(tree, pid, NULL, options->main_is_old) == GPUT_ERROR_MEMORY)
            return GPUT_ERROR_MEMORY;
    }
    for (size_t i = first; i < tree->count; i++)
        tree->processes[i]->polled->is_other =
            !process_tree_get(tree, tree->processes[i]->polled->stat.ppid);
    return options->n_others > 0 ? find_new(tree, options->main_is_old) : GPUT_OK;
}

/* Orphans whose parents were never seen are children of the calling process, their subreaper. Where
 * its pid is not known (0), the children of pid 0 are not its children. */
static int find_orphans(struct process_tree *tree)
{
    if (!tree->options.is_subreaper || tree->own_pid == 0)
        return GPUT_OK;
    size_t before = tree->count;
    int code = children_of(tree, NULL);
    if (code == GPUT_OK)
        code = add_found(tree, NULL, false);
    if (code == GPUT_ERROR_MEMORY)
        return code;
    return tree->count > before ? find_new(tree, false) : GPUT_OK;
}

/* True when the calling process has children; collects none of them. */
static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

/*
 * Whether a process may have been started since children were last read. The kernel's last pid is
 * read before any process is polled: a process started after that is found by the next scan. It
 * changes for any process of the machine; a program that tracks itself alone first checks whether
 * it has children.
 */
static bool may_have_grown(struct process_tree *tree)
{
    if (tree->count == 1 && tree->processes[0]->pid == tree->own_pid && !has_children())
        return false;
    char text[PROCFS_TEXT_SIZE];
    struct loadavg loadavg;
    if (tree->options.may_choose_pids || tree->loadavg_fd < 0 ||
        procfs_reread(tree->loadavg_fd, text, sizeof text, NULL) != GPUT_OK ||
        loadavg_parse(text, &loadavg) != GPUT_OK)
        return true;
    /* Reimplementations of the Linux API (gVisor) give 0. */
    bool moved = loadavg.last_pid != tree->last_pid || loadavg.last_pid <= 0;
    tree->last_pid = loadavg.last_pid;
    return moved;
}

void process_tree_note_start(struct process_tree *tree)
{
    tree->last_pid = 0;
}

int process_tree_scan(struct process_tree *tree, bool none_started, int64_t now_ns)
{
    bool grown = (!none_started && may_have_grown(tree)) || tree->lacks_descriptors;
    tree->has_changed = false;
    tree->lacks_descriptors = false;
    poll_known(tree, now_ns);

    int code = GPUT_OK;
    /* Without CPU clocks it is not known which processes may have forked. */
    bool may_be_new = grown || !tree->view.has_cpu_clocks;
    if (may_be_new && tree->options.main == 0) {
        code = add_all(tree, false);
    } else if (may_be_new) {
        code = find_new(tree, false);
        if (code == GPUT_OK)
            code = find_orphans(tree);
    }
    if (tree->has_changed)
        tree->generation++;
    tree->scans_without_files += tree->lacks_descriptors;
    return code;
}

int process_tree_adopt(struct process_tree *tree, pid_t pid)
{
    if (pid == tree->own_pid || process_tree_get(tree, pid))
        return GPUT_OK;
    TRY(add(tree, pid, NULL, false));
    tree->generation++;
    return GPUT_OK;
}

struct process *process_tree_main(const struct process_tree *tree)
{
    return tree->count && tree->processes[0]->is_main ? tree->processes[0] : NULL;
}

/* ---- beginning and end ---- */

/*
 * The last pid is that of our own namespace: it says nothing about the procfs of another.
 * Containers may have an emulated loadavg mounted over the kernel's (lxcfs), which changes only
 * every few seconds.
 */
static void open_loadavg(struct process_tree *tree, const char *root)
{
    struct stat process, loadavg;
    char path[PROCFS_PATH_SIZE];
    if (!tree->view.has_cpu_clocks || !procfs_path(root, PROCFS_SYSTEM, "self", path) ||
        lstat(path, &process) != 0 ||
        procfs_open(root, PROCFS_SYSTEM, "loadavg", &tree->loadavg_fd, NULL) != GPUT_OK)
        return;
    if (fstat(tree->loadavg_fd, &loadavg) != 0 || loadavg.st_dev != process.st_dev)
        file_close_fd(&tree->loadavg_fd);
}

/* GPUT_ERROR_GONE, with main in the tree, when it has ended already. */
static int begin_with_main(struct process_tree *tree)
{
    const struct process_tree_options *options = &tree->options;
    TRY(add(tree, options->main, NULL, options->main_is_old));
    if (options->main_is_old && process_is_zombie(tree->processes[0]))
        return GPUT_ERROR_GONE;
    TRY(find_new(tree, options->main_is_old));
    return add_others(tree);
}

/* It lives, and procfs does not have it. */
static bool is_hidden_process(const struct process_tree *tree, pid_t pid)
{
    return pid > 0 && tree->view.has_cpu_clocks && kill(pid, 0) != 0 && errno == EPERM;
}

int process_tree_init(
    struct process_tree *tree, const struct process_tree_options *options, struct gput_error *error)
{
    *tree = (struct process_tree){.view = process_view_of(options->procfs_root),
        .options = *options,
        .has_children_files = true,
        .loadavg_fd = -1,
        .own_children_fd = -1,
        .generation = 1};
    tree->view.free_files = options->kept_files;
    tree->view.has_hugetlb = options->has_hugetlb;
    tree->view.has_exit_records = options->has_exit_records;
    tree->view.calls = options->calls;
    tree->view.launched = options->main_is_old ? 0 : options->main;
    /* In a procfs of another namespace, that pid is another process's. */
    tree->own_pid = tree->view.has_cpu_clocks ? getpid() : 0;
    open_loadavg(tree, options->procfs_root);
    may_have_grown(tree);

    int code = options->main ? begin_with_main(tree) : add_all(tree, true);
    bool has_ended = code == GPUT_ERROR_GONE && tree->count > 0;
    /* The list belongs to the caller. */
    tree->has_others = options->n_others > 0;
    tree->options.others = NULL;
    tree->options.n_others = 0;
    if (code == GPUT_OK)
        return GPUT_OK;
    bool is_hidden = !has_ended && is_hidden_process(tree, options->main);
    process_tree_finish(tree);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    if (options->main == 0)
        return error_set(error, code, "Cannot list the processes of %s.", options->procfs_root);
    if (code == GPUT_ERROR_IO)
        return procfs_set_unanswered(options->procfs_root, options->main, "stat", error);
    if (code == GPUT_ERROR_FILES)
        return error_set(error, GPUT_ERROR_FILES,
            "Process %d cannot be read: no more files can be opened. Raise the limit "
            "(ulimit -n).",
            (int)options->main);
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        has_ended   ? "Process %d has ended already: nothing is left to track."
        : is_hidden ? "Process %d exists, but procfs shows it only to its owner and root (hidepid)."
                    : "There is no process %d to track.",
        (int)options->main);
}

void process_tree_finish(struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        process_end_polls(tree->processes[i], &tree->view);
    process_table_finish(&tree->table);
    free(tree->processes);
    pid_vector_finish(&tree->found);
    proc_list_finish(&tree->list);
    file_close_fd(&tree->loadavg_fd);
    file_close_fd(&tree->own_children_fd);
    *tree = (struct process_tree){.loadavg_fd = -1, .own_children_fd = -1};
}

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void cpu_totals_update(
    struct cpu_totals *totals, const struct process_tree *tree, int64_t orphans_ns, int64_t own_ns)
{
    int64_t living_ns = 0;
    int64_t collected_ns = orphans_ns + tree->removed.others_ns;

    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        collected_ns += process_children_ns(process, &tree->view);
        if (process->is_main)
            totals->main_ns = max_ns(totals->main_ns, process_cpu_ns(process) - own_ns);
        else
            living_ns += process_cpu_ns(process);
    }
    /*
     * Two lower bounds for processes that ended. What their parents collected: complete, but in
     * ticks, and missing where a parent ignores SIGCHLD; what was used before tracking began is
     * subtracted. And their CPU clocks when last polled.
     */
    int64_t ended_ns = max_ns(collected_ns - tree->removed.before_ns, tree->removed.descendants_ns);
    totals->descendants_ns = max_ns(totals->descendants_ns, living_ns + ended_ns);
}
