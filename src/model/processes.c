#include "model/processes.h"

size_t gput_processes_count(const struct gput_processes *processes)
{
    return processes->count;
}

const struct gput_process *gput_processes_get(const struct gput_processes *processes, size_t index)
{
    return index < processes->count ? &processes->processes[index] : NULL;
}
