/*
 * The machine, as far as it explains a difference from another day.
 */
#include "bench/bench_state.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MAX_FILE_BYTES (1 << 20)

/* The rest of the line that begins so in /proc/cpuinfo, without the colon; NULL: there is none. */
static char *cpuinfo_value(const char *text, const char *name)
{
    const char *at = strstr(text, name), *colon = at ? strchr(at, ':') : NULL;
    if (!colon || memchr(at, '\n', (size_t)(colon - at)))
        return NULL;
    colon += 1 + strspn(colon + 1, " \t");
    return strndup(colon, strcspn(colon, "\n"));
}

/* A file of one line, without its end; NULL: it cannot be read. */
static char *read_line(const char *root, const char *path)
{
    char whole[512];
    CLEANUP_STR struct str text = {0};
    text_fit(whole, sizeof whole, "%s/%s", root, path);
    if (file_read_bounded(whole, MAX_FILE_BYTES, &text, NULL) != GPUT_OK)
        return NULL;
    return strndup(str_text(&text), strcspn(str_text(&text), "\n"));
}

/* "performance", or with whether the CPU may go beyond its nominal clock. */
static char *clock_policy(const char *sysfs_root)
{
    CLEANUP_FREE char *governor =
        read_line(sysfs_root, "devices/system/cpu/cpu0/cpufreq/scaling_governor");
    CLEANUP_FREE char *no_turbo = read_line(sysfs_root, "devices/system/cpu/intel_pstate/no_turbo");
    CLEANUP_FREE char *boost = read_line(sysfs_root, "devices/system/cpu/cpufreq/boost");
    bool has_turbo = (no_turbo && no_turbo[0] == '0') || (boost && boost[0] == '1');
    struct str text = {0};
    if (!governor)
        return NULL;
    str_printf(&text, "%s%s", governor,
        !no_turbo && !boost ? "" : (has_turbo ? ", with turbo" : ", without turbo"));
    return str_steal(&text);
}

void bench_machine_read(
    struct bench_machine *machine, const char *procfs_root, const char *sysfs_root)
{
    struct utsname names;
    char path[512];
    CLEANUP_STR struct str cpuinfo = {0};
    const char *procfs = procfs_root ? procfs_root : "/proc";
    const char *sysfs = sysfs_root ? sysfs_root : "/sys";
    text_fit(path, sizeof path, "%s/cpuinfo", procfs);
    if (uname(&names) == 0) {
        struct str kernel = {0};
        str_printf(&kernel, "%s %s", names.sysname, names.release);
        machine->kernel = str_steal(&kernel);
        machine->name = strdup(names.nodename);
    }
    if (file_read_bounded(path, MAX_FILE_BYTES, &cpuinfo, NULL) == GPUT_OK)
        machine->cpu_model = cpuinfo_value(str_text(&cpuinfo), "model name");
    machine->clock_policy = clock_policy(sysfs);
    CLEANUP_FREE char *load = read_line(procfs, "loadavg");
    machine->load = load ? strtod(load, NULL) : NAN;
    cpu_set_t allowed;
    machine->n_cores =
        sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : NAN;
    machine->ram_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}
