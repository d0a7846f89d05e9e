/*
 * The lines of a report: what is written as a document (views/output/results_doc.h) and read back
 * from one (files/results/results_read_json.h).
 *
 * A line shows a column of the results (results_columns.h) at a path. First those that name their
 * column (results_lines.c): all of the sections that the older gpu_tracker has, and measurements.
 * Then the columns that name a path, in their order.
 */
#pragma once

#include "model/results_columns.h"

#include <stdbool.h>
#include <stddef.h>

/* The unit that the first line of a section names. */
enum results_unit { NO_UNIT, RAM_UNIT, GPU_RAM_UNIT, TIME_UNIT, ENERGY_UNIT, RESULTS_UNITS };

struct results_section {
    const char *key;
    enum results_unit unit;
    bool is_in_older; /* the older gpu_tracker has this section: figures of GPUs are 0, not null, on
                         a machine without a GPU */
    bool (*applies)(const struct gput_results *results); /* NULL: always */
};

struct results_line {
    const struct results_section *section;
    const char
        *part; /* the object within the section that it belongs to; NULL: the section itself */
    size_t part_length;
    const char *key;
    const struct results_column *column;
    enum results_shown shown;
};

/* The sections, in the order of a report. */
#define RESULTS_SECTION_COUNT 21
extern const struct results_section results_sections[RESULTS_SECTION_COUNT];

/* Calls `visit` with each line of a section. */
void results_lines_visit(const struct results_section *section,
    void (*visit)(void *user, const struct results_line *line), void *user);

/* Returns how the value of a limit is shown. */
enum results_shown results_limit_shown(const char *kind_name);

/* Convert a figure to the unit in which it is shown, and back to the base unit. */
double results_to_shown(const struct gput_results *results, enum results_shown shown, double value);
double results_from_shown(
    const struct gput_results *results, enum results_shown shown, double value);
