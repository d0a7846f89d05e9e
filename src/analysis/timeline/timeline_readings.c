#include "analysis/timeline/timeline_readings.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_string.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Readings this close to a low one are shown with it. */
#define AROUND_US 20000

int timeline_readings_collect(struct timeline_readings *readings,
    const struct system_reading *reading, const struct low_marks *low, struct gput_error *error)
{
    struct str label = {0};
    if (isnan(reading->value))
        return GPUT_OK;
    str_printf(&label, "%s_%s_%s", reading->name[0] ? reading->name : reading->type,
        reading->dimension, reading->node);
    uint32_t number =
        label.failed ? NAMES_NONE : names_add(&readings->labels, label.data, label.length);
    str_finish(&label);
    if (number == NAMES_NONE || !ARRAY_EXTEND(readings->readings, readings->count))
        return error_memory(error);
    bool is_metric = low->metric && (strcmp(low->metric, reading->dimension) == 0 ||
                                        strcmp(low->metric, reading->name) == 0);
    bool is_low = is_metric && reading->value < low->threshold;
    readings->has_metric |= is_metric;
    readings->readings[readings->count++] =
        (struct timeline_reading){reading->time_us, reading->value, number, is_low};
    return GPUT_OK;
}

/* Orders readings by time, then by label. */
static int compare_times(const void *left, const void *right)
{
    const struct timeline_reading *a = left, *b = right;
    ORDER_BY(a->time_us, b->time_us);
    return ORDER(a->label, b->label);
}

/* Returns the distance between two times. */
static int64_t distance(int64_t left, int64_t right)
{
    return left < right ? right - left : left - right;
}

/* True when no other reading of its label, from `first` to before `end`, is nearer to that time, or
 * as near and later. */
static bool is_nearest(
    const struct timeline_reading *all, size_t first, size_t end, size_t at, int64_t time_us)
{
    int64_t own = distance(all[at].time_us, time_us);
    for (size_t i = first; i < end; i++) {
        int64_t other = distance(all[i].time_us, time_us);
        if (all[i].label == all[at].label && (other < own || (other == own && i > at)))
            return false;
    }
    return true;
}

/* The instant event at a low reading: all labels with a reading around it, each with its nearest.
 */
static int add_mark(const struct timeline_readings *readings, size_t at, uint32_t thread,
    struct timeline *timeline, struct str *text, struct gput_error *error)
{
    static const char name[] = "sys_metrics_bottlenecks";
    const struct timeline_reading *all = readings->readings;
    int64_t time_us = all[at].time_us;
    size_t first = at, end = at;
    while (first > 0 && all[first - 1].time_us >= time_us - AROUND_US)
        first--;
    while (end < readings->count && all[end].time_us <= time_us + AROUND_US)
        end++;
    str_clear(text);
    for (size_t i = first; i < end; i++) {
        if (!is_nearest(all, first, end, i, time_us))
            continue;
        const char *label = names_text(&readings->labels, all[i].label);
        str_append(text, text->length == 0 ? "{" : ", ");
        json_write_string(label, strlen(label), text);
        str_append(text, ": ");
        str_append_double(text, all[i].value);
    }
    str_append_char(text, '}');
    if (text->failed)
        return error_memory(error);
    struct timeline_event event = {.type = 'i',
        .scope = 'g',
        .thread = thread,
        .start_ns = time_us * 1000,
        .name = {name, sizeof name - 1, 0},
        .args = {text->data, text->length, 0}};
    return timeline_add(timeline, &event, NULL, error);
}

int timeline_readings_add(
    struct timeline_readings *readings, struct timeline *timeline, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    if (readings->count == 0)
        return GPUT_OK;
    uint32_t process = timeline_process(&timeline->tracks, "system metrics", "System metrics");
    uint32_t thread =
        process == TRACK_NONE ? TRACK_NONE : timeline_thread(&timeline->tracks, process, 0, 0);
    if (thread == TRACK_NONE || !timeline_thread_rename(&timeline->tracks, thread, "readings"))
        return error_memory(error);
    qsort(readings->readings, readings->count, sizeof *readings->readings, compare_times);

    /* Add all readings as counters, and a mark at each moment at which one is low. */
    int64_t marked_us = INT64_MIN;
    for (size_t i = 0; i < readings->count; i++) {
        const struct timeline_reading *reading = readings->readings + i;

        /* Add a reading as a value of a counter. */
        const char *label = names_text(&readings->labels, reading->label);
        str_clear(&text);
        json_write_string(label, strlen(label), &text);
        size_t name_length = text.length;
        str_append(&text, "{\"value\": ");
        str_append_double(&text, reading->value);
        str_append_char(&text, '}');
        if (text.failed)
            return error_memory(error);
        struct timeline_event event = {.type = 'C',
            .thread = thread,
            .start_ns = reading->time_us * 1000,
            .name = {text.data + 1, name_length - 2, 0},
            .args = {text.data + name_length, text.length - name_length, 0}};
        TRY(timeline_add(timeline, &event, NULL, error));

        if (!reading->low || reading->time_us == marked_us)
            continue;
        marked_us = reading->time_us;
        TRY(add_mark(readings, i, thread, timeline, &text, error));
    }
    return GPUT_OK;
}

void timeline_readings_finish(struct timeline_readings *readings)
{
    free(readings->readings);
    names_finish(&readings->labels);
    *readings = (struct timeline_readings){0};
}
