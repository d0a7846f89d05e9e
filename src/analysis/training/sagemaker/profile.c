#include <gputracker/profile.h>

#include "analysis/training/sagemaker/profile_views.h"
#include "analysis/training/sagemaker/step_index.h"

#include "base/sized.h"

#define ROWS_OF_A_PART 10000

typedef int view_function(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);

static const struct {
    view_function *make;
    bool without_system;
    bool without_framework;
    /* Whether an event is kept as a row; NULL: all are. */
    bool (*keeps_event)(const struct profile_frame *frame,
        const struct gput_profile_options *options, const struct framework_row *row);
} views[] = {
    [GPUT_PROFILE_JOB] = {profile_job, false, false, profile_is_step},
    [GPUT_PROFILE_STEPS] = {profile_steps, true, false, profile_counts_in_steps},
    [GPUT_PROFILE_PHASES] = {profile_phases, false, false, profile_is_step},
    [GPUT_PROFILE_UTILIZATION] = {profile_utilization, false, false, profile_is_step},
    [GPUT_PROFILE_DEVICES] = {profile_devices, false, true, NULL},
    [GPUT_PROFILE_DATALOADER] = {profile_dataloader, true, false, profile_is_of_dataloader},
    [GPUT_PROFILE_METRICS] = {profile_metrics, false, false, profile_selects_event},
    [GPUT_PROFILE_READINGS] = {profile_readings, false, true, NULL},
    [GPUT_PROFILE_FRAMEWORK] = {profile_framework_rows, true, false, profile_selects_event},
    [GPUT_PROFILE_EVENTS] = {profile_events, true, false, profile_selects_event},
};

/* Returns the selection of rows that a view needs. */
static struct profile_frame_selection selection_of(
    const struct gput_profile_options *options, enum gput_profile_view view)
{
    struct profile_frame_selection selection = {.start_us = INT64_MIN,
        .end_us = INT64_MAX,
        .without_system =
            views[view].without_system || options->n_moments + options->n_intervals > 0,
        .without_framework = views[view].without_framework ||
                             (view == GPUT_PROFILE_UTILIZATION && !options->by_phase),
        .keeps_event = views[view].keeps_event,
        .options = options};
    if (options->unit == GPUT_TIMELINE_STEP && profile_is_bounded(options)) {
        selection.by_step = true;
        selection.first_step = options->start == INT64_MIN ? 0 : options->start;
        selection.last_step = options->end;
    } else {
        selection.start_us = options->start;
        selection.end_us = options->end;
    }
    return selection;
}

static const struct gput_profile_options default_options = {
    .size = sizeof default_options, .start = INT64_MIN, .end = INT64_MAX};

void gput_profile_options_init(struct gput_profile_options *options, size_t size)
{
    sized_init(options, size, &default_options, sizeof default_options);
}

/* Returns the replacements of texts: names and values are those of SageMaker's library. Views of
 * raw rows keep the full names, which --metric takes. */
static const struct table_words *words_of(enum gput_profile_view view)
{
    static const struct table_words words = {"Step:ModeKeys.", "NA"}, of_rows = {NULL, "NA"};
    return view >= GPUT_PROFILE_METRICS ? &of_rows : &words;
}

int gput_profile_tables(enum gput_profile_view view, const struct gput_profile_options *given,
    struct gput_tables **tables, struct gput_error *error)
{
    struct gput_profile_options options = default_options;
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    if ((size_t)view >= sizeof views / sizeof *views)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such view of a profile");

    /* Refuse options that contradict each other. */
    if (!options.path && !options.rows)
        return error_set(error, GPUT_ERROR_INVALID, "Name the folder of the training profile");
    if (options.start > options.end)
        return error_set(error, GPUT_ERROR_INVALID, "The start (%lld) is after the end (%lld)",
            (long long)options.start, (long long)options.end);
    TRY(profile_check_resources(&options, error));

    struct profile_frame_selection selection = selection_of(&options, view);
    struct read_report report = {.cores = options.cores,
        .warn = options.warn,
        .progress = options.progress,
        .progress_span = 1,
        .user = options.user};
    struct profile_frame frame;
    TRY(profile_frame_read(&selection, &frame, &report, error));
    struct gput_tables *made = tables_create();
    tables_set_words(made, words_of(view));
    if (made && options.receive)
        tables_set_receiver(made, ROWS_OF_A_PART, options.receive, options.user);
    int code = made ? views[view].make(&frame, &options, made, error) : error_memory(error);
    profile_frame_finish(&frame);
    if (code != GPUT_OK) {
        gput_tables_destroy(made);
        return code;
    }
    return tables_finish_building(made, tables, error);
}

int gput_profile_start(const char *path, int64_t *start_us, struct gput_error *error)
{
    struct trace_root root;
    *start_us = 0;
    TRY(trace_root_read(path, &root, error));
    if (root.count > 0 && root.files[0].kind == TRACE_FILE_SYSTEM)
        *start_us = root.files[0].time_us;
    trace_root_finish(&root);
    return GPUT_OK;
}

/* Finds the step of each row of a program. */
static int assign_steps(struct profile_frame *frame, const struct gput_profile_rows *rows,
    struct step_index *index, int64_t *steps, struct gput_error *error)
{
    struct framework_row row;
    struct step step;
    for (size_t i = 0; i < rows->n_events; i++) {
        TRY(profile_frame_add(frame, rows->events + i, &row, error));
        TRY(step_index_add(index, frame, &row, error));
    }
    TRY(step_index_sort(index, error));
    for (size_t i = 0; i < rows->n_events; i++) {
        TRY(profile_frame_add(frame, rows->events + i, &row, error));
        steps[i] = row.step;
        if (row.step == -1 && step_index_find(index, frame, &row, &step))
            steps[i] = step.number;
    }
    return GPUT_OK;
}

int gput_profile_assign_steps(
    const struct gput_profile_rows *rows, int64_t *steps, struct gput_error *error)
{
    struct profile_frame frame = {0}; /* only its names are used */
    struct step_index index = {0};
    int code = assign_steps(&frame, rows, &index, steps, error);
    step_index_finish(&index);
    profile_frame_finish(&frame);
    return code;
}
