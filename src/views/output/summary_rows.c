#include "views/output/summary_rows.h"

#include "base/cleanup.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIGURE_WIDTH 12
#define DETAIL_COLUMN (SUMMARY_LABEL_COLUMN + FIGURE_WIDTH + 2)
/* On narrower screens there is too little space next to the figures: what belongs to them follows
 * in lines of its own, from this column on. */
#define MIN_WIDTH_OF_DETAILS 60
#define NARROW_COLUMN 4

void summary_color(struct summary *summary, const char *escape)
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

void summary_append_wrapped(struct summary *summary, const char *text, size_t column)
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

void summary_row(
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

/* Whether the detail of a row, which is made harmless, fits into one line. */
static bool fits(const struct summary *summary, struct str *detail)
{
    size_t width = summary->options->width;
    size_t column = is_narrow(summary) ? NARROW_COLUMN : DETAIL_COLUMN;
    screen_sanitize(detail, 0);
    return width == 0 || column + utf8_width(str_text(detail)) <= width;
}

void summary_row_or_shorter(struct summary *summary, const char *label, const char *figure,
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

/* Of reports that have no single GPU, as those of the older gpu_tracker. */
static void write_all_gpus(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    double mean = results->mean[GPUT_GPU_HARDWARE_UTILIZATION];
    double peak = results->max[GPUT_COMBINED_GPU_RAM];
    char figure[HUMAN_SIZE], capacity[HUMAN_SIZE], busy[64] = "";
    if (results->n_gpus > 0 || !(results->static_data.system_gpu_count > 0) ||
        (isnan(mean) && isnan(peak)))
        return;
    if (!isnan(mean))
        snprintf(busy, sizeof busy, "; busy: mean %.0f %%, max %.0f %%", mean,
            results->max[GPUT_GPU_HARDWARE_UTILIZATION]);
    summary_row(summary, "GPUs", human_bytes(peak, figure), "peak of RAM, of %s in all%s",
        human_bytes(results->static_data.gpu_ram_system_capacity_bytes, capacity), busy);
}

void summary_gpus_write(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    write_all_gpus(summary);
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
        str_printf(summary->text, "  %-*s ", SUMMARY_LABEL_WIDTH, "GPUs");
        summary_append_wrapped(summary, text, SUMMARY_LABEL_COLUMN);
        str_append_char(summary->text, '\n');
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

/* Writes "  Host       node1; job 4711, rank 3 of 4 (Open MPI); 2026-01-31T23:59:59Z": of a rank,
 * and in what is kept. On a screen one knows. */
static void write_host(struct summary *summary)
{
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
    str_printf(summary->text, "  %-*s ", SUMMARY_LABEL_WIDTH, "Host");
    summary_append_wrapped(summary, str_text(&line), SUMMARY_LABEL_COLUMN);
    str_append_char(summary->text, '\n');
    summary->text->failed |= line.failed;
}

void summary_heading_write(struct summary *summary)
{
    if (summary->options->command)
        write_command(summary);
    else if (summary->options->attached || summary->results->identity.command[0])
        write_process(summary);
    write_host(summary);
}
