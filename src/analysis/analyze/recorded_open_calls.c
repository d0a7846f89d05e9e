#include "base/array.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "files/marks/open_starts.h"
#include "files/marks/sub_tracking_file.h"

#include <gputracker/recorded.h>

#include <stdlib.h>

#define BATCH 256

/* The starts of one block in one thread that have no stop so far. */
struct open_lane {
    int64_t process_id, thread_id;
    uint32_t name;
    uint32_t next; /* with the same hash: index + 1 */
    struct open_starts starts;
};

struct open_calls {
    struct open_lane *lanes; /* owned */
    uint32_t count, capacity;
    uint32_t *slots; /* owned; index + 1 of the first lane, 0: none */
    uint32_t n_slots;
};

static uint32_t *slot_of(
    const struct open_calls *calls, int64_t process_id, int64_t thread_id, uint32_t name)
{
    uint64_t hash = (uint64_t)process_id * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (uint64_t)thread_id) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ name) * UINT64_C(0x9E3779B97F4A7C15);
    return &calls->slots[(hash >> 32) % calls->n_slots];
}

/* Makes as many slots as there may be lanes. */
static bool grow(struct open_calls *calls)
{
    uint32_t n_slots = calls->n_slots ? calls->n_slots * 2 : 64;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots || !ARRAY_RESIZE(calls->lanes, n_slots)) {
        free(slots);
        return false;
    }
    struct open_lane *lanes = calls->lanes;
    free(calls->slots);
    calls->slots = slots;
    calls->capacity = calls->n_slots = n_slots;
    for (uint32_t i = 0; i < calls->count; i++) {
        uint32_t *slot = slot_of(calls, lanes[i].process_id, lanes[i].thread_id, lanes[i].name);
        lanes[i].next = *slot;
        *slot = i + 1;
    }
    return true;
}

/* The lane of a mark, which is added when it is new. NULL without memory. */
static struct open_lane *lane_of(struct open_calls *calls, const struct sub_tracking_mark *mark)
{
    if (calls->count == calls->capacity && !grow(calls))
        return NULL;
    uint32_t *slot = slot_of(calls, mark->process_id, mark->thread_id, mark->name);
    for (uint32_t i = *slot; i != 0; i = calls->lanes[i - 1].next) {
        struct open_lane *lane = &calls->lanes[i - 1];
        if (lane->process_id == mark->process_id && lane->thread_id == mark->thread_id &&
            lane->name == mark->name)
            return lane;
    }
    struct open_lane *lane = &calls->lanes[calls->count++];
    *lane = (struct open_lane){.process_id = mark->process_id,
        .thread_id = mark->thread_id,
        .name = mark->name,
        .next = *slot};
    *slot = calls->count;
    return lane;
}

/* Opens or closes a call by a mark. A stop with a recorded start may come from another thread, and
 * one without a start is skipped. False without memory. */
static bool add_mark(struct open_calls *calls, const struct sub_tracking_mark *mark)
{
    int64_t time;
    struct open_lane *lane = lane_of(calls, mark);
    if (!lane)
        return false;
    if (mark->position == SUB_TRACKING_START)
        return open_starts_push(&lane->starts, mark->timestamp_ns);
    if (mark->started_ns == SUB_TRACKING_UNKNOWN) {
        open_starts_pop_latest(&lane->starts, &time);
        return true;
    }
    bool is_found = open_starts_pop(&lane->starts, mark->started_ns);
    for (uint32_t i = 0; i < calls->count && !is_found; i++) {
        struct open_lane *other = &calls->lanes[i];
        is_found = other->process_id == mark->process_id && other->name == mark->name &&
                   open_starts_pop(&other->starts, mark->started_ns);
    }
    return true;
}

static void open_calls_finish(struct open_calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++)
        open_starts_finish(&calls->lanes[i].starts);
    free(calls->lanes);
    free(calls->slots);
}

/* State of reading a file; owned. */
struct reading {
    struct sub_tracking_reader *reader;
    struct sub_tracking_names *names;
    struct gput_tables *tables;
    struct open_calls calls;
};

static void reading_finish(struct reading *reading)
{
    sub_tracking_reader_close(reading->reader);
    sub_tracking_names_destroy(reading->names);
    gput_tables_destroy(reading->tables);
    open_calls_finish(&reading->calls);
}

int gput_recorded_open_calls(
    const char *path, struct gput_tables **tables, struct gput_error *error)
{
    CLEANUP(reading_finish)
    struct reading reading = {.names = sub_tracking_names_create(), .tables = tables_create()};
    *tables = NULL;
    if (!reading.names || !reading.tables)
        return error_memory(error);
    TRY(sub_tracking_reader_salvage(path, reading.names, &reading.reader, error));
    struct sub_tracking_mark marks[BATCH];
    size_t count;
    do {
        TRY(sub_tracking_reader_next(reading.reader, marks, BATCH, &count, error));
        for (size_t i = 0; i < count; i++)
            if (!add_mark(&reading.calls, &marks[i]))
                return error_memory(error);
    } while (count > 0);
    /* Put a row for each call that is open at the end. */
    int64_t time;
    struct gput_table *table = tables_add(reading.tables, "open_calls");
    table_add_columns_of(table, GPUT_COLUMN_INT, "process_id", "thread_id", NULL);
    table_add_column(table, "code_block_name", GPUT_COLUMN_TEXT);
    table_add_column(table, "start", GPUT_COLUMN_DOUBLE);
    table_set_unit(table, "seconds since the epoch");
    for (uint32_t i = 0; i < reading.calls.count; i++) {
        struct open_lane *lane = &reading.calls.lanes[i];
        while (open_starts_pop_latest(&lane->starts, &time)) {
            table_put_int(table, lane->process_id);
            table_put_known(table, lane->thread_id);
            table_put_text(table, sub_tracking_names_text(reading.names, lane->name));
            table_put_double(table, sub_tracking_seconds_of_ns(time));
        }
    }
    return tables_finish_building(STEAL(reading.tables), tables, error);
}
