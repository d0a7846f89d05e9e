#include "session/session_state.h"

#include "base/error.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

int session_check_owner(const struct gput_session *session, struct gput_error *error)
{
    if (session->owner == getpid())
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_STATE,
        "This process is a fork of the one that tracks; only that one can use the session.");
}

void session_add_source(struct gput_results *results, const char *name,
    enum gput_source_state state, const char *format, ...)
{
    if (results->n_sources == GPUT_MAX_SOURCES)
        return;
    struct gput_source *source = &results->sources[results->n_sources++];
    snprintf(source->name, sizeof source->name, "%s", name);
    source->state = state;
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(source->reason, sizeof source->reason, format, arguments);
    va_end(arguments);
}
