#include "views/report/loaders/report_analysis.h"

#include "analysis/analyze/analysis.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "model/results_identity.h"

struct call_window report_analysis_window(const struct report_session *session)
{
    const struct gput_results *known = session->results ? session->results : session->described;
    double start = NAN, end = NAN;
    bool is_unfinished = false;
    struct call_window window = {-INFINITY, INFINITY, SUB_TRACKING_UNKNOWN};
    if (known) {
        start = results_identity_seconds(known->identity.start);
        end = results_identity_seconds(known->identity.end);
        is_unfinished = !isnan(start) && isnan(end);
        if (!isnan(known->identity.pid))
            window.pid = (int64_t)known->identity.pid;
    }
    if (session->has_samples) {
        start = fmin(start, session->first_sample);
        end = isnan(end) ? session->end + session->sample_seconds : fmax(end, session->end);
    }
    if (!isnan(start))
        window.from = start - REPORT_CLOCK_DOUBT;
    if (!isnan(end) && !is_unfinished)
        window.to = end + REPORT_CLOCK_DOUBT;
    return window;
}

int report_analysis_make(
    struct report_session *session, const char *marks, struct gput_error *error)
{
    struct gput_analysis_options options = gput_analysis_options_default();
    struct gput_error reason;
    options.tracking_file = session->path;
    options.sub_tracking_file = marks;
    options.details = options.open_calls = marks != NULL;
    if (!session->has_samples)
        return GPUT_OK;
    const struct call_window window = report_analysis_window(session);
    int code = analysis_create_within(&options, &window, &session->analysis, &reason);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    if (code == GPUT_OK)
        return GPUT_OK;
    CLEANUP_STR struct str text = {0};
    str_printf(&text, "%s%s",
        marks && code == GPUT_ERROR_FORMAT ? "There are no figures of code blocks but their times. "
                                           : "",
        reason.message);
    report_session_warn(session, str_text(&text));
    return GPUT_OK;
}

double report_analysis_factor(const struct gput_static_data *data, const char *name)
{
    const struct gput_measurement *measurement = gput_measurement_find(name);
    return measurement ? 1 / static_data_unit_factor(data, measurement->quantity) : 1;
}
