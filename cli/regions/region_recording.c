#include "regions/region_recording.h"

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "common/environment.h"
#include "common/message.h"
#include "output/output_files.h"
#include "regions/region_logs.h"
#include "regions/region_program.h"
#include "regions/region_sources.h"

#include <gputracker/sub_tracking.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- Why regions are missing ---- */

/* Asks why wanted regions were not recorded. */

struct region_question {
    const struct region_sources *sources;
    const char *command;
    const char *folder; /* folder in which its processes left their files */
    bool is_answered;   /* a note already has a reason */
};

/* Notes that no collector left a file: perhaps none could write one. Returns false if the folder is
 * usable. */
static bool note_folder(const char *folder, struct notes *notes)
{
    enum { SMALLEST = 128 * 1024 }; /* size of a log and its status */
    struct statvfs disk;
    if (access(folder, W_OK | X_OK) != 0)
        notes_add(notes, "No region was recorded: folder %.300s: %s", folder,
            errno == ENOENT ? "it was removed while the command ran" : strerror(errno));
    else if (statvfs(folder, &disk) == 0 && disk.f_bavail * disk.f_frsize < SMALLEST)
        notes_add(notes, "No region was recorded: the disk with folder %.300s is full.", folder);
    else
        return false;
    return true;
}

/* Whether the hook of Python left that file; see sitecustomize.py. */
static bool has_fit(const struct region_question *question, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/python-%s.fits", question->folder, name);
    return access(path, F_OK) == 0;
}

/* Notes which of the named Python functions never ran. Returns false if all did. */
static bool note_functions(const struct region_question *question, struct notes *notes)
{
    char missing[sizeof question->sources->functions + 256] = "", number[16];
    size_t used = 0;
    const char *at = question->sources->functions;
    if (!has_fit(question, "started")) {
        notes_add(
            notes, "python: no Python with start-up hooks ran (-I, -E and -S switch them off).");
        return true;
    }
    for (int i = 0; *at; i++) {
        size_t length = strcspn(at, ",");
        snprintf(number, sizeof number, "%d", i);
        if (!has_fit(question, number) && used + length + 3 < sizeof missing)
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%.*s",
                used > 0 ? ", " : "", (int)length, at);
        at += length + (at[length] == ',');
    }
    if (used > 0)
        notes_add(
            notes, "python: no function written in Python was called that matches %s.", missing);
    return used > 0;
}

/* Notes that GCC's OpenMP announces no regions. Returns false if the command does not use it. */
static bool note_openmp(const struct region_question *question, struct notes *notes)
{
    if (!region_program_needs(question->command, "libgomp.so"))
        return false;
    notes_add(notes,
        "ompt: %.200s has GCC's runtime of OpenMP (libgomp), which announces nothing. LLVM's takes "
        "its place with LD_PRELOAD=libomp.so.5.",
        question->command);
    return true;
}

/* Notes the reasons: sources that announced nothing, functions that were not found, or that nothing
 * was announced at all. */
static void region_reasons_note(
    struct region_question question, const struct region_logs_summary *summary, struct notes *notes)
{
    const struct region_sources *sources = question.sources;
    bool is_nothing = !summary->has_regions, is_answered = question.is_answered;
    if (is_nothing && summary->processes == 0 && note_folder(question.folder, notes))
        return;
    if (sources->wanted[REGION_PYTHON])
        is_answered |= note_functions(&question, notes);
    if (sources->wanted[REGION_OMPT] && !summary->has_ompt && (is_nothing || sources->are_named))
        is_answered |= note_openmp(&question, notes);
    if (sources->wanted[REGION_MPI] && !summary->has_mpi) {
        notes_add(notes, "mpi: no process of the command loaded an MPI library and called it.");
        is_answered = true;
    }
    if (!is_nothing || is_answered)
        return;
    if (summary->processes > 0)
        notes_add(notes, "No process of the command announced a region that was recorded.");
    else
        notes_add(notes,
            "No process of the command announced a region. Programs that are linked statically, or "
            "change their user, record none.");
}

/* ---- Files ---- */

/* Makes a folder next to the file, where logs survive if this process is killed. The folder of an
 * earlier, killed one is kept: GPUT_ERROR_EXISTS. */
static int make_folder_of_file(void *user, struct gput_error *error)
{
    struct region_recording *recording = user;
    char path[PATH_MAX];
    TRY(file_check(recording->path, error));
    snprintf(path, sizeof path, "%s.parts", recording->path);
    TRY(output_files_make_private(path, recording->replaces, "the regions of an earlier command",
        "'gpu-tracker sub-track combine' makes one file of them. --overwrite removes it.", error));
    region_logs_remove(path);
    recording->logs = realpath(path, NULL);
    return recording->logs ? GPUT_OK
                           : error_set(error, GPUT_ERROR_IO, "Cannot use folder %.400s: %s", path,
                                 strerror(errno));
}

/* Makes the file of regions. If one of many ranks cannot make it, its regions are only in its
 * report. */
static int make_kept(struct region_recording *recording, struct outputs *outputs,
    const struct gput_session_options *options, struct gput_error *error)
{
    char text[MESSAGE_LINE_SIZE];
    int code = outputs_take(outputs, OUTPUT_REGIONS, make_folder_of_file, recording, error);
    if (code == GPUT_OK || !outputs_are_many(outputs))
        return code;
    recording->is_kept = false;
    snprintf(text, sizeof text, "%.600s (no file keeps regions).", error->message);
    outputs_skip(outputs, OUTPUT_REGIONS);
    if (options->warn)
        options->warn(options->user, text);
    return GPUT_OK;
}

/* ---- The environment ---- */

/* Sets a variable, or unsets it, as an outer gpu-tracker may have set it. */
static int set(const char *variable, const char *value, struct gput_error *error)
{
    if ((value ? setenv(variable, value, 1) : unsetenv(variable)) == 0)
        return GPUT_OK;
    return error_memory(error);
}

/* Sets the variables that select the regions to record. */
static int set_selection(
    struct region_recording *recording, const struct arguments *arguments, struct gput_error *error)
{
    char depth_text[32], min_text[32];
    const char *depth = arguments_value(arguments, OPTION_REGION_DEPTH);
    const char *min = arguments_value(arguments, OPTION_REGION_MIN);
    const char *pattern;
    size_t position = 0;
    int64_t count;
    double seconds;
    if (depth && (!number_read_int64(depth, &count) || count < 1 || count > INT_MAX))
        return error_set(error, GPUT_ERROR_INVALID,
            "--region-depth=%s is not a valid depth. It is a whole number above 0.", depth);
    if (min && (!number_read_double(min, &seconds) || !(seconds >= 0 && seconds < 1e6)))
        return error_set(error, GPUT_ERROR_INVALID,
            "--region-min=%s is not a valid duration. It is a number of seconds.", min);
    if (depth)
        snprintf(depth_text, sizeof depth_text, "%d", (int)count);
    if (min)
        snprintf(min_text, sizeof min_text, "%.0f", seconds * 1e9);
    while ((pattern = arguments_next(arguments, OPTION_REGION_FILTER, &position))) {
        char *joined;
        if (!pattern[0] || strchr(pattern, '\n'))
            return error_set(error, GPUT_ERROR_INVALID,
                "--region-filter needs a pattern such as 'domain:name*', and was given \"%.80s\".",
                pattern);
        if (asprintf(&joined, "%s%s%s", recording->filter ? recording->filter : "",
                recording->filter ? "\n" : "", pattern) < 0)
            return error_memory(error);
        free(recording->filter);
        recording->filter = joined;
    }

    TRY(set("GPUT_REGION_FILTER", recording->filter, error));
    TRY(set("GPUT_REGION_DEPTH", depth ? depth_text : NULL, error));
    return set("GPUT_REGION_MIN_NS", min ? min_text : NULL, error);
}

/* Notes why a kind of exact figures is not available. Returns whether GPU time is. */
static bool check_exact(
    struct region_recording *recording, const struct gput_blocks_options *wanted)
{
    bool has_gpu_time = wanted->gpu_time;
    for (int kind = 0; kind < 3; kind++) {
        struct gput_blocks_options one = *wanted;
        struct gput_error why;
        one.block_peaks &= kind == 0;
        one.counters &= kind == 1;
        one.gpu_time &= kind == 2;
        if (gput_blocks_check(&one, &why) == GPUT_OK)
            continue;
        notes_add(&recording->notes, "--region-exact: %s", why.message);
        has_gpu_time &= kind != 2;
    }
    return has_gpu_time;
}

/* Sets the exact figures of the command's marks. Without the option, the environment variable may
 * ask for them. */
static int set_exact(struct region_recording *recording, const struct arguments *arguments,
    struct gput_session_options *options, struct gput_error *error)
{
    struct gput_blocks_options blocks = gput_blocks_options_default();
    const char *kinds = arguments_value(arguments, OPTION_REGION_EXACT);
    struct gput_error why;
    blocks.procfs_root = options->procfs_root;
    blocks.sysfs_root = options->sysfs_root;
    if (kinds && arguments_value(arguments, OPTION_REGION_MIN))
        return error_set(error, GPUT_ERROR_INVALID,
            "--region-exact cannot be combined with --region-min: what a region used is read when "
            "it begins.");
    if (kinds)
        TRY(set("GPUT_BLOCK_EXACT", kinds[0] ? kinds : "1", error));
    int code = gput_blocks_options_read_exact(&blocks, getenv("GPUT_BLOCK_EXACT"), &why);
    if (kinds && code != GPUT_OK)
        return error_set(error, code, "--region-exact: %s", why.message);
    options->rss_peaks_may_be_reset = blocks.block_peaks;
    recording->has_gpu_time = kinds && blocks.gpu_time;
    if (kinds)
        recording->has_gpu_time &= check_exact(recording, &blocks);
    return GPUT_OK;
}

/* Sets the variables by which collectors are loaded and find their folder. */
static int set_environment(
    struct region_recording *recording, const struct arguments *arguments, struct gput_error *error)
{
    const char *functions = recording->sources.functions;
    TRY(set_selection(recording, arguments, error));
    TRY(set("GPUT_REGIONS_FOLDER", recording->logs, error));
    TRY(set("GPUT_REGION_PYTHON", functions[0] ? functions : NULL, error));
    recording->command = arguments->operands[0];
    const char *obstacle = region_program_obstacle(recording->command);
    recording->has_obstacle = obstacle;
    if (obstacle)
        notes_add(&recording->notes,
            "%.200s %s: it loads no library that could record its regions.", recording->command,
            obstacle);
    for (size_t i = 0; i < REGION_SOURCES; i++) {
        char why[512];
        if (!recording->sources.wanted[i] || region_source_enable(i, why, sizeof why))
            continue;
        notes_add(&recording->notes, "%s", why);
        recording->sources.wanted[i] = false;
        recording->lacks_source = true;
    }

    return GPUT_OK;
}

int region_recording_begin(struct region_recording *recording, const struct arguments *arguments,
    struct outputs *outputs, const char *samples, struct gput_session_options *options,
    struct gput_error *error)
{
    const char *list = arguments_value(arguments, OPTION_REGIONS);
    const char *token = arguments_value(arguments, OPTION_PHASE_TOKEN);
    int kind = -1;
    *recording = (struct region_recording){.path = recording->path,
        .has_sources = list,
        .outputs = outputs,
        .warn = options->warn,
        .warn_user = options->user};
    TRY(arguments_read_choice(arguments, OPTION_PHASES, "kind of phases", &kind, error));
    TRY(set_exact(recording, arguments, options, error));
    recording->derives_phases = kind == 0;
    recording->is_wanted = list || token || recording->derives_phases;
    recording->replaces = options->overwrite;
    if (!recording->is_wanted)
        return GPUT_OK;
    if (token)
        TRY(phase_matcher_init(&recording->matcher, token, error));
    recording->has_phases = token;
    if (list)
        TRY(region_sources_read(list, &recording->sources, error));
    if (!recording->path && samples)
        TRY(outputs_name_after(
            outputs, OUTPUT_REGIONS, samples, "-regions.gputblocks", &recording->path, error));
    recording->is_kept = recording->path != NULL;
    if (recording->is_kept)
        TRY(make_kept(recording, outputs, options, error));
    bool needs_folder = !recording->is_kept || !options->tracking_file;
    if (needs_folder && !recording->temporary.path)
        TRY(temporary_folder_make(
            &recording->temporary, environment_path("TMPDIR"), "regions or their samples", error));
    if (!recording->logs)
        recording->logs = realpath(recording->temporary.path, NULL);
    if (!options->tracking_file &&
        asprintf(&recording->samples, "%s/samples.sqlite", recording->temporary.path) < 0)
        recording->samples = NULL;
    if (recording->samples)
        options->tracking_file = recording->samples;
    if (!recording->logs || !options->tracking_file)
        return error_memory(error);

    return list ? set_environment(recording, arguments, error) : GPUT_OK;
}

/* ---- Phases ---- */

int region_recording_relay(struct region_recording *recording, const int targets[3],
    struct output_relay *relay, struct gput_error *error)
{
    char path[PATH_MAX];
    *relay = (struct output_relay)OUTPUT_RELAY_NONE;
    if (!recording->has_phases)
        return GPUT_OK;
    snprintf(path, sizeof path, "%s/phases.gputblocks", recording->logs);
    return output_relay_start(relay, &recording->matcher, path, targets, error);
}

void region_recording_note_phases(
    struct region_recording *recording, const struct output_relay_result *result)
{
    if (!recording->has_phases)
        return;
    if (!result->is_known)
        notes_add(&recording->notes,
            "Not all of the command's output was passed on and searched for phases.");
    else if (result->message[0])
        notes_add(&recording->notes, "Phases were not recorded: %s", result->message);
    else if (result->n_phases == 0)
        notes_add(&recording->notes, "No line of the command's output matched --phase-token.");
    if (result->failure)
        notes_add(&recording->notes, "The command's output was not passed on completely: %s",
            strerror(result->failure));
}

/* ---- Afterwards ---- */

/* Notes a warning about the file of marks. */
static void on_warning(void *user, const char *text)
{
    notes_add(user, "%s", text);
}

/* Analyzes the regions, for the report at the end. */
static void analyze(struct region_recording *recording, const char *tracking_file)
{
    struct gput_error error;
    struct gput_analysis_options options = gput_analysis_options_default();
    options.tracking_file = tracking_file;
    options.sub_tracking_file = recording->path;
    if (gput_analysis_create(&options, &recording->analysis, &error) != GPUT_OK)
        notes_add(&recording->notes, "%s", error.message);
    else if (recording->has_gpu_time) {
        /* Warn of calls without GPU time: the program also used a GPU whose driver reports none. */
        size_t count = gput_analysis_block_count(recording->analysis), missing = 0;
        for (size_t i = 0; i < count; i++) {
            const struct gput_code_block *block = gput_analysis_block(recording->analysis, i);
            missing += isnan(gput_code_block_exact_figure(block, GPUT_EXACT_GPU_TIME)) &&
                       !isnan(gput_code_block_exact_figure(block, GPUT_EXACT_PROCESS_CPU_TIME));
        }
        if (missing > 0)
            notes_add(&recording->notes,
                "--region-exact: %zu of %zu code blocks have no GPU time: while they ran, the "
                "program "
                "had a GPU open whose driver does not report it (NVIDIA's, and ROCm's queues).",
                missing, count);
    }
}

/* Derives phases. If that fails, the other code blocks remain. */
static void derive_phases(
    struct region_recording *recording, const char *tracking_file, pid_t command)
{
    struct gput_error error;
    char path[PATH_MAX];
    size_t n_phases;
    if (!recording->derives_phases)
        return;
    snprintf(path, sizeof path, "%s/phases-derived.gputblocks", recording->logs);
    if (gput_sub_tracking_derive(path, tracking_file, command, &n_phases, &error) != GPUT_OK)
        notes_add(&recording->notes, "Phases were not derived: %s", error.message);
    else if (n_phases == 0)
        notes_add(&recording->notes,
            "No phases were derived: the samples show no change beyond their noise.");
}

/* Merges the logs into a file next to them, and moves it to its final path when it is complete. */
static int merge_logs(struct region_recording *recording, struct region_logs_summary *summary,
    struct gput_error *error)
{
    const char *point = recording->is_kept ? strrchr(recording->path, '.') : NULL;
    if (asprintf(&recording->merged, "%s/all%s", recording->logs, point ? point : ".gputblocks") <
        0)
        recording->merged = NULL;
    if (!recording->merged)
        return error_memory(error);
    TRY(region_logs_merge(
        recording->logs, recording->merged, on_warning, &recording->notes, summary, error));
    if (!recording->is_kept)
        recording->path = recording->merged;
    if (!recording->is_kept || summary->logs == 0)
        return GPUT_OK;
    outputs_settle(recording->outputs, OUTPUT_REGIONS);
    if (rename(recording->merged, recording->path) != 0)
        return error_set(
            error, GPUT_ERROR_IO, "Cannot write %.400s: %s.", recording->path, strerror(errno));
    return GPUT_OK;
}

/* Warns of logs that the command removed or replaced. The warning is also printed at once, since
 * there may be no report. */
static void warn_of_lost(
    struct region_recording *recording, const struct region_logs_summary *summary)
{
    char text[MESSAGE_LINE_SIZE] = "";
    if (access(recording->logs, F_OK) != 0)
        snprintf(text, sizeof text,
            "%.600s was removed while the command ran: the regions that were recorded there are "
            "lost.",
            recording->logs);
    else if (summary->replaced > 0)
        snprintf(text, sizeof text,
            "%.600s: something else was put in the place of %zu of the logs, and their regions are "
            "lost.",
            recording->logs, summary->replaced);
    if (text[0])
        notes_add(&recording->notes, "%s", text);
    if (text[0] && recording->warn)
        recording->warn(recording->warn_user, text);
}

void region_recording_merge(
    struct region_recording *recording, const char *tracking_file, pid_t command)
{
    struct gput_error error;
    struct region_logs_summary summary = {0};
    if (!recording->is_wanted || !recording->logs)
        return;
    if (tracking_file) /* NULL: a rank could not make it */
        derive_phases(recording, tracking_file, command);
    int code = merge_logs(recording, &summary, &error);
    warn_of_lost(recording, &summary);
    static const char *const reasons[] = {"by --region-filter", "by --region-depth",
        "by --region-min", "as too many were open at once, or because memory ran out",
        "while the program had paused recording"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (summary.left_out[i] > 0)
            notes_add(&recording->notes, "%llu %s skipped %s.",
                (unsigned long long)summary.left_out[i],
                summary.left_out[i] == 1 ? "range was" : "ranges were", reasons[i]);
    }
    if (summary.unmatched > 0)
        notes_add(&recording->notes, "%llu %s of ranges that had not begun %s ignored.",
            (unsigned long long)summary.unmatched, summary.unmatched == 1 ? "end" : "ends",
            summary.unmatched == 1 ? "was" : "were");
    if (summary.failure[0])
        notes_add(&recording->notes, "A collector turned itself off: %s", summary.failure);

    /* Note only the largest numbers, as a report has space for few notes. */
    enum { MAX_SHOWN = 8 };
    for (size_t i = 0; i < summary.n_numbers && i < MAX_SHOWN; i++) {
        const struct region_number *number = &summary.numbers[i];
        notes_add(&recording->notes, "%s: %s %.10g in %llu calls (%.6g to %.6g, mean %.6g).",
            number->name, number->unit, number->sum, (unsigned long long)number->count, number->min,
            number->max, number->sum / (double)number->count);
    }
    if (summary.n_numbers > MAX_SHOWN)
        notes_add(&recording->notes, "%zu more regions have numbers with smaller sums.",
            summary.n_numbers - MAX_SHOWN);

    region_logs_summary_finish(&summary);
    if (code != GPUT_OK) {
        notes_add(&recording->notes, "%s The logs are in %.400s.", error.message, recording->logs);
        return;
    }
    if (recording->has_sources && !recording->has_obstacle)
        region_reasons_note((struct region_question){&recording->sources, recording->command,
                                recording->logs, recording->lacks_source},
            &summary, &recording->notes);
    recording->has_marks = summary.logs > 0;
    if (!tracking_file) {
        notes_add(&recording->notes, "Regions were not measured: there are no samples.");
    } else if (recording->has_marks) {
        analyze(recording, tracking_file);
    }
    if (recording->is_kept) {
        region_logs_remove(recording->logs);
        rmdir(recording->logs);
    }
}

const char *region_recording_marks(const struct region_recording *recording)
{
    return recording->has_marks ? recording->path : NULL;
}

void region_recording_finish(struct region_recording *recording)
{
    if (recording->is_kept && recording->logs)
        rmdir(recording->logs); /* if nothing was recorded because the command was not started */
    if (recording->has_phases)
        phase_matcher_finish(&recording->matcher);
    temporary_folder_remove(&recording->temporary);
    gput_analysis_destroy(recording->analysis);
    notes_finish(&recording->notes);
    free(recording->merged);
    free(recording->logs);
    free(recording->filter);
    free(recording->samples);
    *recording = (struct region_recording){0};
}
