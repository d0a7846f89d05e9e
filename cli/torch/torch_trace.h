/*
 * Requests traces of PyTorch's profiler while an unmodified command runs (run --torch-trace). This
 * process takes the place of the daemon that PyTorch asks: it answers on a socket in a folder that
 * only this user can enter, in the thread that waits for the command. Afterwards the traces are
 * merged into one timeline, with their ranks and the samples of the session.
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

/* A trace that was requested from a process. */
struct torch_asked {
    char *path;    /* path that the process writes to; owned */
    char *taken;   /* path of the copy with its rank; NULL: there is none; owned */
    size_t client; /* index in the schedule */
    const struct torch_request *request;
};

struct torch_trace {
    bool is_wanted;
    bool replaces; /* an existing file is replaced */
    struct torch_schedule schedule;
    struct temporary_folder sockets; /* folder of the socket; also of samples, if no tracking file
                                        was named */
    char *folder;                    /* folder of the traces until they are merged; owned */
    int socket;                      /* -1: there is none */
    int events;                      /* an epoll descriptor of the socket and of the display; -1:
                                        none */
    int64_t started_ms;
    struct display display; /* the command's display */
    struct torch_asked *asked;
    size_t n_asked;
    struct outputs *outputs; /* owns the path of the timeline */
    const char *path;        /* path of the timeline; owned by `outputs` */
    char *samples;           /* path of a temporary tracking file; NULL: the user named one;
                                owned */
    bool is_written;
    struct notes notes;
};

/*
 * Opens the socket and sets the environment of the command. Call it before the session is created,
 * after region_recording_begin(). `samples`: path of the tracking file; NULL: none. Does nothing
 * without --torch-trace. The caller calls torch_trace_finish(), also on failure. Errors:
 * GPUT_ERROR_INVALID, GPUT_ERROR_EXISTS, those of making folders.
 */
int torch_trace_begin(struct torch_trace *trace, const struct arguments *arguments,
    struct outputs *outputs, const char *samples, struct gput_session_options *options,
    struct gput_error *error);

/* Returns a display that also answers PyTorch, and otherwise does what `display` does. Call it when
 * the command has been started. */
struct display torch_trace_display(struct torch_trace *trace, struct display display);

/* Merges the traces with samples and marks (NULL: none), after the end of the command. Failures
 * become notes of the report. */
void torch_trace_merge(struct torch_trace *trace, const char *tracking_file, const char *marks);

/* Returns the path of the timeline; NULL: there is none. */
const char *torch_trace_file(const struct torch_trace *trace);

/* Removes temporary files. */
void torch_trace_finish(struct torch_trace *trace);
