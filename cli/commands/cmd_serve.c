/* gpu-tracker serve: the machine's figures for Prometheus, until a signal ends it. */
#include "base/error.h"
#include "common/message.h"
#include "options/arguments.h"
#include "track/signals.h"
#include "track/tracking_files.h"

#include <gputracker/session.h>

#include <stdlib.h>

/* The port that AIPowerMeter's users scrape. */
#define DEFAULT_ADDRESS "127.0.0.1:5001"

/* Measures the machine and serves its figures until a signal comes. */
static int serve_until_signal(
    struct tracking *tracking, struct gput_session *session, struct gput_error *error)
{
    struct signals signals;
    struct signal_event event;
    TRY(signals_catch(&signals, error));
    signals_receive(&signals);
    int code = gput_session_track_machine(session, error);
    if (code == GPUT_OK && !gput_session_address(session))
        code = error_set(error, GPUT_ERROR_IO, "The metrics server could not be started.");
    if (code == GPUT_OK)
        tracking_say_address(tracking, session);
    while (code == GPUT_OK) {
        if (signals_next(&signals, -1, -1, &event) && signals_handle(&event))
            break;
    }
    signals_close_stop(signals_release(&signals, NULL));
    return code == GPUT_OK ? gput_session_stop(session, error) : code;
}

/* Makes the session with the page of metrics, and serves it. */
static int serve(const struct arguments *arguments, struct gput_error *error)
{
    struct tracking tracking;
    struct gput_session *session = NULL;
    TRY(tracking_read(arguments, false, &tracking, error));
    const char *address = arguments_value(arguments, OPTION_SERVE_LISTEN);
    tracking.options.owners = arguments_have(arguments, OPTION_OWNERS);
    tracking.options.listen = address ? address : DEFAULT_ADDRESS;
    int code = tracking_files_create_session(&tracking, &session, error);
    if (code == GPUT_OK)
        code = serve_until_signal(&tracking, session, error);
    gput_session_destroy(session);
    tracking_finish(&tracking);
    return code;
}

int cmd_serve(const struct arguments *arguments)
{
    struct gput_error error;
    signals_survive_closed_pipes();
    return message_exit_status(serve(arguments, &error), &error, EXIT_FAILURE);
}
