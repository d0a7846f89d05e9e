/*
 * The table gpu_data of a tracking file: curves of each GPU, and the power of all at the same
 * times.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "views/report/document/report_session.h"

#define REPORT_GPU_FIGURES 24

struct report_gpu {
    struct report_column time;
    struct report_column values[REPORT_GPU_FIGURES];
    double before_s, counters_before[REPORT_GPU_FIGURES]; /* the row before */
};

struct report_gpus {
    struct report_session *session;
    struct names uuids;      /* by the number of the GPU */
    struct report_gpu *gpus; /* owned */
    uint32_t count;
    struct report_column power_time, power; /* of all together */
    double moment, watts;                   /* of the rows that come; NaN: none yet, not known */
};

void report_gpus_init(struct report_gpus *gpus, struct report_session *session);

/* Adds rows of the table. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_gpus_add(
    struct report_gpus *gpus, const struct gput_table *part, struct gput_error *error);

/* Adds the curves to the session. */
int report_gpus_end(struct report_gpus *gpus, struct gput_error *error);
/* Whether the power of all is among them. */
bool report_gpus_have_power(const struct report_gpus *gpus);
void report_gpus_finish(struct report_gpus *gpus);
