#include "views/output/summary_heading.h"

#include "base/cleanup.h"
#include "base/screen.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
