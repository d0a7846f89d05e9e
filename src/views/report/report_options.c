#include <gputracker/report.h>

#include "base/sized.h"

void gput_report_session_init(struct gput_report_session *session, size_t size)
{
    static const struct gput_report_session nothing;
    sized_init(session, size, &nothing, sizeof nothing);
}

void gput_report_options_init(struct gput_report_options *options, size_t size)
{
    static const struct gput_report_options usual = {.stop_fd = -1};
    sized_init(options, size, &usual, sizeof usual);
}
