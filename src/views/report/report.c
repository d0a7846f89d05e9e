#include <gputracker/report.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/names.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/table.h"
#include "views/report/export/report_export.h"
#include "views/report/export/report_html.h"
#include "views/report/export/report_rows.h"
#include "views/report/report_findings.h"
#include "views/report/report_plan.h"
#include "views/report/report_sessions.h"

#include <math.h>
#include <string.h>

bool gput_report_is_built_in(void)
{
    return report_html_is_built_in();
}

const char *gput_report_remedy(void)
{
    return REPORT_HTML_REMEDY;
}

/* ---- The file ---- */

/* Names in a title; with one more, all are in it. */
#define MAX_NAMED 3

/* The command of the only session, where its file knows that and nobody has named it; "". */
static const char *only_command(const struct report_plan *plan, const struct doc *root)
{
    if (plan->count != 1 || plan->sessions[0].is_named)
        return "";
    const struct doc *session = doc_item(doc_get(root, "sessions"), 0);
    return doc_get_string(doc_get(session, "identity"), "program");
}

/* Makes the title of the page: what the caller says, the command of the only session, or the names
 * of the sessions. Sessions of one name are runs of one thing. */
static void make_title(const struct gput_report_options *options, const struct report_plan *plan,
    const struct doc *root, struct str *title)
{
    if (options->title) {
        str_append(title, options->title);
        return;
    }
    const char *command = only_command(plan, root);
    if (*command) {
        /* Append the words of a command without their folders, as `gpu-tracker run --report` has
         * them. */
        while (*command) {
            size_t length = strcspn(command, " ");
            const char *slash = memrchr(command, '/', length);
            const char *base = slash ? slash + 1 : command;
            str_append_bytes(title, base, (size_t)(command + length - base));
            command += length;
            if (*command)
                str_append_char(title, *command++);
        }

        str_append(title, " - gpu-tracker");
        return;
    }
    CLEANUP(names_finish) struct names names = {0};
    for (size_t i = 0; i < plan->count; i++)
        title->failed |=
            names_add(&names, plan->sessions[i].name, strlen(plan->sessions[i].name)) == NAMES_NONE;
    uint32_t shown = names.count <= MAX_NAMED + 1 ? names.count : MAX_NAMED;
    for (uint32_t i = 0; i < shown; i++)
        str_printf(title, "%s%s", i > 0 ? ", " : "", names_text(&names, i));
    if (shown < names.count)
        str_printf(title, " and %u others", names.count - shown);
    str_append(title, " - gpu-tracker");
}

/* Writes a report that has been loaded. */
typedef int report_writer(
    void *user, const struct report_payload *payload, const char *title, struct gput_error *error);

/* Loads the sessions of a report, and hands them on to what writes them. `folder` is for temporary
 * files. Errors: those of gput_report_write() that come of what is read, and those of the writer.
 */
static int compose(const struct gput_report_options *options, const char *folder,
    report_writer *writer, void *user, struct gput_error *error)
{
    CLEANUP(report_plan_finish) struct report_plan plan = {0};
    CLEANUP_STR struct str title = {0};
    TRY(report_plan_make(options, &plan, error));

    CLEANUP(report_payload_finish) struct report_payload payload;
    TRY(report_payload_init(&payload, folder, error));
    struct doc *root = payload.root;
    doc_add_int(root, "format", REPORT_FORMAT);
    doc_add_string(root, "generator", "gpu-tracker " GPUT_VERSION);
    doc_add_double(root, "created", (double)clock_realtime_ns() * 1e-9);
    struct doc *notes = options->n_notes ? doc_add_array(root, "notes") : NULL;
    for (size_t i = 0; i < options->n_notes; i++)
        doc_add_string(notes, NULL, options->notes[i]);
    doc_add_array(root, "sessions");
    TRY(report_sessions_add(&payload, options, &plan, false, error));
    make_title(options, &plan, root, &title);
    doc_add_string(root, "title", str_text(&title));
    TRY(report_findings_add(&payload, error));
    if (!options->n_notes) /* `gpu-tracker job` has it among its notes */
        TRY(report_missing_warn(&payload, options, error));
    if (title.failed || doc_failed(root))
        return error_memory(error);

    TRY(writer(user, &payload, str_text(&title), error));
    if (options->progress)
        options->progress(options->user, 1);
    return GPUT_OK;
}

/* Checks before anything is read whether the report can be written there, and finds the folder for
 * temporary files. */
static int check_output(const char *path, char **folder, struct gput_error *error)
{
    bool to_stdout = strcmp(path, REPORT_STDOUT) == 0;
    TRY(to_stdout ? GPUT_OK : file_check(path, error));
    return file_temporary_folder(to_stdout ? "/dev/null" : path, folder, error);
}

/* Where the report goes to, and as what. */
struct target {
    const char *path;
    const char *page;               /* of a page; NULL: the one that is built in */
    int stop_fd;                    /* of a page; see the options */
    enum gput_report_format format; /* of an export */
};

static int write_page(
    void *user, const struct report_payload *payload, const char *title, struct gput_error *error)
{
    const struct target *target = user;
    return report_html_write(payload, title, target->page, target->path, target->stop_fd, error);
}

static int write_export(
    void *user, const struct report_payload *payload, const char *title, struct gput_error *error)
{
    const struct target *target = user;
    (void)title;
    return report_export_write(payload, target->format, target->path, error);
}

int gput_report_write(
    const struct gput_report_options *given, const char *path, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    CLEANUP_FREE char *folder = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(report_html_check(options.page, error));
    TRY(check_output(path, &folder, error));
    struct target target = {.path = path, .page = options.page, .stop_fd = options.stop_fd};
    return compose(&options, folder, write_page, &target, error);
}

int gput_report_export(const struct gput_report_options *given, enum gput_report_format format,
    const char *path, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    struct target target = {.path = path, .format = format};
    CLEANUP_FREE char *folder = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(report_export_check(format, path, error));
    TRY(check_output(report_export_is_folder(format) ? REPORT_STDOUT : path, &folder, error));
    return compose(&options, folder, write_export, &target, error);
}

/* ---- Tables for other programs ---- */

#define ROWS_AT_ONCE 65536

struct receiver {
    gput_table_receiver *receive;
    void *user;
};

/* Hands on a table of the next rows, as many as fit a part. *there: there may be more. */
static int pass_part(struct report_rows *rows, struct report_cell *cells,
    const struct receiver *receiver, bool *there, struct gput_error *error)
{
    CLEANUP(gput_tables_destroy_pointer) struct gput_tables *building = tables_create();
    CLEANUP(gput_tables_destroy_pointer) struct gput_tables *part = NULL;
    struct gput_table *table = building ? tables_add(building, rows->name) : NULL;
    if (!table)
        return error_memory(error);
    for (size_t i = 0; i < rows->count; i++) {
        const struct report_row_column *column = &rows->columns[i];
        table_add_column(table, column->name, column->type);
        if (column->unit)
            table_set_unit(table, column->unit);
    }
    for (size_t i = 0; i < ROWS_AT_ONCE && *there; i++) {
        TRY(report_rows_next(rows, cells, there, error));
        if (*there) {
            /* Add a row of cells to a table. */
            for (size_t k = 0; k < rows->count; k++) {
                double number = cells[k].number;
                bool is_missing = cells[k].text || isnan(number);
                if (rows->columns[k].type == GPUT_COLUMN_DOUBLE)
                    table_put_double(table, number);
                else if (rows->columns[k].type != GPUT_COLUMN_INT && is_missing)
                    table_put_text(table, cells[k].text);
                else if (rows->columns[k].type != GPUT_COLUMN_INT)
                    table_put_text(table, number != 0 ? "1" : "0"); /* a truth among texts */
                else if (fabs(number) < 0x1p63)
                    table_put_int(table, (int64_t)number);
                else
                    table_put_missing(table);
            }
        }
    }
    TRY(tables_finish_building(STEAL(building), &part, error));
    if (gput_table_row_count(gput_tables_find(part, rows->name)) == 0)
        return GPUT_OK;
    return receiver->receive(receiver->user, STEAL(part), error);
}

/* Hands on a table in parts. */
static int pass_table(void *user, struct report_rows *rows, struct gput_error *error)
{
    CLEANUP_FREE struct report_cell *cells = calloc(rows->count + 1, sizeof *cells);
    bool there = true;
    if (!cells)
        return error_memory(error);
    while (there)
        TRY(pass_part(rows, cells, user, &there, error));
    return GPUT_OK;
}

static int write_tables(
    void *user, const struct report_payload *payload, const char *title, struct gput_error *error)
{
    (void)title;
    return report_export_tables(payload, pass_table, user, error);
}

int gput_report_tables(const struct gput_report_options *given, gput_table_receiver *receive,
    void *user, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    struct receiver receiver = {receive, user};
    CLEANUP_FREE char *folder = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(file_temporary_folder("/dev/null", &folder, error));
    return compose(&options, folder, write_tables, &receiver, error);
}
