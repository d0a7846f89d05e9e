/*
 * The results described once: their columns, by name, unit, source and meaning. The file of results
 * so far, tables and access by name walk over them.
 *
 * Results are one record, and lists: GPUs, sources, limits that were exceeded. A name is the path
 * of a member of struct gput_results ("peaks.main_bytes") or of an item of a list.
 */
#pragma once

#include "model/results.h"

enum results_kind {
    RESULTS_DOUBLE,
    RESULTS_COUNT_32, /* uint32_t */
    RESULTS_COUNT_64, /* uint64_t */
    RESULTS_FLAG,     /* bool */
    RESULTS_TEXT,     /* char array */
    /* Enums, each by its words: */
    RESULTS_RAM_UNIT,
    RESULTS_TIME_UNIT,
    RESULTS_ENERGY_UNIT,
    RESULTS_STATE,
};

/* How reports show a number. */
enum results_shown {
    SHOWN_NUMBER,
    SHOWN_WHOLE,   /* a double without decimals */
    SHOWN_RAM,     /* bytes, in the unit of RAM */
    SHOWN_GPU_RAM, /* bytes, in the unit of GPU RAM; where it is missing it is 0 only without a GPU
                    */
    SHOWN_GPU_PERCENT, /* likewise */
    SHOWN_GPU_COUNT,   /* likewise, without decimals */
    SHOWN_ENERGY,      /* joules, in the unit of energy */
    SHOWN_TIME,        /* seconds, in the unit of time */
    SHOWN_AT_LEAST,    /* a lower bound, which texts for people say */
    SHOWN_WHOLE_AT_LEAST,
    SHOWN_ENERGY_TOTAL, /* joules; texts for people say what they include */
};

struct results_column {
    struct gput_results_column description;
    enum results_kind kind;
    size_t offset; /* offset in struct gput_results, or in the item of a list */
    size_t size;
    /* The place in reports: section, optionally a part of it, and key, separated by dots; in a
     * list the key alone. NULL: only where a line names the column (model/results_lines.c). */
    const char *path;
    enum results_shown shown;
};

/* A list, or the record itself. */
struct results_list {
    const char *name; /* "results", "gpus", "sources", "limits_passed" */
    const struct results_column *columns;
    size_t n_columns;
    size_t (*count)(const struct gput_results *results);
    /* Returns the item at an index. */
    const void *(*at)(const struct gput_results *results, size_t index);
    /* Adds an item that is all zero. NULL: no space. */
    void *(*add)(struct gput_results *results);
};

/* Returns the record and the lists; the record is first. */
const struct results_list *results_lists(size_t *count);

/* Returns the list of GPUs. */
const struct results_list *results_gpu_list(void);

/* Returns the column of a name, or NULL. `*hint` is the index at which the search begins, and is
 * advanced: names in the order of the columns are found at once. */
const struct results_column *results_column_find(
    const struct results_list *list, const char *name, size_t length, size_t *hint);

/* Returns the value of a column in an item; NaN for a text. */
double results_column_number(const struct results_column *column, const void *item);
/* Returns the text of a column in an item; "" for a number. */
const char *results_column_text(const struct results_column *column, const void *item);

/* Sets the numbers of an item that can be missing to NaN. */
void results_forget_numbers(const struct results_list *list, void *item);
/* Sets the numbers of the record that can be missing to NaN. */
void results_forget(struct gput_results *results);

/* Sets a column of an item. A value that the column cannot have is ignored. */
void results_column_set_number(const struct results_column *column, void *item, double value);
void results_column_set_text(
    const struct results_column *column, void *item, const char *text, size_t length);
