#include "views/output/figure_text.h"

#include "base/screen.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/units.h"

#include <gputracker/measurement.h>
#include <gputracker/units.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#define LITTLE_BYTES 1e6
#define LITTLE_PERCENT 1

#define GAP 2 /* blanks before a name */

/* From the unit that the session was tracked in to bytes; 0: unknown, or not of RAM. */
static double bytes_per_unit(const struct doc *static_data, const struct gput_measurement *row)
{
    const char *key = !row                                     ? NULL
                      : row->quantity == GPUT_QUANTITY_RAM     ? "ram_unit"
                      : row->quantity == GPUT_QUANTITY_GPU_RAM ? "gpu_ram_unit"
                                                               : NULL;
    enum gput_ram_unit unit;
    const char *name = key ? doc_get_string(static_data, key) : NULL;
    if (!name || ram_unit_parse(name, "RAM", &unit, NULL) != GPUT_OK)
        return 0;
    return 1 / gput_ram_unit_factor(unit);
}

const char *figure_text(
    const struct doc *static_data, const char *measurement, double value, char text[HUMAN_SIZE])
{
    const struct gput_measurement *row = gput_measurement_find(measurement);
    double factor = bytes_per_unit(static_data, row);
    if (!isfinite(value))
        return strcpy(text, "n/a");
    if (strcmp(measurement, "compute_time") == 0)
        return human_seconds_of_figure(value, text);
    if (text_begins_with(measurement, "energy_"))
        return human_joules(value, text);
    if (row && row->quantity == GPUT_QUANTITY_PERCENT)
        human_percent(value, text);
    else if (row && row->quantity == GPUT_QUANTITY_COUNT)
        text_fit(text, HUMAN_SIZE, fabs(value) >= 9999.5 ? "%.0f" : "%.4g", value);
    else if (factor > 0)
        human_bytes(value * factor, text);
    else
        text_fit(text, HUMAN_SIZE, "%.4g", value);
    return text;
}

bool figure_is_little(const struct doc *static_data, const char *measurement, double difference)
{
    const struct gput_measurement *row = gput_measurement_find(measurement);
    double factor = bytes_per_unit(static_data, row);
    if (row && row->quantity == GPUT_QUANTITY_PERCENT)
        return fabs(difference) < LITTLE_PERCENT;
    return factor > 0 && fabs(difference) * factor < LITTLE_BYTES;
}

/* The end of a text that takes at most so many columns; its own begin when all of it does. */
static const char *last_columns(const char *text, size_t columns)
{
    size_t width = utf8_width(text);
    while (width > columns && *text) {
        uint32_t point;
        size_t length = utf8_decode(text, strlen(text), &point);
        text += length > 0 ? length : 1;
        width--;
    }
    return text;
}

/* Appends a name of a session or code block, which may hold anything: none moves the cursor. */
static void append_sanitized(struct str *text, const char *name)
{
    size_t start = text->length;
    str_append(text, name);
    if (text->failed || text->length == start)
        return;
    screen_sanitize(text, start);
    for (char *end = text->data + start; (end = strpbrk(end, "\n\t"));)
        *end = ' ';
}

void figure_put(struct str *text, const char *cell)
{
    size_t width = utf8_width(cell);
    const char *shown = last_columns(cell, FIGURE_WIDTH - 1);
    if (shown == cell) {
        str_append_repeated(text, ' ', FIGURE_WIDTH - width);
    } else {
        shown = last_columns(cell, FIGURE_WIDTH - 2);
        str_append(text, " …");
    }
    append_sanitized(text, shown);
}

void figure_put_name(
    struct str *text, size_t n_cells, const char *block, const char *figure, unsigned width)
{
    size_t used = n_cells * FIGURE_WIDTH + GAP, reserved = FIGURE_MIN_NAME - GAP;
    size_t space = width > used + reserved ? width - used : reserved;
    if (width == 0)
        space = INT_MAX;
    str_append_repeated(text, ' ', GAP);
    if (block && figure)
        space -= strlen(": ");
    if (block) {
        /* A figure goes before a block, of which a third of the space is enough. */
        size_t of_figure = figure ? strlen(figure) : 0, of_block = utf8_width(block);
        size_t columns = space > of_figure ? space - of_figure : 0;
        columns = columns > space / 3 ? columns : space / 3;
        columns = columns < of_block ? columns : of_block;
        const char *shown = last_columns(block, columns);
        if (shown != block) {
            str_append(text, "…");
            shown = last_columns(block, columns - 1);
        }
        append_sanitized(text, shown);
        space -= columns;
    }
    if (block && figure)
        str_append(text, ": ");
    if (figure) {
        bool is_cut = strlen(figure) > space; /* names of figures are ASCII */
        str_printf(
            text, "%.*s%s", (int)(is_cut ? space - 1 : strlen(figure)), figure, is_cut ? "…" : "");
    }
    str_append_char(text, '\n');
}
