#include "session/ledger/system_counters.h"

#include "base/file.h"
#include "machine/os/procfs.h"

#include <math.h>

void system_counters_init(struct system_counters *system_counters)
{
    *system_counters = (struct system_counters){.network_fd = -1};
}

void system_counters_begin(
    struct system_counters *system_counters, const char *procfs_root, pid_t pid)
{
    if (procfs_open(procfs_root, pid, "net/dev", &system_counters->network_fd, NULL) == GPUT_OK)
        system_counters->has_traffic = network_traffic_reread(system_counters->network_fd,
                                           &system_counters->before) == GPUT_OK;
}

void system_counters_update(struct system_counters *system_counters)
{
    if (system_counters->has_traffic)
        system_counters->has_traffic =
            network_traffic_reread(system_counters->network_fd, &system_counters->after) == GPUT_OK;
}

void system_counters_finish(struct system_counters *system_counters)
{
    file_close_fd(&system_counters->network_fd);
    system_counters_init(system_counters);
}

/* Interfaces can disappear; then the sum may decrease. */
static double difference(uint64_t after, uint64_t before)
{
    return after >= before ? (double)(after - before) : NAN;
}

void system_counters_fill(
    const struct system_counters *system_counters, struct gput_accounting *accounting)
{
    if (!system_counters->has_traffic)
        return;
    accounting->system_network_received_bytes =
        difference(system_counters->after.received_bytes, system_counters->before.received_bytes);
    accounting->system_network_sent_bytes =
        difference(system_counters->after.sent_bytes, system_counters->before.sent_bytes);
}
