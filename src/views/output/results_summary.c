/*
 * The summary of a session: what each line says.
 */
#include "views/output/results_summary.h"

#include "analysis/why/why_shares.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/utf8.h"
#include "views/output/doc_text.h"
#include "views/output/processes_report.h"
#include "views/output/results_advice.h"
#include "views/output/results_doc.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define SUMMARY_LABEL_WIDTH 10
#define SUMMARY_LABEL_COLUMN                                                                       \
    (2 + SUMMARY_LABEL_WIDTH + 1) /* what follows a label, and a figure                            \
                                   */

#define SUMMARY_BOLD "\033[1m"
#define SUMMARY_DIM "\033[2m"
#define SUMMARY_YELLOW "\033[33m"
#define SUMMARY_PLAIN "\033[0m"

struct summary {
    const struct gput_results *results;
    const struct gput_results_render_options *options; /* whose width is 0: no screen */
    struct str *text;                                  /* appended to */
};

#define FIGURE_WIDTH 12
#define DETAIL_COLUMN (SUMMARY_LABEL_COLUMN + FIGURE_WIDTH + 2)
/* On narrower screens there is too little space next to the figures: what belongs to them follows
 * in lines of its own, from this column on. */
#define MIN_WIDTH_OF_DETAILS 60
#define NARROW_COLUMN 4

/* An escape sequence, where the screen takes these. */
static void summary_color(struct summary *summary, const char *escape)
{
    if (summary->options->color)
        str_append(summary->text, escape);
}

/* The last blank before which `columns` hold the text, counting a code point as one; that between
 * two clauses if the first fills half of them; or the first one where that is farther to the right.
 * 0: the text fits, or there is no blank. */
static size_t find_break(const char *text, size_t columns)
{
    size_t found = 0, clause = 0, column = 0;
    for (size_t i = 0; text[i]; i++) {
        if ((text[i] & 0xc0) == 0x80)
            continue;
        /* A number keeps its unit, or what it counts. */
        if (i > 0 && text[i] == ' ' && !strchr("0123456789", text[i - 1]) &&
            (column <= columns || found == 0))
            found = i;
        if (found > 0 && found == i && text[i - 1] == ';')
            clause = i;
        if (++column > columns && found > 0)
            return clause > columns / 2 ? clause : found;
    }
    return 0;
}

static bool is_narrow(const struct summary *summary)
{
    return summary->options->width > 0 && summary->options->width < MIN_WIDTH_OF_DETAILS;
}

/* What stands from a column on; on a screen it goes on in the next line, on a narrow one further to
 * the left. */
static void summary_append_wrapped(struct summary *summary, const char *text, size_t column)
{
    size_t width = summary->options->width, end;
    while (width > column && (end = find_break(text, width - column)) > 0) {
        column = is_narrow(summary) ? NARROW_COLUMN : column;
        str_append_bytes(summary->text, text, end);
        str_printf(summary->text, "\n%*s", (int)column, "");
        text += end + 1;
    }
    str_append(summary->text, text);
}

/* "  RAM            412 MB  peak …": harmless on any terminal. */
static void summary_row(
    struct summary *summary, const char *label, const char *figure, const char *format, ...)
{
    struct str detail = {0};
    va_list arguments;
    va_start(arguments, format);
    str_print_list(&detail, format, arguments);
    va_end(arguments);
    screen_sanitize(&detail, 0);
    /* Append a label, its figure in bold, and what belongs to it. */
    str_printf(summary->text, "  %-*s ", SUMMARY_LABEL_WIDTH, label);
    summary_color(summary, SUMMARY_BOLD);
    str_printf(summary->text, "%*s", utf8_field(figure, FIGURE_WIDTH), figure);
    summary_color(summary, SUMMARY_PLAIN);
    if (detail.length) {
        /* Append the detail of the figure. */
        const char *text = str_text(&detail);
        if (is_narrow(summary)) {
            str_printf(summary->text, "\n%*s", NARROW_COLUMN, "");
            summary_append_wrapped(summary, text, NARROW_COLUMN);
        } else {
            str_append(summary->text, "  ");
            summary_append_wrapped(summary, text, DETAIL_COLUMN);
        }
    }
    str_append_char(summary->text, '\n');
    summary->text->failed |= detail.failed;
    str_finish(&detail);
}

/* Writes a line without a figure. */
static void summary_line(
    struct summary *summary, const char *label, const char *color, const char *text)
{
    str_printf(summary->text, "  %-*s ", SUMMARY_LABEL_WIDTH, label);
    summary_color(summary, color);
    summary_append_wrapped(summary, text, SUMMARY_LABEL_COLUMN);
    summary_color(summary, *color ? SUMMARY_PLAIN : "");
    str_append_char(summary->text, '\n');
}

/* Whether the detail of a row, which is made harmless, fits into one line. */
static bool fits(const struct summary *summary, struct str *detail)
{
    size_t width = summary->options->width;
    size_t column = is_narrow(summary) ? NARROW_COLUMN : DETAIL_COLUMN;
    screen_sanitize(detail, 0);
    return width == 0 || column + utf8_width(str_text(detail)) <= width;
}

/* The same row; where the detail does not fit, a shorter one. Frees both. */
static void summary_row_or_shorter(struct summary *summary, const char *label, const char *figure,
    struct str *detail, struct str *shorter)
{
    bool is_short = fits(summary, detail);
    summary->text->failed |= detail->failed || shorter->failed;
    summary_row(summary, label, figure, "%s", str_text(is_short ? detail : shorter));
    str_finish(detail);
    str_finish(shorter);
}

/* ---- GPUs ---- */

#define MAX_SHOWN_GPUS 8

/* What the lines have: figures that one GPU has, another says to be missing. */
struct form {
    bool is_long, has_use, has_power;
};

/* Appends what belongs to the figure of a GPU: its peak, how busy it was, and its mean power. */
static void describe(const struct gput_results *results, const struct gput_gpu *gpu,
    const struct form *form, struct str *text)
{
    char whole[HUMAN_SIZE], watts[HUMAN_SIZE];
    double late_seconds = results->gpu_peaks.late_list_seconds;
    str_append(text, "peak");
    if (isnan(gpu->max_combined_ram_bytes))
        str_append(text, form->is_long ? ", by whoever used it," : " (all users)");
    else if (late_seconds > 0)
        str_printf(text, ", at least: the driver's list was %.1f s late,", late_seconds);
    str_printf(text, " of %s", human_bytes(gpu->ram_capacity_bytes, whole));
    if (form->has_use && isnan(gpu->max_utilization_percent))
        str_append(text, "; busy n/a");
    else if (form->has_use)
        str_printf(text,
            form->is_long ? "; busy: mean %.0f %%, max %.0f %%" : "; busy %.0f %% (max %.0f %%)",
            gpu->mean_utilization_percent, gpu->max_utilization_percent);
    if (form->has_power && isnan(gpu->mean_power_watts))
        str_append(text, "; power n/a");
    else if (form->has_power)
        str_printf(text, "; %s", human_watts(gpu->mean_power_watts, watts));
    if (form->is_long)
        str_printf(text, "  %s", gpu->name);
}

/* The index of the next GPU that is shown, from this one on; n_gpus: there is none. */
static uint32_t next_shown(const struct gput_results *results, uint32_t index)
{
    while (index < results->n_gpus && !results->gpus[index].selected)
        index++;
    return index;
}

/* Finds the longest form that fits the screen for all GPUs, so that their rows look alike. */
static struct form find_form(const struct summary *summary)
{
    const struct gput_results *results = summary->results;
    struct form form = {.is_long = true};
    unsigned shown = 0;
    for (uint32_t i = next_shown(results, 0); i < results->n_gpus && shown < MAX_SHOWN_GPUS;
         i = next_shown(results, i + 1), shown++) {
        form.has_use |= !isnan(results->gpus[i].max_utilization_percent);
        form.has_power |= !isnan(results->gpus[i].mean_power_watts);
    }
    shown = 0;
    for (uint32_t i = next_shown(results, 0); i < results->n_gpus && shown < MAX_SHOWN_GPUS;
         i = next_shown(results, i + 1), shown++) {
        CLEANUP_STR struct str text = {0};
        describe(
            results, &results->gpus[i], &(struct form){true, form.has_use, form.has_power}, &text);
        form.is_long &= fits(summary, &text);
    }
    return form;
}

/* Writes the row of a GPU. */
static void write_gpu(struct summary *summary, uint32_t index, const struct form *form)
{
    const struct gput_gpu *gpu = &summary->results->gpus[index];
    bool is_of_command = !isnan(gpu->max_combined_ram_bytes);
    char label[32], figure[HUMAN_SIZE];
    CLEANUP_STR struct str text = {0};
    snprintf(label, sizeof label, "GPU %u", (unsigned)index);
    human_bytes(is_of_command ? gpu->max_combined_ram_bytes : gpu->max_ram_bytes, figure);
    describe(summary->results, gpu, form, &text);
    summary_row(summary, label, figure, "%s", str_text(&text));
    summary->text->failed |= text.failed;
    /* Say how busy parts of the chip were, if asked; what slowed the card, what got worse on it. */
    const struct {
        const char *what, *text;
    } troubles[] = {
        {"parts:", gpu->parts},
        {"slowed by", strcmp(gpu->slowed_by, "nothing") == 0 ? "" : gpu->slowed_by},
        {"health:", gpu->health},
    };
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        if (troubles[i].text[0])
            summary_row(summary, "", "", "%s %s", troubles[i].what, troubles[i].text);
    }
}

/* The lines of GPUs, all in one form: of many GPUs the first ones, and how many there are. */
static void summary_gpus_write(struct summary *summary)
{
    const struct gput_results *results = summary->results;

    /* Reports of the older gpu_tracker have no single GPU. */
    double mean = results->mean[GPUT_GPU_HARDWARE_UTILIZATION];
    double peak = results->max[GPUT_COMBINED_GPU_RAM];
    char figure[HUMAN_SIZE], capacity[HUMAN_SIZE], busy[64] = "";
    if (!(results->n_gpus > 0 || !(results->static_data.system_gpu_count > 0) ||
            (isnan(mean) && isnan(peak)))) {
        if (!isnan(mean))
            snprintf(busy, sizeof busy, "; busy: mean %.0f %%, max %.0f %%", mean,
                results->max[GPUT_GPU_HARDWARE_UTILIZATION]);
        summary_row(summary, "GPUs", human_bytes(peak, figure), "peak of RAM, of %s in all%s",
            human_bytes(results->static_data.gpu_ram_system_capacity_bytes, capacity), busy);
    }

    struct form form = find_form(summary);
    unsigned shown = 0, more = 0;
    for (uint32_t i = next_shown(results, 0); i < results->n_gpus; i = next_shown(results, i + 1)) {
        if (shown < MAX_SHOWN_GPUS) {
            write_gpu(summary, i, &form);
            shown++;
        } else {
            more++;
        }
    }
    if (more) {
        char text[48];
        snprintf(text, sizeof text, "and %u more: -f full", more);
        summary_line(summary, "GPUs", "", text);
    }
}

/* ---- Heading ---- */

/* Appends a text whose line ends and tabs are shown as blanks. */
static void append_in_line(const char *word, struct str *text)
{
    size_t start = text->length;
    for (const char *at = word; *at; at++)
        str_append_char(text, *at == '\n' || *at == '\t' ? ' ' : *at);
    screen_sanitize(text, start);
}

/* Appends "gpu-tracker: ", a name that is cut where there is too little space, and what follows it.
 */
static void append_heading(struct summary *summary, struct str *name, const char *end)
{
    size_t others = strlen("gpu-tracker: ") + strlen(end);
    if (summary->options->width > others + 1)
        utf8_cut(name, summary->options->width - others);
    str_append(summary->text, "gpu-tracker: ");
    summary_color(summary, SUMMARY_BOLD);
    str_append(summary->text, str_text(name));
    summary_color(summary, SUMMARY_PLAIN);
    str_append(summary->text, end);
    str_append_char(summary->text, '\n');
    summary->text->failed |= name->failed;
}

/* Writes the command with its words as a shell would take them. */
static void write_command(struct summary *summary)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,:/@%^";
    CLEANUP_STR struct str line = {0};
    for (const char *const *word = summary->options->command; *word; word++) {
        bool is_plain = **word && strspn(*word, plain) == strlen(*word);
        str_append(&line, word == summary->options->command ? "" : " ");
        str_append(&line, is_plain ? "" : "'");
        append_in_line(*word, &line);
        str_append(&line, is_plain ? "" : "'");
    }
    append_heading(summary, &line, "");
}

/* Writes "gpu-tracker: python3, pid 4711". */
static void write_process(struct summary *summary)
{
    const struct gput_identity *identity = &summary->results->identity;
    const char *comma = identity->command[0] ? ", " : "";
    char pid[32] = "";
    CLEANUP_STR struct str line = {0};
    if (!isnan(identity->pid))
        snprintf(pid, sizeof pid, "%spid %.0f", comma, identity->pid);
    append_in_line(identity->command, &line);
    append_heading(summary, &line, pid);
}

/* The head: "gpu-tracker: python train.py", and "  Host       node1; job 4711, rank 3 of 4" of a
 * rank and in files. */
static void summary_heading_write(struct summary *summary)
{
    if (summary->options->command)
        write_command(summary);
    else if (summary->options->attached || summary->results->identity.command[0])
        write_process(summary);

    /* Write "  Host       node1; job 4711, rank 3 of 4 (Open MPI); 2026-01-31T23:59:59Z": of a
     * rank, and in what is kept. On a screen one knows. */
    const struct gput_identity *identity = &summary->results->identity;
    CLEANUP_STR struct str line = {0};
    if (!identity->host[0] || (summary->options->width > 0 && !identity->job_id[0] &&
                                  !identity->task[0] && !identity->ranks[0]))
        return;
    append_in_line(identity->host, &line);
    /* Append "; job 4711, rank 3 of 4 (Open MPI)". */
    const char *separator = "; ";
    if (identity->job_id[0]) {
        str_printf(&line, "; job %s", identity->job_id);
        separator = ", ";
    } else if (identity->task[0]) {
        str_printf(&line, "; task %s", identity->task);
        separator = ", ";
    }
    if (identity->ranks[0]) {
        bool are_several = strpbrk(identity->ranks, "-,") != NULL;
        str_printf(&line, "%srank%s %s", separator, are_several ? "s" : "", identity->ranks);
        if (!isnan(identity->world_size))
            str_printf(&line, " of %.0f", identity->world_size);
    }
    if (identity->launcher[0])
        str_printf(&line, " (%s)", identity->launcher);
    if (identity->start[0])
        str_printf(&line, "; %.19sZ", identity->start);
    screen_sanitize(&line, 0);
    summary_line(summary, "Host", "", str_text(&line));
    summary->text->failed |= line.failed;
}

/* A bound is worth a word where more than a tenth of the peak may be unseen. */
#define NOTABLE_RISE 1.1
/* A peak without a useful bound is called "at least" above this part of what there is. */
#define NOTABLE_PART 0.5
/* Less of its memory in swap slows nothing. */
#define NOTABLE_SWAP_BYTES 1e6
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
    char bound[64] = "", parts[128] = "", share[HUMAN_SIZE];
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
    if (results->max[GPUT_COMBINED_SWAPPED_RAM] >= NOTABLE_SWAP_BYTES)
        text_fit(parts + strlen(parts), sizeof parts - strlen(parts), "; up to %s more in swap",
            human_bytes(results->max[GPUT_COMBINED_SWAPPED_RAM], figure));
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
    if (threads == 1)
        snprintf(highest, sizeof highest, "1 thread");
    else if (!isnan(threads))
        snprintf(highest, sizeof highest, "%.0f threads seen at once", threads);
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

    /* Write one figure of each direction: what the processes asked for. What of it reached a disk
     * is in the full report. */
    const struct gput_accounting *accounting = &summary.results->accounting;
    const struct gput_source *counts = results_find_source(summary.results, "counts");
    bool is_at_least = counts && counts->state == GPUT_SOURCE_SAMPLED;
    char figure[HUMAN_SIZE], written[HUMAN_SIZE];
    if (!(isnan(accounting->read_bytes) && isnan(accounting->write_bytes))) {
        summary_row(&summary, "I/O", human_bytes(accounting->read_bytes, figure),
            "read, %s written%s (files and pipes)", human_bytes(accounting->write_bytes, written),
            is_at_least ? ", each at least" : "");
    }

    write_processes(&summary);
    write_missing(&summary);

    /* Write what the user could do better. */
    char texts[MAX_ADVICE][ADVICE_SIZE];
    size_t count = results_advice(summary.results, texts);
    for (size_t i = 0; i < count; i++) {
        texts[i][screen_clean(texts[i], strlen(texts[i]))] = '\0';
        summary_line(&summary, i == 0 ? "Advice" : "", SUMMARY_YELLOW, texts[i]);
    }

    size_t start = text->length;
    if (options->processes)
        processes_report_write_summary(options->processes, options->width, text);
    regions_report_write(options, text);
    screen_sanitize(text, start);
}
