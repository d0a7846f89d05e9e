/*
 * Code blocks of an unmodified command: the regions that it announces (run --regions) and the
 * phases that it prints (--phase-token). The environment that records them, and afterwards the logs
 * of its processes as one file, and what each of them used.
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
    struct region_sources sources;     /* those that are recorded */
    const char *command;               /* as it was given */
    bool has_obstacle;                 /* why it records nothing is known */
    bool lacks_source;                 /* why one of them is not recorded is known */
    bool has_gpu_time;                 /* --region-exact=gpu was given, and a driver reports it */
    bool has_phases;                   /* --phase-token was given: */
    struct phase_matcher matcher;      /* which lines begin one */
    bool derives_phases;               /* --phases was given */
    bool replaces;                     /* an existing file */
    bool is_kept;                      /* in a file that outlives the command */
    bool has_marks;                    /* some region was recorded */
    struct outputs *outputs;           /* has the file that is kept */
    const char *path;                  /* of all marks; owned by `merged` or `outputs` */
    char *merged;                      /* among the logs, before it is moved; owned */
    char *logs;                        /* the folder of the logs of each process; owned */
    char *filter;                      /* owned */
    struct temporary_folder temporary; /* of logs, or of samples */
    char *samples;                     /* a temporary tracking file; NULL: one was named; owned */
    struct gput_analysis *analysis;    /* what they used; NULL: there are none; owned */
    void (*warn)(void *user, const char *text); /* NULL: no warnings */
    void *warn_user;
    struct notes notes;
};

/*
 * Before a session is created, and when its tracking file is known: makes the folder, and sets the
 * environment of the command. `samples`: where the tracking file will be, which gives the file of
 * marks its name; NULL: nowhere. Nothing where none of its options was given. To be ended by
 * region_recording_finish(), also on failure. Errors: GPUT_ERROR_INVALID (a value of an option),
 * GPUT_ERROR_EXISTS, those of making folders.
 */
int region_recording_begin(struct region_recording *recording, const struct arguments *arguments,
    struct outputs *outputs, const char *samples, struct gput_session_options *options,
    struct gput_error *error);

/*
 * Before the session is created: starts what passes the command's output on, where its lines begin
 * phases. `targets`: where its standard streams go. Errors: those of output_relay_start().
 */
int region_recording_relay(struct region_recording *recording, const int targets[3],
    struct output_relay *relay, struct gput_error *error);

/* What became of that. */
void region_recording_note_phases(
    struct region_recording *recording, const struct output_relay_result *result);

/* After the end of the command: combines the logs and analyses them with the samples of
 * `tracking_file`, of which it derives phases of the process `command` where that is wanted. What
 * fails is a note of the report. */
void region_recording_merge(
    struct region_recording *recording, const char *tracking_file, pid_t command);

/* The file with all marks; NULL: there are none. */
const char *region_recording_marks(const struct region_recording *recording);

/* Removes what is temporary. */
void region_recording_finish(struct region_recording *recording);
