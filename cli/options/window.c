#include "options/window.h"

#include "base/error.h"
#include "base/number.h"
#include "options/arguments.h"

#include <string.h>

int window_read_steps(
    const struct arguments *arguments, struct window *window, struct gput_error *error)
{
    const char *text = arguments_value(arguments, OPTION_STEPS);
    if (!text)
        return GPUT_OK;
    if (arguments_have(arguments, OPTION_START) || arguments_have(arguments, OPTION_STOP) ||
        arguments_have(arguments, OPTION_UNIT))
        return error_set(
            error, GPUT_ERROR_INVALID, "--steps cannot be combined with --start, --end or --unit.");
    const char *stop = text + strlen(text);
    const char *end = number_parse_int64(text, stop, &window->start);
    window->end = window->start;
    if (end && *end == '-')
        end = number_parse_int64(end + 1, stop, &window->end);
    if (!end || *end || window->start < 0 || window->end < window->start)
        return error_set(error, GPUT_ERROR_INVALID,
            "--steps=%.64s names no steps. Give the first and the last one, as in --steps=10-12.",
            text);
    window->unit = GPUT_TIMELINE_STEP;
    return GPUT_OK;
}

int window_read(const struct arguments *arguments, struct window *window, struct gput_error *error)
{
    *window = (struct window){GPUT_TIMELINE_TIME, INT64_MIN, INT64_MAX};
    int choice = GPUT_TIMELINE_TIME;
    TRY(arguments_read_choice(arguments, OPTION_UNIT, "unit", &choice, error));
    window->unit = (enum gput_timeline_unit)choice;
    TRY(arguments_read_moment(arguments, OPTION_START, "start", &window->start, error));
    TRY(arguments_read_moment(arguments, OPTION_STOP, "end", &window->end, error));
    return window_read_steps(arguments, window, error);
}
