#include "analysis/blocks/block_counters.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct block_counter_event block_counter_events[BLOCK_COUNTERS] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

/* Opens the counter of an event for the calling thread. The group is pinned, so it counts always or
 * not at all; counters shared with other groups would only be estimates. */
static int open_event(const struct block_counter_event *event, int leader)
{
    struct perf_event_attr attributes = {
        .type = event->type,
        .size = sizeof attributes,
        .config = event->config,
        .read_format =
            PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .pinned = leader < 0,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* Whether the descriptor is still that of this event. */
static bool is_open(const struct block_counters *counters, int i)
{
    uint64_t id;
    return counters->fds[i] >= 0 && ioctl(counters->fds[i], PERF_EVENT_IOC_ID, &id) == 0 &&
           id == counters->ids[i];
}

int block_counters_open(struct block_counters *counters, const struct block_counter_event *events)
{
    int failure = 0, places = 0;
    counters->is_tried = true;
    counters->leader = -1;
    for (int i = 0; i < BLOCK_COUNTERS; i++) {
        int leader = counters->leader < 0 ? -1 : counters->fds[counters->leader];
        int fd = counters->fds[i] = events ? open_event(&events[i], leader) : -1;
        if (fd < 0 && i == 0)
            failure = errno;
        if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ID, &counters->ids[i]) != 0)
            continue;
        counters->places[i] = places++;
        if (counters->leader < 0)
            counters->leader = i;
    }
    return failure;
}

void block_counters_parse(const struct block_counters *counters,
    const struct block_counters_group *group, ssize_t length, int64_t counts[BLOCK_COUNTERS])
{
    bool is_whole = length >= (ssize_t)offsetof(struct block_counters_group, values) &&
                    group->enabled_ns == group->running_ns;
    for (int i = 0; i < BLOCK_COUNTERS; i++) {
        bool is_known =
            is_whole && counters->fds[i] >= 0 && (uint64_t)counters->places[i] < group->number;
        counts[i] = is_known ? (int64_t)group->values[counters->places[i]] : SUB_TRACKING_UNKNOWN;
    }
}

void block_counters_read(const struct block_counters *counters, int64_t counts[BLOCK_COUNTERS])
{
    struct block_counters_group group;
    int leader = counters->is_tried ? counters->leader : -1;
    ssize_t length = leader >= 0 && is_open(counters, leader)
                         ? read(counters->fds[leader], &group, sizeof group)
                         : 0;
    block_counters_parse(counters, &group, length, counts);
}

void block_counters_close(struct block_counters *counters)
{
    for (int i = 0; counters->is_tried && i < BLOCK_COUNTERS; i++) {
        if (is_open(counters, i))
            close(counters->fds[i]);
    }
    *counters = (struct block_counters){0};
}

/* ---- Why there are none ---- */

/* Sets the error that explains why perf_event_open() was refused. Returns its code. */
static int why_not(int failure, struct gput_error *error)
{
    int level = 2;
    CLEANUP_FILE FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file && fscanf(file, "%d", &level) != 1)
        level = 2;
    switch (failure) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "This processor, or the virtual machine, has no hardware counters.");
    case EACCES:
    case EPERM:
        if (level > 2)
            return error_set(error, GPUT_ERROR_PERMISSION,
                "kernel.perf_event_paranoid is %d: with 2 or less programs may count their own "
                "instructions.",
                level);
        return error_set(error, GPUT_ERROR_PERMISSION,
            "perf_event_open() is not permitted, perhaps by the container's seccomp profile.");
    case ENOSYS:
        return error_set(
            error, GPUT_ERROR_NOT_FOUND, "The kernel was built without perf_event_open().");
    default:
        return error_set_errno(error, failure, "Cannot open hardware counters");
    }
}

int block_counters_check(struct gput_error *error)
{
    struct block_counters counters = {0};
    int64_t counts[BLOCK_COUNTERS];
    int failure = block_counters_open(&counters, block_counter_events);
    block_counters_read(&counters, counts);
    block_counters_close(&counters);
    if (failure != 0)
        return why_not(failure, error);
    if (counts[0] != SUB_TRACKING_UNKNOWN)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_STATE,
        "All hardware counters are in use by others, such as a watchdog or a profiler.");
}
