/*
 * The summary of a session: a label, one figure and what belongs to it in each line.
 */
#include "output/results_summary.h"

#include "base/screen.h"
#include "base/utf8.h"
#include "output/doc_text.h"
#include "output/human.h"
#include "output/processes_report.h"
#include "output/regions_report.h"
#include "output/results_advice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define LABEL_WIDTH 10
#define FIGURE_WIDTH 12
#define LABEL_COLUMN (2 + LABEL_WIDTH + 1) /* what follows a label, and a figure */
#define DETAIL_COLUMN (LABEL_COLUMN + FIGURE_WIDTH + 2)
/* On narrower screens there is too little space next to the figures: what belongs to them follows
 * in lines of its own, from this column on. */
#define MIN_WIDTH_OF_DETAILS 60
#define NARROW_COLUMN 4
#define MAX_SHOWN_GPUS 8
/* A bound that is farther away than this is worth a word. */
#define NOTABLE_RISE 1.02
/* One that is this many times as high is true, but no figure to plan with: many short processes
 * that may have run at once make it. */
#define FAR_RISE 2.0

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

struct summary {
    const struct gput_results *results;
    const struct gput_results_render_options *options;
    struct str *text;
};

static void color(struct summary *summary, const char *escape)
{
    if (summary->options->color)
        str_append(summary->text, escape);
}

/* A number keeps its unit, or what it counts. */
static bool may_break(const char *blank)
{
    return *blank == ' ' && !strchr("0123456789", blank[-1]);
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
        if (i > 0 && may_break(&text[i]) && (column <= columns || found == 0))
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
static void append_wrapped(struct summary *summary, const char *text, size_t column)
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

/* What belongs to the figure of a row. */
static void append_detail(struct summary *summary, const char *text)
{
    if (is_narrow(summary)) {
        str_printf(summary->text, "\n%*s", NARROW_COLUMN, "");
        append_wrapped(summary, text, NARROW_COLUMN);
    } else {
        str_append(summary->text, "  ");
        append_wrapped(summary, text, DETAIL_COLUMN);
    }
}

static void append_row(
    struct summary *summary, const char *label, const char *figure, const struct str *detail)
{
    str_printf(summary->text, "  %-*s ", LABEL_WIDTH, label);
    color(summary, BOLD);
    str_printf(summary->text, "%*s", FIGURE_WIDTH, figure);
    color(summary, PLAIN);
    if (detail->length)
        append_detail(summary, str_text(detail));
    str_append_char(summary->text, '\n');
    summary->text->failed |= detail->failed;
}

/* "  RAM            412 MB  peak …" */
__attribute__((format(printf, 4, 5))) static void row(
    struct summary *summary, const char *label, const char *figure, const char *format, ...)
{
    struct str detail = {0};
    va_list arguments;
    va_start(arguments, format);
    str_print_list(&detail, format, arguments);
    va_end(arguments);
    screen_sanitize(&detail, 0);
    append_row(summary, label, figure, &detail);
    str_finish(&detail);
}

/* The same; where the screen has too few columns for the detail, a shorter one. */
static void row_or_shorter(struct summary *summary, const char *label, const char *figure,
    struct str *detail, struct str *shorter)
{
    size_t width = summary->options->width;
    screen_sanitize(detail, 0);
    screen_sanitize(shorter, 0);
    size_t column = is_narrow(summary) ? NARROW_COLUMN : DETAIL_COLUMN;
    bool fits = width == 0 || column + utf8_width(str_text(detail)) <= width;
    append_row(summary, label, figure, fits ? detail : shorter);
    summary->text->failed |= detail->failed || shorter->failed;
    str_finish(detail);
    str_finish(shorter);
}

/* ---- The command ---- */

static bool is_plain_word(const char *word)
{
    return word[0] && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "_-+=.,:/@%^") == strlen(word);
}

/* Line ends and tabs are shown as blanks. */
static void append_in_line(const char *word, struct str *text)
{
    size_t start = text->length;
    for (const char *at = word; *at; at++)
        str_append_char(text, *at == '\n' || *at == '\t' ? ' ' : *at);
    screen_sanitize(text, start);
}

/* As a shell would take it. */
static void append_word(const char *word, struct str *text)
{
    const char *quote = is_plain_word(word) ? "" : "'";
    str_append(text, quote);
    append_in_line(word, text);
    str_append(text, quote);
}

/* "gpu-tracker: ", a name that is cut where there is too little space, and what follows it. */
static void append_heading(struct summary *summary, struct str *name, const char *end)
{
    size_t others = strlen("gpu-tracker: ") + strlen(end);
    if (summary->options->width > others + 1)
        utf8_cut(name, summary->options->width - others);
    str_append(summary->text, "gpu-tracker: ");
    color(summary, BOLD);
    str_append(summary->text, str_text(name));
    color(summary, PLAIN);
    str_append(summary->text, end);
    str_append_char(summary->text, '\n');
    summary->text->failed |= name->failed;
}

static void write_command(struct summary *summary)
{
    struct str line = {0};
    for (const char *const *word = summary->options->command; *word; word++) {
        str_append(&line, word == summary->options->command ? "" : " ");
        append_word(*word, &line);
    }
    append_heading(summary, &line, "");
    str_finish(&line);
}

/* "gpu-tracker: python3, pid 4711" */
static void write_process(struct summary *summary)
{
    const struct gput_identity *identity = &summary->results->identity;
    const char *comma = identity->command[0] ? ", " : "";
    char pid[32] = "";
    struct str line = {0};
    if (!isnan(identity->pid))
        snprintf(pid, sizeof pid, "%spid %.0f", comma, identity->pid);
    append_in_line(identity->command, &line);
    append_heading(summary, &line, pid);
    str_finish(&line);
}

/* "; job 4711, rank 3 of 4 (Open MPI)" */
static void append_place(const struct gput_identity *identity, struct str *line)
{
    const char *separator = "; ";
    if (identity->job_id[0]) {
        str_printf(line, "; job %s", identity->job_id);
        separator = ", ";
    } else if (identity->task[0]) {
        str_printf(line, "; task %s", identity->task);
        separator = ", ";
    }
    if (identity->ranks[0]) {
        bool are_several = strpbrk(identity->ranks, "-,") != NULL;
        str_printf(line, "%srank%s %s", separator, are_several ? "s" : "", identity->ranks);
        if (!isnan(identity->world_size))
            str_printf(line, " of %.0f", identity->world_size);
    }
    if (identity->launcher[0])
        str_printf(line, " (%s)", identity->launcher);
}

/* "  Host       node1; job 4711, rank 3 of 4 (Open MPI); 2026-01-31T23:59:59Z": of a rank, and in
 * what is kept. On a screen one knows. */
static void write_host(struct summary *summary)
{
    const struct gput_identity *identity = &summary->results->identity;
    struct str line = {0};
    if (!identity->host[0] || (summary->options->width > 0 && !identity->job_id[0] &&
                                  !identity->task[0] && !identity->ranks[0]))
        return;
    append_in_line(identity->host, &line);
    append_place(identity, &line);
    if (identity->start[0])
        str_printf(&line, "; %.19sZ", identity->start);
    screen_sanitize(&line, 0);
    str_printf(summary->text, "  %-*s ", LABEL_WIDTH, "Host");
    append_wrapped(summary, str_text(&line), LABEL_COLUMN);
    str_append_char(summary->text, '\n');
    summary->text->failed |= line.failed;
    str_finish(&line);
}

/* ---- The lines ---- */

/* Of a process that was attached to, the results have what the kernel announced of its end. */
static void describe_end(const struct summary *summary, char *text, size_t size)
{
    const struct gput_limit_passed *limit = &summary->results->limit;
    const struct gput_identity *identity = &summary->results->identity;
    int status = summary->options->status;
    bool has_status = summary->options->has_status, is_attached = summary->options->attached;
    int signal = has_status && WIFSIGNALED(status)     ? WTERMSIG(status)
                 : is_attached && identity->signal > 0 ? (int)identity->signal
                                                       : 0;
    text[0] = '\0';
    if (limit->enforced)
        snprintf(text, size, "ended for its limit of %s", limit->kind_name);
    else if (signal)
        snprintf(text, size, "killed by signal %d (%s)", signal, strsignal(signal));
    else if (has_status)
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
    else if (is_attached && identity->exit_status >= 0)
        snprintf(text, size, "exit status %.0f", identity->exit_status);
    else if (is_attached)
        snprintf(text, size, "the process %s", summary->options->attached);
}

static void write_time(struct summary *summary)
{
    char figure[HUMAN_SIZE];
    char end[128];
    describe_end(summary, end, sizeof end);
    row(summary, "Time", human_seconds(summary->results->elapsed_seconds, figure), "%s", end);
}

static const struct gput_source *find_source(const struct gput_results *results, const char *name)
{
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        if (strcmp(results->sources[i].name, name) == 0)
            return &results->sources[i];
    }
    return NULL;
}

static bool is_exact(const struct gput_results *results, const char *name)
{
    const struct gput_source *source = find_source(results, name);
    return source && source->state == GPUT_SOURCE_EXACT;
}

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
        const struct gput_source *source = find_source(results, "kernel_cpu_time");
        row(summary, "CPU", "n/a", "%s", source ? source->reason : "");
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
    const char *at_least = is_exact(results, "kernel_cpu_time") ? "" : "at least; ";
    human_cores(cores, used);
    str_printf(&detail, "%s%s of %g cores%s%s", at_least, used, allowed, whole, parts);
    str_printf(&shorter, "%s%s of %g %scores%s", at_least, used, allowed,
        is_limited ? "allowed " : "", parts);
    row_or_shorter(summary, "CPU", human_seconds(seconds, figure), &detail, &shorter);
}

/* " (at most 7 GB)", what is known of a peak between samples. */
static void describe_bound(double peak, double at_most, char *text, size_t size)
{
    char figure[HUMAN_SIZE];
    bool is_notable = isnan(peak) ? !isnan(at_most) : at_most > peak * NOTABLE_RISE;
    text[0] = '\0';
    if (at_most > peak * FAR_RISE)
        snprintf(text, size, " seen, perhaps more");
    else if (is_notable)
        snprintf(text, size, " (at most %s)", human_bytes(at_most, figure));
}

/* "; main 5 GB, children 1.2 GB" */
static void describe_parts(const struct gput_results *results, char *text, size_t size)
{
    char main[HUMAN_SIZE], others[HUMAN_SIZE];
    text[0] = '\0';
    if (results->max[GPUT_DESCENDANTS_RAM] > 0)
        snprintf(text, size, "; main %s, children %s",
            human_bytes(results->max[GPUT_MAIN_RAM], main),
            human_bytes(results->max[GPUT_DESCENDANTS_RAM], others));
}

/* Of the RAM that is allowed, or of the machine's. */
static void write_known_ram(struct summary *summary, double peak, const char *bound)
{
    const struct gput_static_data *data = &summary->results->static_data;
    struct str detail = {0}, shorter = {0};
    char figure[HUMAN_SIZE], whole[HUMAN_SIZE], machine[HUMAN_SIZE], parts[96], share[16];
    bool is_limited = !isnan(data->allowed_ram_bytes);
    double limit = is_limited ? data->allowed_ram_bytes : data->ram_system_capacity_bytes;
    describe_parts(summary->results, parts, sizeof parts);
    if (peak / limit >= 0.0095)
        snprintf(share, sizeof share, "%.0f", 100 * peak / limit);
    else
        snprintf(share, sizeof share, "under 1");
    human_bytes(limit, whole);
    human_bytes(data->ram_system_capacity_bytes, machine);
    str_printf(&detail, "peak%s, %s %% of the %s%s", bound, share,
        is_limited ? "allowed " : "machine's ", whole);
    if (is_limited)
        str_printf(&detail, " (machine: %s)", machine);
    str_append(&detail, parts);
    str_printf(&shorter, "peak%s, %s %% of %s%s%s", bound, share, whole,
        is_limited ? " allowed" : "", parts);
    row_or_shorter(summary, "RAM", human_bytes(peak, figure), &detail, &shorter);
}

static void write_ram(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    double peak = results->max[GPUT_COMBINED_RAM];
    char bound[64];
    describe_bound(peak, results->peaks.combined.at_most_bytes, bound, sizeof bound);
    if (isnan(peak))
        row(summary, "RAM", "n/a", "%s%s",
            summary->options->attached
                ? "no sample saw its memory: each coincided with the start or end of a program"
                : "it ended before its memory was read",
            bound);
    else
        write_known_ram(summary, peak, bound);
}

static void write_gpu(struct summary *summary, unsigned index, const struct gput_gpu *gpu)
{
    char label[32], figure[HUMAN_SIZE], whole[HUMAN_SIZE], watts[HUMAN_SIZE], use[64] = "";
    char power[64] = "", late[96] = "", shorter_use[64] = "";
    struct str detail = {0}, shorter = {0};
    double late_seconds = summary->results->gpu_peaks.late_list_seconds;
    bool is_ours = !isnan(gpu->max_combined_ram_bytes);
    double peak = is_ours ? gpu->max_combined_ram_bytes : gpu->max_ram_bytes;
    snprintf(label, sizeof label, "GPU %u", index);
    if (!isnan(gpu->max_utilization_percent)) {
        snprintf(use, sizeof use, "; busy %.0f %%, at most %.0f %%", gpu->mean_utilization_percent,
            gpu->max_utilization_percent);
        snprintf(shorter_use, sizeof shorter_use, "; busy %.0f %% (max %.0f %%)",
            gpu->mean_utilization_percent, gpu->max_utilization_percent);
    }
    if (!isnan(gpu->mean_power_watts))
        snprintf(power, sizeof power, "; %s", human_watts(gpu->mean_power_watts, watts));
    if (is_ours && late_seconds > 0)
        snprintf(late, sizeof late, ", at least: the driver's list was %.1f s late,", late_seconds);
    human_bytes(gpu->ram_capacity_bytes, whole);
    str_printf(&detail, "peak%s of %s%s%s  %s", is_ours ? late : ", by whoever used it,", whole,
        use, power, gpu->name);
    str_printf(
        &shorter, "peak%s of %s%s%s", is_ours ? late : " (all users)", whole, shorter_use, power);
    row_or_shorter(summary, label, human_bytes(peak, figure), &detail, &shorter);
}

static void write_gpus(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    unsigned shown = 0, more = 0;
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        if (!results->gpus[i].selected)
            continue;
        if (shown < MAX_SHOWN_GPUS) {
            write_gpu(summary, i, &results->gpus[i]);
            shown++;
        } else {
            more++;
        }
    }
    if (more) {
        char text[48];
        snprintf(text, sizeof text, "and %u more: -f full", more);
        str_printf(summary->text, "  %-*s ", LABEL_WIDTH, "GPUs");
        append_wrapped(summary, text, LABEL_COLUMN);
        str_append_char(summary->text, '\n');
    }
}

/* Counters that are in no total; where there are none, "Not known" has it. */
static void write_no_energy(struct summary *summary)
{
    const struct gput_source *cpu = find_source(summary->results, "cpu_energy");
    if (cpu && cpu->state == GPUT_SOURCE_SAMPLED)
        row(summary, "Energy", "n/a", "%s", cpu->reason);
}

static void write_energy(struct summary *summary)
{
    const struct gput_energy *energy = &summary->results->energy;
    char figure[HUMAN_SIZE], whole[HUMAN_SIZE], watts[HUMAN_SIZE], grams[HUMAN_SIZE];
    char co2e[64] = "", power[64] = "", parts[ENERGY_PARTS_SIZE];
    struct str detail = {0}, shorter = {0};
    if (isnan(energy->combined) && isnan(energy->machine.total)) {
        write_no_energy(summary);
        return;
    }
    energy_total_words(energy, parts);
    if (!isnan(energy->co2e_grams))
        snprintf(co2e, sizeof co2e, "; %s CO2e", human_grams(energy->co2e_grams, grams));
    if (!isnan(energy->mean_watts)) /* of a part of the time it is not known */
        snprintf(power, sizeof power, ", which took %s", human_watts(energy->mean_watts, watts));
    if (isnan(energy->combined)) {
        row(summary, "Energy", human_joules(energy->machine.total, figure),
            "of %s; the command's share is not known%s", parts, co2e);
        return;
    }
    human_joules(energy->machine.total, whole);
    str_printf(&detail, "of the %s of %s%s%s", whole, parts, power, co2e);
    str_printf(
        &shorter, "of %s of %s%s%s%s", whole, parts, *power ? "; " : "", *power ? watts : "", co2e);
    row_or_shorter(summary, "Energy", human_joules(energy->combined, figure), &detail, &shorter);
}

static void write_io(struct summary *summary)
{
    const struct gput_accounting *accounting = &summary->results->accounting;
    const struct gput_source *counts = find_source(summary->results, "counts");
    bool is_at_least = counts && counts->state == GPUT_SOURCE_SAMPLED;
    char figure[HUMAN_SIZE], written[HUMAN_SIZE], fetched[HUMAN_SIZE], stored[HUMAN_SIZE];
    struct str detail = {0}, shorter = {0};
    if (isnan(accounting->read_bytes) && isnan(accounting->storage_read_bytes))
        return;
    human_bytes(accounting->write_bytes, written);
    human_bytes(accounting->storage_read_bytes, fetched);
    human_bytes(accounting->storage_write_bytes, stored);
    str_printf(&detail, "read, %s written; %s from storage, %s to storage%s", written, fetched,
        stored, is_at_least ? "; each at least this" : "");
    str_printf(&shorter, "read, %s written (storage: %s, %s)%s", written, fetched, stored,
        is_at_least ? "; at least" : "");
    row_or_shorter(summary, "I/O", human_bytes(accounting->read_bytes, figure), &detail, &shorter);
}

static void write_processes(struct summary *summary)
{
    const struct gput_accounting *accounting = &summary->results->accounting;
    double threads = summary->results->max[GPUT_COMBINED_THREADS];
    char figure[HUMAN_SIZE], highest[64] = "";
    if (!accounting->processes_seen)
        return;
    snprintf(figure, sizeof figure, "%llu", (unsigned long long)accounting->processes_seen);
    if (!isnan(threads))
        snprintf(highest, sizeof highest, "%.0f thread%s seen at once", threads,
            threads == 1 ? "" : "s");
    row(summary, "Processes", figure, "%s%s", accounting->processes_missed > 0 ? "at least; " : "",
        highest);
}

/* "GPU, CPU energy"; who used a GPU is not a second gap where there is none. */
static void list_missing(const struct gput_results *results, struct str *list)
{
    const struct gput_source *gpu = find_source(results, "gpu");
    bool has_no_gpu = gpu && gpu->state == GPUT_SOURCE_UNAVAILABLE;
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        if (results->sources[i].state != GPUT_SOURCE_UNAVAILABLE ||
            (has_no_gpu && strcmp(results->sources[i].name, "process_gpu_ram") == 0))
            continue;
        str_append(list, list->length ? ", " : "");
        doc_text_label(results->sources[i].name, list);
    }
    screen_sanitize(list, 0);
}

/* "Not known  GPU, CPU energy (why: -f full, gpu-tracker doctor)" */
static void write_missing(struct summary *summary)
{
    struct str list = {0};
    list_missing(summary->results, &list);
    if (list.length > 0) {
        str_append(&list, " (why: -f full, gpu-tracker doctor)");
        color(summary, DIM);
        str_printf(summary->text, "  %-*s ", LABEL_WIDTH, "Not known");
        append_wrapped(summary, str_text(&list), LABEL_COLUMN);
        color(summary, PLAIN);
        str_append_char(summary->text, '\n');
    }
    summary->text->failed |= list.failed;
    str_finish(&list);
}

static void write_advice(struct summary *summary)
{
    char texts[MAX_ADVICE][ADVICE_SIZE];
    size_t count = results_advice(summary->results, texts);
    for (size_t i = 0; i < count; i++) {
        str_printf(summary->text, "  %-*s ", LABEL_WIDTH, i == 0 ? "Advice" : "");
        color(summary, YELLOW);
        texts[i][gput_screen_text(texts[i], strlen(texts[i]))] = '\0';
        append_wrapped(summary, texts[i], LABEL_COLUMN);
        color(summary, PLAIN);
        str_append_char(summary->text, '\n');
    }
}

void results_summary_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    struct summary summary = {results, options, text};
    if (options->command)
        write_command(&summary);
    else if (options->attached || results->identity.command[0])
        write_process(&summary);
    write_host(&summary);
    write_time(&summary);
    write_cpu(&summary);
    write_ram(&summary);
    write_gpus(&summary);
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

/* A part that does not fit is left out, and with it all that follows: half a number is a wrong one.
 */
__attribute__((format(printf, 4, 5))) static bool append_part(
    struct str *line, size_t width, bool is_whole, const char *format, ...)
{
    struct str part = {0};
    va_list arguments;
    va_start(arguments, format);
    str_print_list(&part, format, arguments);
    va_end(arguments);
    /* The last column would begin another line. */
    bool fits = is_whole &&
                (width <= 1 || utf8_width(str_text(line)) + utf8_width(str_text(&part)) < width);
    if (fits)
        str_append(line, str_text(&part));
    line->failed |= part.failed;
    str_finish(&part);
    return fits;
}

/* "12.3 s  1.9 cores  RAM 412 MB, peak 500 MB  GPU RAM 11.2 GB, busy 85 %" */
static void write_line(const struct gput_results *results, size_t width, struct str *line)
{
    char now[HUMAN_SIZE];
    const double *values = results->now.values;
    double cpu_percent = values[GPUT_CPU_COMBINED_SUM];
    bool fits = true;
    if (results->elapsed_seconds < 59.95)
        fits = append_part(line, width, fits, "%.1f s", results->elapsed_seconds);
    else
        fits = append_part(line, width, fits, "%s", human_seconds(results->elapsed_seconds, now));
    if (!isnan(cpu_percent))
        fits = append_part(line, width, fits, "  %.1f cores", cpu_percent / 100);
    if (!isnan(values[GPUT_COMBINED_RAM])) {
        fits =
            append_part(line, width, fits, "  RAM %s", human_bytes(values[GPUT_COMBINED_RAM], now));
        fits = append_part(
            line, width, fits, ", peak %s", human_bytes(results->max[GPUT_COMBINED_RAM], now));
    }
    if (results->n_gpus && !isnan(values[GPUT_COMBINED_GPU_RAM]))
        fits = append_part(
            line, width, fits, "  GPU RAM %s", human_bytes(values[GPUT_COMBINED_GPU_RAM], now));
    if (results->n_gpus && !isnan(values[GPUT_GPU_HARDWARE_UTILIZATION]))
        append_part(
            line, width, fits, "  GPUs busy %.0f %%", values[GPUT_GPU_HARDWARE_UTILIZATION]);
}

void results_summary_write_line(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    struct str line = {0};
    write_line(results, options->width, &line);
    text->failed |= line.failed;
    str_append(text, str_text(&line));
    str_finish(&line);
}
