/*
 * What cProfile counted: functions, their calls and times, and who called them; of one dump or of
 * several added up.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "base/str.h"
#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls and times, of a function or of one of its callers. */
struct call_counts {
    int64_t primitive_calls; /* not by recursion */
    int64_t total_calls;
    double total_seconds;      /* in the function itself */
    double cumulative_seconds; /* and in what it called */
};

struct caller {
    uint32_t function;
    struct call_counts counts;
};

struct profiled_function {
    uint32_t file; /* texts in `names` */
    uint32_t name;
    int64_t line;
    bool counted;   /* false: known as a caller only */
    uint32_t order; /* of the counted ones: how many were counted before */
    struct call_counts counts;
    struct caller *callers; /* owned */
    size_t caller_count;
};

struct cprofile {
    struct names names;
    struct names keys;                   /* "file\nline\nname", by number of the function */
    struct profiled_function *functions; /* in the order in which the dumps have them */
    size_t function_count;
    uint32_t counted;
};

enum cprofile_order {
    CPROFILE_BY_TOTAL_TIME,
    CPROFILE_BY_CUMULATIVE_TIME,
    CPROFILE_BY_PRIMITIVE_CALLS,
    CPROFILE_BY_TOTAL_CALLS,
};

/* An empty profile is all zeroes. */

/* Adds what a dump holds ("python_stats", any ".prof"). `name` is used in messages. What is no
 * dump leaves the profile as it was. */
int cprofile_add(struct cprofile *profile, const void *bytes, size_t length, const char *name,
    struct gput_error *error);

/* The first `limit` functions just as pstats prints them. */
int cprofile_print(const struct cprofile *profile, enum cprofile_order order, size_t limit,
    struct str *text, struct gput_error *error);

/* The same as a table, with callers. */
int cprofile_put(const struct cprofile *profile, enum cprofile_order order, size_t limit,
    struct gput_tables *tables, struct gput_error *error);

/* Appends "file:line(name)" of a function, as pstats does. */
void cprofile_append_name(const struct cprofile *profile, uint32_t function, struct str *text);

/* All of it: the tables "functions" and "callers" of gput_python_function_tables(). */
int cprofile_put_all(
    const struct cprofile *profile, struct gput_tables *tables, struct gput_error *error);

void cprofile_finish(struct cprofile *profile);
