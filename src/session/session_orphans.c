/*
 * We are the subreaper of a launched command, so its orphans become our children: they remain
 * tracked, and are collected when they end. Children that the caller starts itself are neither
 * tracked nor collected.
 */
#include "session/session_state.h"

#include "machine/os/proc_children.h"

#include <sys/wait.h>
#include <unistd.h>

static bool contains(const struct pid_vector *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->pids[i] == pid)
            return true;
    }
    return false;
}

/* NULL: it is not tracked, or nothing is yet. */
static struct process *tracked(struct gput_session *session, pid_t pid)
{
    return session->has_sampler ? process_tree_get(&session->sampler.tree, pid) : NULL;
}

/* Whether a child of ours is an orphan or started by the caller, as far as the log knows. */
enum owner { ORPHAN, OWN_CHILD, UNKNOWN };

static enum owner owner_of(struct gput_session *session, pid_t pid)
{
    const struct process_log *log = &session->ledger.log;
    if (contains(&session->target.earlier_children, pid))
        return OWN_CHILD;
    if (session->settings.options.no_other_children || tracked(session, pid))
        return ORPHAN;
    /* Better to miss an orphan than to collect a child that the caller waits for. */
    if (!process_log_has_all(log))
        return OWN_CHILD;
    return UNKNOWN;
}

bool session_is_own_child(void *user, pid_t pid)
{
    struct gput_session *session = user;
    enum owner owner = owner_of(session, pid);
    if (owner != UNKNOWN)
        return owner == OWN_CHILD;
    /*
     * The kernel announces descendants of the command. An orphan announced after events were read
     * is left to the next scan. Events read in the middle of a scan could end the record of a
     * process that the scan has just found.
     */
    return !process_log_get(&session->ledger.log, pid);
}

/* The same for one that has ended: its record may be closed, but its start was announced. */
static bool ended_is_own_child(struct gput_session *session, pid_t pid)
{
    enum owner owner = owner_of(session, pid);
    if (owner != UNKNOWN)
        return owner == OWN_CHILD;
    session_events_read(&session->events);
    return contains(&session->events.own_children, pid);
}

void session_open_orphans_io(struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process->is_main && process->polled->stat.ppid == tree->own_pid)
            process_open_io(process, &tree->view);
    }
}

static void collect(struct gput_session *session, pid_t pid)
{
    /* After the last scan nothing else would notice that it is gone. */
    struct process *process = tracked(session, pid);
    int io_fd = process ? process->polled->files.io_fd : -1;
    if (collected_add_orphan(
            &session->ledger.collected, session->settings.options.procfs_root, pid, io_fd) &&
        process)
        process->polled->is_reaped = true;
}

/* The next process to be collected, main or an orphan among others; 0: none. */
static pid_t next_ended(idtype_t type, pid_t pid)
{
    siginfo_t info = {0};
    if (waitid(type, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return 0;
    return info.si_pid;
}

/* One by one: an ended child of the caller comes first in waitid(). */
static void collect_past_own_children(struct gput_session *session)
{
    struct pid_vector children = {0};
    if (proc_children_read(session->settings.options.procfs_root, getpid(), 1, &children, NULL) ==
        GPUT_OK) {
        for (size_t i = 0; i < children.count; i++) {
            pid_t pid = children.pids[i];
            if (pid != session->target.pid && next_ended(P_PID, pid) == pid &&
                !ended_is_own_child(session, pid))
                collect(session, pid);
        }
    }
    pid_vector_finish(&children);
}

void session_reap_orphans(struct gput_session *session)
{
    pid_t pid;
    while ((pid = next_ended(P_ALL, 0)) > 0) {
        /* Main is collected by gput_session_wait(). */
        if (pid == session->target.pid || ended_is_own_child(session, pid)) {
            collect_past_own_children(session);
            return;
        }
        collect(session, pid);
    }
}
