#include "machine/os/cgroup.h"

#include "machine/os/cpu_count.h"
#include "machine/os/mountinfo.h"
#include "machine/os/proc_list.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the groups of a process ---- */

/* The two texts that name the groups of a process, and the root that stands for /sys. */
struct search {
    const char *cgroup_text;
    const char *mountinfo_text;
    const char *sysfs;
};

/* The group of a process in one hierarchy, and its version. */
struct membership {
    struct mountinfo_piece path;
    bool is_v2;
};

/* Scans "4:cpu,cpuacct:/user.slice": hierarchy, controllers, group. */
static bool scan_membership(
    const struct scan_line *line, struct mountinfo_piece *controllers, struct mountinfo_piece *path)
{
    const char *first = memchr(line->start, ':', (size_t)(line->end - line->start));
    const char *second = first ? memchr(first + 1, ':', (size_t)(line->end - first - 1)) : NULL;

    if (!second || second[1] != '/')
        return false;
    *controllers = (struct mountinfo_piece){first + 1, (size_t)(second - first - 1)};
    *path = (struct mountinfo_piece){second + 1, (size_t)(line->end - second - 1)};
    return true;
}

/* Finds the group that has a controller. One that version 1 lacks belongs to version 2; NULL means
 * version 2 itself. */
static bool find_membership(const char *text, const char *controller, struct membership *membership)
{
    const char *end = text + strlen(text);
    struct scan_line line;
    struct mountinfo_piece controllers, path;
    bool found = false;

    while (scan_next_line(&text, end, &line)) {
        if (!scan_membership(&line, &controllers, &path))
            continue;
        bool is_v2 = controllers.length == 0;
        if (!is_v2 && !(controller && mountinfo_has_option(controllers, controller)))
            continue;
        *membership = (struct membership){.path = path, .is_v2 = is_v2};
        found = true;
        if (!is_v2)
            break;
    }
    return found;
}

/* Returns the part of `path` below the mounted `root`; NULL: it is elsewhere. */
static const char *path_below(const char *path, const char *root)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

    if (strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0'))
        return path + length;
    /* A container that sees its own group as "/", with a mount made outside of it. */
    return strcmp(path, "/") == 0 ? path : NULL;
}

/* Returns the mount point with /sys replaced by `sysfs`. */
static bool locate_mount_point(const char *sysfs, const char *mount_point, struct str *place)
{
    size_t length = strlen(sysfs);

    str_clear(place);
    if (strncmp(mount_point, sysfs, length) == 0 && mount_point[length] == '/') {
        str_append(place, mount_point);
    } else if (strncmp(mount_point, "/sys/", 5) == 0) {
        str_append(place, sysfs);
        str_append(place, mount_point + 4);
    } else if (strcmp(sysfs, "/sys") == 0) {
        str_append(place, mount_point);
    }
    return place->length > 0 && !place->failed && access(place->data, F_OK) == 0;
}

/*
 * Fills `directory` from one mount when that shows the group. A group that does not exist there (it
 * was removed, or lies outside of a bind mount) is replaced by its nearest ancestor that does.
 */
static int try_mount(const struct search *search, const struct mountinfo_entry *entry,
    const char *group, struct cgroup_directory *directory)
{
    struct str place = {0};
    char *root = mountinfo_unescape(entry->root);
    char *mount_point = mountinfo_unescape(entry->mount_point);
    int code = root && mount_point ? GPUT_OK : GPUT_ERROR_MEMORY;
    const char *below = code == GPUT_OK ? path_below(group, root) : NULL;

    if (below && !strstr(below, "/..") && locate_mount_point(search->sysfs, mount_point, &place)) {
        size_t mount_length = place.length;
        if (strcmp(below, "/") != 0)
            str_append(&place, below);
        while (!place.failed && place.length > mount_length && access(place.data, F_OK) != 0) {
            while (place.length > mount_length && place.data[--place.length] != '/')
                ;
            place.data[place.length] = '\0';
        }
        directory->mount_length = mount_length;
        if (!(directory->path = str_steal(&place)))
            code = GPUT_ERROR_MEMORY;
    }
    str_finish(&place);
    free(root);
    free(mount_point);
    return code;
}

/* Returns whether a mount shows a controller, in version 1 or 2. */
static bool is_mount_of(const struct mountinfo_entry *entry, const char *controller, bool is_v2)
{
    if (is_v2)
        return mountinfo_is(entry->type, "cgroup2");
    return mountinfo_is(entry->type, "cgroup") && mountinfo_has_option(entry->options, controller);
}

/* Finds the directory of the process's group that has a controller. */
static int find_directory(
    const struct search *search, const char *controller, struct cgroup_directory *directory)
{
    struct membership membership;
    struct mountinfo_entry entry;
    const char *position = search->mountinfo_text;
    const char *end = position + strlen(position);

    if (!find_membership(search->cgroup_text, controller, &membership))
        return GPUT_OK;
    char *group = strndup(membership.path.start, membership.path.length);
    if (!group)
        return GPUT_ERROR_MEMORY;
    char *deleted = strstr(group, " (deleted)");
    if (deleted && deleted[strlen(" (deleted)")] == '\0')
        *deleted = '\0';

    int code = GPUT_OK;
    directory->is_v2 = membership.is_v2;
    while (code == GPUT_OK && !directory->path && mountinfo_next(&position, end, &entry))
        if (is_mount_of(&entry, controller, membership.is_v2))
            code = try_mount(search, &entry, group, directory);
    free(group);
    return code;
}

/* Finds the directories of all controllers that are read. */
static int find_directories(const struct search *search, struct cgroup *cgroup)
{
    TRY(find_directory(search, NULL, &cgroup->unified));
    TRY(find_directory(search, "memory", &cgroup->memory));
    TRY(find_directory(search, "cpu", &cgroup->cpu));
    TRY(find_directory(search, "cpuacct", &cgroup->cpuacct));
    TRY(find_directory(search, "cpuset", &cgroup->cpuset));
    return find_directory(search, "pids", &cgroup->pids);
}

int cgroup_parse(
    const char *cgroup_text, const char *mountinfo_text, const char *sysfs, struct cgroup *cgroup)
{
    struct search search = {cgroup_text, mountinfo_text, sysfs};

    *cgroup = (struct cgroup){0};
    int code = find_directories(&search, cgroup);
    if (code != GPUT_OK)
        cgroup_finish(cgroup);
    return code;
}

int cgroup_texts_read(
    const char *procfs, pid_t pid, struct cgroup_texts *texts, struct gput_error *error)
{
    *texts = (struct cgroup_texts){0};
    TRY(procfs_read_all(procfs, pid, "cgroup", &texts->groups, error));
    if (procfs_read_all(procfs, PROCFS_SYSTEM, "self/mountinfo", &texts->mounts, NULL) == GPUT_OK)
        return GPUT_OK;
    return procfs_read_all(procfs, pid, "mountinfo", &texts->mounts, error);
}

void cgroup_texts_finish(struct cgroup_texts *texts)
{
    str_finish(&texts->groups);
    str_finish(&texts->mounts);
}

int cgroup_find(const char *procfs, const char *sysfs, pid_t pid, struct cgroup *cgroup,
    struct gput_error *error)
{
    struct cgroup_texts texts;

    *cgroup = (struct cgroup){0};
    int code = cgroup_texts_read(procfs, pid, &texts, error);
    if (code == GPUT_OK &&
        cgroup_parse(str_text(&texts.groups), str_text(&texts.mounts), sysfs, cgroup) != GPUT_OK)
        code = error_memory(error);
    cgroup_texts_finish(&texts);
    return code;
}

void cgroup_finish(struct cgroup *cgroup)
{
    free(cgroup->unified.path);
    free(cgroup->memory.path);
    free(cgroup->cpu.path);
    free(cgroup->cpuacct.path);
    free(cgroup->cpuset.path);
    free(cgroup->pids.path);
    *cgroup = (struct cgroup){0};
}

/* ---- figures of one directory ---- */

/* Reads a small file; false when it is missing or empty. */
static bool read_text(const char *directory, const char *file, char *text, size_t capacity)
{
    size_t length;
    return procfs_read(directory, PROCFS_SYSTEM, file, text, capacity, &length, NULL) == GPUT_OK &&
           length > 0;
}

/* Reads a number; NaN for "max", "-1" and missing files. */
static double read_number(const char *directory, const char *file)
{
    char text[64];
    uint64_t number;

    if (!read_text(directory, file, text, sizeof text) || !scan_uint64(text, &number))
        return NAN;
    return (double)number;
}

/* Reads a limit of version 1, where the highest number of whole pages means no limit. */
static double read_limit_v1(const char *directory, const char *file)
{
    double limit = read_number(directory, file);
    return limit < 0x1p60 ? limit : NAN;
}

static double memory_max(const struct cgroup_directory *group, const char *directory)
{
    return group->is_v2 ? read_number(directory, "memory.max")
                        : read_limit_v1(directory, "memory.limit_in_bytes");
}

static double swap_max(const struct cgroup_directory *group, const char *directory)
{
    (void)group;
    return read_number(directory, "memory.swap.max");
}

/* Parses "150000 100000": microseconds of CPU time in a period, and the period. */
static double cpu_cores(const struct cgroup_directory *group, const char *directory)
{
    double quota, period;

    if (group->is_v2) {
        char text[64];
        uint64_t quota_us, period_us;
        const char *rest;
        if (!read_text(directory, "cpu.max", text, sizeof text) ||
            !(rest = scan_uint64(text, &quota_us)) || !scan_uint64(scan_blanks(rest), &period_us))
            return NAN;
        quota = (double)quota_us;
        period = (double)period_us;
    } else {
        quota = read_number(directory, "cpu.cfs_quota_us");
        period = read_number(directory, "cpu.cfs_period_us");
    }
    return quota > 0 && period > 0 ? quota / period : NAN;
}

static double pids_max(const struct cgroup_directory *group, const char *directory)
{
    (void)group;
    return read_number(directory, "pids.max");
}

/* Counts the CPUs of a list. A truncated list is not counted, as the result would be too low. */
static double read_cpu_list(const char *directory, const char *file)
{
    char text[4096];
    uint32_t count;

    if (!read_text(directory, file, text, sizeof text) || strlen(text) == sizeof text - 1 ||
        cpu_list_parse(text, &count) != GPUT_OK || count == 0)
        return NAN;
    return count;
}

/* Counts the CPUs that a group may use. */
static double cpuset_cores(const struct cgroup_directory *group, const char *directory)
{
    double count =
        read_cpu_list(directory, group->is_v2 ? "cpuset.cpus.effective" : "cpuset.effective_cpus");
    return isnan(count) ? read_cpu_list(directory, "cpuset.cpus") : count;
}

/* ---- limits ---- */

typedef double read_limit(const struct cgroup_directory *group, const char *directory);

/* Returns the lowest limit in the group and its visible ancestors. *at, which may be NULL, becomes
 * the length of the path of the innermost group that has it. */
static double tightest(const struct cgroup_directory *group, read_limit *read, size_t *at)
{
    char directory[PROCFS_PATH_SIZE];
    double min = NAN;

    if (!group->path)
        return NAN;
    size_t length = procfs_path(group->path, PROCFS_SYSTEM, "", directory);
    while (length > 0) {
        double limit = read(group, directory);
        if (at && !isnan(limit) && !(limit >= min))
            *at = length;
        min = fmin(min, limit); /* ignoring NaN */
        if (length <= group->mount_length)
            break;
        while (length > group->mount_length && directory[--length] != '/')
            ;
        directory[length] = '\0';
    }
    return min;
}

void cgroup_limits_read(const struct cgroup *cgroup, struct cgroup_limits *limits)
{
    *limits = (struct cgroup_limits){0};
    limits->memory_max_bytes = tightest(&cgroup->memory, memory_max, &limits->memory_length);
    limits->swap_max_bytes = cgroup->memory.is_v2 ? tightest(&cgroup->memory, swap_max, NULL) : NAN;
    limits->cpu_cores = tightest(&cgroup->cpu, cpu_cores, &limits->cpu_length);
    limits->cpuset_cores = tightest(&cgroup->cpuset, cpuset_cores, NULL);
    limits->pids_max = tightest(&cgroup->pids, pids_max, NULL);
}

struct cgroup_directory cgroup_above(const struct cgroup_directory *group, size_t length)
{
    return (struct cgroup_directory){
        .path = length > 0 ? strndup(group->path, length) : NULL, .is_v2 = group->is_v2};
}

/* ---- usage ---- */

double cgroup_throttled_parse(const char *text)
{
    struct scan_line line;
    uint64_t number;
    const char *position = text, *end = text + strlen(text);
    while (scan_next_line(&position, end, &line)) {
        if (SCAN_NUMBER(&line, "throttled_usec ", &number))
            return (double)number / 1e6;
        if (SCAN_NUMBER(&line, "throttled_time ", &number)) /* version 1 */
            return (double)number / 1e9;
    }
    return NAN;
}

double cgroup_throttled_read(const struct cgroup_directory *cpu)
{
    char text[4096];
    return cpu->path && read_text(cpu->path, "cpu.stat", text, sizeof text)
               ? cgroup_throttled_parse(text)
               : NAN;
}

/* Twice: each CPU batches changes, and the sums are only flushed to readers beyond a threshold. */
#define PAGES_HELD_BACK 64

/* Reads "usage_usec 1234", a line of cpu.stat, in seconds. */
static void read_cpu_v2(const char *directory, struct cgroup_usage *usage)
{
    char text[4096];
    struct scan_line line;
    uint64_t number;

    if (!read_text(directory, "cpu.stat", text, sizeof text))
        return;
    const char *position = text;
    const char *end = text + strlen(text);
    while (scan_next_line(&position, end, &line)) {
        if (SCAN_NUMBER(&line, "usage_usec ", &number))
            usage->cpu_seconds = (double)number / 1e6;
        else if (SCAN_NUMBER(&line, "user_usec ", &number))
            usage->cpu_user_seconds = (double)number / 1e6;
        else if (SCAN_NUMBER(&line, "system_usec ", &number))
            usage->cpu_system_seconds = (double)number / 1e6;
    }
}

/* Reads CPU time of a group in version 1, where three files have it. */
static void read_cpu_v1(const char *directory, struct cgroup_usage *usage)
{
    char text[256];
    struct scan_line line;
    uint64_t number;
    double ticks = (double)sysconf(_SC_CLK_TCK);

    usage->cpu_seconds = read_number(directory, "cpuacct.usage") / 1e9;
    if (!read_text(directory, "cpuacct.stat", text, sizeof text))
        return;
    const char *position = text;
    const char *end = text + strlen(text);
    while (scan_next_line(&position, end, &line)) {
        if (SCAN_NUMBER(&line, "user ", &number))
            usage->cpu_user_seconds = (double)number / ticks;
        else if (SCAN_NUMBER(&line, "system ", &number))
            usage->cpu_system_seconds = (double)number / ticks;
    }
}

void cgroup_memory_parse(const char *memory_stat, bool is_v2, struct cgroup_memory *memory)
{
    struct scan_line line;
    uint64_t anonymous = 0, mapped = 0;
    bool has_anonymous = false, has_mapped = false;
    const char *position = memory_stat, *end = position + strlen(position);
    while (scan_next_line(&position, end, &line)) {
        has_anonymous |= is_v2 ? SCAN_NUMBER(&line, "anon ", &anonymous)
                               : SCAN_NUMBER(&line, "total_rss ", &anonymous);
        has_mapped |= is_v2 ? SCAN_NUMBER(&line, "file_mapped ", &mapped)
                            : SCAN_NUMBER(&line, "total_mapped_file ", &mapped);
    }
    bool is_known = has_anonymous && has_mapped;
    memory->anonymous_bytes = is_known ? (double)anonymous : NAN;
    memory->mapped_bytes = is_known ? (double)mapped : NAN;
}

void cgroup_memory_read(const char *directory, bool is_v2, struct cgroup_memory *memory)
{
    char text[8192] = "";
    if (!read_text(directory, "memory.stat", text, sizeof text))
        text[0] = '\0';
    cgroup_memory_parse(text, is_v2, memory);
}

double cgroup_oom_kills_parse(const char *text)
{
    struct scan_line line;
    uint64_t kills = 0;
    bool is_known = false;
    const char *end = text + strlen(text);
    while (scan_next_line(&text, end, &line))
        is_known |= SCAN_NUMBER(&line, "oom_kill ", &kills);
    return is_known ? (double)kills : NAN;
}

double cgroup_oom_kills_read(const struct cgroup_directory *memory)
{
    char text[1024];
    if (!memory->path ||
        !read_text(memory->path, memory->is_v2 ? "memory.events" : "memory.oom_control", text,
            sizeof text))
        return NAN;
    return cgroup_oom_kills_parse(text);
}

double cgroup_lag_bytes(void)
{
    double pages = 2.0 * PAGES_HELD_BACK * (double)sysconf(_SC_NPROCESSORS_ONLN);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

void cgroup_usage_read(const struct cgroup *cgroup, struct cgroup_usage *usage)
{
    *usage = (struct cgroup_usage){NAN, NAN, NAN, NAN, NAN};
    if (cgroup->memory.path) {
        usage->memory_current_bytes = read_number(
            cgroup->memory.path, cgroup->memory.is_v2 ? "memory.current" : "memory.usage_in_bytes");
        usage->memory_peak_bytes = read_number(cgroup->memory.path,
            cgroup->memory.is_v2 ? "memory.peak" : "memory.max_usage_in_bytes");
    }

    if (cgroup->cpuacct.path && cgroup->cpuacct.is_v2)
        read_cpu_v2(cgroup->cpuacct.path, usage);
    else if (cgroup->cpuacct.path)
        read_cpu_v1(cgroup->cpuacct.path, usage);
}

int cgroup_processes_read(
    const char *directory, struct pid_vector *processes, struct gput_error *error)
{
    struct str text = {0};
    int code = procfs_read_all(directory, PROCFS_SYSTEM, "cgroup.procs", &text, error);

    if (code == GPUT_OK && (code = proc_children_parse(str_text(&text), processes)) != GPUT_OK)
        code = code == GPUT_ERROR_MEMORY
                   ? error_memory(error)
                   : error_set(error, GPUT_ERROR_FORMAT,
                         "%s/cgroup.procs has an unexpected format.", directory);
    str_finish(&text);
    return code;
}
