#include "report/loaders/report_analysis.h"

#include "base/str.h"

int report_analysis_make(
    struct report_session *session, const char *marks, struct gput_error *error)
{
    struct gput_analysis_options options = gput_analysis_options_default();
    struct gput_error reason;
    options.tracking_file = session->path;
    options.sub_tracking_file = marks;
    options.details = marks != NULL;
    if (!session->has_samples)
        return GPUT_OK;
    int code = gput_analysis_create(&options, &session->analysis, &reason);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    if (code == GPUT_OK)
        return GPUT_OK;
    struct str text = {0};
    str_printf(&text, "%s%s",
        marks && code == GPUT_ERROR_FORMAT ? "There are no figures of code blocks but their times. "
                                           : "",
        reason.message);
    report_session_warn(session, str_text(&text));
    str_finish(&text);
    return GPUT_OK;
}

double report_analysis_factor(const struct gput_static_data *data, const char *name)
{
    const struct gput_measurement *measurement = gput_measurement_find(name);
    return measurement ? 1 / static_data_unit_factor(data, measurement->quantity) : 1;
}
