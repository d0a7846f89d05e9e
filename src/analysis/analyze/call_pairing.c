#include "analysis/analyze/call_pairing.h"

#include "base/array.h"
#include "base/number.h"
#include "base/order.h"
#include "files/marks/open_starts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mark {
    double time;
    size_t order;   /* in the file */
    double started; /* NaN: not recorded */
    uint8_t position;
};

static int compare_by_position(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    ORDER_BY(a->time, b->time);
    return a->position - b->position;
}

static int compare_by_order(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    ORDER_BY(a->time, b->time);
    return ORDER(a->order, b->order);
}

/* Whether the marks of a lane are in the order in which they are paired. */
static bool in_order(const struct call_lane *lane, bool by_thread)
{
    for (size_t i = 1; i < lane->count; i++) {
        if (lane->times[i] < lane->times[i - 1])
            return false;
        if (!by_thread && lane->times[i] == lane->times[i - 1] &&
            lane->positions[i] < lane->positions[i - 1])
            return false;
    }
    return true;
}

static bool take_turns(const struct mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (marks[i].position != i % 2)
            return false;
    return true;
}

/* Whether starts and stops take turns in the file, and some stop lies before its start. If they do
 * not take turns in the order of time, the system's time was set back, and the order of the file is
 * that of the marks. */
static bool is_set_back(const struct call_lane *lane)
{
    bool set_back = false;
    for (size_t i = 0; i < lane->count; i++) {
        if (lane->positions[i] != i % 2 || (lane->started && !isnan(lane->started[i])))
            return false;
        set_back |= i % 2 && lane->times[i] < lane->times[i - 1];
    }
    return set_back;
}

/* Sorts the marks of a lane by time, unless the system's time was set back meanwhile. */
static int sort_marks(struct call_table *table, struct call_lane *lane, struct gput_error *error)
{
    bool by_thread = table->by_thread;
    if (in_order(lane, by_thread))
        return GPUT_OK;
    struct mark *marks = malloc(lane->count * sizeof *marks);
    if (!marks)
        return error_memory(error);
    for (size_t i = 0; i < lane->count; i++)
        marks[i] = (struct mark){.time = lane->times[i],
            .order = i,
            .started = lane->started ? lane->started[i] : NAN,
            .position = lane->positions[i]};
    qsort(marks, lane->count, sizeof *marks, by_thread ? compare_by_order : compare_by_position);
    if (!take_turns(marks, lane->count) && is_set_back(lane)) {
        /* Remove and count calls that stop before they start: how long they took is not known. */
        size_t kept = 0;
        for (size_t i = 0; i < lane->count; i += 2) {
            bool has_stop = i + 1 < lane->count;
            if (has_stop && lane->times[i + 1] < lane->times[i]) {
                table->n_backward++;
                continue;
            }
            for (size_t k = i; k < i + 1 + has_stop; k++, kept++) {
                lane->times[kept] = lane->times[k];
                lane->positions[kept] = lane->positions[k];
            }
        }
        lane->count = kept;
        free(marks);
        return GPUT_OK;
    }
    for (size_t i = 0; i < lane->count; i++) {
        lane->times[i] = marks[i].time;
        lane->positions[i] = marks[i].position;
        if (lane->started)
            lane->started[i] = marks[i].started;
    }
    free(marks);
    return GPUT_OK;
}

/* "1745449609.7528222", as Python writes it. */
static const char *time_text(const struct call_table *table, double time, char *text)
{
    number_format_double(table->origin + time, text);
    return text;
}

/* Says why two marks that follow each other are no call. */
static int refuse_pair(const struct call_table *table, const struct call_lane *first,
    const struct call_lane *second, double start, double stop, struct gput_error *error)
{
    char start_text[NUMBER_TEXT_SIZE], stop_text[NUMBER_TEXT_SIZE];
    time_text(table, start, start_text);
    time_text(table, stop, stop_text);
    if (first->process_id != second->process_id)
        return error_set(error, GPUT_ERROR_FORMAT,
            "Sub-tracking file is invalid. Detected timestamp pair (%s, %s) with differing process "
            "IDs: %lld and %lld.",
            start_text, stop_text, (long long)first->process_id, (long long)second->process_id);
    return error_set(error, GPUT_ERROR_FORMAT,
        "Sub-tracking file is invalid. Detected timestamp pair (%s, %s) of process ID %lld with a "
        "start time greater than the stop time.",
        start_text, stop_text, (long long)first->process_id);
}

/* A stop that is skipped. */
static void note_lone(struct call_table *table, const struct call_lane *lane, double time)
{
    if (table->n_lone++ > 0 && !(time < table->first_lone.time))
        return;
    table->first_lone.time = time;
    table->first_lone.name = lane->name;
    table->first_lone.process_id = lane->process_id;
}

/* Keeps a start without a stop as an open call, or counts it as skipped. */
static int note_open(
    struct call_table *table, const struct call_lane *lane, double start, struct gput_error *error)
{
    if (!table->keep_open) {
        table->n_skipped++;
        return GPUT_OK;
    }
    if (!ARRAY_RESERVE(table->open, table->n_open, table->open_capacity))
        return error_memory(error);
    table->open[table->n_open++] =
        (struct call){.start = start, .stop = INFINITY, .lane = (uint32_t)(lane - table->lanes)};
    return GPUT_OK;
}

static double time_of_key(int64_t key)
{
    double time;
    memcpy(&time, &key, sizeof time);
    return time;
}

/* Finds the start of a stop: the recorded one, which may be another thread's, else the latest.
 * False when there is none. */
static bool find_start(struct open_starts *open, double started_at, double stop, double *start)
{
    int64_t key;
    if (isnan(started_at)) {
        if (!open_starts_pop_latest(open, &key))
            return false;
        *start = time_of_key(key);
        return true;
    }
    bool here = open_starts_pop(open, open_starts_key(started_at));
    *start =
        here ? started_at : fmin(started_at, stop); /* the clock may have been set back meanwhile */
    return true;
}

/* Pairs a lane whose marks do not simply alternate; `calls` has space for two times of each stop.
 */
static int pair_overlapping(struct call_table *table, struct call_lane *lane,
    struct open_starts *open, double *calls, struct gput_error *error)
{
    for (size_t i = 0; i < lane->count; i++) {
        double time = lane->times[i], started_at = lane->started ? lane->started[i] : NAN;
        if (lane->positions[i] == SUB_TRACKING_START) {
            if (!open_starts_push(open, open_starts_key(time)))
                return error_memory(error);
            continue;
        }
        bool is_found = find_start(open, started_at, time, &calls[2 * lane->n_calls]);
        if (!is_found) {
            note_lone(table, lane, time);
            continue;
        }
        calls[2 * lane->n_calls + 1] = time;
        lane->n_calls++;
    }
    return GPUT_OK;
}

static bool takes_turns(const struct call_lane *lane)
{
    for (size_t i = 0; i < lane->count; i++)
        if (lane->positions[i] != i % 2 || (lane->started && !isnan(lane->started[i])))
            return false;
    return true;
}

static size_t count_stops(const struct call_lane *lane)
{
    size_t stops = 0;
    for (size_t i = 0; i < lane->count; i++)
        stops += lane->positions[i] == SUB_TRACKING_STOP;
    return stops;
}

/* Whether it has a stop before which all starts have one already. */
static bool has_lone_stop(const struct call_lane *lane)
{
    size_t open = 0;
    for (size_t i = 0; i < lane->count; i++) {
        if (lane->positions[i] == SUB_TRACKING_START)
            open++;
        else if (open-- == 0)
            return true;
    }
    return false;
}

/* Whether a stop would be paired with the start after it. */
static bool has_backward_pair(const struct call_lane *lane)
{
    for (size_t i = 0; i + 1 < lane->count; i += 2)
        if (lane->positions[i] > lane->positions[i + 1])
            return true;
    return false;
}

/* Pairs one thread's marks of a block like brackets, except stops with a recorded start. */
static int pair_brackets(struct call_table *table, struct call_lane *lane, struct gput_error *error)
{
    if (takes_turns(lane)) {
        lane->n_calls = lane->count / 2;
        return lane->count % 2 ? note_open(table, lane, lane->times[lane->count - 1], error)
                               : GPUT_OK;
    }
    struct open_starts open = {0};
    double *calls = malloc((2 * count_stops(lane) + 1) * sizeof *calls);
    int code = calls ? pair_overlapping(table, lane, &open, calls, error) : error_memory(error);
    int64_t key;
    while (code == GPUT_OK && open_starts_pop_latest(&open, &key))
        code = note_open(table, lane, time_of_key(key), error);
    open_starts_finish(&open);
    if (code != GPUT_OK) {
        free(calls);
        return code;
    }
    free(lane->times);
    lane->times = calls;
    return GPUT_OK;
}

/* An odd mark has none to pair with in its own lane, where the Python tool takes the next one's. */
static int pair_odd_mark(struct call_table *table, struct call_lane *lane,
    const struct call_lane *end, struct gput_error *error)
{
    double odd = lane->times[lane->count - 1];
    for (const struct call_lane *next = lane + 1; next < end; next++) {
        if (next->count > 0)
            return refuse_pair(table, lane, next, odd, next->times[0], error);
    }
    if (2 * count_stops(lane) < lane->count) {
        /* There are more starts than stops: find the first start that another start follows. It may
         * be the one that was noted as open. */
        char text[NUMBER_TEXT_SIZE];
        size_t i = 0;
        while (i + 1 < lane->count && (lane->positions[i] == SUB_TRACKING_STOP ||
                                          lane->positions[i + 1] == SUB_TRACKING_STOP))
            i++;
        return error_set(error, GPUT_ERROR_FORMAT,
            "Sub-tracking file is invalid. Code block \"%.200s\" of process ID %lld starts at %s "
            "without a stop.",
            sub_tracking_names_text(table->names, lane->name), (long long)lane->process_id,
            time_text(table, lane->times[i], text));
    }
    lane->n_calls = 0;
    return pair_brackets(table, lane, error);
}

/* Pairs the marks of one block without thread ids, two by two across all of its lanes. */
static int pair_two_by_two(
    struct call_table *table, struct call_lane *lanes, size_t n_lanes, struct gput_error *error)
{
    /* A last start has no stop yet. Where open calls are kept, a killed program may have left more
     * of them, and a file may lack starts: such a lane is paired like brackets. */
    for (size_t l = 0; l < n_lanes; l++) {
        struct call_lane *lane = &lanes[l];
        size_t stops = count_stops(lane);
        bool is_odd = lane->count > 2 * stops || has_lone_stop(lane);
        if (table->keep_open && (is_odd || has_backward_pair(lane))) {
            table->n_doubtful += !is_odd; /* of calls that overlap */
            TRY(pair_brackets(table, lane, error));
            lane->count = 0;
        } else if (lane->count > 0 && lane->positions[lane->count - 1] == SUB_TRACKING_START) {
            TRY(note_open(table, lane, lane->times[--lane->count], error));
        }
    }
    for (size_t l = 0; l < n_lanes; l++) {
        struct call_lane *lane = &lanes[l];
        size_t doubtful = 0;
        if (lane->count == 0) /* paired already */
            continue;
        for (size_t i = 0; i + 1 < lane->count; i += 2) {
            if (lane->positions[i] > lane->positions[i + 1])
                return refuse_pair(table, lane, lane, lane->times[i], lane->times[i + 1], error);
            doubtful += lane->positions[i] == lane->positions[i + 1];
        }
        lane->n_calls = lane->count / 2;
        if (lane->count % 2)
            TRY(pair_odd_mark(table, lane, &lanes[n_lanes], error));
        else
            table->n_doubtful += doubtful;
    }
    return GPUT_OK;
}

int call_pairing_run(struct call_table *table, struct gput_error *error)
{
    size_t next;
    for (size_t first = 0; first < table->n_lanes; first = next) {
        for (next = first;
             next < table->n_lanes && table->lanes[next].block == table->lanes[first].block; next++)
            TRY(sort_marks(table, &table->lanes[next], error));
        /* Where marks are missing, those that are there say nothing by their number. */
        bool two_by_two = !table->by_thread && !table->has_lost;
        if (two_by_two)
            TRY(pair_two_by_two(table, &table->lanes[first], next - first, error));
        for (size_t l = first; !two_by_two && l < next; l++)
            TRY(pair_brackets(table, &table->lanes[l], error));
    }
    return GPUT_OK;
}
