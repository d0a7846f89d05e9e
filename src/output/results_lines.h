/*
 * The table of the lines of a report: what is written as a document (results_doc.h) and read back
 * from one.
 */
#ifndef OUTPUT_RESULTS_LINES_H
#define OUTPUT_RESULTS_LINES_H

#include "model/results.h"

#include <stdbool.h>
#include <stddef.h>

/* What stands in a line of the report. */
enum results_line_kind {
    SECTION, /* the deeper lines that follow are in it */
    RAM_UNIT,
    GPU_RAM_UNIT,
    TIME_UNIT,
    RAM,     /* double, bytes; shown in the RAM unit */
    GPU_RAM, /* likewise in the GPU RAM unit; is not 0 where it is missing, but for lack of a GPU */
    GPU_PERCENT, /* double, likewise */
    ENERGY_UNIT,
    ENERGY,           /* double, joules; shown in the energy unit */
    TIME,             /* double, seconds; shown in the time unit */
    NUMBER,           /* double */
    WHOLE,            /* double, shown as a whole number */
    COUNT_32,         /* uint32_t */
    COUNT_64,         /* uint64_t */
    FLAG,             /* bool */
    TEXT,             /* char array */
    CAPTURED_PERCENT, /* what samples saw of the CPU time that the kernel counted */
    PASSED_LIMIT,     /* bytes or seconds, as the kind of limit has it */
    LATER_LIMITS,     /* an array with an object for each */
    GPUS,             /* an array with an object for each GPU */
    SOURCES,          /* an object for each source */
};

struct results_line {
    int level;
    const char *key; /* its label in text is made from it */
    enum results_line_kind kind;
    bool documented; /* by the seeds: a figure that this machine does not have is 0, not null (of
                        GPUs, only where there is none: their figures are 0 then) */
    size_t offset;   /* of the value in struct gput_results */
    bool (*applies)(const struct gput_results *results); /* of a section; NULL: always */
    size_t size;                                         /* of a text */
};

/* Levels are 0 to RESULTS_LINE_LEVELS - 1. */
#define RESULTS_LINE_LEVELS 3

extern const struct results_line results_lines[];
extern const size_t results_line_count;

#endif
