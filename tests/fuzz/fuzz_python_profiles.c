/* Any text as the name of the folder of a Python profile. */
#include "analysis/training/python/python_profiles.h"

#include "fuzz_text.h"

#include <math.h>

static void hold(const struct profile_moment *moment, bool known)
{
    if (strnlen(moment->mode, sizeof moment->mode) == sizeof moment->mode ||
        strnlen(moment->phase, sizeof moment->phase) == sizeof moment->phase)
        __builtin_trap();
    if (isnan(moment->step) == known || isnan(moment->time_us) == known)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct python_profile profile = {0};
    char node[16] = "";
    char *name = fuzz_text(data, size);
    bool known = python_profile_moments(name, &profile.start, &profile.end, node, sizeof node);
    hold(&profile.start, known);
    hold(&profile.end, known);
    if (strnlen(node, sizeof node) == sizeof node)
        __builtin_trap();
    python_profile_in_steps(&profile, 1, 2, "stepstart", "stepend");
    if (!known && (python_profile_in_time(&profile, -INFINITY, INFINITY) ||
                      python_profile_in_steps(&profile, -INFINITY, INFINITY, "", "")))
        __builtin_trap();
    free(name);
    return 0;
}
