#include "os/powercap.h"

#include "base/file.h"
#include "base/number.h"
#include "os/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
        /* "package-0"; the others stand alone. */
        if (strncmp(name, domain_names[i], length) == 0 &&
            (name[length] == '\0' || name[length] == '\n' || name[length] == '-')) {
            *domain = (enum energy_domain)i;
            return true;
        }
    }
    return false;
}

/* "intel-rapl:0" or "intel-rapl:0:2"; intel-rapl-mmio:0 counts the same package once more. */
static bool is_zone(const char *name, uint32_t *package)
{
    static const char prefix[] = "intel-rapl:";
    uint64_t number;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *digits = name + sizeof prefix - 1;
    if (!number_parse_uint64(digits, digits + strlen(digits), &number) || number > UINT32_MAX)
        return false;
    *package = (uint32_t)number;
    return true;
}

static bool reserve(struct powercap *powercap)
{
    if (powercap->count < powercap->capacity)
        return true;
    size_t capacity = powercap->capacity ? powercap->capacity * 2 : 8;
    struct powercap_zone *grown = reallocarray(powercap->zones, capacity, sizeof *grown);
    if (!grown)
        return false;
    powercap->zones = grown;
    powercap->capacity = capacity;
    return true;
}

static int add_zone(struct powercap *powercap, const char *directory, uint32_t package)
{
    char text[64];
    struct powercap_zone zone = {.package = package, .fd = -1};
    if (!sysfs_read_line(directory, "name", text, sizeof text) ||
        !energy_domain_parse(text, &zone.domain))
        return GPUT_OK;
    if (snprintf(zone.path, sizeof zone.path, "%s/energy_uj", directory) >= (int)sizeof zone.path)
        return GPUT_OK;
    if (!reserve(powercap))
        return GPUT_ERROR_MEMORY;
    sysfs_read_uint64(directory, "max_energy_range_uj", &zone.range_uj);
    zone.fd = open(zone.path, O_RDONLY | O_CLOEXEC);
    zone.open_errno = zone.fd < 0 ? errno : 0;
    powercap->zones[powercap->count++] = zone;
    return GPUT_OK;
}

static int by_path(const void *left, const void *right)
{
    const struct powercap_zone *a = left, *b = right;
    return strcmp(a->path, b->path);
}

int powercap_open(const char *sysfs_root, struct powercap *powercap)
{
    char folder[256];
    int code = GPUT_OK;
    *powercap = (struct powercap){0};
    snprintf(folder, sizeof folder, "%s/class/powercap", sysfs_root);
    DIR *directory = opendir(folder);
    if (!directory)
        return GPUT_OK;
    struct dirent *entry;
    while (code == GPUT_OK && (entry = readdir(directory))) {
        uint32_t package;
        char path[512];
        if (!is_zone(entry->d_name, &package))
            continue;
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        code = add_zone(powercap, path, package);
    }
    closedir(directory);
    if (powercap->count > 1)
        qsort(powercap->zones, powercap->count, sizeof powercap->zones[0], by_path);
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
