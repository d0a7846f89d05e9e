/*
 * Finds files of Python profiles: cProfile dumps and pyinstrument sessions. The name of its folder
 * says which part of a training run a profile covers:
 *
 *     <mode>-<step>-<phase>-<us>_<mode>-<step>-<phase>-<us>       older: <us>_<us>_<node>_<step>
 */
#pragma once

#include "base/error.h"

#include <gputracker/profile.h>

#include <stdbool.h>
#include <stddef.h>

/* The start or end of the part that a profile covers. */
struct profile_moment {
    char mode[32];  /* "train", "eval", "predict", "global", "prestepzero", "posthookclose"; "": not
                       known */
    char phase[32]; /* "start", "stepstart", "forwardpassend", "stepend", "end"; "": not known */
    double step;    /* -1 before the first, INFINITY after the last; NaN: not known */
    double time_us; /* since the epoch; NaN: not known */
};

/* Which part of a training run a file profiled. */
struct python_profile {
    char *path;
    char *framework; /* "pytorch"; "" if not known from the folders */
    char *node;
    bool pyinstrument;
    bool named; /* the caller named the file itself, not a folder that contains it */
    struct profile_moment start;
    struct profile_moment end;
};

struct python_profiles {
    struct python_profile *profiles; /* in the order of the named paths; those of a folder by start
                                        time */
    size_t count;
};

/* Reads the name of a folder. Returns false when it has neither form; the moments are then
 * unknown. */
bool python_profile_moments(const char *name, struct profile_moment *start,
    struct profile_moment *end, char *node, size_t node_size);

/* Whether the profile is within the wanted interval of steps and phases. */
bool python_profile_in_steps(const struct python_profile *profile, double first, double last,
    const char *first_phase, const char *last_phase);

/* Whether it overlaps an interval of time. */
bool python_profile_in_time(const struct python_profile *profile, double start_us, double end_us);

/*
 * Finds profiles. A path is a file, or a folder: then all "python_stats", "python_stats.json" and
 * "*.prof" in it and below. Keeps those that `options` select. Call python_profiles_finish() also
 * after a failure.
 */
int python_profiles_find(const struct gput_python_options *options,
    struct python_profiles *profiles, struct gput_error *error);

void python_profiles_finish(struct python_profiles *profiles);
