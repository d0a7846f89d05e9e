/*
 * The views of a training profile. Each makes its tables from a frame.
 */
#pragma once

#include "analysis/training/sagemaker/profile_frame.h"
#include "base/table.h"

#include <gputracker/profile.h>

int profile_job(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);
int profile_steps(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);
int profile_phases(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);
int profile_utilization(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);
int profile_devices(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);
int profile_dataloader(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);
int profile_metrics(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);

int profile_readings(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);
int profile_framework_rows(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);
int profile_events(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);

/* Fails with GPUT_ERROR_INVALID when a wanted name is not that of a resource. */
int profile_check_resources(const struct gput_profile_options *options, struct gput_error *error);

/* Whether an event is of a wanted metric: by its name, the name in its arguments, or its phase. */
bool profile_selects_event(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct framework_row *row);

/* Which events the views keep: intervals of training steps; those that count in steps, as the
 * options group them; those of data loaders. */
bool profile_is_step(const struct profile_frame *frame, const struct gput_profile_options *options,
    const struct framework_row *row);
bool profile_counts_in_steps(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct framework_row *row);
bool profile_is_of_dataloader(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct framework_row *row);

/* The source of the rows, for messages. */
static inline const char *profile_source(const struct gput_profile_options *options)
{
    return options->rows ? "the rows" : options->path;
}

/* Whether the options select a part of the profile by time or step. */
bool profile_is_bounded(const struct gput_profile_options *options);

/* Sets the error of a view that has nothing to show: "There are no WHAT in …". */
int profile_nothing(
    const struct gput_profile_options *options, const char *what, struct gput_error *error);

/* Writes a moment as "2020-09-13T12:26:40:000000", UTC, as SageMaker's tool does. */
void profile_put_moment(struct gput_table *table, int64_t time_us);

/* An interval of one training phase, or before, between or after phases. */
struct phase_interval {
    int64_t start_us;
    int64_t end_us;
    uint32_t name; /* in `names` of the intervals, numbered in order of time */
};

struct phase_intervals {
    struct names names;
    struct phase_interval *intervals; /* in order of time */
    size_t count;
};

/* Makes the intervals of the wanted phases. Call phase_intervals_finish() also after a failure. */
int phase_intervals_make(struct profile_frame *frame, const struct gput_profile_options *options,
    struct phase_intervals *intervals, struct gput_error *error);
void phase_intervals_finish(struct phase_intervals *intervals);
