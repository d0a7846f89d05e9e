#include "files/tracking/tracking_csv_rows.h"

#include "base/array.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool csv_columns_parse(
    const struct csv_columns *columns, const char *at, const char *end, double *values)
{
    for (size_t i = 0; i < TRACKING_VALUES; i++)
        values[i] = NAN;
    for (size_t i = 0;; at++) {
        int column = columns->all[i];
        if (column < 0) {
            while (at < end && *at != ',' && *at != '"')
                at++;
        } else if (at < end && *at != ',') {
            at = number_parse_double(at, end, &values[column]);
            if (!at || !tracking_value_is_possible(column, values[column]))
                return false;
        }
        i++;
        if (at == end || *at != ',' || i == columns->count)
            return at == end && i == columns->count && !isnan(values[TRACKING_TIMESTAMP]);
    }
}

/* Moves `*at` over a plain row; false at anything else. */
static bool scan_row(struct csv_row_window *window, const char **at)
{
    double values[TRACKING_VALUES];
    const char *line_end = memchr(*at, '\n', (size_t)(window->window.end - *at));
    if (!line_end)
        return false;
    const char *end = line_end > *at && line_end[-1] == '\r' ? line_end - 1 : line_end;
    if (end == *at || !csv_columns_parse(window->window.user, *at, end, values))
        return false;
    struct tracking_row *row = window->rows + window->count++;
    memcpy(row->values, values, sizeof row->values);
    row->timestamp = values[TRACKING_TIMESTAMP];
    *at = line_end + 1;
    return true;
}

static void scan(struct file_window *base)
{
    struct csv_row_window *window = (struct csv_row_window *)base;
    const char *at = file_window_line(base);
    window->count = 0;
    base->after = at;
    while (base->after && base->after < base->limit &&
           ARRAY_RESERVE(window->rows, window->count, window->capacity) &&
           scan_row(window, &base->after))
        ;
    base->first = window->count > 0 ? at : NULL;
}

static void finish(struct file_window *base)
{
    free(((struct csv_row_window *)base)->rows);
}

const struct file_window_class csv_row_windows = {sizeof(struct csv_row_window), scan, finish};
