#include "check_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 96 };
enum { LOAD_CANNOT = 4 }; /* exit status of gpu-load */

void check_progress(struct check *check)
{
    check->programs.progressed_ns = monotonic_now_ns();
}

unsigned check_ms(const struct check *check, unsigned milliseconds)
{
    double scaled = milliseconds * check->scale;
    return scaled < 100 ? 100 : (unsigned)scaled;
}

struct check_path check_path(const struct check *check, const char *name)
{
    struct check_path path;
    snprintf(path.text, sizeof path.text, "%s/%s", check->folder, name);
    return path;
}

pid_t check_start(struct check *check, const char *const *command)
{
    return programs_start(&check->programs, check_path(check, "log.txt").text, command);
}

int check_execute(struct check *check, const char *const *command, double seconds)
{
    return programs_wait(
        &check->programs, check_start(check, command), seconds + check->patience_s);
}

const char *check_failure(int status)
{
    if (status == PROGRAM_LOST)
        return "it could not be started";
    if (status == PROGRAM_ENDED_LATE)
        return "it did not end by itself, and was ended: see log.txt";
    if (status == LOAD_CANNOT)
        return "it cannot be tried here: see log.txt";
    return "the command failed: see log.txt";
}

/* Appends the words of a text, which is cut up for it. */
static size_t add_words(const char **command, size_t count, char *text)
{
    char *state;
    for (char *word = strtok_r(text, " ", &state); word && count < MAX_ARGUMENTS - 1;
         word = strtok_r(NULL, " ", &state))
        command[count++] = word;
    return count;
}

/* Where gpu-load reports its steps: afresh. */
static void prepare_load(const struct check *check)
{
    struct check_path path = check_path(check, "steps.txt");
    unlink(path.text);
    setenv("GPU_LOAD_REPORT", path.text, 1);
}

pid_t check_start_load(struct check *check, const char *steps)
{
    const char *command[MAX_ARGUMENTS] = {check->load};
    char words[1024];
    snprintf(words, sizeof words, "%s", steps);
    command[add_words(command, 1, words)] = NULL;
    prepare_load(check);
    return check_start(check, command);
}

/* No step takes longer than the sum of all numbers that can be milliseconds, and each process needs
 * its context. */
static double longest_s(const struct check *check, const char *steps)
{
    double seconds = 20 * (isnan(check->context_s) ? 1 : check->context_s);
    for (const char *at = steps; *at; at += strcspn(at, " "), at += *at == ' ') {
        double number = strtod(at, NULL);
        seconds += number < 1e6 ? number / 1e3 : 0; /* else bytes */
    }
    return seconds;
}

/* Finds a column in the heading of a tracking file; -1: it is not in this line. */
static int find_column(const char *line, const char *name)
{
    size_t length = strlen(name);
    for (int column = 0; line; column++) {
        if (strncmp(line, name, length) == 0 && strchr(",\r\n", line[length]))
            return column;
        line = strchr(line, ',');
        line = line ? line + 1 : NULL;
    }
    return -1;
}

/* Reads when samples were taken. Lines before the heading that has "timestamp" are skipped. */
static void read_samples(const struct check *check, struct check_result *result)
{
    FILE *file = fopen(check_path(check, "samples.csv").text, "re");
    char line[8192];
    int column = -1;
    double before_s = NAN;
    result->first_s = result->last_s = result->longest_gap_s = NAN;
    while (file && fgets(line, sizeof line, file)) {
        const char *cell = line;
        if (column < 0) {
            column = find_column(line, "timestamp");
            continue;
        }
        for (int i = 0; cell && i < column; i++)
            cell = (cell = strchr(cell, ',')) ? cell + 1 : NULL;
        double time_s = cell ? strtod(cell, NULL) : 0;
        if (time_s < 1e9)
            continue; /* a truncated row */
        if (!isnan(before_s) && !(result->longest_gap_s >= time_s - before_s))
            result->longest_gap_s = time_s - before_s;
        result->last_s = before_s = time_s;
    }
    /* The sample at the very start, to which all are compared, has no row. */
    result->first_s = result->last_s - check_number(check, result->report, "compute_time.time");
    if (file)
        fclose(file);
}

static int run_tracked(struct check *check, const char *options, const char *steps)
{
    struct check_path report = check_path(check, "report.json");
    struct check_path samples = check_path(check, "samples.csv");
    char option_words[1024], step_words[1024];
    const char *command[MAX_ARGUMENTS] = {check->tracker, "run", "--no-config", "-f", "json", "-o",
        report.text, "--overwrite", "--gru", "bytes", "--ru", "bytes", "--tu", "seconds", "--tf",
        samples.text};
    size_t count = 16;
    snprintf(option_words, sizeof option_words, "%s", options);
    snprintf(step_words, sizeof step_words, "%s", steps);
    count = add_words(command, count, option_words);
    command[count++] = "--";
    command[count++] = check->load;
    command[add_words(command, count, step_words)] = NULL;
    unlink(report.text);
    unlink(samples.text);
    prepare_load(check);
    return check_execute(check, command, longest_s(check, steps));
}

bool check_track(
    struct check *check, const char *options, const char *steps, struct check_result *result)
{
    bool is_watched = nvml_watch_start(&result->watch, &check->nvml);
    result->status = run_tracked(check, options, steps);
    if (is_watched)
        nvml_watch_stop(&result->watch);
    result->report = json_load_file(check_path(check, "report.json").text, 0, NULL);
    if (result->report && (result->status == 0 || strstr(steps, "crash"))) {
        read_samples(check, result);
        return true;
    }
    if (result->status == LOAD_CANNOT)
        check_table_skip(&check->table, steps, check_failure(result->status));
    else
        check_table_state(&check->table, steps, false, check_failure(result->status));
    check_result_release(result);
    return false;
}

void check_result_release(struct check_result *result)
{
    json_decref(result->report);
    result->report = NULL;
    nvml_watch_finish(&result->watch);
}

/* A line of gpu-load: "main|child STEP BUSY_NS". */
static bool next_step(FILE *file, char *who, char *step, uint64_t *busy_ns)
{
    char line[256];
    return fgets(line, sizeof line, file) && strchr(line, '\n') &&
           sscanf(line, "%15s %15s %" SCNu64, who, step, busy_ns) == 3;
}

int check_steps_done(const struct check *check, const char *step)
{
    FILE *file = fopen(check_path(check, "steps.txt").text, "re");
    char who[16], name[16];
    uint64_t busy_ns;
    int count = 0;
    while (file && next_step(file, who, name, &busy_ns))
        count += strcmp(name, step) == 0;
    if (file)
        fclose(file);
    return count;
}

double check_busy_s(const struct check *check, bool of_children)
{
    FILE *file = fopen(check_path(check, "steps.txt").text, "re");
    char who[16], name[16];
    uint64_t busy_ns;
    double seconds = NAN;
    while (file && next_step(file, who, name, &busy_ns))
        if ((strcmp(who, "child") == 0) == of_children)
            seconds = (isnan(seconds) ? 0 : seconds) + (double)busy_ns / 1e9;
    if (file)
        fclose(file);
    return seconds;
}

static const json_t *checked_gpu(const struct check *check, const json_t *report)
{
    size_t index;
    json_t *gpu;
    json_array_foreach(json_object_get(report, "gpus"), index, gpu)
    {
        const char *uuid = json_string_value(json_object_get(gpu, "uuid"));
        if (uuid && strcmp(uuid, check->nvml.uuid) == 0)
            return gpu;
    }
    return NULL;
}

static const json_t *find(const struct check *check, const json_t *value, const char *place)
{
    char key[64];
    if (strncmp(place, "gpu.", 4) == 0) {
        value = checked_gpu(check, value);
        place += 4;
    }
    while (value && *place) {
        size_t length = strcspn(place, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, place);
        value = json_object_get(value, key);
        place += length + (place[length] == '.');
    }
    return value;
}

double check_number(const struct check *check, const json_t *report, const char *place)
{
    const json_t *value = find(check, report, place);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *check_text(const struct check *check, const json_t *report, const char *place)
{
    return json_string_value(find(check, report, place));
}

const char *check_missing_reason(const struct check *check, const json_t *report)
{
    const char *reason = check_text(check, report, "sources.process_gpu_ram.reason");
    return reason ? reason : check_text(check, report, "gpu.missing");
}

struct check_busy check_machine_busy(void)
{
    struct check_busy busy = {0};
    double load = 0;
    int running = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    FILE *file = fopen("/proc/loadavg", "re");
    if (file && fscanf(file, "%lf %*f %*f %d/", &load, &running) != 2)
        load = running = 0;
    if (file)
        fclose(file);
    busy.is_busy = load > (double)processors || running > processors;
    snprintf(busy.why, sizeof busy.why,
        "missed, but the machine is busy: load %.1f, %d running on %ld processors", load, running,
        processors);
    return busy;
}

void check_compare(struct check *check, const json_t *report, const char *place, bool driver_has_it,
    struct check_figure figure)
{
    const char *reason = check_missing_reason(check, report);
    figure.ours = check_number(check, report, place);
    double right = isnan(figure.truth) ? figure.reference : figure.truth;
    struct check_busy busy = check_machine_busy();
    if (isnan(figure.ours) && !driver_has_it && reason)
        check_table_skip(&check->table, figure.figure, reason);
    else if (isnan(figure.ours) && !driver_has_it)
        check_table_state(&check->table, figure.figure, false, "missing without a reason");
    else if (figure.is_timed && busy.is_busy && !(fabs(figure.ours - right) <= figure.tolerance))
        check_table_skip_missed(&check->table, figure, busy.why);
    else
        check_table_compare(&check->table, figure);
}

void check_compare_process(
    struct check *check, const json_t *report, const char *place, struct check_figure figure)
{
    bool is_listed = check->listing == LISTS_PROCESS;
    if (!is_listed)
        figure.reference = NAN;
    check_compare(check, report, place, is_listed, figure);
}

void check_compare_used(struct check *check, const struct check_result *result, const char *figure,
    unsigned contexts, double held_bytes)
{
    double truth = check->nvml.used_before + contexts * check->context_used_bytes + held_bytes;
    /* What a driver needs for itself is less for each after the first. */
    double own = fmax(0, check->context_used_bytes - check->context_bytes);
    check_table_compare(
        &check->table, (struct check_figure){.figure = figure,
                           .unit = "bytes",
                           .truth = check->is_shared ? NAN : truth,
                           .ours = check_number(check, result->report, "gpu.max_ram"),
                           .reference = result->watch.max_used_bytes,
                           .tolerance = contexts * PIECE_BYTES + (contexts - 1) * own});
}

void check_await_rest(struct check *check)
{
    uint64_t end_ns = monotonic_now_ns() + 20 * NS_PER_S;
    while (nvml_reference_read(&check->nvml, NVML_MEMORY) > check->nvml.used_before + PIECE_BYTES &&
           monotonic_now_ns() < end_ns) {
        check_progress(check);
        monotonic_sleep_until(monotonic_now_ns() + NS_PER_S / 50);
    }
}

bool check_await_steps(struct check *check, pid_t load, const char *step, int count)
{
    double context_s = isnan(check->context_s) ? 0 : check->context_s;
    uint64_t end_ns =
        monotonic_now_ns() + (uint64_t)((check->patience_s + 3 * count * context_s) * 1e9);
    while (check_steps_done(check, step) < count) {
        siginfo_t info = {0};
        check_progress(check);
        if (waitid(P_PID, (id_t)load, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid ||
            monotonic_now_ns() >= end_ns)
            return check_steps_done(check, step) >= count;
        monotonic_sleep_until(monotonic_now_ns() + NS_PER_S / 100);
    }
    return true;
}
