/*
 * Marks written as text, for tests: "a 7 0 1.5" is block, process, position, time; a fifth figure
 * is a thread, and "@1" after it the start that a stop names; marks are separated by semicolons.
 */
#pragma once

#include "analysis/analyze/call_table.h"
#include "testing.h"

#include <string.h>

struct marked_calls {
    struct sub_tracking_names *names;
    struct call_table table;
    struct gput_error error;
};

/* Adds the marks; what is left is to pair them up. */
static inline void add_marks(struct marked_calls *marked, const char *text, bool threads)
{
    memset(marked, 0, sizeof *marked);
    marked->names = sub_tracking_names_create();
    call_table_init(&marked->table, marked->names,
        threads ? SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS : 0, false, false);
    while (*text) {
        char name[32];
        int position, used;
        long long process_id, thread_id = SUB_TRACKING_UNKNOWN;
        double started;
        struct sub_tracking_mark row = {.started_ns = SUB_TRACKING_UNKNOWN};
        sscanf(text, " %31s %lld %d %lf%n", name, &process_id, &position, &row.timestamp, &used);
        text += used;
        if (threads) {
            sscanf(text, " %lld%n", &thread_id, &used);
            text += used;
        }
        if (sscanf(text, " @%lf%n", &started, &used) == 1) {
            row.started_ns = (int64_t)(started * 1e9);
            text += used;
        }
        text += *text == ';';
        row.process_id = process_id;
        row.thread_id = thread_id;
        row.position = (uint8_t)position;
        row.name = sub_tracking_names_add(marked->names, name, strlen(name));
        assert_int_equal(call_table_add(&marked->table, &row, 1, &marked->error), GPUT_OK);
    }
}

/* Adds the marks, of which some are missing or not, and pairs them up; returns the code of that. */
static inline int pair_marks_of(
    struct marked_calls *marked, const char *text, bool threads, bool has_lost)
{
    add_marks(marked, text, threads);
    marked->table.keep_open = true;
    marked->table.has_lost = has_lost;
    return call_table_pair(&marked->table, &marked->error);
}

static inline int pair_marks(struct marked_calls *marked, const char *text, bool threads)
{
    return pair_marks_of(marked, text, threads, false);
}

static inline void forget_calls(struct marked_calls *marked)
{
    call_table_finish(&marked->table);
    sub_tracking_names_destroy(marked->names);
}
