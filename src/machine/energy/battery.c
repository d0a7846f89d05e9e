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
