#include "machine/energy/battery.h"

#include "base/number.h"
#include "machine/os/sysfs.h"
#include "model/energy.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A figure in millionths (uW, uA, uV); NaN when it is missing. Some drivers give discharge as
 * negative. */
static double read_micro(const char *supply, const char *file)
{
    double value;
    return sysfs_read_double(supply, file, &value) ? fabs(value) * 1e-6 : NAN;
}

static double supply_watts(const char *supply)
{
    double watts = read_micro(supply, "power_now");
    if (isnan(watts))
        watts = read_micro(supply, "current_now") * read_micro(supply, "voltage_now");
    return energy_device_watts(watts);
}

static bool says(const char *supply, const char *file, const char *word)
{
    char text[64];
    return sysfs_read_line(supply, file, text, sizeof text) &&
           strncmp(text, word, strlen(word)) == 0;
}

/* Excludes batteries of a mouse or a headset, which power only that device. */
static bool powers_machine(const char *supply)
{
    return says(supply, "type", "Battery") && !says(supply, "scope", "Device");
}

static int no_battery(struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_UNSUPPORTED, "no battery that reports its power");
}

int battery_read(const char *sysfs_root, double *watts, struct gput_error *error)
{
    char folder[PATH_MAX], supply[PATH_MAX];
    bool found = false;
    *watts = NAN;
    snprintf(folder, sizeof folder, "%s/class/power_supply", sysfs_root);
    DIR *directory = opendir(folder);
    if (!directory && !sysfs_failure(errno))
        return no_battery(error);
    if (!directory)
        return error_set_errno(error, errno, "Cannot read %.200s", folder);
    struct dirent *entry;
    while (errno = 0, (entry = readdir(directory))) {
        if (entry->d_name[0] == '.' ||
            snprintf(supply, sizeof supply, "%s/%s", folder, entry->d_name) >= (int)sizeof supply)
            continue;
        double drawn = powers_machine(supply) ? supply_watts(supply) : NAN;
        if (isnan(drawn))
            continue;
        found = true;
        if (says(supply, "status", "Discharging"))
            number_add_known(watts, drawn);
    }
    int failure = errno;
    closedir(directory);
    if (failure)
        return error_set_errno(error, failure, "Cannot read %.200s", folder);
    return found ? GPUT_OK : no_battery(error);
}
