#include "session/ledger/session_accounting.h"

#include <math.h>

void session_accounting_set_counts(
    struct gput_accounting *accounting, const struct task_counts *counts)
{
    accounting->minor_page_faults = (double)counts->minor_faults;
    accounting->major_page_faults = (double)counts->major_faults;
    accounting->voluntary_context_switches = (double)counts->voluntary_switches;
    accounting->involuntary_context_switches = (double)counts->involuntary_switches;
    if (!counts->lacks_io)
        session_accounting_set_bytes(accounting, counts);
}

void session_accounting_set_bytes(
    struct gput_accounting *accounting, const struct task_counts *counts)
{
    accounting->read_bytes = (double)counts->read_call_bytes;
    accounting->write_bytes = (double)counts->write_call_bytes;
    accounting->storage_read_bytes = (double)counts->read_bytes;
    accounting->storage_write_bytes = (double)task_counts_stored_bytes(counts);
    accounting->storage_dirtied_bytes = (double)counts->write_bytes;
}

void session_accounting_fit_parts(struct gput_accounting *accounting)
{
    double user = fmax(accounting->kernel_user_cpu_seconds, 0);
    double system = fmax(accounting->kernel_system_cpu_seconds, 0);
    double whole = accounting->kernel_cpu_seconds;
    if (isnan(accounting->kernel_user_cpu_seconds))
        return;
    /* The share first: rounding must not make a part more than the whole. */
    double share = user + system > 0 ? user / (user + system) : 1;
    accounting->kernel_user_cpu_seconds = whole * share;
    accounting->kernel_system_cpu_seconds = whole - accounting->kernel_user_cpu_seconds;
}

void session_accounting_clear(struct gput_accounting *accounting)
{
    *accounting = (struct gput_accounting){.kernel_cpu_seconds = NAN,
        .kernel_user_cpu_seconds = NAN,
        .kernel_system_cpu_seconds = NAN,
        .sampled_cpu_seconds = NAN,
        .captured_percent = NAN,
        .short_lived_cpu_seconds = NAN,
        .processes_missed = NAN,
        .short_lived_processes = NAN,
        .left_running = NAN,
        .oom_killed = NAN,
        .run_queue_run_seconds = NAN,
        .run_queue_wait_seconds = NAN,
        .minor_page_faults = NAN,
        .major_page_faults = NAN,
        .voluntary_context_switches = NAN,
        .involuntary_context_switches = NAN,
        .read_bytes = NAN,
        .write_bytes = NAN,
        .storage_read_bytes = NAN,
        .storage_write_bytes = NAN,
        .storage_dirtied_bytes = NAN,
        .system_network_received_bytes = NAN,
        .system_network_sent_bytes = NAN};
}
