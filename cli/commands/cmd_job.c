/* gpu-tracker job: the results of many ranks as one job. */
#include "base/error.h"
#include "base/table.h"
#include "common/environment.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "track/html_report.h"
#include "track/report.h"

#include <gputracker/jobs.h>
#include <gputracker/report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lanes of an HTML report: of more ranks it has those that stand out, and some of the others. */
#define MAX_LANES 32

/* ---- The HTML report ---- */

struct lanes {
    struct gput_report_session sessions[2 * MAX_LANES]; /* samples, then reports */
    const struct gput_report_session *list[2 * MAX_LANES];
    char names[MAX_LANES][64];
    char clocks[MAX_LANES][224];
    size_t count, n_reports;
    bool lack_some; /* ranks of the job */
};

static double double_of(const struct gput_table *table, size_t row, const char *name)
{
    return gput_table_double(table, row, table_cells_find(table, name));
}

static int64_t int_of(const struct gput_table *table, size_t row, const char *name)
{
    return gput_table_int(table, row, table_cells_find(table, name));
}

static bool stands_out(const struct gput_table *ranks, size_t row)
{
    int64_t exit_status = int_of(ranks, row, "exit_status");
    int64_t signal = int_of(ranks, row, "signal");
    return int_of(ranks, row, "is_straggler") == 1 || exit_status > 0 || signal > 0 ||
           (exit_status < 0 && signal < 0); /* missing: no end is known */
}

/* ---- Clocks of machines ---- */

/* The machine of that rank; the number of machines: it is not among them. */
static size_t machine_of(
    const struct gput_table *machines, const struct gput_table *ranks, size_t rank)
{
    size_t row = 0, rows = gput_table_row_count(machines);
    while (row < rows && (int_of(machines, row, "job") != int_of(ranks, rank, "job") ||
                             strcmp(table_cells_text_of(machines, row, "machine"),
                                 table_cells_text_of(ranks, rank, "machine")) != 0 ||
                             strcmp(table_cells_text_of(machines, row, "boot_id"),
                                 table_cells_text_of(ranks, rank, "boot_id")) != 0))
        row++;
    return row;
}

/* Notes how far off the clock of a rank's machine is, where the job has several machines. */
static void add_clock(struct lanes *lanes, size_t at, const struct gput_table *machines,
    const struct gput_table *ranks, size_t rank)
{
    size_t row = machine_of(machines, ranks, rank), rows = gput_table_row_count(machines);
    bool are_several = rows > 1 && int_of(machines, 1, "job") == 0; /* of the job that is shown */
    if (row >= rows || !are_several)
        return;
    /* Describe how far off the clock is, by which code block, and how certain that is. */
    char *text = lanes->clocks[at];
    size_t size = sizeof lanes->clocks[at];
    char by[96];
    const char *block = table_cells_text_of(machines, row, "clock_block");
    const char *source = table_cells_text_of(machines, row, "clock_source");
    double offset = double_of(machines, row, "clock_offset_seconds");
    double doubt = double_of(machines, row, "clock_doubt_seconds");
    bool is_corrected = int_of(machines, row, "clock_is_corrected") == 1;
    snprintf(by, sizeof by, block[0] ? "%s of block \"%s\"" : "%s", source, block);
    if (strcmp(source, "reference") == 0)
        snprintf(text, size, "of %s: the reference clock",
            table_cells_text_of(machines, row, "machine"));
    else if (isnan(offset))
        snprintf(text, size, "of %s: not compared", table_cells_text_of(machines, row, "machine"));
    else if (is_corrected)
        snprintf(text, size, "of %s, corrected by %.3f s: to within %.3f s, by %s",
            table_cells_text_of(machines, row, "machine"), -offset, doubt, by);
    else
        snprintf(text, size, "of %s, not corrected: %.3f s ahead, to within %.3f s, by %s",
            table_cells_text_of(machines, row, "machine"), offset, doubt, by);
    lanes->sessions[at].clock_note = lanes->clocks[at];
    if (int_of(machines, row, "clock_is_corrected") == 1)
        lanes->sessions[at].clock_offset_seconds = double_of(machines, row, "clock_offset_seconds");
}

/* ---- Lanes ---- */

/* Ranks of the first job, in their order: names of two jobs would be the same. */
static void choose_lanes(const struct gput_tables *tables, struct lanes *lanes)
{
    const struct gput_table *ranks = gput_tables_find(tables, "ranks");
    size_t rows = gput_table_row_count(ranks), out = 0, others = 0, count = 0;
    for (; count < rows && int_of(ranks, count, "job") == 0; count++)
        out += stands_out(ranks, count);
    size_t space = MAX_LANES > out ? MAX_LANES - out : 0, rest = count - out;
    for (size_t row = 0; row < count && lanes->count < MAX_LANES; row++) {
        bool is_out = stands_out(ranks, row);
        /* Every so many of the others, so that they are spread over all. */
        bool is_next =
            !is_out && (rest <= space || others * space / rest != (others + 1) * space / rest);
        others += !is_out;
        if (is_out || is_next) {
            size_t at = lanes->count++;
            int64_t rank = int_of(ranks, row, "rank");
            if (rank >= 0)
                snprintf(lanes->names[at], sizeof lanes->names[at], "rank %lld", (long long)rank);
            lanes->sessions[at] = gput_report_session_default();
            lanes->sessions[at].path = gput_table_text(ranks, row, table_cells_find(ranks, "path"));
            lanes->sessions[at].name = rank >= 0 ? lanes->names[at] : NULL;
            add_clock(lanes, at, gput_tables_find(tables, "machines"), ranks, row);
            lanes->list[at] = &lanes->sessions[at];
        }
    }
    lanes->lack_some = lanes->count < count;
    if (lanes->lack_some) {
        char text[160];
        snprintf(text, sizeof text,
            "the report has %zu of %zu ranks: those that stand out, and some of the others",
            lanes->count, count);
        message_note(text);
    }
}

/* The report finds its samples by the session in it. */
static void add_reports(struct lanes *lanes, const struct gput_table *ranks)
{
    for (size_t row = 0; row < gput_table_row_count(ranks); row++) {
        const char *report = table_cells_text_of(ranks, row, "report");
        for (size_t i = 0; i < lanes->count && report[0]; i++) {
            if (strcmp(lanes->sessions[i].path, table_cells_text_of(ranks, row, "path")) != 0)
                continue;
            size_t at = lanes->count + lanes->n_reports++;
            lanes->sessions[at] = gput_report_session_default();
            lanes->sessions[at].path = report;
            lanes->list[at] = &lanes->sessions[at];
        }
    }
}

/* ---- What was found ---- */

/* Maximum number of notes on the page; a clock is a warning of its session. */
#define MAX_NOTES 64
#define NOTE_SIZE 1024

struct lane_notes {
    char texts[MAX_NOTES][NOTE_SIZE];
    const char *list[MAX_NOTES];
    size_t count;
};

static void add_note(struct lane_notes *notes, const char *text, const char *evidence)
{
    snprintf(notes->texts[notes->count], NOTE_SIZE, evidence[0] ? "%s: %s" : "%s", text, evidence);
    notes->list[notes->count] = notes->texts[notes->count];
    notes->count++;
}

/* Adds the notes of the shown job and its files. A clock is a note where its machine may have no
 * lane. */
static void add_notes(struct lane_notes *notes, const struct gput_tables *tables, bool lack_some)
{
    const struct gput_table *findings = gput_tables_find(tables, "findings");
    size_t jobs = gput_table_row_count(gput_tables_find(tables, "jobs"));
    if (jobs > 1) {
        char text[160];
        snprintf(text, sizeof text,
            "the files are of %zu jobs: the HTML report has the first one; "
            "name the files of another one to see that",
            jobs);
        message_note(text);
        text[0] = 'T'; /* a sentence there, the rest of a line here */
        add_note(notes, text, "");
    }
    size_t left_out = 0;
    for (size_t row = 0; row < gput_table_row_count(findings); row++) {
        if (int_of(findings, row, "job") > 0 ||
            (!lack_some && strcmp(table_cells_text_of(findings, row, "kind"), "clock") == 0))
            continue;
        if (notes->count < MAX_NOTES - 1)
            add_note(notes, table_cells_text_of(findings, row, "text"),
                table_cells_text_of(findings, row, "evidence"));
        else
            left_out++;
    }
    if (left_out > 0) {
        char text[96];
        snprintf(text, sizeof text, "%zu more are in the output of gpu-tracker job", left_out);
        add_note(notes, text, "");
    }
}

/* Writes the job as an HTML file: a lane for each rank that is shown. */
static int write_html(const struct gput_jobs *jobs, const char *path, struct gput_error *error)
{
    struct gput_tables *tables;
    TRY(gput_jobs_tables(jobs, &tables, error));
    struct lanes lanes = {.count = 0};
    struct lane_notes notes = {.count = 0};
    struct gput_report_options options = gput_report_options_default();
    int shown = 0;
    choose_lanes(tables, &lanes);
    add_reports(&lanes, gput_tables_find(tables, "ranks"));
    add_notes(&notes, tables, lanes.lack_some);
    options.sessions = lanes.list;
    options.n_sessions = lanes.count + lanes.n_reports;
    options.notes = notes.list;
    options.n_notes = notes.count;
    options.page = environment_path("GPUT_REPORT_PAGE");
    options.warn = analysis_warn;
    options.user = &shown;
    char title[200];
    const char *job = gput_table_text(gput_tables_find(tables, "jobs"), 0, 0);
    bool is_list = int_of(gput_tables_find(tables, "jobs"), 0, "is_list") == 1;
    snprintf(
        title, sizeof title, "%s%s", is_list ? "Sessions" : "Job ", is_list || !job ? "" : job);
    options.title = title;
    int code = gput_report_write(&options, path, error);
    gput_tables_destroy(tables);
    return code;
}

/* ---- Everything else ---- */

/* Renders one table of the job. */
static int render_table(const struct gput_jobs *jobs, const char *name, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error)
{
    struct gput_tables *tables;
    bool is_of_sessions = strcmp(name, "sessions") == 0;
    TRY(is_of_sessions ? gput_jobs_sessions(jobs, &tables, error)
                       : gput_jobs_tables(jobs, &tables, error));
    int code = gput_tables_select(tables, name, error);
    if (code == GPUT_OK)
        code = gput_tables_render(tables, format == GPUT_FORMAT_SUMMARY ? GPUT_FORMAT_TEXT : format,
            bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}

/* Writes the table that --table names, or the whole report. */
static int render(const struct gput_jobs *jobs, const struct arguments *arguments,
    enum gput_format format, struct gput_error *error)
{
    char *bytes = NULL;
    size_t length;
    const char *table = arguments_value(arguments, OPTION_JOB_TABLE);
    int code = table ? render_table(jobs, table, format, &bytes, &length, error)
                     : gput_jobs_render(jobs, format, &bytes, &length, error);
    if (code == GPUT_OK)
        code = report_write_bytes(
            arguments_value(arguments, OPTION_OUTPUT), STDOUT_FILENO, bytes, length, error);
    free(bytes);
    return code;
}

/* Reads the files of the job, and writes its reports. */
static int run(const struct arguments *arguments, struct gput_error *error)
{
    const char *html = arguments_value(arguments, OPTION_HTML_REPORT);
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    enum gput_format format;
    struct gput_jobs *jobs;
    int table = 0; /* its name is what counts */
    TRY(arguments_read_choice(arguments, OPTION_JOB_TABLE, "table", &table, error));
    TRY(report_read_format(
        arguments, OPTION_JOB_FORMAT, output, GPUT_FORMAT_SUMMARY, &format, error));
    TRY(report_check_output(output, error));
    if (html)
        TRY(html_report_check(html, error));
    TRY(gput_jobs_create(
        (const char *const *)arguments->operands, (size_t)arguments->n_operands, &jobs, error));
    int code = render(jobs, arguments, format, error);
    if (code == GPUT_OK && html)
        code = write_html(jobs, html, error);
    gput_jobs_destroy(jobs);
    return code;
}

int cmd_job(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(run(arguments, &error), &error, EXIT_FAILURE);
}
