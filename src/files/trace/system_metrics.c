#include "files/trace/system_metrics.h"

#include "base/json_text.h"
#include "base/str.h"
#include "files/trace/text_window.h"

#include <inttypes.h>
#include <math.h>

#define MAX_SECONDS 9e9 /* the year 2255; in nanoseconds it fits 64 bits */

enum { TYPE, NAME, DIMENSION, NODE, TEXTS };

struct reading {
    system_visitor *visit;
    void *user;
    struct read_report *report;
    struct str texts[TEXTS];
    uint64_t readings;
    uint64_t damaged;
    bool truncated;
};

static const char *const keys[TEXTS] = {"Type", "Name", "Dimension", "NodeId"};

/* Reads the members of a line. Returns false when it is not a reading. */
static bool parse_members(
    struct reading *reading, const struct json_value *object, struct system_reading *out)
{
    struct json_walk walk = json_walk(object);
    struct json_value key, value;
    bool timed = false, typed = false;
    double seconds;
    *out = (struct system_reading){.value = NAN};
    for (int i = 0; i < TEXTS; i++)
        str_clear(reading->texts + i);
    while (object->kind == JSON_OBJECT && json_walk_member(&walk, &key, &value)) {
        for (int i = 0; i < TEXTS; i++)
            if (value.kind == JSON_STRING && json_is(&key, keys[i]))
                json_append_string(&value, reading->texts + i);
        typed = typed || (json_is(&key, "Type") && value.kind == JSON_STRING);
        if (json_is(&key, "Value"))
            json_double(&value, &out->value);
        else if (json_is(&key, "Timestamp") && json_double(&value, &seconds))
            timed = fabs(seconds) < MAX_SECONDS;
        if (timed && json_is(&key, "Timestamp"))
            out->time_us = (int64_t)(seconds * 1e6);
    }
    return timed && typed;
}

/* Passes the reading of a line to the visitor; counts damage. A line without a line break (not
 * `closed`) may be truncated. */
static int parse_line(struct reading *reading, const char *line, const char *end, bool closed,
    struct gput_error *error)
{
    struct json_value object;
    struct system_reading out;
    const char *at = json_skip_space(line);
    if (at >= end)
        return GPUT_OK; /* blank */
    enum json_status status = json_scan_value(&at, end, &object);
    if (status == JSON_OK && json_skip_space(at) < end)
        status = JSON_BAD;
    if (status != JSON_OK && !closed) {
        reading->truncated = true;
        return GPUT_OK;
    }
    if (status != JSON_OK || !parse_members(reading, &object, &out)) {
        reading->damaged++;
        return GPUT_OK;
    }
    for (int i = 0; i < TEXTS; i++)
        if (reading->texts[i].failed)
            return error_memory(error);
    out.type = str_text(reading->texts + TYPE);
    out.name = str_text(reading->texts + NAME);
    out.dimension = str_text(reading->texts + DIMENSION);
    out.node = str_text(reading->texts + NODE);
    reading->readings++;
    return reading->visit(reading->user, &out, error);
}

/* Reads all lines, each with a NUL in place of its line break. */
static int read_lines(struct reading *reading, struct text_window *window, struct gput_error *error)
{
    bool more = true;
    while (more) {
        char *line_break = (char *)memchr(window->at, '\n', (size_t)(window->end - window->at));
        if (line_break) {
            *line_break = '\0';
            TRY(parse_line(reading, window->at, line_break, true, error));
            window->at = line_break + 1;
            continue;
        }
        read_report_progress(reading->report, byte_source_bytes_read(window->source));
        TRY(text_window_fill(window, &more, error));
    }
    return parse_line(reading, window->at, window->end, !window->last, error);
}

int system_metrics_read_source(struct byte_source *source, const char *name, system_visitor *visit,
    void *user, struct read_report *report, struct gput_error *error)
{
    struct reading reading = {.visit = visit, .user = user, .report = report};
    struct text_window window;
    TRY(text_window_init(&window, source, error));
    int code = read_lines(&reading, &window, error);
    if (code == GPUT_OK) {
        /* Add the counts of a file to the report, and warn of what was skipped. */
        struct str text = {0};
        const char *packed = byte_source_damage(window.source);
        report->bytes_read += byte_source_bytes_read(window.source);
        report->files++;
        report->events += reading.readings;
        report->damaged += reading.damaged;
        report->truncated += reading.truncated || packed;
        if (packed)
            str_printf(&text,
                "%s: the packed data %s; the %" PRIu64 " whole readings before are used", name,
                packed, reading.readings);
        else if (reading.truncated)
            str_printf(&text, "%s ends too early; its %" PRIu64 " whole readings are used", name,
                reading.readings);
        if (reading.damaged > 0) {
            if (text.length == 0)
                str_append(&text, name);
            str_printf(&text, "%s %" PRIu64 " damaged line%s skipped",
                text.length > strlen(name) ? ";" : ":", reading.damaged,
                reading.damaged == 1 ? " was" : "s were");
        }
        if (text.length > 0 || text.failed)
            read_report_warn_text(report, &text);
    }

    text_window_finish(&window);
    for (int i = 0; i < TEXTS; i++)
        str_finish(reading.texts + i);
    return code;
}

int system_metrics_read(const char *path, system_visitor *visit, void *user,
    struct read_report *report, struct gput_error *error)
{
    struct byte_source *source;
    TRY(byte_source_open(path, &source, error));
    return system_metrics_read_source(source, path, visit, user, report, error);
}
