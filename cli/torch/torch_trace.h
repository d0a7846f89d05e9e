/*
 * Traces of PyTorch's profiler, asked for while an unmodified command runs (run --torch-trace).
 * This process takes the place of the daemon that PyTorch asks: it answers on a socket in a folder
 * that only this user can enter, from the thread that waits for the command. Afterwards the traces
 * become one timeline, with their ranks and the samples of the session.
 */
#pragma once

#include "common/message.h"
#include "common/temporary_folder.h"
#include "options/arguments.h"
#include "torch/torch_schedule.h"
#include "track/display.h"
#include "track/outputs.h"

#include <gputracker/session.h>

#include <stdbool.h>
#include <sys/types.h>

/* A trace that a process was asked for. */
struct torch_asked {
    char *path;    /* where it writes it; owned */
    char *taken;   /* where it is with its rank; NULL: not there; owned */
    size_t client; /* in the schedule */
    const struct torch_request *request;
};

struct torch_trace {
    bool is_wanted;
    bool replaces; /* an existing file */
    struct torch_schedule schedule;
    struct temporary_folder sockets; /* and of samples, where no tracking file was named */
    char *folder;                    /* of the traces until they are merged; owned */
    int socket;                      /* -1: there is none */
    int events;                      /* the socket, and what a display waits for; -1: none */
    int64_t started_ms;
    struct display display; /* that of the command */
    struct torch_asked *asked;
    size_t n_asked;
    struct outputs *outputs; /* has the file */
    const char *path;        /* of the timeline; owned by `outputs` */
    char *samples;           /* a temporary tracking file; NULL: one was named; owned */
    bool is_written;
    struct notes notes;
};

/*
 * Before a session is created, after region_recording_begin(): opens the socket, and sets the
 * environment of the command. `samples`: where the tracking file will be; NULL: nowhere. Nothing
 * where --torch-trace was not given. To be ended by torch_trace_finish(), also on failure. Errors:
 * GPUT_ERROR_INVALID, GPUT_ERROR_EXISTS, those of making folders.
 */
int torch_trace_begin(struct torch_trace *trace, const struct arguments *arguments,
    struct outputs *outputs, const char *samples, struct gput_session_options *options,
    struct gput_error *error);

/* When the command has been started: a display that answers it, too, and does what `display` does
 * otherwise. */
struct display torch_trace_display(struct torch_trace *trace, struct display display);

/* After the end of the command: merges the traces with samples and marks (NULL: none). What fails
 * is a note of the report. */
void torch_trace_merge(struct torch_trace *trace, const char *tracking_file, const char *marks);

/* The timeline; NULL: there is none. */
const char *torch_trace_file(const struct torch_trace *trace);

/* Removes what is temporary. */
void torch_trace_finish(struct torch_trace *trace);
