#include "analysis/training/sagemaker/profile_views.h"

#include "base/error.h"
#include "base/table.h"

#include <stdio.h>
#include <time.h>

void profile_put_moment(struct gput_table *table, int64_t time_us)
{
    char text[64], date[32];
    int64_t second = time_us / 1000000, rest = time_us % 1000000;
    if (rest < 0) {
        second--;
        rest += 1000000;
    }
    time_t seconds = (time_t)second;
    struct tm parts;
    if (!gmtime_r(&seconds, &parts)) {
        table_put_missing(table);
        return;
    }
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, sizeof text, "%s:%06d", date, (int)rest);
    table_put_text(table, text);
}

bool profile_is_bounded(const struct gput_profile_options *options)
{
    return options->start != INT64_MIN || options->end != INT64_MAX;
}

int profile_nothing(
    const struct gput_profile_options *options, const char *what, struct gput_error *error)
{
    const char *which = !profile_is_bounded(options)          ? ""
                        : options->unit == GPUT_TIMELINE_STEP ? " in the steps asked for"
                                                              : " in the time asked for";
    return error_set(error, GPUT_ERROR_NOT_FOUND, "There are no %s in %s%s", what,
        profile_source(options), which);
}
