#include "model/processes.h"

size_t gput_processes_count(const struct gput_processes *processes)
{
    return processes->count;
}

const struct gput_process *gput_processes_get(const struct gput_processes *processes, size_t index)
{
    return index < processes->count ? &processes->processes[index] : NULL;
}

const char *gput_process_peak_name(enum gput_process_peak peak)
{
    static const char *const names[] = {"unknown", "sampled", "kept", "final"};
    return names[peak];
}

const char *gput_process_at_least(const struct gput_process *process)
{
    if (process->end_ns == 0)
        return NULL;
    return process->is_final ? "cpu_seconds, bytes" : "all";
}

const char *gput_process_end_name(const struct gput_process *process)
{
    if (process->end_ns == 0)
        return NULL;
    return process->end_is_exact ? "final" : "sampled";
}
