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

static const char *plain(double value, char text[HUMAN_SIZE])
{
    text_fit(text, HUMAN_SIZE, "%.4g", value);
    return text;
}

static const char *count(double value, char text[HUMAN_SIZE])
{
    text_fit(text, HUMAN_SIZE, fabs(value) >= 9999.5 ? "%.0f" : "%.4g", value);
    return text;
}

/* Three digits that count, as all figures have; of many cores all. */
static const char *percent(double value, char text[HUMAN_SIZE])
{
    text_fit(text, HUMAN_SIZE, fabs(value) >= 999.5 ? "%.0f %%" : "%.3g %%", value);
    return text;
}

const char *figure_text(
    const struct doc *static_data, const char *measurement, double value, char text[HUMAN_SIZE])
{
    const struct gput_measurement *row = gput_measurement_find(measurement);
    if (!isfinite(value))
        return strcpy(text, "n/a");
    if (strcmp(measurement, "compute_time") == 0)
        return human_seconds_of_figure(value, text);
    if (text_begins_with(measurement, "energy_"))
        return human_joules(value, text);
    if (row && row->quantity == GPUT_QUANTITY_PERCENT)
        return percent(value, text);
    if (row && row->quantity == GPUT_QUANTITY_COUNT)
        return count(value, text);
    double factor = bytes_per_unit(static_data, row);
    return factor > 0 ? human_bytes(value * factor, text) : plain(value, text);
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

/* Names of sessions and code blocks may hold anything: none moves the cursor. */
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

/* The end of a name, in at most so many columns. */
static void append_end(struct str *text, const char *name, size_t columns)
{
    const char *shown = last_columns(name, columns);
    if (shown != name) {
        str_append(text, "…");
        shown = last_columns(name, columns - 1);
    }
    append_sanitized(text, shown);
}

/* The beginning of a figure's name, of ASCII, in at most so many columns. */
static void append_begin(struct str *text, const char *name, size_t columns)
{
    bool is_cut = strlen(name) > columns;
    str_printf(text, "%.*s%s", (int)(is_cut ? columns - 1 : strlen(name)), name, is_cut ? "…" : "");
}

/* A figure goes before a block, of which a third of the space is enough. */
static size_t columns_of_block(const char *block, const char *figure, size_t space)
{
    size_t of_figure = figure ? strlen(figure) : 0, of_block = utf8_width(block);
    size_t left = space > of_figure ? space - of_figure : 0;
    size_t columns = left > space / 3 ? left : space / 3;
    return columns < of_block ? columns : of_block;
}

void figure_put_name(
    struct str *text, size_t n_cells, const char *block, const char *figure, unsigned width)
{
    size_t used = n_cells * FIGURE_WIDTH + GAP;
    size_t reserved = FIGURE_MIN_NAME - GAP,
           space = width > used + reserved ? width - used : reserved;
    if (width == 0)
        space = INT_MAX;
    str_append_repeated(text, ' ', GAP);
    if (block && figure)
        space -= strlen(": ");
    if (block) {
        size_t columns = columns_of_block(block, figure, space);
        append_end(text, block, columns);
        space -= columns;
    }
    if (block && figure)
        str_append(text, ": ");
    if (figure)
        append_begin(text, figure, space);
    str_append_char(text, '\n');
}
