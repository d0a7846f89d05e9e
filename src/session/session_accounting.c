#include "session/session_accounting.h"

#include "base/clock.h"
#include "os/procfs.h"
#include "os/system_stat.h"

#include <math.h>
#include <unistd.h>

/* What ru_inblock and ru_oublock count in. */
#define BLOCK_BYTES 512

/* ---- counts ---- */

static int64_t ns_of_timeval(struct timeval time)
{
    return (int64_t)time.tv_sec * NS_PER_SECOND + (int64_t)time.tv_usec * 1000;
}

void session_counts_add(struct session_counts *counts, const struct rusage *usage)
{
    counts->user_ns += ns_of_timeval(usage->ru_utime);
    counts->system_ns += ns_of_timeval(usage->ru_stime);
    counts->times_cut += 2;
    counts->minor_faults += (uint64_t)usage->ru_minflt;
    counts->major_faults += (uint64_t)usage->ru_majflt;
    counts->voluntary_switches += (uint64_t)usage->ru_nvcsw;
    counts->involuntary_switches += (uint64_t)usage->ru_nivcsw;
    counts->blocks_read += (uint64_t)usage->ru_inblock;
    counts->blocks_written += (uint64_t)usage->ru_oublock;
    uint64_t rss_bytes = (uint64_t)usage->ru_maxrss * 1024;
    if (rss_bytes > counts->largest_rss_bytes)
        counts->largest_rss_bytes = rss_bytes;
}

void session_counts_subtract(struct session_counts *counts, const struct rusage *usage)
{
    counts->user_ns -= ns_of_timeval(usage->ru_utime);
    counts->system_ns -= ns_of_timeval(usage->ru_stime);
    counts->times_cut += 2;
    counts->minor_faults -= (uint64_t)usage->ru_minflt;
    counts->major_faults -= (uint64_t)usage->ru_majflt;
    counts->voluntary_switches -= (uint64_t)usage->ru_nvcsw;
    counts->involuntary_switches -= (uint64_t)usage->ru_nivcsw;
    counts->blocks_read -= (uint64_t)usage->ru_inblock;
    counts->blocks_written -= (uint64_t)usage->ru_oublock;
}

static void add_io(struct session_counts *counts, const struct proc_io *io)
{
    counts->io.read_call_bytes += io->read_call_bytes;
    counts->io.write_call_bytes += io->write_call_bytes;
    counts->io.read_bytes += io->read_bytes;
    counts->io.write_bytes += io->write_bytes;
}

void session_counts_add_io(struct session_counts *counts, const char *procfs_root, pid_t pid)
{
    struct proc_io io;
    if (proc_io_read(procfs_root, pid, &io, NULL) == GPUT_OK)
        add_io(counts, &io);
    else
        counts->lacks_io = true;
}

void session_counts_add_io_fd(struct session_counts *counts, int fd)
{
    char text[PROCFS_TEXT_SIZE];
    struct proc_io io;
    if (fd >= 0 && procfs_reread(fd, text, sizeof text, NULL) == GPUT_OK &&
        proc_io_parse(text, &io) == GPUT_OK)
        add_io(counts, &io);
    else
        counts->lacks_io = true;
}

void session_counts_subtract_io(struct session_counts *counts, const struct session_counts *before)
{
    counts->lacks_io |= before->lacks_io;
    counts->io.read_call_bytes -= before->io.read_call_bytes;
    counts->io.write_call_bytes -= before->io.write_call_bytes;
    counts->io.read_bytes -= before->io.read_bytes;
    counts->io.write_bytes -= before->io.write_bytes;
}

void session_counts_fill(const struct session_counts *counts, struct gput_accounting *accounting)
{
    accounting->minor_page_faults = (double)counts->minor_faults;
    accounting->major_page_faults = (double)counts->major_faults;
    accounting->voluntary_context_switches = (double)counts->voluntary_switches;
    accounting->involuntary_context_switches = (double)counts->involuntary_switches;
    accounting->storage_read_bytes = (double)counts->blocks_read * BLOCK_BYTES;
    accounting->storage_write_bytes = (double)counts->blocks_written * BLOCK_BYTES;
    if (counts->lacks_io)
        return;
    accounting->read_bytes = (double)counts->io.read_call_bytes;
    accounting->write_bytes = (double)counts->io.write_call_bytes;
    accounting->storage_read_bytes = (double)counts->io.read_bytes;
    accounting->storage_write_bytes = (double)counts->io.write_bytes;
}

/* ---- surroundings ---- */

void session_surroundings_init(struct session_surroundings *surroundings)
{
    *surroundings = (struct session_surroundings){.network_fd = -1};
}

static bool read_starts(const char *procfs_root, uint64_t *started)
{
    struct system_stat stat;
    if (system_stat_read(procfs_root, &stat, NULL) != GPUT_OK)
        return false;
    *started = stat.processes_started;
    return true;
}

void session_surroundings_begin(struct session_surroundings *surroundings, const char *procfs_root,
    pid_t pid, bool counts_starts)
{
    surroundings->has_starts =
        counts_starts && read_starts(procfs_root, &surroundings->started_before);
    if (procfs_open(procfs_root, pid, "net/dev", &surroundings->network_fd, NULL) == GPUT_OK)
        surroundings->has_traffic =
            network_traffic_reread(surroundings->network_fd, &surroundings->before) == GPUT_OK;
}

void session_surroundings_update(struct session_surroundings *surroundings)
{
    if (surroundings->has_traffic)
        surroundings->has_traffic =
            network_traffic_reread(surroundings->network_fd, &surroundings->after) == GPUT_OK;
}

void session_surroundings_end(struct session_surroundings *surroundings, const char *procfs_root)
{
    session_surroundings_update(surroundings);
    if (surroundings->has_starts)
        surroundings->has_starts = read_starts(procfs_root, &surroundings->started_after);
}

void session_surroundings_finish(struct session_surroundings *surroundings)
{
    if (surroundings->network_fd >= 0)
        close(surroundings->network_fd);
    session_surroundings_init(surroundings);
}

/* Interfaces can go; then the sum may be less than before. */
static double difference(uint64_t after, uint64_t before)
{
    return after >= before ? (double)(after - before) : NAN;
}

void session_surroundings_fill(
    const struct session_surroundings *surroundings, struct gput_accounting *accounting)
{
    if (!surroundings->has_traffic)
        return;
    accounting->system_network_received_bytes =
        difference(surroundings->after.received_bytes, surroundings->before.received_bytes);
    accounting->system_network_sent_bytes =
        difference(surroundings->after.sent_bytes, surroundings->before.sent_bytes);
}

void session_accounting_clear(struct gput_accounting *accounting)
{
    *accounting = (struct gput_accounting){.kernel_cpu_seconds = NAN,
        .kernel_user_cpu_seconds = NAN,
        .kernel_system_cpu_seconds = NAN,
        .sampled_cpu_seconds = NAN,
        .captured_percent = NAN,
        .processes_missed = NAN,
        .minor_page_faults = NAN,
        .major_page_faults = NAN,
        .voluntary_context_switches = NAN,
        .involuntary_context_switches = NAN,
        .read_bytes = NAN,
        .write_bytes = NAN,
        .storage_read_bytes = NAN,
        .storage_write_bytes = NAN,
        .system_network_received_bytes = NAN,
        .system_network_sent_bytes = NAN};
}
