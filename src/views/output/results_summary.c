/*
 * The summary of a session: what each line says.
 */
#include "views/output/results_summary.h"

#include "analysis/why/why_shares.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "base/screen.h"
#include "views/output/doc_text.h"
#include "views/output/processes_report.h"
#include "views/output/results_advice.h"
#include "views/output/results_doc.h"
#include "views/output/summary_rows.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* A bound is worth a word where more than a tenth of the peak may be unseen. */
#define NOTABLE_RISE 1.1
/* A peak without a useful bound is called "at least" above this part of what there is. */
#define NOTABLE_PART 0.5
/* A command that computed for more than that had nothing to wait for. */
#define MOSTLY_COMPUTING_PERCENT 90.0
/* CPU time below this is a few clock ticks: the kernel cannot divide it, and pressure is not read.
 */
#define DIVISIBLE_CPU_SECONDS 0.01

/* Writes how long it took, and how it ended. Of a process that was attached to, the results have
 * what the kernel announced of its end. */
static void write_time(struct summary *summary)
{
    const struct gput_limit_passed *limit = &summary->results->limit;
    const struct gput_identity *identity = &summary->results->identity;
    int status = summary->options->status;
    bool has_status = summary->options->has_status, is_attached = summary->options->attached;
    int signal = has_status && WIFSIGNALED(status)     ? WTERMSIG(status)
                 : is_attached && identity->signal > 0 ? (int)identity->signal
                                                       : 0;
    char figure[HUMAN_SIZE], end[128] = "";
    if (limit->enforced)
        snprintf(end, sizeof end, "ended: %s limit exceeded", limit->kind_name);
    else if (signal)
        snprintf(end, sizeof end, "killed by signal %d (%s)%s", signal, strsignal(signal),
            signal == SIGKILL && summary->results->accounting.oom_killed > 0 ? ": out of memory"
                                                                             : "");
    else if (has_status)
        snprintf(end, sizeof end, "exit status %d", WEXITSTATUS(status));
    else if (is_attached && identity->exit_status >= 0)
        snprintf(end, sizeof end, "exit status %.0f", identity->exit_status);
    else if (is_attached)
        snprintf(end, sizeof end, "the process %s", summary->options->attached);
    summary_row(
        summary, "Time", human_seconds(summary->results->elapsed_seconds, figure), "%s", end);
}

/* Writes the use that samples had, where there is no CPU time: reports of the older gpu_tracker. */
static void write_cpu_of_samples(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    double cores = results->mean[GPUT_CPU_COMBINED_SUM] / 100;
    const struct gput_source *source = results_find_source(results, "kernel_cpu_time");
    char used[HUMAN_SIZE], figure[HUMAN_SIZE + 8];
    if (source || isnan(cores)) {
        summary_row(summary, "CPU", "n/a", "%s", source ? source->reason : "");
        return;
    }
    snprintf(figure, sizeof figure, "%s cores", human_cores(cores, used));
    human_cores(results->max[GPUT_CPU_COMBINED_SUM] / 100, used);
    summary_row(summary, "CPU", figure, "of %u, the mean of the samples; at most %s",
        results->static_data.system_core_count, used);
}

/* Writes CPU time as a mean number of cores, of those that are allowed or of the machine's. */
static void write_cpu(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    const struct gput_accounting *accounting = &results->accounting;
    char figure[HUMAN_SIZE], user[HUMAN_SIZE], kernel[HUMAN_SIZE], parts[96] = "";
    char used[HUMAN_SIZE], whole[48] = "";
    struct str detail = {0}, shorter = {0};
    double allowed = results->static_data.allowed_cores;
    double seconds = accounting->kernel_cpu_seconds;
    bool is_limited = !isnan(allowed);
    if (isnan(seconds)) /* of a process of another user, which was attached to */
        seconds = accounting->sampled_cpu_seconds;
    if (isnan(seconds)) {
        write_cpu_of_samples(summary);
        return;
    }
    if (!is_limited)
        allowed = results->static_data.system_core_count;
    if (!isnan(accounting->kernel_user_cpu_seconds))
        snprintf(parts, sizeof parts, "; user %s, system %s",
            human_seconds(accounting->kernel_user_cpu_seconds, user),
            human_seconds(accounting->kernel_system_cpu_seconds, kernel));
    if (is_limited)
        snprintf(
            whole, sizeof whole, " allowed (machine: %u)", results->static_data.system_core_count);
    double cores = results->elapsed_seconds > 0 ? seconds / results->elapsed_seconds : 0;
    const char *at_least =
        results_source_is(results, "kernel_cpu_time", GPUT_SOURCE_EXACT) ? "" : "at least; ";
    human_cores(cores, used);
    str_printf(&detail, "%s%s of %g cores%s%s", at_least, used, allowed, whole, parts);
    str_printf(&shorter, "%s%s of %g %scores%s", at_least, used, allowed,
        is_limited ? "allowed " : "", parts);
    summary_row_or_shorter(summary, "CPU", human_seconds(seconds, figure), &detail, &shorter);
}

/* Writes the peak of RAM as a share of what is allowed, or of the machine's. A bound is worth a
 * word where the peak may have been notably higher; one that is far away says nothing, and the peak
 * is then "at least" where it is near what there is. Reports of the older gpu_tracker have none. */
static void write_ram(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    const struct gput_static_data *data = &results->static_data;
    char figure[HUMAN_SIZE], other[HUMAN_SIZE], whole[HUMAN_SIZE], machine[HUMAN_SIZE];
    char bound[64] = "", parts[96] = "", share[HUMAN_SIZE];
    double peak = results->max[GPUT_COMBINED_RAM];
    double at_most = results->peaks.combined.at_most_bytes;
    bool is_limited = !isnan(data->allowed_ram_bytes);
    double limit = is_limited ? data->allowed_ram_bytes : data->ram_system_capacity_bytes;
    bool is_far_below = peak <= NOTABLE_PART * limit;
    bool is_notable = isnan(peak) ? !isnan(at_most) : at_most > peak * NOTABLE_RISE;
    bool is_useful = isnan(peak) || at_most <= peak * GPUT_USEFUL_BOUND;
    if (is_notable && is_useful)
        snprintf(bound, sizeof bound, " (at most %s)", human_bytes(at_most, figure));
    else if (!is_useful && !is_far_below && results_are_own(results))
        snprintf(bound, sizeof bound, " (at least)");
    if (isnan(peak)) {
        summary_row(summary, "RAM", "n/a", "%s%s",
            summary->options->attached
                ? "no sample saw its memory: each coincided with the start or end of a program"
                : "it ended before its memory was read",
            bound);
        return;
    }

    if (results->max[GPUT_DESCENDANTS_RAM] > 0)
        snprintf(parts, sizeof parts, "; main %s, children %s",
            human_bytes(results->max[GPUT_MAIN_RAM], figure),
            human_bytes(results->max[GPUT_DESCENDANTS_RAM], other));
    human_bytes(peak, figure);
    human_bytes(limit, whole);
    if (is_limited && results_ram_is_not_of_limit(results, peak)) {
        summary_row(summary, "RAM", figure,
            "peak%s, with pages of files that the limit of %s does not count%s", bound, whole,
            parts);
        return;
    }
    if (isnan(limit)) {
        summary_row(summary, "RAM", figure, "peak%s%s", bound, parts);
        return;
    }
    struct str detail = {0}, shorter = {0};
    human_share(100 * peak / limit, share);
    str_printf(&detail, "peak%s, %s of the %s%s", bound, share,
        is_limited ? "allowed " : "machine's ", whole);
    if (is_limited)
        str_printf(
            &detail, " (machine: %s)", human_bytes(data->ram_system_capacity_bytes, machine));
    str_append(&detail, parts);
    str_printf(
        &shorter, "peak%s, %s of %s%s%s", bound, share, whole, is_limited ? " allowed" : "", parts);
    summary_row_or_shorter(summary, "RAM", figure, &detail, &shorter);
}

/* Writes the joules of the command, or of the machine where its share is not known. Counters that
 * are in no total give a reason; where there are none, "Not measured" has it. */
static void write_energy(struct summary *summary)
{
    const struct gput_energy *energy = &summary->results->energy;
    char figure[HUMAN_SIZE], whole[HUMAN_SIZE], watts[HUMAN_SIZE], grams[HUMAN_SIZE];
    char co2e[64] = "", power[64] = "", parts[ENERGY_PARTS_SIZE];
    struct str detail = {0}, shorter = {0};
    if (isnan(energy->combined) && isnan(energy->machine.total)) {
        const struct gput_source *cpu = results_find_source(summary->results, "cpu_energy");
        if (cpu && cpu->state == GPUT_SOURCE_SAMPLED)
            summary_row(summary, "Energy", "n/a", "%s", cpu->reason);
        return;
    }
    energy_total_words(energy, parts);
    if (!isnan(energy->co2e_grams))
        snprintf(co2e, sizeof co2e, "; %s CO2e", human_grams(energy->co2e_grams, grams));
    if (!isnan(energy->mean_watts)) /* of a part of the time it is not known */
        snprintf(power, sizeof power, "; mean power %s", human_watts(energy->mean_watts, watts));
    if (isnan(energy->combined)) {
        summary_row(summary, "Energy", human_joules(energy->machine.total, figure),
            "of %s; the command's share is not known%s", parts, co2e);
        return;
    }
    human_joules(energy->machine.total, whole);
    if (energy->combined == 0) {
        summary_row(summary, "Energy", human_joules(0, figure), "this command; %s %s%s%s%s", parts,
            whole, *power ? ", mean " : "", *power ? watts : "", co2e);
        return;
    }
    str_printf(&detail, "of the %s of %s%s%s", whole, parts, power, co2e);
    str_printf(
        &shorter, "of %s of %s%s%s%s", whole, parts, *power ? "; " : "", *power ? watts : "", co2e);
    summary_row_or_shorter(
        summary, "Energy", human_joules(energy->combined, figure), &detail, &shorter);
}

/* Writes one figure of each direction: what the processes asked for. What of it reached a disk is
 * in the full report. */
static void write_io(struct summary *summary)
{
    const struct gput_accounting *accounting = &summary->results->accounting;
    const struct gput_source *counts = results_find_source(summary->results, "counts");
    bool is_at_least = counts && counts->state == GPUT_SOURCE_SAMPLED;
    char figure[HUMAN_SIZE], written[HUMAN_SIZE];
    if (isnan(accounting->read_bytes) && isnan(accounting->write_bytes))
        return;
    summary_row(summary, "I/O", human_bytes(accounting->read_bytes, figure),
        "read, %s written%s (files and pipes)", human_bytes(accounting->write_bytes, written),
        is_at_least ? ", each at least" : "");
}

/* Writes how many processes were seen, or threads where no process was. */
static void write_processes(struct summary *summary)
{
    const struct gput_accounting *accounting = &summary->results->accounting;
    double threads = summary->results->max[GPUT_COMBINED_THREADS];
    char figure[HUMAN_SIZE], left[64] = "", highest[64] = "";
    if (!accounting->processes_seen) {
        snprintf(figure, sizeof figure, "%.0f", threads);
        if (!isnan(threads))
            summary_row(summary, "Threads", figure, "seen at once");
        return;
    }
    snprintf(figure, sizeof figure, "%llu", (unsigned long long)accounting->processes_seen);
    if (!isnan(threads))
        snprintf(highest, sizeof highest, "%.0f thread%s seen at once", threads,
            threads == 1 ? "" : "s");
    if (accounting->left_running > 0)
        snprintf(left, sizeof left, "%.0f left running%s", accounting->left_running,
            *highest ? "; " : "");
    summary_row(summary, "Processes", figure, "%s%s%s",
        accounting->processes_missed > 0 ? "at least; " : "", left, highest);
}

/* Writes where the time went, where that tells something: not of a command that only computed. */
static void write_time_went(struct summary *summary)
{
    const struct gput_wall *wall = &summary->results->time_went;
    struct str detail = {0}, shorter = {0};
    char figure[16], causes[256], fewer[128];
    struct why_share shares[WALL_CAUSE_COUNT];
    if (!why_is_telling(wall) || why_percent(wall, WALL_COMPUTING) > MOSTLY_COMPUTING_PERCENT ||
        why_shares(wall, shares) == 0 || shares[0].cause == WALL_UNKNOWN)
        return;
    snprintf(figure, sizeof figure, "%.0f %%", shares[0].percent);
    why_sentence(wall, 5, causes, sizeof causes);
    why_sentence(wall, 3, fewer, sizeof fewer);
    str_append(&detail, causes + strlen(figure) + 1);
    str_append(&shorter, fewer + strlen(figure) + 1);
    summary_row_or_shorter(summary, "Time went", figure, &detail, &shorter);
}

/* What a user calls what a source gives; others have the label of their name. */
static const char *const missing_names[][2] = {
    {"after_last_sample", "what came after the last sample"},
    {"before_attaching", "what came before attaching"},
    {"bytes", "bytes read and written"},
    {"counts", "I/O and page faults"},
    {"cpu_split", "user and system time"},
    {"kernel_cpu_time", "CPU time"},
    {"pressure", "what tasks waited for (PSI)"},
    {"process_ends", "short-lived processes"},
    {"process_gpu_ram", "who used the GPU"},
    {"system", "the machine"},
};

/* Whether a source is worth a word in "Not measured". Who used a GPU is not a second gap where
 * there is none, and of a very small CPU time neither its parts nor pressure tell anything. */
static bool is_gap(const struct gput_results *results, const struct gput_source *source)
{
    const struct gput_source *gpu = results_find_source(results, "gpu");
    bool has_no_gpu = gpu && gpu->state == GPUT_SOURCE_UNAVAILABLE;
    bool is_short = results->accounting.kernel_cpu_seconds < DIVISIBLE_CPU_SECONDS;
    if (source->state != GPUT_SOURCE_UNAVAILABLE)
        return false;
    if (strcmp(source->name, "process_gpu_ram") == 0)
        return !has_no_gpu;
    bool is_of_longer =
        strcmp(source->name, "cpu_split") == 0 || strcmp(source->name, "pressure") == 0;
    return !is_of_longer || !is_short;
}

/* Writes "Not measured  GPU, CPU energy", in a column of its own, for its label is longer than
 * others. */
static void write_missing(struct summary *summary)
{
    static const char label[] = "Not measured";
    const struct gput_results *results = summary->results;
    CLEANUP_STR struct str list = {0};
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        const char *source = results->sources[i].name, *name = NULL;
        if (!is_gap(results, &results->sources[i]))
            continue;
        for (size_t k = 0; k < sizeof missing_names / sizeof *missing_names; k++)
            if (strcmp(missing_names[k][0], source) == 0)
                name = missing_names[k][1];
        str_append(&list, list.length ? ", " : "");
        if (name)
            str_append(&list, name);
        else
            doc_text_label(source, &list);
    }
    screen_sanitize(&list, 0);
    summary->text->failed |= list.failed;
    if (list.length == 0)
        return;
    str_append(&list, " (why: -f full, gpu-tracker doctor)");
    summary_color(summary, SUMMARY_DIM);
    str_printf(summary->text, "  %s  ", label);
    summary_append_wrapped(summary, str_text(&list), sizeof label + 3);
    summary_color(summary, SUMMARY_PLAIN);
    str_append_char(summary->text, '\n');
    summary->text->failed |= list.failed;
}

/* Writes what the user could do better. */
static void write_advice(struct summary *summary)
{
    char texts[MAX_ADVICE][ADVICE_SIZE];
    size_t count = results_advice(summary->results, texts);
    for (size_t i = 0; i < count; i++) {
        str_printf(summary->text, "  %-*s ", SUMMARY_LABEL_WIDTH, i == 0 ? "Advice" : "");
        summary_color(summary, SUMMARY_YELLOW);
        texts[i][screen_clean(texts[i], strlen(texts[i]))] = '\0';
        summary_append_wrapped(summary, texts[i], SUMMARY_LABEL_COLUMN);
        summary_color(summary, SUMMARY_PLAIN);
        str_append_char(summary->text, '\n');
    }
}

void results_summary_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    struct summary summary = {results, options, text};
    summary_heading_write(&summary);
    write_time(&summary);
    write_time_went(&summary);
    summary_gpus_write(&summary);
    write_cpu(&summary);
    write_ram(&summary);
    write_energy(&summary);
    write_io(&summary);
    write_processes(&summary);
    write_missing(&summary);
    write_advice(&summary);
    size_t start = text->length;
    if (options->processes)
        processes_report_write_summary(options->processes, options->width, text);
    regions_report_write(options, text);
    screen_sanitize(text, start);
}
