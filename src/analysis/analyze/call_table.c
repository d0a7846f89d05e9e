#include "analysis/analyze/call_table.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/order.h"
#include "files/marks/open_starts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Pairs stops with starts: see call_table.h for the rules.
 */
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

#define NS 1000000000

void call_table_init(struct call_table *table, const struct sub_tracking_names *names,
    unsigned columns, bool whole_ns, bool exact)
{
    *table = (struct call_table){
        .names = names,
        .by_thread = columns & SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS,
        .has_starts = columns & SUB_TRACKING_COLUMN_STARTED,
        .exact = exact ? exact_figures_of_columns(columns) : 0,
        .whole_ns = whole_ns,
    };
}

/* Frees the marks of a lane, which has been paired. */
static void lane_free_marks(struct call_lane *lane)
{
    free(lane->times);
    free(lane->positions);
    free(lane->started);
    lane->times = lane->started = NULL;
    lane->positions = NULL;
    lane->count = lane->capacity = 0;
}

void call_table_finish(struct call_table *table)
{
    for (size_t i = 0; i < table->n_lanes; i++) {
        lane_free_marks(&table->lanes[i]);
        exact_figures_destroy(table->lanes[i].exact);
    }
    free(table->lanes);
    free(table->lane_slots);
    free(table->calls);
    free(table->open);
    free(table->is_open);
    free(table->block_names);
    *table = (struct call_table){0};
}

/* The slot of that lane in the hash table, or the free slot for it. */
static size_t lane_slot(
    const struct call_table *table, uint32_t name, int64_t process_id, int64_t thread_id)
{
    uint64_t hash = name * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (hash >> 29) ^ (uint64_t)process_id) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ (hash >> 32) ^ (uint64_t)thread_id) * UINT64_C(0x94D049BB133111EB);
    size_t mask = table->n_slots - 1;
    size_t slot = (hash ^ (hash >> 31)) & mask;
    while (table->lane_slots[slot] != 0) {
        const struct call_lane *lane = &table->lanes[table->lane_slots[slot] - 1];
        if (lane->name == name && lane->process_id == process_id && lane->thread_id == thread_id)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Makes twice as many slots, and space for half as many lanes. */
static bool lanes_grow(struct call_table *table)
{
    size_t n_slots = table->n_slots ? table->n_slots * 2 : 64;
    size_t capacity = n_slots / 2;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots || capacity >= UINT32_MAX || !ARRAY_RESIZE(table->lanes, capacity)) {
        free(slots);
        return false;
    }
    free(table->lane_slots);
    table->lane_slots = slots;
    table->n_slots = n_slots;
    for (size_t i = 0; i < table->n_lanes; i++) {
        const struct call_lane *lane = &table->lanes[i];
        slots[lane_slot(table, lane->name, lane->process_id, lane->thread_id)] = (uint32_t)i + 1;
    }
    return true;
}

/* The lane of a mark, created with its first mark; NULL without memory. */
static struct call_lane *lane_of(struct call_table *table, const struct sub_tracking_mark *row)
{
    int64_t thread_id = table->by_thread ? row->thread_id : SUB_TRACKING_UNKNOWN;
    if (table->n_lanes == table->n_slots / 2 && !lanes_grow(table))
        return NULL;
    size_t slot = lane_slot(table, row->name, row->process_id, thread_id);
    if (table->lane_slots[slot] == 0) {
        struct exact_figures *exact = table->exact ? exact_figures_create(table->each_call) : NULL;
        if (table->exact && !exact)
            return NULL;
        table->lanes[table->n_lanes] = (struct call_lane){
            .process_id = row->process_id,
            .thread_id = thread_id,
            .name = row->name,
            .exact = exact,
        };
        table->lane_slots[slot] = (uint32_t)++table->n_lanes;
    }
    return &table->lanes[table->lane_slots[slot] - 1];
}

/* Adds a mark to a lane, whose space grows by a quarter. */
static bool lane_add_mark(
    struct call_lane *lane, double time, uint8_t position, const double *started)
{
    if (lane->count == lane->capacity) {
        size_t capacity = lane->capacity + lane->capacity / 4 + 4;
        if (!ARRAY_RESIZE(lane->times, capacity) || !ARRAY_RESIZE(lane->positions, capacity) ||
            (started && !ARRAY_RESIZE(lane->started, capacity)))
            return false;
        lane->capacity = capacity;
    }
    lane->times[lane->count] = time;
    if (started)
        lane->started[lane->count] = *started;
    lane->positions[lane->count++] = position;
    return true;
}

static double time_of_ns(const struct call_table *table, int64_t ns)
{
    if (!table->whole_ns)
        return sub_tracking_seconds_of_ns(ns);
    int64_t seconds = ns / NS - (int64_t)table->origin;
    return (double)seconds + (double)(ns % NS) / NS;
}

int call_table_add(struct call_table *table, const struct sub_tracking_mark *rows, size_t count,
    struct gput_error *error)
{
    for (size_t i = 0; i < count; i++) {
        /* Times of whole nanoseconds are relative to the first, so that they keep their digits. */
        const struct sub_tracking_mark *row = &rows[i];
        if (table->whole_ns && table->n_lanes == 0)
            table->origin = (double)(row->timestamp_ns / NS);
        double time = table->whole_ns ? time_of_ns(table, row->timestamp_ns) : row->timestamp;
        bool has_start =
            row->position == SUB_TRACKING_STOP && row->started_ns != SUB_TRACKING_UNKNOWN;
        double started = has_start ? time_of_ns(table, row->started_ns) : NAN;
        if (!isfinite(time))
            return error_set(error, GPUT_ERROR_FORMAT,
                "Sub-tracking file is invalid. A timestamp of code block \"%s\" is not a number.",
                sub_tracking_names_text(table->names, row->name));
        struct call_lane *lane = lane_of(table, row);
        if (!lane || !lane_add_mark(lane, time, row->position, table->has_starts ? &started : NULL))
            return error_memory(error);
        if (table->exact)
            TRY(exact_figures_add_mark(lane->exact, row, time, started, error));
    }
    return GPUT_OK;
}

/* Sorts lanes by block, then by rank, process and thread. */
static int compare_lanes(const void *left, const void *right)
{
    const struct call_lane *a = left, *b = right;
    ORDER_BY(a->block, b->block);
    ORDER_BY(a->rank, b->rank);
    ORDER_BY(a->process_id, b->process_id);
    return ORDER(a->thread_id, b->thread_id);
}

static int compare_names(const void *left, const void *right, void *context)
{
    const struct sub_tracking_names *names = context;
    return strcmp(sub_tracking_names_text(names, *(const uint32_t *)left),
        sub_tracking_names_text(names, *(const uint32_t *)right));
}

/* Sorts the names that have marks, and sets the block number of each lane. */
static int number_blocks(struct call_table *table, struct gput_error *error)
{
    uint32_t n_names = sub_tracking_names_count(table->names);
    CLEANUP_FREE uint32_t *rank = malloc((n_names + (size_t)1) * sizeof *rank);
    table->block_names = malloc((n_names + (size_t)1) * sizeof *table->block_names);
    if (!rank || !table->block_names)
        return error_memory(error);
    memset(rank, 0xFF, n_names * sizeof *rank);
    for (size_t i = 0; i < table->n_lanes; i++) {
        uint32_t name = table->lanes[i].name;
        if (rank[name] == UINT32_MAX) {
            rank[name] = 0;
            table->block_names[table->n_blocks++] = name;
        }
    }
    qsort_r(table->block_names, table->n_blocks, sizeof *table->block_names, compare_names,
        (void *)table->names);
    for (size_t i = 0; i < table->n_blocks; i++)
        rank[table->block_names[i]] = (uint32_t)i;
    for (size_t i = 0; i < table->n_lanes; i++)
        table->lanes[i].block = rank[table->lanes[i].name];
    return GPUT_OK;
}

/* Sorts lanes by process and thread. */
static int compare_tracks(const void *left, const void *right, void *context)
{
    const struct call_lane *lanes = context;
    const struct call_lane *a = &lanes[*(const uint32_t *)left];
    const struct call_lane *b = &lanes[*(const uint32_t *)right];
    ORDER_BY(a->process_id, b->process_id);
    return ORDER(a->thread_id, b->thread_id);
}

/* Gives lanes of one process (and thread) one number. */
static int number_tracks(struct call_table *table, struct gput_error *error)
{
    CLEANUP_FREE uint32_t *order = malloc((table->n_lanes + 1) * sizeof *order);
    if (!order)
        return error_memory(error);
    for (size_t i = 0; i < table->n_lanes; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, table->n_lanes, sizeof *order, compare_tracks, table->lanes);
    for (size_t i = 0; i < table->n_lanes; i++) {
        if (i > 0 && compare_tracks(&order[i - 1], &order[i], table->lanes) != 0)
            table->n_tracks++;
        table->lanes[order[i]].track = (uint32_t)table->n_tracks;
    }
    table->n_tracks += table->n_lanes > 0;
    return GPUT_OK;
}

int call_compare(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    ORDER_BY(a->start, b->start);
    ORDER_BY(b->stop, a->stop); /* the outer of two that start together */
    return ORDER(a->lane, b->lane);
}

/* Sorts calls by their start, unless they are in that order. */
static void sort_calls(struct call *calls, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (call_compare(&calls[i - 1], &calls[i]) > 0) {
            qsort(calls, count, sizeof *calls, call_compare);
            return;
        }
    }
}

/* Pairs calls of one block in one process that stopped in another thread than they started in: the
 * open starts of its lanes are gathered, and stops without one find theirs there. */
static int pair_unmatched_stops(struct call_lane *lanes, size_t count, struct gput_error *error)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= exact_figures_have_unmatched_stops(lanes[i].exact);
    if (!any)
        return GPUT_OK;
    struct exact_figures *all = exact_figures_create(false);
    int code = all ? GPUT_OK : error_memory(error);
    for (size_t i = 0; i < count && code == GPUT_OK; i++)
        code = exact_figures_add_open(all, lanes[i].exact, error);
    for (size_t i = 0; i < count && code == GPUT_OK; i++)
        code = exact_figures_pair_unmatched_stops(lanes[i].exact, all, error);
    exact_figures_destroy(all);
    return code;
}

/* Pairs the marks of each block, then moves the calls out of the lanes, which frees them. */
int call_table_pair(struct call_table *table, struct gput_error *error)
{
    TRY(number_blocks(table, error));
    for (size_t i = 0; table->ranks && i < table->n_lanes; i++)
        table->lanes[i].rank = sub_tracking_labels_rank(table->ranks, table->lanes[i].process_id);
    if (table->n_lanes > 0)
        qsort(table->lanes, table->n_lanes, sizeof *table->lanes, compare_lanes);
    free(table->lane_slots);
    table->lane_slots = NULL;
    TRY(number_tracks(table, error));
    const struct call_lane *lanes = table->lanes;
    for (size_t first = 0, next; table->exact && first < table->n_lanes; first = next) {
        for (next = first; next < table->n_lanes && lanes[next].block == lanes[first].block &&
                           lanes[next].process_id == lanes[first].process_id;)
            next++;
        TRY(pair_unmatched_stops(&table->lanes[first], next - first, error));
    }
    /* Sort the marks of every lane and pair them up in place: afterwards times[2k] and times[2k +
     * 1] of a lane are start and stop of its call k. */
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

    size_t total = 0;
    for (size_t i = 0; i < table->n_lanes; i++)
        total += table->lanes[i].n_calls;
    table->calls = malloc((total + 1) * sizeof *table->calls);
    if (!table->calls)
        return error_memory(error);
    for (size_t i = 0; i < table->n_lanes; i++) {
        struct call_lane *lane = &table->lanes[i];
        for (size_t k = 0; k < lane->n_calls; k++) {
            table->calls[table->n_calls++] = (struct call){
                .start = lane->times[2 * k], .stop = lane->times[2 * k + 1], .lane = (uint32_t)i};
        }
        lane_free_marks(lane);
    }
    sort_calls(table->calls, table->n_calls);
    sort_calls(table->open, table->n_open);
    return GPUT_OK;
}

int call_table_join_open(struct call_table *table, struct gput_error *error)
{
    if (table->n_open == 0)
        return GPUT_OK;
    size_t count = table->n_calls + table->n_open;
    if (!ARRAY_RESIZE(table->calls, count))
        return error_memory(error);
    memcpy(&table->calls[table->n_calls], table->open, table->n_open * sizeof *table->open);
    table->n_calls = count;
    table->n_open = 0;
    sort_calls(table->calls, table->n_calls);
    return GPUT_OK;
}

int call_table_close_open(struct call_table *table, double end, struct gput_error *error)
{
    table->is_open = calloc(table->n_calls + 1, sizeof *table->is_open);
    if (!table->is_open)
        return error_memory(error);
    for (size_t i = 0; i < table->n_calls; i++) {
        struct call *call = &table->calls[i];
        table->is_open[i] = isinf(call->stop);
        if (table->is_open[i])
            call->stop = fmax(call->start, end);
    }
    return GPUT_OK;
}

bool call_table_warning(
    const struct call_table *table, const char *path, char message[CALL_TABLE_WARNING_SIZE])
{
    if (table->n_backward > 0) {
        bool is_one = table->n_backward == 1;
        snprintf(message, CALL_TABLE_WARNING_SIZE,
            "Sub-tracking file %.200s: %llu call%s before %s and %s skipped. The system's time was "
            "set back meanwhile; other calls may be off by as much.",
            path, (unsigned long long)table->n_backward, is_one ? " stops" : "s stop",
            is_one ? "it starts" : "they start", is_one ? "was" : "were");
        return true;
    }
    if (table->n_lone > 0) {
        bool is_one = table->n_lone == 1;
        char time[NUMBER_TEXT_SIZE];
        number_format_double(table->origin + table->first_lone.time, time);
        snprintf(message, CALL_TABLE_WARNING_SIZE,
            "Sub-tracking file %.200s: %llu stop%s skipped, because the mark%s of %s not in it; %s "
            "of code block \"%.60s\" of process %lld at %s.",
            path, (unsigned long long)table->n_lone, is_one ? " is" : "s are", is_one ? "" : "s",
            is_one ? "its start is" : "their starts are", is_one ? "it is" : "the first is",
            sub_tracking_names_text(table->names, table->first_lone.name),
            (long long)table->first_lone.process_id, time);
        return true;
    }
    if (table->n_doubtful == 0)
        return false;
    snprintf(message, CALL_TABLE_WARNING_SIZE,
        "Sub-tracking file %.200s: calls of one code block overlap within a process (threads or "
        "recursion), and without thread ids %llu of them were paired from two starts or two stops. "
        "Their figures are unreliable.",
        path, (unsigned long long)table->n_doubtful);
    return true;
}

/* ---- Windows ---- */

/* Where a lane has calls. */
enum { INSIDE = 1, OUTSIDE = 2 };

/* Counts a call that is left out, so many seconds before (negative) or after the window. */
static void count(struct call_window_rest *rest, double seconds)
{
    rest->before += seconds < 0;
    rest->after += seconds > 0;
    rest->farthest = fmax(rest->farthest, fabs(seconds));
}

/* Whether something of the process lies inside. */
static bool is_known(const struct call_window *window, const struct call_table *table,
    const unsigned char *places, int64_t pid)
{
    if (pid == window->pid)
        return true;
    for (size_t i = 0; i < table->n_lanes; i++)
        if (places[i] & INSIDE && table->lanes[i].process_id == pid)
            return true;
    return false;
}

/* Keeps the open calls that may reach into the window: those of a process that is known there. */
static void keep_open_calls(const struct call_window *window, struct call_table *table,
    const unsigned char *places, struct call_window_rest *rest)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->n_open; i++) {
        const struct call call = table->open[i];
        double start = table->origin + call.start;
        int64_t pid = table->lanes[call.lane].process_id;
        bool is_before = start < window->from && !is_known(window, table, places, pid);
        double seconds = is_before ? start - window->from : fmax(0, start - window->to);
        if (seconds == 0)
            table->open[kept++] = call;
        else
            count(rest, seconds);
    }
    table->n_open = kept;
}

int call_window_apply(const struct call_window *window, struct call_table *table,
    struct call_window_rest *rest, struct gput_error *error)
{
    *rest = (struct call_window_rest){0};
    CLEANUP_FREE unsigned char *places = calloc(table->n_lanes + 1, sizeof *places);
    if (!places)
        return error_memory(error);
    /* Keep the calls that reach into the window, and note which lanes have some. */
    size_t kept = 0;
    for (size_t i = 0; i < table->n_calls; i++) {
        const struct call call = table->calls[i];
        double start = table->origin + call.start, stop = table->origin + call.stop;
        double seconds = start > window->to    ? start - window->to
                         : stop < window->from ? stop - window->from
                                               : 0;
        places[call.lane] |= seconds == 0 ? INSIDE : OUTSIDE;
        if (seconds == 0)
            table->calls[kept++] = call;
        else
            count(rest, seconds);
    }
    table->n_calls = kept;
    keep_open_calls(window, table, places, rest);

    /* Exact figures are sums over all calls of a lane, those outside, too. */
    for (size_t i = 0; table->exact && i < table->n_lanes; i++) {
        struct exact_figures **exact = &table->lanes[i].exact;
        if (places[i] == (INSIDE | OUTSIDE))
            exact_figures_forget(*exact);
        if (places[i] != OUTSIDE)
            continue;
        exact_figures_destroy(*exact);
        *exact = exact_figures_create(table->each_call);
        if (!*exact)
            return error_memory(error);
    }
    return GPUT_OK;
}
