#include "energy/battery.h"

#include "os/sysfs.h"

#include <dirent.h>
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
    return watts;
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

int battery_read(const char *sysfs_root, double *watts)
{
    char folder[PATH_MAX], supply[PATH_MAX];
    bool found = false;
    *watts = NAN;
    snprintf(folder, sizeof folder, "%s/class/power_supply", sysfs_root);
    DIR *directory = opendir(folder);
    if (!directory)
        return GPUT_ERROR_UNSUPPORTED;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        if (snprintf(supply, sizeof supply, "%s/%s", folder, entry->d_name) >= (int)sizeof supply)
            continue;
        double drawn = powers_machine(supply) ? supply_watts(supply) : NAN;
        if (isnan(drawn))
            continue;
        found = true;
        if (says(supply, "status", "Discharging"))
            *watts = isnan(*watts) ? drawn : *watts + drawn;
    }
    closedir(directory);
    return found ? GPUT_OK : GPUT_ERROR_UNSUPPORTED;
}
