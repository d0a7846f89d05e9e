/*
 * Functions with their calls, times and callers, as cProfile counted them, of one dump or the sum
 * of several.
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
    int64_t primitive_calls; /* calls that are not recursive */
    int64_t total_calls;
    double total_seconds;      /* in the function itself */
    double cumulative_seconds; /* in the function and all that it called */
};

struct caller {
    uint32_t function;
    struct call_counts counts;
};

struct profiled_function {
    uint32_t file; /* texts in `names` */
    uint32_t name;
    int64_t line;
    bool counted;   /* false: only known as a caller */
    uint32_t order; /* number of functions counted before it */
    struct call_counts counts;
    struct caller *callers; /* owned */
    size_t caller_count;
};

struct cprofile {
    struct names names;
    struct names keys;                   /* "file
                                          *
                                          * line
                                          *
                                          * name", by index of the function */
    struct profiled_function *functions; /* in the order of the dumps */
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

/* Adds a dump ("python_stats", any ".prof"). `name` is used in messages. If it is no dump, the
 * profile is unchanged. */
int cprofile_add(struct cprofile *profile, const void *bytes, size_t length, const char *name,
    struct gput_error *error);

/* Prints the first `limit` functions exactly as pstats does. */
int cprofile_print(const struct cprofile *profile, enum cprofile_order order, size_t limit,
    struct str *text, struct gput_error *error);

/* Adds the same as a table, with callers. */
int cprofile_put(const struct cprofile *profile, enum cprofile_order order, size_t limit,
    struct gput_tables *tables, struct gput_error *error);

/* Appends "file:line(name)" of a function, as pstats does. */
void cprofile_append_name(const struct cprofile *profile, uint32_t function, struct str *text);

/* Adds the whole profile: the tables "functions" and "callers" of gput_python_function_tables(). */
int cprofile_put_all(
    const struct cprofile *profile, struct gput_tables *tables, struct gput_error *error);

void cprofile_finish(struct cprofile *profile);
