#include "bench/run_counters.h"

#include "base/file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

void run_counters_open(struct run_counters *counters, pid_t pid)
{
    static const uint64_t events[RUN_COUNTERS] = {[RUN_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
        [RUN_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
        [RUN_CACHE_MISSES] = PERF_COUNT_HW_CACHE_MISSES};
    counters->failure = 0;
    for (int i = 0; i < RUN_COUNTERS; i++) {
        struct perf_event_attr event = {.type = PERF_TYPE_HARDWARE,
            .size = sizeof event,
            .config = events[i],
            .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
            .disabled = 1,
            .inherit = 1,
            .exclude_kernel = 1,
            .exclude_hv = 1,
            .enable_on_exec = 1};
        counters->fds[i] =
            (int)syscall(SYS_perf_event_open, &event, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (counters->fds[i] < 0 && counters->failure == 0)
            counters->failure = errno;
    }
}

void run_counters_close(struct run_counters *counters, double values[RUN_COUNTERS])
{
    for (int i = 0; i < RUN_COUNTERS; i++) {
        struct {
            uint64_t value, enabled_ns, running_ns;
        } count;
        values[i] = NAN;
        /* Where others used the counter meanwhile, what it has is a part. */
        if (counters->fds[i] >= 0 && read(counters->fds[i], &count, sizeof count) == sizeof count &&
            count.enabled_ns > 0 && count.enabled_ns == count.running_ns)
            values[i] = (double)count.value;
        file_close_fd(&counters->fds[i]);
    }
}

const char *run_counters_reason(int failure)
{
    switch (failure) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "the processor's counters are not available here; virtual machines rarely have them";
    case EACCES:
    case EPERM:
        return "the processor's counters may not be read: kernel.perf_event_paranoid is above 2";
    case ENOSYS:
        return "this kernel has no perf_event_open()";
    case 0:
        return "others used the processor's counters meanwhile";
    default:
        return "the processor's counters cannot be opened";
    }
}
