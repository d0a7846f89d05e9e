/*
 * Records code blocks of an unmodified command: the regions that it announces (run --regions) and
 * the phases that it prints (--phase-token). It sets the environment that records them. Afterwards
 * it merges the logs of the processes, and analyzes what each region used.
 */
#pragma once

#include "common/message.h"
#include "common/temporary_folder.h"
#include "options/arguments.h"
#include "phases/output_relay.h"
#include "regions/region_sources.h"
#include "track/outputs.h"

#include <gputracker/analysis.h>
#include <gputracker/session.h>

#include <stdbool.h>
#include <sys/types.h>

struct region_recording {
    bool is_wanted;
    bool has_sources;                  /* --regions was given: */
    struct region_sources sources;     /* sources to record */
    const char *command;               /* as it was given */
    bool has_obstacle;                 /* it is known why it records nothing */
    bool lacks_source;                 /* it is known why a source is not recorded */
    bool has_gpu_time;                 /* --region-exact=gpu was given, and a driver reports it */
    bool has_phases;                   /* --phase-token was given: */
    struct phase_matcher matcher;      /* finds the lines that begin one */
    bool derives_phases;               /* --phases was given */
    bool replaces;                     /* an existing file is replaced */
    bool is_kept;                      /* the file of regions is kept after the command */
    bool has_marks;                    /* at least one region was recorded */
    struct outputs *outputs;           /* owns the path of the kept file */
    const char *path;                  /* path of all marks; owned by `merged` or `outputs` */
    char *merged;                      /* path of the merged file among the logs; owned */
    char *logs;                        /* folder with the logs of all processes; owned */
    char *filter;                      /* patterns of --region-filter; owned */
    struct temporary_folder temporary; /* folder for logs, or for samples */
    char *samples;                     /* path of a temporary tracking file; NULL: the user named
                                          one; owned */
    struct gput_analysis *analysis;    /* usage of the regions; NULL: none; owned */
    void (*warn)(void *user, const char *text); /* NULL: no warnings */
    void *warn_user;
    struct notes notes;
};

/*
 * Makes the folder and sets the environment of the command. Call it before the session is created,
 * when its tracking file is known. `samples`: path of the tracking file, after which the file of
 * marks is named; NULL: none. Does nothing if none of its options was given. The caller calls
 * region_recording_finish(), also on failure. Errors: GPUT_ERROR_INVALID (a value of an option),
 * GPUT_ERROR_EXISTS, those of making folders.
 */
int region_recording_begin(struct region_recording *recording, const struct arguments *arguments,
    struct outputs *outputs, const char *samples, struct gput_session_options *options,
    struct gput_error *error);

/*
 * Starts the relay of the command's output, if lines of it begin phases. Call it before the session
 * is created. `targets`: the command's standard streams. Errors: those of output_relay_start().
 */
int region_recording_relay(struct region_recording *recording, const int targets[3],
    struct output_relay *relay, struct gput_error *error);

/* Adds notes about the result of the relay. */
void region_recording_note_phases(
    struct region_recording *recording, const struct output_relay_result *result);

/* Merges the logs and analyzes them with the samples of `tracking_file`, after the end of the
 * command. If wanted, derives phases of the process `command` from the samples. Failures become
 * notes of the report. */
void region_recording_merge(
    struct region_recording *recording, const char *tracking_file, pid_t command);

/* Returns the path of the file with all marks; NULL: there are none. */
const char *region_recording_marks(const struct region_recording *recording);

/* Removes temporary files. */
void region_recording_finish(struct region_recording *recording);
