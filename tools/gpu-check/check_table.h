/* The rows of a check: what was compared, and whether it agrees. Written as Markdown for
 * docs/gpu-check.md, and as JSON. */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

/* Rows are added by one thread; another may write what is there, or add a last row. */
struct check_table {
    pthread_mutex_t lock;
    json_t *rows; /* an array; each row an object, as check_table_write() prints it */
    const char *trial;
    int n_compared, n_different, n_skipped;
};

void check_table_init(struct check_table *table);
void check_table_finish(struct check_table *table);

/* Rows that are added from now on belong to that trial; the string stays the caller's. */
void check_table_begin(struct check_table *table, const char *trial);

/*
 * A figure of gpu-tracker next to the truth (what the program did) and the driver's answer; NaN:
 * there is none. It agrees if it is within the tolerance, in the unit, of the truth, or of the
 * driver's where there is no truth. Where neither gpu-tracker nor the driver has it, the row is
 * skipped.
 */
struct check_figure {
    const char *figure, *unit;
    double truth, ours, reference, tolerance;
    bool is_timed; /* made of samples that have to be in time: see check_compare() */
};
void check_table_compare(struct check_table *table, struct check_figure figure);

/* Bounds agree if the truth lies between them; at_most NaN: there is no upper one. */
void check_table_bounds(
    struct check_table *table, struct check_figure figure, double at_least, double at_most);

/* A statement that holds, or does not. */
void check_table_state(struct check_table *table, const char *figure, bool holds, const char *note);

/* A measurement without a verdict. */
void check_table_note(
    struct check_table *table, const char *figure, const char *unit, double value);

/* What could not be tried here, and why. */
void check_table_skip(struct check_table *table, const char *figure, const char *why);

/* A figure that was missed for a reason of the machine's. */
void check_table_skip_missed(
    struct check_table *table, struct check_figure figure, const char *why);

/* Writes gpu-check.md and gpu-check.json into that folder, whole or not at all; false: a file could
 * not be written. */
bool check_table_write(struct check_table *table, const char *folder, json_t *machine);
