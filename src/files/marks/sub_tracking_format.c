#include "files/marks/sub_tracking_format.h"

#include "base/error.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int sub_tracking_invalid(
    const struct sub_tracking_reader *reader, struct gput_error *error, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_set(
        error, GPUT_ERROR_FORMAT, "Sub-tracking file %s is invalid: %s", reader->path, what);
}

void sub_tracking_warn(struct sub_tracking_reader *reader, const char *format, ...)
{
    struct str text = {0};
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    str_printf(&text, "Sub-tracking file %s: %s", reader->path, what);
    free(reader->warning);
    reader->warning = str_steal(&text);
}

void sub_tracking_warn_of_no_marks(struct sub_tracking_reader *reader)
{
    sub_tracking_warn(reader, "it has no marks yet. The program that began it has not written any "
                              "so far, or was killed before that; or the file was truncated.");
}

int sub_tracking_require_columns(
    const struct sub_tracking_reader *reader, unsigned have, struct gput_error *error)
{
    for (unsigned i = 0; i < SUB_TRACKING_REQUIRED_COLUMNS; i++)
        if (!(have & 1u << i))
            return sub_tracking_invalid(reader, error,
                "it has no column %s. Its header must name process_id, code_block_name, position "
                "and timestamp.",
                sub_tracking_column_name(i));
    return GPUT_OK;
}
