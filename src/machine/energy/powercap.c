#include "machine/energy/powercap.h"

#include "base/array.h"
#include "base/file.h"
#include "base/number.h"
#include "machine/os/sysfs.h"
#include "model/energy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const domain_names[ENERGY_DOMAINS] = {
    [ENERGY_PACKAGE] = "package",
    [ENERGY_CORE] = "core",
    [ENERGY_UNCORE] = "uncore",
    [ENERGY_DRAM] = "dram",
    [ENERGY_PSYS] = "psys",
};

const char *energy_domain_name(enum energy_domain domain)
{
    return domain_names[domain];
}

bool energy_domain_parse(const char *name, enum energy_domain *domain)
{
    for (int i = 0; i < ENERGY_DOMAINS; i++) {
        size_t length = strlen(domain_names[i]);
        /* "package-0"; other names have no number. */
        if (strncmp(name, domain_names[i], length) == 0 &&
            (name[length] == '\0' || name[length] == '\n' || name[length] == '-')) {
            *domain = (enum energy_domain)i;
            return true;
        }
    }
    return false;
}

/* Whether a folder is that of a zone: "intel-rapl:0", "intel-rapl:0:2", and the same of
 * intel-rapl-mmio. */
static bool is_zone(const char *folder, struct powercap_zone *zone)
{
    static const char prefix[] = "intel-rapl", mmio[] = "-mmio";
    uint64_t number;
    if (strncmp(folder, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *rest = folder + sizeof prefix - 1;
    zone->is_mmio = strncmp(rest, mmio, sizeof mmio - 1) == 0;
    rest += zone->is_mmio ? sizeof mmio - 1 : 0;
    if (*rest != ':')
        return false;
    rest = number_parse_uint64(rest + 1, rest + strlen(rest), &number);
    if (!rest || number > UINT32_MAX)
        return false;
    zone->is_part = *rest == ':';
    zone->package = (uint32_t)number;
    return true;
}

/* Adds the zone of a folder, unless it is a part whose joules another one includes. Errors:
 * GPUT_ERROR_MEMORY. */
static int add_zone(
    struct powercap *powercap, const char *directory, const struct powercap_zone *found)
{
    struct powercap_zone zone = *found;
    if (!sysfs_read_line(directory, "name", zone.name, sizeof zone.name))
        zone.name[0] = '\0';
    zone.is_unnamed = !energy_domain_parse(zone.name, &zone.domain);
    /* Whether another part of a package includes its joules. */
    if (zone.is_unnamed && zone.is_part && zone.name[0])
        return GPUT_OK;
    if (snprintf(zone.path, sizeof zone.path, "%s/energy_uj", directory) >= (int)sizeof zone.path)
        return GPUT_OK;
    if (!ARRAY_EXTEND(powercap->zones, powercap->count))
        return GPUT_ERROR_MEMORY;
    sysfs_read_uint64(directory, "max_energy_range_uj", &zone.range_uj);
    powercap->zones[powercap->count++] = zone;
    return GPUT_OK;
}

/* Sorts zones without a known name last, mmio before them; a part follows its package. */
static int in_order(const void *left, const void *right)
{
    const struct powercap_zone *a = left, *b = right;
    if (a->is_unnamed != b->is_unnamed)
        return a->is_unnamed - b->is_unnamed;
    return a->is_mmio != b->is_mmio ? a->is_mmio - b->is_mmio : strcmp(a->path, b->path);
}

/* Whether an mmio zone is of a package that earlier zones count. */
static bool is_counted_already(
    const struct powercap_zone *zones, size_t count, const struct powercap_zone *zone)
{
    for (size_t i = 0; i < count && zone->is_mmio; i++) {
        const struct powercap_zone *other = &zones[i];
        if (other->is_part)
            continue;
        if (zone->is_part && other->is_mmio && other->package == zone->package)
            return false;
        if (!zone->is_part && !other->is_mmio && strcmp(other->name, zone->name) == 0)
            return true;
    }
    return zone->is_mmio && zone->is_part;
}

int powercap_open(const char *sysfs_root, struct powercap *powercap)
{
    char folder[256];
    int code = GPUT_OK;
    *powercap = (struct powercap){0};
    snprintf(folder, sizeof folder, "%s/class/powercap", sysfs_root);
    DIR *directory = opendir(folder);
    if (!directory) {
        powercap->folder_errno = sysfs_failure(errno);
        return GPUT_OK;
    }
    struct dirent *entry;
    while (code == GPUT_OK && (errno = 0, entry = readdir(directory))) {
        struct powercap_zone zone = {.fd = -1};
        char path[512];
        if (!is_zone(entry->d_name, &zone))
            continue;
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        code = add_zone(powercap, path, &zone);
    }
    powercap->folder_errno = code == GPUT_OK ? errno : 0;
    closedir(directory);
    if (powercap->folder_errno)
        powercap->count = 0; /* some of a machine's counters are not its energy */
    /* Open the counters of the zones, without those that are counted already. */
    struct powercap_zone *zones = powercap->zones;
    size_t found = powercap->count, kept = 0;
    if (found > 1)
        qsort(zones, found, sizeof *zones, in_order);
    for (size_t i = 0; i < found; i++) {
        if (is_counted_already(zones, kept, &zones[i]))
            continue;
        struct powercap_zone *zone = &zones[kept++];
        *zone = zones[i];
        powercap->n_unnamed += zone->is_unnamed;
        zone->fd = zone->is_unnamed ? -1 : open(zone->path, O_RDONLY | O_CLOEXEC);
        zone->open_errno = zone->fd < 0 && !zone->is_unnamed ? errno : 0;
    }
    powercap->count = kept - powercap->n_unnamed;
    return code;
}

void powercap_close(struct powercap *powercap)
{
    for (size_t i = 0; i < powercap->count; i++) {
        if (powercap->zones[i].fd >= 0)
            close(powercap->zones[i].fd);
    }
    free(powercap->zones);
    *powercap = (struct powercap){0};
}

int powercap_read(const struct powercap_zone *zone, uint64_t *energy_uj)
{
    char text[32];
    if (zone->fd < 0)
        return error_code_of_errno(zone->open_errno);
    long length = file_reread(zone->fd, text, sizeof text);
    if (length < 0)
        return error_code_of_errno(errno);
    return number_parse_uint64(text, text + length, energy_uj) ? GPUT_OK : GPUT_ERROR_FORMAT;
}

/* ---- Battery ---- */

/* Reads a figure in millionths (uW, uA, uV); NaN when it is missing. Some drivers give discharge as
 * negative. */
static double read_micro(const char *supply, const char *file)
{
    double value;
    return sysfs_read_double(supply, file, &value) ? fabs(value) * 1e-6 : NAN;
}

/* Whether a file of the supply begins with that word. */
static bool says(const char *supply, const char *file, const char *word)
{
    char text[64];
    return sysfs_read_line(supply, file, text, sizeof text) &&
           strncmp(text, word, strlen(word)) == 0;
}

/* Returns the power of the battery; NaN where it reports none. A battery of a mouse or a headset
 * powers only that device, and does not count. */
static double battery_watts(const char *supply)
{
    if (!says(supply, "type", "Battery") || says(supply, "scope", "Device"))
        return NAN;
    double watts = read_micro(supply, "power_now");
    if (isnan(watts))
        watts = read_micro(supply, "current_now") * read_micro(supply, "voltage_now");
    return energy_device_watts(watts);
}

int battery_read(const char *sysfs_root, double *watts, struct gput_error *error)
{
    char folder[PATH_MAX], supply[PATH_MAX];
    bool found = false;
    *watts = NAN;
    snprintf(folder, sizeof folder, "%s/class/power_supply", sysfs_root);
    DIR *directory = opendir(folder);
    int failure = directory ? 0 : sysfs_failure(errno);
    struct dirent *entry;
    while (directory && (errno = 0, entry = readdir(directory))) {
        if (entry->d_name[0] == '.' ||
            snprintf(supply, sizeof supply, "%s/%s", folder, entry->d_name) >= (int)sizeof supply)
            continue;
        double drawn = battery_watts(supply);
        if (isnan(drawn))
            continue;
        found = true;
        if (says(supply, "status", "Discharging"))
            number_add_known(watts, drawn);
    }
    if (directory) {
        failure = errno;
        closedir(directory);
    }
    if (failure)
        return error_set_errno(error, failure, "Cannot read %.200s", folder);
    return found ? GPUT_OK
                 : error_set(error, GPUT_ERROR_UNSUPPORTED, "no battery that reports its power");
}
