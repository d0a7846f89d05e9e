/*
 * Files of Python profiles: cProfile dumps and pyinstrument sessions, where they were found, and
 * which part of a training run each is of, by the name of its folder:
 *
 *     <mode>-<step>-<phase>-<us>_<mode>-<step>-<phase>-<us>       older: <us>_<us>_<node>_<step>
 */
#pragma once

#include "base/error.h"

#include <gputracker/profile.h>

#include <stdbool.h>
#include <stddef.h>

/* One end of what a profile is of. */
struct profile_moment {
    char mode[32];  /* "train", "eval", "predict", "global", "prestepzero", "posthookclose"; "" */
    char phase[32]; /* "start", "stepstart", "forwardpassend", "stepend", "end"; "" */
    double step;    /* -1 before the first, INFINITY after the last; NaN: not known */
    double time_us; /* since the epoch; NaN: not known */
};

struct python_profile {
    char *path;
    char *framework; /* "pytorch"; "" if not known from the folders */
    char *node;
    bool pyinstrument;
    bool named; /* itself, not a folder that it is in */
    struct profile_moment start;
    struct profile_moment end;
};

struct python_profiles {
    struct python_profile *profiles; /* as their paths were named, of a folder by start time */
    size_t count;
};

/* Reads the name of a folder. False when it has neither form; the moments are then unknown. */
bool python_profile_moments(const char *name, struct profile_moment *start,
    struct profile_moment *end, char *node, size_t node_size);

/* Is the profile in the interval of steps (and phases) that is asked for? */
bool python_profile_in_steps(const struct python_profile *profile, double first, double last,
    const char *first_phase, const char *last_phase);

/* Whether it overlaps an interval of time. */
bool python_profile_in_time(const struct python_profile *profile, double start_us, double end_us);

/*
 * Finds profiles: a path that is a file is taken as it is; below a folder, all "python_stats",
 * "python_stats.json" and "*.prof". Keeps those that `options` select. To be finished, also after a
 * failure.
 */
int python_profiles_find(const struct gput_python_options *options,
    struct python_profiles *profiles, struct gput_error *error);

void python_profiles_finish(struct python_profiles *profiles);
