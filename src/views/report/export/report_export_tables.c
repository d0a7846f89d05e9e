#include "views/report/export/report_export_tables.h"

#include <math.h>
#include <stdio.h>

struct tables {
    const struct report_payload *payload;
    report_table_receiver *receive;
    void *user;
    unsigned session; /* its number from 1 on, 0 where there is one alone */
};

static void begin(const struct tables *tables, const char *name, struct report_rows *rows)
{
    char full[128];
    if (tables->session)
        snprintf(full, sizeof full, "%u-%s", tables->session, name);
    report_rows_init(rows, tables->session ? full : name);
}

/* Passes a table on where it could be made and has rows. */
static int end(
    const struct tables *tables, struct report_rows *rows, int code, struct gput_error *error)
{
    if (code == GPUT_OK && rows->row_count > 0 && rows->count > 0)
        code = tables->receive(tables->user, rows, error);
    report_rows_finish(rows);
    return code;
}

/* ---- From columns of the payload ---- */

/* A member that is a column: name in tables, in the document, unit. Ids and counts have none, and
 * are whole. */
struct member {
    const char *name, *key, *unit;
};

/* Adds the columns of those members that an object has. */
static int add_members(const struct tables *tables, struct report_rows *rows,
    const struct doc *object, const struct member *members, struct gput_error *error)
{
    for (; members->name; members++) {
        const struct doc *column = doc_get(object, members->key);
        if (members->unit)
            TRY(report_rows_add_numbers(
                rows, tables->payload, members->name, members->unit, column, error));
        else
            TRY(report_rows_add_integers(rows, tables->payload, members->name, column, error));
    }
    return GPUT_OK;
}

/* Adds the columns of all curves with the same times. */
static int add_samples(const struct tables *tables, struct report_rows *rows,
    const struct doc *session, int64_t axis, const struct doc *times, struct gput_error *error)
{
    const struct doc *list = doc_get(session, "series");
    TRY(report_rows_add_numbers(rows, tables->payload, "time", "seconds", times, error));
    for (const struct doc *series = list ? list->first : NULL; series; series = series->next) {
        if (doc_get_int(series, "time") == axis)
            TRY(report_rows_add_numbers(rows, tables->payload, doc_get_string(series, "id"),
                doc_get_string(series, "unit"), doc_get(series, "values"), error));
    }
    return GPUT_OK;
}

/* Hands on a table of samples for each list of times. */
static int pass_samples(
    const struct tables *tables, const struct doc *session, struct gput_error *error)
{
    const struct doc *list = doc_get(session, "times");
    int64_t axis = 0;
    for (const struct doc *times = list ? list->first : NULL; times; times = times->next, axis++) {
        struct report_rows rows;
        char name[32] = "samples";
        if (axis > 0)
            snprintf(name, sizeof name, "samples-%lld", (long long)axis + 1);
        begin(tables, name, &rows);
        int code = add_samples(tables, &rows, session, axis, times, error);
        TRY(end(tables, &rows, code, error));
    }
    return GPUT_OK;
}

/* Adds the columns of calls. */
static int add_calls(const struct tables *tables, struct report_rows *rows, const struct doc *calls,
    struct gput_error *error)
{
    static const struct member members[] = {{"start", "start", "seconds"},
        {"stop", "stop", "seconds"}, {"depth", "depth", NULL}, {"thread", "thread", NULL}, {0}};
    const struct report_payload *payload = tables->payload;
    const struct doc *process = doc_get(calls, "process"), *all = doc_get(calls, "processes");
    TRY(report_rows_add_texts(
        rows, payload, "name", doc_get(calls, "name"), doc_get(calls, "names"), NULL, error));
    TRY(report_rows_add_texts(rows, payload, "process", process, all, "label", error));
    return add_members(tables, rows, calls, members, error);
}

/* Adds the columns of code blocks, with what each used. */
static int add_blocks(const struct tables *tables, struct report_rows *rows,
    const struct doc *blocks, const struct doc *names, struct gput_error *error)
{
    static const struct member members[] = {{"calls", "calls", NULL},
        {"total", "total_s", "seconds"}, {"self", "self_s", "seconds"},
        {"samples", "samples", NULL}, {0}};
    static const struct member call[] = {{"call_min", "min", "seconds"},
        {"call_max", "max", "seconds"}, {"call_mean", "mean", "seconds"},
        {"call_std", "std", "seconds"}, {0}};
    const struct doc *call_s = doc_get(blocks, "call_s");
    TRY(report_rows_add_texts(
        rows, tables->payload, "name", doc_get(blocks, "name"), names, NULL, error));
    TRY(add_members(tables, rows, blocks, members, error));
    if (call_s)
        TRY(add_members(tables, rows, call_s, call, error));

    /* What each block used of a curve: four columns, "combined_ram_max". */
    static const char *const statistics[] = {"min", "max", "mean", "std"};
    const struct doc *usage = doc_get(blocks, "usage");
    for (const struct doc *item = usage ? usage->first : NULL; item; item = item->next) {
        for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
            char name[128];
            snprintf(name, sizeof name, "%.100s_%s", doc_get_string(item, "series"), statistics[i]);
            TRY(report_rows_add_numbers(
                rows, tables->payload, name, NULL, doc_get(item, statistics[i]), error));
        }
    }
    return GPUT_OK;
}

/* Adds the columns of processes. */
static int add_processes(const struct tables *tables, struct report_rows *rows,
    const struct doc *list, struct gput_error *error)
{
    static const struct member members[] = {{"pid", "pid", NULL}, {"parent", "parent", NULL},
        {"start", "start", "seconds"}, {"end", "end", "seconds"},
        {"cpu_seconds", "cpu_seconds", "seconds"}, {"peak_ram_bytes", "peak_ram_bytes", "bytes"},
        {"peak_gpu_ram_bytes", "peak_gpu_ram_bytes", "bytes"},
        {"read_bytes", "read_bytes", "bytes"}, {"write_bytes", "write_bytes", "bytes"},
        {"exit_status", "exit_status", NULL}, {"signal", "signal", NULL}, {0}};
    TRY(report_rows_add_texts(
        rows, tables->payload, "name", doc_get(list, "name"), doc_get(list, "names"), NULL, error));
    return add_members(tables, rows, list, members, error);
}

static int add_steps(const struct tables *tables, struct report_rows *rows, const struct doc *steps,
    struct gput_error *error)
{
    static const struct member members[] = {{"number", "number", NULL},
        {"start", "start", "seconds"}, {"stop", "stop", "seconds"}, {0}};
    TRY(report_rows_add_texts(rows, tables->payload, "phase", doc_get(steps, "phase"),
        doc_get(steps, "phases"), NULL, error));
    return add_members(tables, rows, steps, members, error);
}

/* Hands on the tables of calls and of code blocks. */
static int pass_calls(
    const struct tables *tables, const struct doc *session, struct gput_error *error)
{
    const struct doc *calls = doc_get(session, "calls"), *blocks = doc_get(session, "blocks");
    struct report_rows rows;
    if (!calls)
        return GPUT_OK;
    begin(tables, "calls", &rows);
    int code = add_calls(tables, &rows, calls, error);
    TRY(end(tables, &rows, code, error));
    begin(tables, "blocks", &rows);
    code = blocks ? add_blocks(tables, &rows, blocks, doc_get(calls, "names"), error) : GPUT_OK;
    return end(tables, &rows, code, error);
}

/* ---- From lists of the document ---- */

static int pass_list(const struct tables *tables, const char *name, const struct doc *items,
    const struct report_member *members, struct gput_error *error)
{
    struct report_rows rows;
    begin(tables, name, &rows);
    int code = report_rows_of_objects(&rows, items, members, error);
    return end(tables, &rows, code, error);
}

/* Hands on tables of what the document has as lists. */
static int pass_lists(
    const struct tables *tables, const struct doc *session, struct gput_error *error)
{
    static const struct report_member series[] = {{"id", NULL, GPUT_COLUMN_TEXT},
        {"label", NULL, GPUT_COLUMN_TEXT}, {"scope", NULL, GPUT_COLUMN_TEXT},
        {"unit", NULL, GPUT_COLUMN_TEXT}, {"limit", NULL, GPUT_COLUMN_DOUBLE},
        {"time", NULL, GPUT_COLUMN_INT}, {0}};
    static const struct report_member figures[] = {{"id", NULL, GPUT_COLUMN_TEXT},
        {"label", NULL, GPUT_COLUMN_TEXT}, {"value", NULL, GPUT_COLUMN_DOUBLE},
        {"unit", NULL, GPUT_COLUMN_TEXT}, {"at_least", NULL, GPUT_COLUMN_DOUBLE},
        {"at_most", NULL, GPUT_COLUMN_DOUBLE}, {"limit", NULL, GPUT_COLUMN_DOUBLE},
        {"state", NULL, GPUT_COLUMN_TEXT}, {"reason", NULL, GPUT_COLUMN_TEXT}, {0}};
    static const struct report_member sources[] = {{"name", NULL, GPUT_COLUMN_TEXT},
        {"state", NULL, GPUT_COLUMN_TEXT}, {"reason", NULL, GPUT_COLUMN_TEXT}, {0}};
    TRY(pass_list(tables, "series", doc_get(session, "series"), series, error));
    TRY(pass_list(tables, "figures", doc_get(session, "cards"), figures, error));
    return pass_list(tables, "sources", doc_get(session, "sources"), sources, error);
}

/* Hands on the tables that a session has as such. */
static int pass_tables(
    const struct tables *tables, const struct doc *list, struct gput_error *error)
{
    for (const struct doc *table = list ? list->first : NULL; table; table = table->next) {
        struct report_rows rows;
        begin(tables, doc_get_string(table, "id"), &rows);
        int code = report_rows_of_table(&rows, table, error);
        TRY(end(tables, &rows, code, error));
    }
    return GPUT_OK;
}

/* A row a session: what it was. */
static int pass_sessions(
    const struct tables *tables, const struct doc *sessions, struct gput_error *error)
{
    static const struct report_member columns[] = {{"session", NULL, GPUT_COLUMN_INT},
        {"name", NULL, GPUT_COLUMN_TEXT}, {"file", NULL, GPUT_COLUMN_TEXT},
        {"kind", NULL, GPUT_COLUMN_TEXT}, {"command", NULL, GPUT_COLUMN_TEXT},
        {"program", NULL, GPUT_COLUMN_TEXT}, {"start_timestamp", "seconds", GPUT_COLUMN_DOUBLE},
        {"seconds", "seconds", GPUT_COLUMN_DOUBLE}, {"exit_status", NULL, GPUT_COLUMN_INT},
        {"signal", NULL, GPUT_COLUMN_INT}, {"host", NULL, GPUT_COLUMN_TEXT},
        {"user", NULL, GPUT_COLUMN_TEXT}, {"pid", NULL, GPUT_COLUMN_INT},
        {"rank", NULL, GPUT_COLUMN_INT}, {"world_size", NULL, GPUT_COLUMN_INT},
        {"launcher", NULL, GPUT_COLUMN_TEXT}, {"job_id", NULL, GPUT_COLUMN_TEXT},
        {"step", NULL, GPUT_COLUMN_TEXT}, {"allowed_cores", NULL, GPUT_COLUMN_DOUBLE},
        {"allowed_ram_bytes", "bytes", GPUT_COLUMN_INT}, {0}};
    struct doc *list = doc_create_array();
    unsigned number = 0;
    for (const struct doc *session = sessions->first; session; session = session->next) {
        const struct doc *identity = doc_get(session, "identity");
        struct doc *row = doc_add_object(list, NULL);
        doc_add_int(row, "session", ++number);
        for (const struct report_member *member = columns + 1; member->name; member++) {
            const struct doc *value = doc_get(session, member->name);
            value = value ? value : doc_get(identity, member->name);
            if (doc_string(value) || !isnan(doc_number(value)))
                doc_add_copy(row, member->name, value);
        }
    }
    int code = list && !doc_failed(list) ? pass_list(tables, "sessions", list, columns, error)
                                         : error_memory(error);
    doc_destroy(list);
    return code;
}

int report_export_tables(const struct report_payload *payload, report_table_receiver *receive,
    void *user, struct gput_error *error)
{
    const struct doc *sessions = doc_get(payload->root, "sessions");
    struct tables tables = {.payload = payload, .receive = receive, .user = user};
    TRY(pass_sessions(&tables, sessions, error));
    TRY(pass_tables(&tables, doc_get(payload->root, "comparison"), error));
    for (const struct doc *session = sessions->first; session; session = session->next) {
        if (sessions->count > 1)
            tables.session++;
        TRY(pass_samples(&tables, session, error));
        TRY(pass_calls(&tables, session, error));

        const struct doc *list = doc_get(session, "process_list");
        const struct doc *training = doc_get(session, "training");
        const struct doc *steps = training ? doc_get(training, "steps") : NULL;
        struct report_rows rows;
        begin(&tables, "processes", &rows);
        int code = list ? add_processes(&tables, &rows, list, error) : GPUT_OK;
        TRY(end(&tables, &rows, code, error));
        begin(&tables, "steps", &rows);
        code = steps ? add_steps(&tables, &rows, steps, error) : GPUT_OK;
        TRY(end(&tables, &rows, code, error));

        TRY(pass_lists(&tables, session, error));
        TRY(pass_tables(&tables, doc_get(session, "tables"), error));
    }
    return GPUT_OK;
}
