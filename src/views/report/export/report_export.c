#include "views/report/export/report_export.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json_string.h"
#include "base/names.h"
#include "views/report/document/report_bytes.h"
#include "views/report/document/report_column_reader.h"
#include "views/report/export/report_html.h"
#include "views/report/export/report_rows.h"
#include "views/report/export/report_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Text on its way to a receiver ---- */

/* Text is passed on in pieces of at least this. */
#define ENOUGH_BYTES ((size_t)1 << 16)

/* Text that is collected for a receiver. */
struct output {
    report_receiver *receive;
    void *user;
    struct str text; /* what was not passed on yet */
};

static void output_finish(struct output *output)
{
    str_finish(&output->text);
}

/* Passes on what is left. */
static int output_end(struct output *output, struct gput_error *error)
{
    if (output->text.failed)
        return error_memory(error);
    int code = output->receive(output->user, output->text.data, output->text.length, error);
    str_clear(&output->text);
    return code;
}

/* Passes the text on once there is enough. */
static int output_pass(struct output *output, struct gput_error *error)
{
    bool is_enough = output->text.length >= ENOUGH_BYTES || output->text.failed;
    return is_enough ? output_end(output, error) : GPUT_OK;
}

/* ---- CSV ---- */

/* Writes a table as CSV: the names of the columns, and all rows. */
static int write_csv(
    struct report_rows *rows, report_receiver *receive, void *user, struct gput_error *error)
{
    CLEANUP(output_finish)
    struct output output = {.receive = receive, .user = user};
    CLEANUP_FREE struct report_cell *cells = calloc(rows->count + 1, sizeof *cells);
    struct str *text = &output.text;
    bool there = true;
    if (!cells)
        return error_memory(error);
    for (size_t i = 0; i < rows->count; i++) {
        if (i > 0)
            str_append_char(text, ',');
        csv_append_shown(text, rows->columns[i].name);
    }
    str_append_char(text, '\n');
    while (there) {
        TRY(report_rows_next(rows, cells, &there, error));
        for (size_t i = 0; there && i < rows->count; i++) {
            if (i > 0)
                str_append_char(text, ',');
            if (cells[i].text)
                csv_append_shown(text, cells[i].text);
            else if (!isnan(cells[i].number))
                report_append_number(text, cells[i].number, cells[i].decimals);
        }
        str_append(text, there ? "\n" : "");
        TRY(output_pass(&output, error));
    }
    return output_end(&output, error);
}

/* ---- JSON ---- */

struct writer {
    const struct report_payload *payload;
    struct output output;
};

/* Writes the values of a column as a list, which is read in bounded memory. */
static int write_column(struct writer *writer, const struct doc *column, struct gput_error *error)
{
    CLEANUP(report_column_reader_finish) struct report_column_reader reader = {0};
    TRY(report_column_reader_init(&reader, writer->payload, column, error));
    str_append_char(&writer->output.text, '[');
    for (uint64_t row = 0; row < reader.count; row++) {
        double value;
        TRY(report_column_reader_next(&reader, &value, error));
        if (row > 0)
            str_append_char(&writer->output.text, ',');
        if (isnan(value))
            str_append(&writer->output.text, "null");
        else
            report_append_number(&writer->output.text, value, reader.decimals);
        TRY(output_pass(&writer->output, error));
    }
    str_append_char(&writer->output.text, ']');
    return GPUT_OK;
}

/* Writes a value of the document; of a column its values. */
static int write_value(struct writer *writer, const struct doc *value, struct gput_error *error)
{
    bool is_object = value->kind == DOC_OBJECT;
    if (report_is_column(value))
        return write_column(writer, value, error);
    if (!is_object && value->kind != DOC_ARRAY) {
        doc_write_json(value, -1, &writer->output.text);
        return GPUT_OK;
    }
    str_append_char(&writer->output.text, is_object ? '{' : '[');
    for (const struct doc *child = value->first; child; child = child->next) {
        if (is_object) {
            json_write_ascii_string(child->key, strlen(child->key), &writer->output.text);
            str_append(&writer->output.text, ": ");
        }
        TRY(write_value(writer, child, error));
        if (child->next)
            str_append(&writer->output.text, ", ");
    }
    str_append_char(&writer->output.text, is_object ? '}' : ']');
    return output_pass(&writer->output, error);
}

/* Writes the document as JSON, columns as lists. */
static int export_json(const struct report_payload *payload, report_receiver *receive, void *user,
    struct gput_error *error)
{
    struct writer writer = {.payload = payload, .output = {.receive = receive, .user = user}};
    int code = write_value(&writer, payload->root, error);
    str_append_char(&writer.output.text, '\n');
    if (code == GPUT_OK)
        code = output_end(&writer.output, error);
    output_finish(&writer.output);
    return code;
}

/* ---- Speedscope ---- */

struct speedscope {
    struct output output;
    const struct doc *session;
    uint32_t first_frame; /* of the session's names among all */
    bool has_profile, has_event;
};

static void append_string(struct str *text, const char *string)
{
    json_write_ascii_string(string, strlen(string), text);
}

/* Begins the profile of a thread. */
static int begin_profile(void *user, const struct report_stack *stack, struct gput_error *error)
{
    struct speedscope *speedscope = user;
    struct str *text = &speedscope->output.text;
    CLEANUP_STR struct str name = {0};
    str_printf(&name, "%s: %s, thread %" PRId64, doc_get_string(speedscope->session, "name"),
        stack->process, stack->thread);
    if (stack->number > 0)
        str_printf(&name, ", overlapping %" PRIu32, stack->number);
    str_append(text, speedscope->has_profile ? ",\n" : "\n");
    str_append(text, "{\"type\": \"evented\", \"name\": ");
    append_string(text, str_text(&name));
    str_append(text, ", \"unit\": \"seconds\", \"startValue\": ");
    report_append_number(text, stack->begin, 9);
    str_append(text, ", \"endValue\": ");
    report_append_number(text, stack->end, 9);
    str_append(text, ", \"events\": [");
    speedscope->has_profile = true;
    speedscope->has_event = false;
    text->failed |= name.failed;
    return output_pass(&speedscope->output, error);
}

/* Writes that a call opens or closes. */
static int add_event(void *user, bool is_open, uint32_t name, double at, struct gput_error *error)
{
    struct speedscope *speedscope = user;
    struct str *text = &speedscope->output.text;
    str_printf(text,
        "%s{\"type\": \"%c\", \"frame\": %" PRIu32 ", \"at\": ", speedscope->has_event ? "," : "",
        is_open ? 'O' : 'C', speedscope->first_frame + name);
    report_append_number(text, at, 9);
    str_append_char(text, '}');
    speedscope->has_event = true;
    return output_pass(&speedscope->output, error);
}

static int end_profile(void *user, struct gput_error *error)
{
    struct speedscope *speedscope = user;
    str_append(&speedscope->output.text, "]}");
    return output_pass(&speedscope->output, error);
}

static void speedscope_finish(struct speedscope *speedscope)
{
    output_finish(&speedscope->output);
}

/* Writes calls as speedscope has them (https://www.speedscope.app): a profile of each thread. */
static int export_speedscope(const struct report_payload *payload, report_receiver *receive,
    void *user, struct gput_error *error)
{
    CLEANUP(speedscope_finish)
    struct speedscope speedscope = {.output = {.receive = receive, .user = user}};
    struct str *text = &speedscope.output.text;
    TRY(report_stacks_check(payload, error));
    str_append(text,
        "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\": ");
    append_string(text, doc_get_string(payload->root, "generator"));
    str_append(text, ", \"name\": ");
    append_string(text, doc_get_string(payload->root, "title"));
    str_append(text, ",\n\"shared\": {\"frames\": [");

    /* The names of all sessions, one after the other. */
    bool is_first = true;
    for (const struct doc *session = doc_first(doc_get(payload->root, "sessions")); session;
         session = session->next) {
        const struct doc *calls = doc_get(session, "calls");
        for (const struct doc *name = doc_first(doc_get(calls, "names")); name; name = name->next) {
            str_append(&speedscope.output.text, is_first ? "{\"name\": " : ", {\"name\": ");
            append_string(&speedscope.output.text, name->string);
            str_append_char(&speedscope.output.text, '}');
            is_first = false;
            TRY(output_pass(&speedscope.output, error));
        }
    }

    str_append(text, "]},\n\"profiles\": [");

    const struct report_stack_visitor visitor = {
        begin_profile, add_event, end_profile, &speedscope};
    const struct doc *session = doc_first(doc_get(payload->root, "sessions"));
    for (; session; session = session->next) {
        const struct doc *calls = doc_get(session, "calls");
        speedscope.session = session;
        TRY(report_stacks_walk(payload, session, &visitor, error));
        if (calls)
            speedscope.first_frame += (uint32_t)doc_get(calls, "names")->count;
    }
    str_append(text, "\n]}\n");
    return output_end(&speedscope.output, error);
}

/* ---- Collapsed stacks ---- */

#define MAX_WHOLE 9007199254740992.0
#define NO_NODE UINT32_MAX

/* A stack: another one, and what is on top of it. */
struct node {
    uint32_t below, part;
    double seconds; /* of its own */
};

struct collapsed {
    bool is_one_of_several;    /* sessions */
    const struct doc *session; /* the one that is walked */
    struct names parts;        /* texts of processes and calls */
    uint32_t *calls;           /* the part of each name of the session; owned */
    size_t call_count;
    struct names keys;  /* a node's number is that of "below.part" */
    struct node *nodes; /* owned */
    size_t capacity;
    uint32_t root;  /* the thread */
    uint32_t stack; /* the one that is open */
    double since;
};

/* What separates stacks and their parts becomes another character. */
static uint32_t part_of(struct collapsed *collapsed, const char *text)
{
    CLEANUP_STR struct str part = {0};
    for (; *text; text++)
        str_append_char(&part, *text == ';' ? ':' : (unsigned char)*text < ' ' ? ' ' : *text);
    return part.failed ? NAMES_NONE : names_add(&collapsed->parts, str_text(&part), part.length);
}

/* The node of that part on another; NO_NODE without memory. */
static uint32_t node_on(struct collapsed *collapsed, uint32_t below, uint32_t part)
{
    char key[24];
    uint32_t count = collapsed->keys.count;
    if (part == NAMES_NONE)
        return NO_NODE;
    int length = snprintf(key, sizeof key, "%" PRIx32 ".%" PRIx32, below, part);
    uint32_t number = names_add(&collapsed->keys, key, (size_t)length);
    if (number == NAMES_NONE || number < count) /* it was there */
        return number;
    if (!ARRAY_RESERVE(collapsed->nodes, number, collapsed->capacity))
        return NO_NODE;
    collapsed->nodes[number] = (struct node){below, part, 0};
    return number;
}

/* Begins the stacks of a thread, below a root that names it. */
static int begin_stacks(void *user, const struct report_stack *stack, struct gput_error *error)
{
    struct collapsed *collapsed = user;
    CLEANUP_STR struct str name = {0};
    str_printf(&name, "%s, thread %" PRId64, stack->process, stack->thread);
    uint32_t root = NO_NODE;
    bool failed = name.failed;
    if (collapsed->is_one_of_several) {
        const struct doc *session = doc_get(collapsed->session, "name");
        const char *text = session && session->string ? session->string : "";
        root = node_on(collapsed, NO_NODE, part_of(collapsed, text));
        failed = failed || root == NO_NODE;
    }
    root = node_on(collapsed, root, part_of(collapsed, str_text(&name)));
    collapsed->root = collapsed->stack = root;
    return failed || root == NO_NODE ? error_memory(error) : GPUT_OK;
}

/* Adds the time since the last change to the stack that it was spent in, and opens or closes a
 * call. */
static int change_stack(
    void *user, bool is_open, uint32_t name, double at, struct gput_error *error)
{
    struct collapsed *collapsed = user;
    double seconds = at - collapsed->since;
    collapsed->since = at;
    if (collapsed->stack != collapsed->root && seconds > 0)
        collapsed->nodes[collapsed->stack].seconds += seconds;
    if (!is_open) {
        collapsed->stack = collapsed->nodes[collapsed->stack].below;
        return GPUT_OK;
    }
    uint32_t part = name < collapsed->call_count ? collapsed->calls[name] : part_of(collapsed, "");
    collapsed->stack = node_on(collapsed, collapsed->stack, part);
    return collapsed->stack == NO_NODE ? error_memory(error) : GPUT_OK;
}

static int end_stacks(void *user, struct gput_error *error)
{
    (void)user, (void)error;
    return GPUT_OK;
}

static void collapsed_finish(struct collapsed *collapsed)
{
    names_finish(&collapsed->parts);
    names_finish(&collapsed->keys);
    free(collapsed->nodes);
    free(collapsed->calls);
}

/* Writes calls as collapsed stacks, as flame graphs take them: a line a stack,
 * "process;outer;inner 1500", with the microseconds that are its own. */
static int export_collapsed(const struct report_payload *payload, report_receiver *receive,
    void *user, struct gput_error *error)
{
    const struct doc *sessions = doc_get(payload->root, "sessions");
    CLEANUP(collapsed_finish)
    struct collapsed collapsed = {.is_one_of_several = sessions->count > 1};
    CLEANUP(output_finish)
    struct output output = {.receive = receive, .user = user};
    TRY(report_stacks_check(payload, error));
    for (const struct doc *session = sessions->first; session; session = session->next) {
        /* Add up the stacks of a session. */
        const struct report_stack_visitor visitor = {
            begin_stacks, change_stack, end_stacks, &collapsed};
        const struct doc *calls = doc_get(session, "calls");
        const struct doc *list = doc_get(calls, "names");
        collapsed.session = session;
        collapsed.call_count = 0;
        free(collapsed.calls);
        collapsed.calls = list ? malloc((list->count + 1) * sizeof *collapsed.calls) : NULL;
        if (list && !collapsed.calls)
            return error_memory(error);
        for (const struct doc *name = doc_first(list); name; name = name->next)
            collapsed.calls[collapsed.call_count++] = part_of(&collapsed, name->string);
        TRY(report_stacks_walk(payload, session, &visitor, error));
    }
    for (uint32_t i = 0; i < collapsed.keys.count; i++) {
        if (collapsed.nodes[i].seconds > 0) {
            /* Write the line of a stack: its names from the outermost on, and its time. */
            size_t depth = 0;
            for (uint32_t at = i; at != NO_NODE; at = collapsed.nodes[at].below)
                depth++;
            CLEANUP_FREE uint32_t *path = malloc(depth * sizeof *path);
            if (!path)
                return error_memory(error);
            for (uint32_t at = i, k = (uint32_t)depth; at != NO_NODE;
                 at = collapsed.nodes[at].below)
                path[--k] = collapsed.nodes[at].part;
            for (size_t k = 0; k < depth; k++) {
                str_append(&output.text, k > 0 ? ";" : "");
                str_append(&output.text, names_text(&collapsed.parts, path[k]));
            }
            double seconds = collapsed.nodes[i].seconds;
            str_append_char(&output.text, ' ');
            report_append_number(&output.text, round(fmin(seconds * 1e6, MAX_WHOLE)), 0);
            str_append_char(&output.text, '\n');
            TRY(output.text.failed ? error_memory(error) : GPUT_OK);
        }
        TRY(output_pass(&output, error));
    }
    return output_end(&output, error);
}

/* ---- The formats ---- */

typedef int export_writer(const struct report_payload *payload, report_receiver *receive,
    void *user, struct gput_error *error);

/* What writes each format as one file; NULL of the one that is a folder of tables. */
static export_writer *const writers[] = {
    [GPUT_REPORT_JSON] = export_json,
    [GPUT_REPORT_CSV] = NULL,
    [GPUT_REPORT_SPEEDSCOPE] = export_speedscope,
    [GPUT_REPORT_COLLAPSED] = export_collapsed,
};

static int write_part(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    return file_writing_add(user, bytes, length, error);
}

static int write_to_stdout(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    (void)user;
    return file_write_fd(STDOUT_FILENO, "to the standard output", bytes, length, error);
}

/* Completes a file, or discards it where writing it failed. */
static int end_file(struct file_writing *writing, int code, struct gput_error *error)
{
    if (code == GPUT_OK)
        return file_writing_end(writing, error);
    file_writing_discard(writing);
    return code;
}

/* Writes a table to a file of its own in the folder. */
static int write_table(void *user, struct report_rows *rows, struct gput_error *error)
{
    const char *folder = user;
    struct file_writing writing;
    CLEANUP_STR struct str path = {0};
    str_printf(&path, "%s/%s.csv", folder, rows->name);
    TRY(path.failed ? error_memory(error) : file_writing_begin(str_text(&path), &writing, error));
    return end_file(&writing, write_csv(rows, write_part, &writing, error), error);
}

bool report_export_is_folder(enum gput_report_format format)
{
    return format == GPUT_REPORT_CSV;
}

int report_export_check(enum gput_report_format format, const char *path, struct gput_error *error)
{
    struct stat info;
    bool is_stdout = strcmp(path, REPORT_STDOUT) == 0;
    if ((size_t)format >= sizeof writers / sizeof *writers)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of a report.");
    if (!report_export_is_folder(format))
        return is_stdout ? GPUT_OK : file_check(path, error);
    if (is_stdout)
        return error_set(error, GPUT_ERROR_INVALID,
            "There are several tables, for which -o names a folder: the standard output takes "
            "json, speedscope or collapsed.");
    if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
        return error_set(error, GPUT_ERROR_INVALID,
            "%s is a file; tables go to a folder, a file each. Name another one.", path);
    return GPUT_OK;
}

int report_export_write(const struct report_payload *payload, enum gput_report_format format,
    const char *path, struct gput_error *error)
{
    struct file_writing writing;
    if (report_export_is_folder(format)) {
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return error_set_errno(error, errno, "Cannot make the folder %s", path);
        return report_export_tables(payload, write_table, (void *)path, error);
    }
    if (strcmp(path, REPORT_STDOUT) == 0)
        return writers[format](payload, write_to_stdout, NULL, error);
    TRY(file_writing_begin(path, &writing, error));
    return end_file(&writing, writers[format](payload, write_part, &writing, error), error);
}
