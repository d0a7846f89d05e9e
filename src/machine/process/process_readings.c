#include "machine/process/process_readings.h"

#include "base/clock.h"
#include "machine/process/process_figures.h"
#include "machine/process/process_tree.h"

#include <string.h>

/* Read at most this often: once a tick where ticks are a second apart and come a little early or
 * late. */
#define READ_INTERVAL_NS (NS_PER_SECOND * 9 / 10)
#define READ_INTERVAL_OF_MAIN_NS (NS_PER_SECOND / 10)
/* Short-lived processes are not read. */
#define FIRST_READ_AGE_NS (NS_PER_SECOND / 10)

static int64_t peak_interval_ns(const struct process *process)
{
    return process->is_main ? READ_INTERVAL_OF_MAIN_NS : READ_INTERVAL_NS;
}

static void read_name(const struct process_log_options *options, struct process *process)
{
    process_update_name(
        process, process->polled->stat.name, &options->tree->view, options->reads_commands);
}

static void read_counts(const struct process_log_options *options, struct process *process)
{
    if (options->has_taskstats)
        process_read_threads(process, &options->tree->view);
    else
        process_read_io(process, &options->tree->view);
}

/* Peak and counters from before tracking. */
static void read_baseline(const struct process_log_options *options, struct process *process)
{
    struct baseline *baseline = process->baseline;
    baseline->peak_bytes = UINT64_MAX;
    process_read_peak(process, options->procfs_root);
    baseline->peak_bytes = process->peak.hwm_bytes;
    read_counts(options, process);
    baseline->counts = process->counts;
    baseline->counts.lacks_io = !process->has_io;
}

void process_readings_begin(
    const struct process_log_options *options, struct process *process, int64_t now_ns)
{
    struct polled *polled = process->polled;
    polled->readings.exec_generation = polled->exec_generation;
    if (!options->keeps_ended)
        polled->readings.peak_read_ns = now_ns + FIRST_READ_AGE_NS - peak_interval_ns(process);
    read_name(options, process);
    process_update(process, !options->has_taskstats);
    if (process->baseline)
        read_baseline(options, process);
}

static void take_name(const struct process_log_options *options, struct process *process)
{
    struct polled *polled = process->polled;
    if (polled->exec_generation != 0 &&
        polled->exec_generation != polled->readings.exec_generation) {
        process->program.is_stale = true;
        polled->readings.exec_generation = polled->exec_generation;
    }
    if (process->program.is_stale ||
        strncmp(process->program.name, polled->stat.name, sizeof process->program.name - 1) != 0)
        read_name(options, process);
}

static void take_peak(
    const struct process_log_options *options, struct process *process, int64_t now_ns)
{
    struct polled *polled = process->polled;
    bool is_due = now_ns - polled->readings.peak_read_ns >= peak_interval_ns(process) ||
                  (process->is_main && polled->memory.resident_bytes > process->peak.hwm_bytes);
    bool has_risen = process_may_have_risen(process);
    /* It may not run again until it is due. */
    polled->readings.peak_is_pending = has_risen && !is_due;
    if (is_due && has_risen) {
        polled->readings.peak_read_ns = now_ns;
        process_read_peak(process, options->procfs_root);
    }
}

/* With taskstats its exit record has the final counts; without, main's are read at every scan. */
static void take_counts(const struct process_log_options *options, struct process *process,
    bool reads_counts, int64_t now_ns)
{
    struct polled *polled = process->polled;
    bool is_due =
        (process->is_main && !options->has_taskstats) ||
        (options->has_live_counts ? reads_counts
                                  : now_ns - polled->readings.io_read_ns >= READ_INTERVAL_NS);
    bool is_wanted = options->has_live_counts ||
                     (!options->has_taskstats && (options->keeps_ended || options->keeps_counts));
    polled->readings.counts_are_pending = options->has_live_counts && !is_due;
    /* What is in its exit records must not be read again from what is left of the process. */
    if (is_due && is_wanted && !process_has_last_record(process)) {
        polled->readings.io_read_ns = process->last_poll.read_ns = now_ns;
        /* What is read at every scan stays open, once it was seen that it can be read. */
        if (process->is_main && !options->has_taskstats && process->has_io)
            process_open_io(process, &options->tree->view);
        read_counts(options, process);
    }
}

void process_readings_take(const struct process_log_options *options, struct process *process,
    bool reads_counts, int64_t now_ns)
{
    const struct polled *polled = process->polled;
    if (!polled->has_run && !polled->readings.peak_is_pending &&
        !polled->readings.counts_are_pending)
        return;
    take_name(options, process);
    if (process_has_memory(process))
        take_peak(options, process, now_ns);
    /* The bytes of a zombie can be read, but not those of its threads. */
    if (process_has_memory(process) || (reads_counts && !options->has_taskstats))
        take_counts(options, process, reads_counts, now_ns);
}

void process_readings_take_now(const struct process_log_options *options, struct process *process)
{
    read_counts(options, process);
    if (process_has_memory(process) && process_may_have_risen(process))
        process_read_peak(process, options->procfs_root);
}
