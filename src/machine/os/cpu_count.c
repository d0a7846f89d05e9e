#include "machine/os/cpu_count.h"

#include "base/file.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"
#include "machine/os/system_stat.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

/* Scans "first-last:used/group", where only `first` is required. Returns the byte after it. */
static const char *scan_range(const char *text, uint64_t *count)
{
    uint64_t first, last, used = 1, group = 1;

    if (!(text = scan_uint64(text, &first)))
        return NULL;
    last = first;
    if (*text == '-' && !(text = scan_uint64(text + 1, &last)))
        return NULL;
    if (*text == ':') {
        text = scan_uint64(text + 1, &used);
        if (!text || *text != '/' || !(text = scan_uint64(text + 1, &group)))
            return NULL;
    }
    if (last < first || last > INT32_MAX || used == 0 || used > group || group > INT32_MAX)
        return NULL;
    uint64_t total = last - first + 1;
    uint64_t rest = total % group;
    *count = total / group * used + (rest < used ? rest : used);
    return text;
}

int cpu_list_parse(const char *text, uint32_t *count)
{
    uint64_t total = 0;

    text = scan_blanks(text);
    while (*text != '\0' && *text != '\n') {
        uint64_t in_range;
        if (!(text = scan_range(text, &in_range)))
            return GPUT_ERROR_FORMAT;
        total += in_range;
        if (*text == ',')
            text++;
        else if (*text != '\0' && *text != '\n')
            return GPUT_ERROR_FORMAT;
        if (total > INT32_MAX)
            return GPUT_ERROR_FORMAT;
    }
    *count = (uint32_t)total;
    return GPUT_OK;
}

int cpu_count_online(
    const char *procfs, const char *sysfs, uint32_t *count, struct gput_error *error)
{
    struct str list = {0};
    char path[PROCFS_PATH_SIZE];
    bool found = procfs_path(sysfs, PROCFS_SYSTEM, "devices/system/cpu/online", path) &&
                 file_read(path, &list, NULL) == GPUT_OK &&
                 cpu_list_parse(str_text(&list), count) == GPUT_OK && *count > 0;

    str_finish(&list);
    if (found)
        return GPUT_OK;

    struct system_stat stat;
    TRY(system_stat_read(procfs, &stat, error));
    if (stat.cpu_count == 0)
        return error_set(error, GPUT_ERROR_FORMAT, "%s/stat names no CPU.", procfs);
    *count = stat.cpu_count;
    return GPUT_OK;
}

/* Reads the mask of CPUs. The kernel refuses masks that are too small, and does not say which size
 * it needs. On success the caller calls CPU_FREE(). */
static int read_affinity(pid_t pid, cpu_set_t **mask, size_t *mask_size)
{
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        size_t size = CPU_ALLOC_SIZE(cpus);
        if (!set)
            return GPUT_ERROR_MEMORY;
        int failed = sched_getaffinity(pid, size, set);
        int errno_value = errno;
        if (!failed) {
            *mask = set;
            *mask_size = size;
            return GPUT_OK;
        }
        CPU_FREE(set);
        if (errno_value != EINVAL)
            return (int)procfs_code_of_errno(errno_value);
    }
    return GPUT_ERROR_UNSUPPORTED;
}

/* Counts the CPUs that a process may run on. */
static int count_affinity(pid_t pid, uint32_t *count)
{
    cpu_set_t *set;
    size_t size;
    TRY(read_affinity(pid, &set, &size));
    *count = (uint32_t)CPU_COUNT_S(size, set);
    CPU_FREE(set);
    return GPUT_OK;
}

static bool has_cpu(const cpu_set_t *set, size_t size, size_t cpu)
{
    return cpu < 8 * size && CPU_ISSET_S(cpu, size, set);
}

bool cpu_list_allowed(pid_t pid, char *list, size_t list_size)
{
    cpu_set_t *set;
    size_t size, length = 0;
    list[0] = '\0';
    if (read_affinity(pid, &set, &size) != GPUT_OK)
        return false;
    for (size_t first = 0, end; first < 8 * size && length < list_size; first = end + 1) {
        for (end = first; has_cpu(set, size, end);)
            end++;
        const char *comma = length > 0 ? "," : "";
        if (end > first + 1)
            length += (size_t)snprintf(
                list + length, list_size - length, "%s%zu-%zu", comma, first, end - 1);
        else if (end > first)
            length += (size_t)snprintf(list + length, list_size - length, "%s%zu", comma, first);
    }
    CPU_FREE(set);
    if (length >= list_size)
        list[0] = '\0';
    return list[0] != '\0';
}

int cpu_count_allowed(
    const char *procfs, bool is_own, pid_t pid, uint32_t *count, struct gput_error *error)
{
    struct proc_status status;

    if (is_own && count_affinity(pid, count) == GPUT_OK)
        return GPUT_OK;
    TRY(proc_status_read(procfs, pid, &status, error));
    if (status.allowed_cpu_count == 0)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "The CPUs that process %d may use are not known.", (int)pid);
    *count = status.allowed_cpu_count;
    return GPUT_OK;
}
