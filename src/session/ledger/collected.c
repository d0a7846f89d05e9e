#include "session/ledger/collected.h"

#include "machine/os/proc_stat.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

/* Pages of libraries that a fork of ours usually maps; up to 850 kB were seen. That is the error of
 * small commands, of which a larger bound here would leave no figure at all. */
#define FORKED_FILE_BYTES (UINT64_C(512) << 10)

void collected_begin_self(struct collected *collected)
{
    collected->at_start = (struct session_counts){0};
    session_counts_add_self(&collected->at_start);
}

/* The kernel copies page tables of anonymous memory, and of little else. */
void collected_begin_fork(struct collected *collected, const char *procfs_root)
{
    struct proc_statm statm;
    collected->forked_rss_bytes = 0;
    if (proc_statm_read(procfs_root, getpid(), &statm, NULL) != GPUT_OK)
        return;
    uint64_t anonymous_pages = statm.resident_pages - statm.shared_pages;
    collected->forked_rss_bytes =
        anonymous_pages * (uint64_t)sysconf(_SC_PAGESIZE) + FORKED_FILE_BYTES;
}

bool collected_add_orphan(
    struct collected *collected, const char *procfs_root, pid_t pid, int io_fd)
{
    struct session_counts *counts = &collected->counts;
    struct rusage usage;
    if (io_fd >= 0)
        session_counts_add_io_fd(counts, io_fd);
    else
        session_counts_add_io(counts, procfs_root, pid);
    if (wait4(pid, NULL, WNOHANG, &usage) != pid)
        return false;
    int64_t before_ns = session_counts_cpu_ns(counts);
    session_counts_add(counts, &usage);
    collected->orphans_ns += session_counts_cpu_ns(counts) - before_ns;
    return true;
}

void collected_add_main(
    struct collected *collected, pid_t pid, int io_fd, const struct own_cgroup *cgroup)
{
    uint64_t *written = &collected->counts.tasks.write_call_bytes;
    session_counts_add_io_fd(&collected->counts, io_fd);
    *written -= *written < cgroup->entry_bytes ? *written : cgroup->entry_bytes;
    pid_t waited;
    do {
        waited = wait4(pid, &collected->main_status, 0, &collected->main_usage);
    } while (waited < 0 && errno == EINTR);
    collected->has_main_usage = waited == pid;
    if (collected->has_main_usage)
        session_counts_add(&collected->counts, &collected->main_usage);
    else
        collected->main_status = STATUS_UNKNOWN;
    own_cgroup_usage(cgroup, &collected->cgroup_usage);
}

void collected_add_self(struct collected *collected)
{
    session_counts_add_self(&collected->counts);
    session_counts_subtract(&collected->counts, &collected->at_start);
}
