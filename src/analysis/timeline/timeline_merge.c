#include <gputracker/timeline.h>

#include "analysis/timeline/output_file.h"
#include "analysis/timeline/timeline_inputs.h"
#include "base/array.h"
#include "base/file.h"
#include "base/file_target.h"
#include "base/nearest.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/text.h"
#include "files/results/results_read.h"
#include "files/trace/trace_root.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MEMORY (192u << 20)
#define PYTHON_TIMELINE "pythontimeline.json"

enum input_kind { INPUT_ROOT, INPUT_FRAMEWORK_FILE, INPUT_TRACE, INPUT_SESSION };

struct input {
    enum input_kind kind;
    char *path;
    const char *suffix; /* suffix of a file of framework events; NULL: of another kind */
};

struct merge {
    const struct gput_timeline_options *options;
    struct input *inputs;
    size_t n_inputs;
    struct trace_clock *clocks; /* one for each input */
    uint64_t bytes;             /* size of the inputs that are files */
    char folder[4096];          /* folder of the output */
    struct timeline timeline;
    struct timeline_inputs adding;
};

static const struct gput_timeline_options default_options = {
    .size = sizeof default_options,
    .low_dimension = DEFAULT_LOW_METRIC,
    .low_threshold = 85,
    .unit = GPUT_TIMELINE_TIME,
    .start = INT64_MIN,
    .end = INT64_MAX,
};

static bool has_start(const struct gput_timeline_options *options)
{
    return options->start != INT64_MIN;
}

static bool has_end(const struct gput_timeline_options *options)
{
    return options->end != INT64_MAX;
}

void gput_timeline_options_init(struct gput_timeline_options *options, size_t size)
{
    sized_init(options, size, &default_options, sizeof default_options);
}

static const struct gput_timeline_result nothing = {.size = sizeof nothing};

void gput_timeline_result_init(struct gput_timeline_result *result, size_t size)
{
    sized_init(result, size, &nothing, sizeof nothing);
}

/* Returns the suffix of a file of framework events; NULL: it is none. */
static const char *framework_suffix(const char *path)
{
    for (size_t i = 0; i + 1 < trace_suffix_count; i++) {
        size_t start = strlen(path) - strlen(trace_suffixes[i]);
        if (text_ends_with(path, trace_suffixes[i]) && start > 0 && path[start - 1] == '_')
            return trace_suffixes[i];
    }
    return NULL;
}

/* Adds an input; takes ownership of `path`. */
static int add_input(
    struct merge *merge, enum input_kind kind, char *path, struct gput_error *error)
{
    struct stat info;
    if (!path || !ARRAY_EXTEND(merge->inputs, merge->n_inputs)) {
        free(path);
        return error_memory(error);
    }
    const char *suffix = framework_suffix(path);
    if (kind == INPUT_TRACE && suffix)
        kind = INPUT_FRAMEWORK_FILE;
    if (kind != INPUT_ROOT && stat(path, &info) == 0)
        merge->bytes += (uint64_t)info.st_size;
    merge->inputs[merge->n_inputs++] = (struct input){kind, path, suffix};
    merge->adding.trace_files += kind == INPUT_TRACE;
    return GPUT_OK;
}

/* Whether a file is regular; reading another file of a folder may never end. */
static bool is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Adds the session files of a folder, by name. */
static int add_sessions(struct merge *merge, const char *folder, struct gput_error *error)
{
    struct dirent **entries;
    int code = GPUT_OK, count = scandir(folder, &entries, file_is_visible, file_by_name);
    for (int i = 0; i < count; i++) {
        struct str path = {0};
        str_printf(&path, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
        if (code == GPUT_OK &&
            (path.failed || (is_regular(str_text(&path)) && timeline_is_session(str_text(&path)))))
            code = add_input(merge, INPUT_SESSION, str_steal(&path), error);
        str_finish(&path);
    }
    if (count >= 0)
        free(entries);
    return code;
}

/* Adds all traces of a folder by name, except merged timelines, and its session files. Reports have
 * nothing for a timeline. */
static int add_folder(struct merge *merge, const char *folder, struct gput_error *error)
{
    const struct read_report report = {.warn = merge->options->warn, .user = merge->options->user};
    struct trace_paths found = {0};
    size_t before = merge->n_inputs;
    TRY(add_sessions(merge, folder, error));
    int code = trace_paths_add(&found, folder, &report, error);
    for (size_t i = 0; code == GPUT_OK && i < found.count; i++) {
        if (!results_is_report(found.paths[i]))
            code = add_input(merge, INPUT_TRACE, strdup(found.paths[i]), error);
    }
    trace_paths_finish(&found);
    return code == GPUT_ERROR_FORMAT && merge->n_inputs > before ? GPUT_OK : code;
}

static bool is_session(const char *path)
{
    return text_ends_with(path, ".csv") || text_ends_with(path, ".sqlite") ||
           text_ends_with(path, ".gputblocks");
}

/* Fails because the output is also an input. */
static int refuse_output(const char *path, const char *input, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_INVALID,
        "The output %s is the input %s as well: write to another file", path, input);
}

/* Whether a path is that file, under any name or link. */
static bool is_file(const char *path, const struct stat *file)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_dev == file->st_dev && info.st_ino == file->st_ino;
}

/* Refuses an output that is also an input, under any name or link: writing would destroy the
 * input. */
static int check_output(const struct merge *merge, const char *path, struct gput_error *error)
{
    struct stat output;
    int missing = strcmp(path, "-") == 0 ? fstat(STDOUT_FILENO, &output) : stat(path, &output);
    if (missing || !S_ISREG(output.st_mode))
        return GPUT_OK;
    for (size_t i = 0; i < merge->n_inputs; i++) {
        const struct input *input = merge->inputs + i;
        if (input->kind == INPUT_ROOT) {
            /* Refuse to write to a file of a trace root. */
            struct trace_root root;
            int code = GPUT_OK;
            TRY(trace_root_read(input->path, &root, error));
            for (size_t k = 0; k < root.count && code == GPUT_OK; k++)
                if (is_file(root.files[k].path, &output))
                    code = refuse_output(path, root.files[k].path, error);
            trace_root_finish(&root);
            TRY(code);
        } else if (is_file(input->path, &output))
            return refuse_output(path, input->path, error);
    }
    return GPUT_OK;
}

/* Whether an input is to be read; a search for steps may skip some. */
static bool is_wanted(const struct merge *merge, const struct input *input)
{
    const struct step_search *search = merge->adding.search;
    return !search || !search->suffix || input->kind == INPUT_ROOT ||
           (input->kind == INPUT_FRAMEWORK_FILE && strcmp(input->suffix, search->suffix) == 0);
}

/* Adds the inputs in order, or searches them for steps. */
static int add_inputs(struct merge *merge, struct gput_error *error)
{
    merge->adding.trace_file = 0;
    for (size_t i = 0; i < merge->n_inputs; i++) {
        const struct input *input = merge->inputs + i;
        if (!is_wanted(merge, input))
            continue;
        if (!merge->adding.search) {
            trace_clock_begin(&merge->clocks[i], input->path);
            merge->timeline.clock = &merge->clocks[i];
        }
        char none[] = "";
        struct trace_file file = {
            .kind = TRACE_FILE_EVENTS, .path = input->path, .node = none, .suffix = input->suffix};
        if (input->kind == INPUT_ROOT)
            TRY(timeline_add_root(&merge->adding, input->path, error));
        else if (input->kind == INPUT_FRAMEWORK_FILE)
            TRY(timeline_add_framework_file(&merge->adding, &file, error));
        else if (input->kind == INPUT_SESSION)
            TRY(timeline_add_session(&merge->adding, input->path, error));
        else
            TRY(timeline_add_trace(&merge->adding, input->path, error));
    }
    return GPUT_OK;
}

static bool is_by_step(const struct gput_timeline_options *options)
{
    return options->unit != GPUT_TIMELINE_TIME;
}

/* Fails because the start is after the end. */
static int refuse_order(const struct gput_timeline_options *options, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_INVALID,
        "The start (%s%" PRId64 ") is after the end (%s%" PRId64 ")",
        is_by_step(options) ? "step " : "", options->start, is_by_step(options) ? "step " : "",
        options->end);
}

/* Sets up the reports of progress, of the reading that follows and of the writing after it. */
static void listen(struct merge *merge, double from, double span)
{
    struct read_report *report = &merge->adding.report;
    report->progress = merge->options->progress;
    report->user = merge->options->user;
    report->cores = merge->options->cores;
    report->progress_from = from;
    report->progress_span = span;
    report->bytes_total = merge->bytes;
    merge->timeline.cores = merge->options->cores;
    merge->timeline.progress = merge->options->progress;
    merge->timeline.user = merge->options->user;
    merge->timeline.progress_from = from + span;
}

/* Searches the inputs for steps, in one pass. */
static int search_steps(struct merge *merge, struct step_search *search, struct gput_error *error)
{
    merge->adding.search = search;
    merge->adding.report = (struct read_report){0};
    listen(merge, 0, 1.0 / 3);
    int code = add_inputs(merge, error);
    merge->adding.search = NULL;
    return code;
}

/* Finds the times of the chosen steps. The Python timeline defines when steps begin; in other files
 * a step number may count something else. */
static int find_steps(struct merge *merge, struct gput_error *error)
{
    const struct gput_timeline_options *options = merge->options;
    struct step_search search = {.suffix = PYTHON_TIMELINE,
        .first_step = has_start(options) ? options->start : -1,
        .last_step = has_end(options) ? options->end : -1,
        .is_after_last = has_end(options) && options->unit == GPUT_TIMELINE_WHOLE_STEPS,
        .first_begin_ns = INT64_MAX,
        .last_begin_ns = INT64_MAX,
        .min_step = INT64_MAX,
        .max_step = -1};
    TRY(search_steps(merge, &search, error));
    search.suffix = NULL;
    if (search.max_step < 0)
        TRY(search_steps(merge, &search, error));
    merge->adding.report = (struct read_report){0};
    listen(merge, 1.0 / 3, 1.0 / 3);
    if (has_start(options) && search.first_begin_ns == INT64_MAX)
        return step_search_refuse(&search, options->start, error);
    /* The last step ends at the end of the recording. */
    bool is_to_end = !has_end(options) || (search.is_after_last && options->end == search.max_step);
    if (!is_to_end && search.last_begin_ns == INT64_MAX)
        return step_search_refuse(&search, options->end, error);
    /* Compare start times, not numbers: each phase numbers its steps separately. */
    if (has_start(options) && !is_to_end && search.first_begin_ns > search.last_begin_ns)
        return refuse_order(options, error);
    if (has_start(options))
        merge->timeline.start_ns = search.first_begin_ns;
    if (!is_to_end)
        merge->timeline.end_ns = search.last_begin_ns - 1000;
    return GPUT_OK;
}

/* Converts to nanoseconds. If that overflows, returns the nearest limit. */
static int64_t ns_of_us(int64_t us)
{
    int64_t ns;
    if (__builtin_mul_overflow(us, 1000, &ns))
        return us < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

/* Returns the folder of a path, or with `itself` the path itself if it is a folder. */
static void folder_of(const char *path, bool itself, char *folder, size_t size)
{
    struct stat info;
    snprintf(folder, size, "%s", path);
    if (itself && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return;
    char *slash = strrchr(folder, '/');
    if (!slash)
        snprintf(folder, size, ".");
    else
        slash[slash == folder] = '\0';
}

/* Finds the folder for temporary files. */
static int find_folder(struct merge *merge, struct gput_error *error)
{
    const struct gput_timeline_options *options = merge->options;
    char *target;
    if (options->output && output_file_is_straight(options->output)) {
        snprintf(merge->folder, sizeof merge->folder, "/var/tmp");
    } else if (options->output) {
        TRY(file_target(options->output, &target, error));
        folder_of(target, false, merge->folder, sizeof merge->folder);
        free(target);
    } else if (options->output_folder) {
        snprintf(merge->folder, sizeof merge->folder, "%s", options->output_folder);
    } else {
        folder_of(options->inputs[0], true, merge->folder, sizeof merge->folder);
    }
    return GPUT_OK;
}

/* Writes the timeline, and sets the result. */
static int write_merged(
    struct merge *merge, struct gput_timeline_result *result, struct gput_error *error)
{
    const struct timeline *timeline = &merge->timeline;
    const struct read_report *report = &merge->adding.report;
    struct gput_timeline_result made = {.files = report->files,
        .slices = timeline->slices,
        .counters = timeline->counters,
        .others = timeline->others,
        .left_out = timeline->left_out,
        .damaged = report->damaged,
        .truncated = report->truncated,
        .unusable = report->unusable,
        .start_us = timeline->first_ns / 1000,
        .end_us = timeline->last_ns / 1000};
    if (timeline->slices + timeline->counters + timeline->others == 0) {
        /* Explain why there is nothing to merge. */
        const char *const beginning = "There is nothing to merge: ";
        uint64_t left_out = merge->timeline.left_out, unusable = merge->adding.report.unusable;
        if (left_out > 0)
            return error_set(error, GPUT_ERROR_NOT_FOUND,
                "%sall %" PRIu64 " events are outside of the selection", beginning, left_out);
        if (unusable > 0)
            return error_set(error, GPUT_ERROR_NOT_FOUND,
                "%s%" PRIu64 " event%s a time, a duration or %s other end", beginning, unusable,
                unusable == 1 ? " lacks" : "s lack", unusable == 1 ? "its" : "their");
        return error_set(error, GPUT_ERROR_NOT_FOUND, "%sno events were found", beginning);
    }

    /* Name the file "<end, us>_<node>_merged_timeline.json"; the node is "all" if there are
     * several. */
    size_t size = sizeof made.path;
    const struct gput_timeline_options *options = merge->options;
    const struct names *sources = &merge->adding.sources;
    const char *node = options->node         ? options->node
                       : sources->count == 1 ? names_text(sources, 0)
                                             : "all";
    int64_t end_us = merge->timeline.end_ns == INT64_MAX ? merge->timeline.last_ns / 1000
                                                         : merge->timeline.end_ns / 1000;
    if (strrchr(node, '/'))
        node = strrchr(node, '/') + 1;
    if (options->output)
        snprintf(made.path, size, "%s", options->output);
    else
        snprintf(made.path, size, "%.3800s/%" PRId64 "_%.200s" MERGED_SUFFIX, merge->folder, end_us,
            node[0] ? node : "all");

    TRY(check_output(merge, made.path, error));
    TRY(timeline_write_json(&merge->timeline, made.path, error));
    if (result)
        sized_write(result, &made, sizeof made);
    return GPUT_OK;
}

/* Lists the inputs, adds them on one clock, and writes the timeline. */
static int merge_inputs(
    struct merge *merge, struct gput_timeline_result *result, struct gput_error *error)
{
    for (size_t i = 0; i < merge->options->n_inputs; i++) {
        const char *path = merge->options->inputs[i];
        struct stat info;
        if (stat(path, &info) != 0)
            return error_set_errno(error, errno, "Cannot open %s", path);
        if (!S_ISDIR(info.st_mode) && is_session(path))
            TRY(add_input(merge, INPUT_SESSION, strdup(path), error));
        else if (!S_ISDIR(info.st_mode))
            TRY(add_input(merge, INPUT_TRACE, strdup(path), error));
        else if (trace_root_is(path))
            TRY(add_input(merge, INPUT_ROOT, strdup(path), error));
        else
            TRY(add_folder(merge, path, error));
    }

    if (merge->options->output)
        TRY(check_output(merge, merge->options->output, error));
    merge->clocks = calloc(merge->n_inputs + 1, sizeof *merge->clocks);
    if (!merge->clocks)
        return error_memory(error);

    /* Set the selection of steps or times. */
    const struct gput_timeline_options *options = merge->options;
    struct timeline *timeline = &merge->timeline;
    merge->adding.choice = (struct trace_choice){.start_us = INT64_MIN,
        .end_us = INT64_MAX,
        .suffixes = options->suffixes,
        .n_suffixes = options->n_suffixes};
    listen(merge, 0, 0.5);
    if (is_by_step(options) && (has_start(options) || has_end(options)))
        TRY(find_steps(merge, error));
    if (options->unit == GPUT_TIMELINE_TIME && has_start(options))
        timeline->start_ns = ns_of_us(options->start);
    if (options->unit == GPUT_TIMELINE_TIME && has_end(options))
        timeline->end_ns = ns_of_us(options->end);
    if (timeline->start_ns != INT64_MIN)
        merge->adding.choice.start_us = timeline->start_ns / 1000;
    if (timeline->end_ns != INT64_MAX)
        merge->adding.choice.end_us = timeline->end_ns / 1000;
    merge->adding.report.warn = options->warn;
    merge->adding.low = (struct low_marks){options->low_dimension, options->low_threshold};
    merge->adding.without_readings = options->without_readings;

    TRY(add_inputs(merge, error));
    trace_clocks_warn(merge->clocks, merge->n_inputs, &merge->adding.report);
    return write_merged(merge, result, error);
}

int gput_timeline_merge(const struct gput_timeline_options *given,
    struct gput_timeline_result *result, struct gput_error *error)
{
    struct gput_timeline_options options = default_options;
    struct merge merge = {.options = &options};
    TRY(sized_read(&options, sizeof options, given, error));

    /* Refuse options that contradict each other. */
    if (options.n_inputs == 0)
        return error_set(error, GPUT_ERROR_INVALID, "There is nothing to merge: name an input");
    if (options.unit == GPUT_TIMELINE_TIME && has_start(&options) && has_end(&options) &&
        options.start > options.end)
        return refuse_order(&options, error);
    for (size_t i = 0; i < options.n_suffixes; i++) {
        if (!text_is_among(options.suffixes[i], trace_suffixes, trace_suffix_count))
            return nearest_refuse(
                "horovod_timeline.json, model_timeline.json, pythontimeline.json, "
                "smdataparallel_timeline.json, trace.json.gz",
                options.suffixes[i], "suffix", error);
    }

    TRY(find_folder(&merge, error));
    size_t memory = options.memory_bytes ? options.memory_bytes : DEFAULT_MEMORY;
    int code = timeline_init(&merge.timeline, merge.folder, memory, error);
    merge.adding.timeline = &merge.timeline;
    if (code == GPUT_OK)
        code = merge_inputs(&merge, result, error);
    timeline_finish(&merge.timeline);
    names_finish(&merge.adding.sources);
    for (size_t i = 0; i < merge.n_inputs; i++)
        free(merge.inputs[i].path);
    free(merge.inputs);
    free(merge.clocks);
    return code;
}
