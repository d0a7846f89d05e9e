#include "machine/energy/perf_energy.h"

#include "base/number.h"
#include "machine/os/sysfs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More CPUs than any machine has, and the list as text. */
#define MAX_PACKAGES 1024
#define CPUMASK_SIZE (MAX_PACKAGES * sizeof "12345")

static const struct {
    const char *name;
    enum energy_domain domain;
} events[] = {
    {"energy-pkg", ENERGY_PACKAGE},
    {"energy-cores", ENERGY_CORE},
    {"energy-gpu", ENERGY_UNCORE},
    {"energy-ram", ENERGY_DRAM},
    {"energy-psys", ENERGY_PSYS},
};
#define EVENTS (sizeof events / sizeof events[0])

size_t perf_energy_parse_cpus(const char *text, int *cpus, size_t capacity)
{
    const char *end = text + strlen(text);
    size_t count = 0;
    while (text < end && *text >= '0' && *text <= '9') {
        uint64_t first, last;
        text = number_parse_uint64(text, end, &first);
        last = first;
        if (text && text < end && *text == '-')
            text = number_parse_uint64(text + 1, end, &last);
        if (!text || last > 65535)
            break;
        for (uint64_t cpu = first; cpu <= last && count < capacity; cpu++)
            cpus[count++] = (int)cpu;
        if (*text != ',')
            break;
        text++;
    }
    return count;
}

bool perf_energy_parse_event(const char *text, uint64_t *config)
{
    if (strncmp(text, "event=0x", 8) != 0)
        return false;
    char *end;
    *config = strtoull(text + 8, &end, 16);
    return end > text + 8;
}

/* Opens the counters of one domain, one per package. Returns the errno of the first that is
 * refused. */
static int add_event(struct perf_energy *energy, const char *folder, size_t event, uint32_t type,
    const int *cpus, size_t cpu_count)
{
    char name[64], text[64];
    uint64_t config;
    double scale = 0;
    snprintf(name, sizeof name, "events/%s", events[event].name);
    if (!sysfs_read_line(folder, name, text, sizeof text) ||
        !perf_energy_parse_event(text, &config))
        return 0;
    snprintf(name, sizeof name, "events/%s.scale", events[event].name);
    if (!sysfs_read_double(folder, name, &scale) || !(scale > 0))
        return 0;
    for (size_t i = 0; i < cpu_count; i++) {
        struct perf_event_attr attributes = {
            .type = type, .size = sizeof attributes, .config = config};
        int fd = (int)syscall(
            SYS_perf_event_open, &attributes, -1, cpus[i], -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
        if (fd < 0)
            return errno;
        energy->counters[energy->count++] =
            (struct perf_energy_counter){.domain = events[event].domain,
                .package = (uint32_t)i,
                .fd = fd,
                .joules_per_count = scale};
    }
    return 0;
}

void perf_energy_open(const char *sysfs_root, struct perf_energy *energy)
{
    char folder[256], text[CPUMASK_SIZE];
    uint64_t type;
    int cpus[MAX_PACKAGES], refused = 0;
    *energy = (struct perf_energy){0};
    snprintf(energy->why_not, sizeof energy->why_not,
        "no energy counters by perf events (%.80s/bus/event_source/devices/power)", sysfs_root);
    snprintf(folder, sizeof folder, "%s/bus/event_source/devices/power", sysfs_root);
    if (!sysfs_read_uint64(folder, "type", &type) ||
        !sysfs_read_line(folder, "cpumask", text, sizeof text))
        return;
    size_t cpu_count = perf_energy_parse_cpus(text, cpus, MAX_PACKAGES);
    energy->counters = calloc(cpu_count * EVENTS + 1, sizeof *energy->counters);
    if (!energy->counters) {
        snprintf(energy->why_not, sizeof energy->why_not, "out of memory");
        return;
    }
    for (size_t i = 0; i < EVENTS && !refused; i++)
        refused = add_event(energy, folder, i, (uint32_t)type, cpus, cpu_count);
    energy->refused = refused && energy->count == 0;
    if (refused)
        snprintf(energy->why_not, sizeof energy->why_not,
            "perf events of the CPU's energy are refused: %s", strerror(refused));
}

void perf_energy_close(struct perf_energy *energy)
{
    for (size_t i = 0; i < energy->count; i++)
        close(energy->counters[i].fd);
    free(energy->counters);
    energy->counters = NULL;
    energy->count = 0;
}

int perf_energy_read(const struct perf_energy_counter *counter, double *joules)
{
    uint64_t count;
    if (read(counter->fd, &count, sizeof count) != (ssize_t)sizeof count)
        return GPUT_ERROR_IO;
    *joules = (double)count * counter->joules_per_count;
    return GPUT_OK;
}
