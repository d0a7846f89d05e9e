#include "views/report/export/report_rows.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Begins an empty table of that name; what a file name should not have becomes "_". */
static void rows_init(struct report_rows *rows, const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t length = 0;
    *rows = (struct report_rows){0};
    for (; name[length] && length < sizeof rows->name - 1; length++)
        rows->name[length] = strchr(allowed, name[length]) ? name[length] : '_';
    rows->name[length] = '\0';
}

static void rows_finish(struct report_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        report_column_reader_finish(&rows->columns[i].reader);
        free((void *)rows->columns[i].list);
        free(rows->columns[i].name);
    }
    free(rows->columns);
    *rows = (struct report_rows){0};
}

/* ---- Columns ---- */

/* Adds a column of that type; NULL without memory. */
static struct report_row_column *add_column(
    struct report_rows *rows, const char *name, const char *unit, enum gput_column_type type)
{
    char *copy = strdup(name);
    if (!copy || !ARRAY_RESERVE(rows->columns, rows->count, rows->capacity)) {
        free(copy);
        return NULL;
    }
    rows->columns[rows->count] = (struct report_row_column){
        .name = copy, .unit = unit && unit[0] ? unit : NULL, .type = type};
    return &rows->columns[rows->count++];
}

/* Adds a column of the payload, unless it is NULL. All of a table have the same number of rows. */
static int add_numbers(struct report_rows *rows, const struct report_payload *payload,
    const char *name, const char *unit, const struct doc *column, struct gput_error *error)
{
    if (!column)
        return GPUT_OK;
    struct report_row_column *added = add_column(rows, name, unit, GPUT_COLUMN_DOUBLE);
    if (!added)
        return error_memory(error);
    TRY(report_column_reader_init(&added->reader, payload, column, error));
    if (added->reader.count > rows->row_count)
        rows->row_count = added->reader.count;
    return GPUT_OK;
}

/* A column of a table: the payload has it, or each object of a list. */
struct member {
    const char *name, *unit;
    enum gput_column_type type;
    const char *key;   /* in the document; NULL: its name */
    const char *texts; /* the list in which the numbers of a column are places; NULL: none */
    const char *label; /* the member of the list's objects that is the text; NULL: it has texts */
};
#define TEXT .type = GPUT_COLUMN_TEXT
#define WHOLE .type = GPUT_COLUMN_INT
#define NUMBER .type = GPUT_COLUMN_DOUBLE
#define SECONDS .unit = "seconds", NUMBER
#define BYTES .unit = "bytes", NUMBER

/* Adds the columns that an object of the payload has of these. `lists` has the texts. */
static int add_columns(struct report_rows *rows, const struct report_payload *payload,
    const struct doc *object, const struct doc *lists, const struct member *members,
    struct gput_error *error)
{
    for (; members->name; members++) {
        const struct doc *column = doc_get(object, members->key ? members->key : members->name);
        const struct doc *texts = members->texts ? doc_get(lists, members->texts) : NULL;
        if (!column || (members->texts && !texts))
            continue;
        TRY(add_numbers(rows, payload, members->name, members->unit, column, error));
        struct report_row_column *added = &rows->columns[rows->count - 1];
        added->type = members->type;
        added->list = texts ? malloc((texts->count + 1) * sizeof *added->list) : NULL;
        if (texts && !added->list)
            return error_memory(error);
        for (const struct doc *item = doc_first(texts); item; item = item->next)
            added->list[added->list_length++] =
                members->label ? doc_get(item, members->label) : item;
    }
    return GPUT_OK;
}

/* ---- Rows ---- */

/* A cell of a value of the document. */
static struct report_cell cell_of(const struct doc *value)
{
    struct report_cell cell = {
        .text = doc_string(value), .number = doc_number(value), .decimals = -1};
    if (value && value->kind == DOC_BOOL)
        cell.number = value->boolean;
    return cell;
}

int report_rows_next(
    struct report_rows *rows, struct report_cell *cells, bool *there, struct gput_error *error)
{
    *there = rows->of_items ? rows->items != NULL : rows->row < rows->row_count;
    rows->row++;
    if (!*there)
        return GPUT_OK;
    if (rows->of_items) {
        const struct doc *item = rows->items->first;
        for (size_t i = 0; i < rows->count; i++) {
            const struct report_row_column *column = &rows->columns[i];
            cells[i] = cell_of(column->is_member ? doc_get(rows->items, column->name) : item);
            item = item ? item->next : NULL;
        }
        rows->items = rows->items->next;
        return GPUT_OK;
    }
    for (size_t i = 0; i < rows->count; i++) {
        struct report_row_column *column = &rows->columns[i];
        double number;
        TRY(report_column_reader_next(&column->reader, &number, error));
        bool is_listed = number >= 0 && number < (double)column->list_length;
        cells[i] = (struct report_cell){.number = number, .decimals = column->reader.decimals};
        if (column->list)
            cells[i] = cell_of(is_listed ? column->list[(size_t)number] : NULL);
    }
    return GPUT_OK;
}

/* ---- The tables of a document ---- */

struct tables {
    const struct report_payload *payload;
    report_table_receiver *receive;
    void *user;
    unsigned session; /* its number from 1 on, 0 where there is one alone */
};

/* Begins a table, named after its session where there are several. */
static void begin(const struct tables *tables, const char *name, struct report_rows *rows)
{
    char full[128];
    if (tables->session)
        snprintf(full, sizeof full, "%u-%s", tables->session, name);
    rows_init(rows, tables->session ? full : name);
}

/* Passes a table on where it has rows. */
static int pass(const struct tables *tables, struct report_rows *rows, struct gput_error *error)
{
    return rows->row_count > 0 && rows->count > 0 ? tables->receive(tables->user, rows, error)
                                                  : GPUT_OK;
}

/* Hands on a table of columns of the payload, unless there is no such object. */
static int pass_columns(const struct tables *tables, const char *name, const struct doc *object,
    const struct member *members, struct gput_error *error)
{
    CLEANUP(rows_finish) struct report_rows rows;
    begin(tables, name, &rows);
    TRY(add_columns(&rows, tables->payload, object, object, members, error));
    return pass(tables, &rows, error);
}

/* Hands on a table of samples for each list of times: the curves that have these. */
static int pass_samples(
    const struct tables *tables, const struct doc *session, struct gput_error *error)
{
    int64_t axis = 0;
    for (const struct doc *times = doc_first(doc_get(session, "times")); times;
         times = times->next, axis++) {
        CLEANUP(rows_finish) struct report_rows rows;
        char name[32] = "samples";
        if (axis > 0)
            snprintf(name, sizeof name, "samples-%lld", (long long)axis + 1);
        begin(tables, name, &rows);
        TRY(add_numbers(&rows, tables->payload, "time", "seconds", times, error));
        for (const struct doc *series = doc_first(doc_get(session, "series")); series;
             series = series->next) {
            if (doc_get_int(series, "time") == axis)
                TRY(add_numbers(&rows, tables->payload, doc_get_string(series, "id"),
                    doc_get_string(series, "unit"), doc_get(series, "values"), error));
        }
        TRY(pass(tables, &rows, error));
    }
    return GPUT_OK;
}

/* Hands on the table of code blocks, with what each used: of a curve four columns, such as
 * "combined_ram_max". */
static int pass_blocks(
    const struct tables *tables, const struct doc *session, struct gput_error *error)
{
    static const struct member members[] = {{"name", TEXT, .texts = "names"}, {"calls", WHOLE},
        {"total", SECONDS, .key = "total_s"}, {"self", SECONDS, .key = "self_s"},
        {"samples", WHOLE}, {0}};
    static const struct member of_call[] = {{"call_min", SECONDS, .key = "min"},
        {"call_max", SECONDS, .key = "max"}, {"call_mean", SECONDS, .key = "mean"},
        {"call_std", SECONDS, .key = "std"}, {0}};
    static const char *const statistics[] = {"min", "max", "mean", "std"};
    const struct doc *calls = doc_get(session, "calls"), *blocks = doc_get(session, "blocks");
    CLEANUP(rows_finish) struct report_rows rows;
    begin(tables, "blocks", &rows);
    if (!calls)
        return GPUT_OK;
    TRY(add_columns(&rows, tables->payload, blocks, calls, members, error));
    TRY(add_columns(&rows, tables->payload, doc_get(blocks, "call_s"), NULL, of_call, error));
    for (const struct doc *item = doc_first(doc_get(blocks, "usage")); item; item = item->next) {
        for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
            char name[128];
            snprintf(name, sizeof name, "%.100s_%s", doc_get_string(item, "series"), statistics[i]);
            TRY(add_numbers(
                &rows, tables->payload, name, NULL, doc_get(item, statistics[i]), error));
        }
    }
    return pass(tables, &rows, error);
}

/* Hands on a table of a list of objects. */
static int pass_list(const struct tables *tables, const char *name, const struct doc *items,
    const struct member *members, struct gput_error *error)
{
    CLEANUP(rows_finish) struct report_rows rows;
    begin(tables, name, &rows);
    rows.of_items = true;
    rows.items = doc_first(items);
    rows.row_count = items ? items->count : 0;
    for (; members->name; members++) {
        struct report_row_column *added =
            add_column(&rows, members->name, members->unit, members->type);
        if (!added)
            return error_memory(error);
        added->is_member = true;
    }
    return pass(tables, &rows, error);
}

/* Hands on the tables that the document has as such: "columns" and "rows". */
static int pass_tables(
    const struct tables *tables, const struct doc *list, struct gput_error *error)
{
    for (const struct doc *table = doc_first(list); table; table = table->next) {
        const struct doc *items = doc_get(table, "rows");
        CLEANUP(rows_finish) struct report_rows rows;
        begin(tables, doc_get_string(table, "id"), &rows);
        rows.of_items = true;
        rows.items = doc_first(items);
        rows.row_count = items ? items->count : 0;
        for (const struct doc *column = doc_first(doc_get(table, "columns")); column;
             column = column->next) {
            bool is_number = strcmp(doc_get_string(column, "type"), "number") == 0;
            if (!add_column(&rows, doc_get_string(column, "name"), doc_get_string(column, "unit"),
                    is_number ? GPUT_COLUMN_DOUBLE : GPUT_COLUMN_TEXT))
                return error_memory(error);
        }
        TRY(pass(tables, &rows, error));
    }
    return GPUT_OK;
}

/* A row a session: what it was. */
static int pass_sessions(
    const struct tables *tables, const struct doc *sessions, struct gput_error *error)
{
    static const struct member columns[] = {{"session", WHOLE}, {"name", TEXT}, {"file", TEXT},
        {"kind", TEXT}, {"command", TEXT}, {"program", TEXT}, {"start_timestamp", SECONDS},
        {"seconds", SECONDS}, {"exit_status", WHOLE}, {"signal", WHOLE}, {"host", TEXT},
        {"user", TEXT}, {"pid", WHOLE}, {"rank", WHOLE}, {"world_size", WHOLE}, {"launcher", TEXT},
        {"job_id", TEXT}, {"step", TEXT}, {"allowed_cores", NUMBER},
        {"allowed_ram_bytes", .unit = "bytes", WHOLE}, {0}};
    CLEANUP(doc_destroy_pointer) struct doc *list = doc_create_array();
    unsigned number = 0;
    for (const struct doc *session = sessions->first; session; session = session->next) {
        const struct doc *identity = doc_get(session, "identity");
        struct doc *row = doc_add_object(list, NULL);
        doc_add_int(row, "session", ++number);
        for (const struct member *member = columns + 1; member->name; member++) {
            const struct doc *value = doc_get(session, member->name);
            value = value ? value : doc_get(identity, member->name);
            if (doc_string(value) || !isnan(doc_number(value)))
                doc_add_copy(row, member->name, value);
        }
    }
    if (!list || doc_failed(list))
        return error_memory(error);
    return pass_list(tables, "sessions", list, columns, error);
}

int report_export_tables(const struct report_payload *payload, report_table_receiver *receive,
    void *user, struct gput_error *error)
{
    static const struct member calls[] = {{"name", TEXT, .texts = "names"},
        {"process", TEXT, .texts = "processes", .label = "label"}, {"start", SECONDS},
        {"stop", SECONDS}, {"depth", WHOLE}, {"thread", WHOLE}, {0}};
    static const struct member processes[] = {{"name", TEXT, .texts = "names"}, {"pid", WHOLE},
        {"parent", WHOLE}, {"start", SECONDS}, {"end", SECONDS}, {"cpu_seconds", SECONDS},
        {"peak_ram_bytes", BYTES}, {"peak_gpu_ram_bytes", BYTES}, {"read_bytes", BYTES},
        {"write_bytes", BYTES}, {"exit_status", WHOLE}, {"signal", WHOLE}, {0}};
    static const struct member steps[] = {{"phase", TEXT, .texts = "phases"}, {"number", WHOLE},
        {"start", SECONDS}, {"stop", SECONDS}, {0}};
    static const struct member series[] = {{"id", TEXT}, {"label", TEXT}, {"scope", TEXT},
        {"unit", TEXT}, {"limit", NUMBER}, {"time", WHOLE}, {0}};
    static const struct member figures[] = {{"id", TEXT}, {"label", TEXT}, {"value", NUMBER},
        {"unit", TEXT}, {"at_least", NUMBER}, {"at_most", NUMBER}, {"limit", NUMBER},
        {"state", TEXT}, {"reason", TEXT}, {0}};
    static const struct member sources[] = {{"name", TEXT}, {"state", TEXT}, {"reason", TEXT}, {0}};
    const struct doc *sessions = doc_get(payload->root, "sessions");
    struct tables tables = {.payload = payload, .receive = receive, .user = user};
    TRY(pass_sessions(&tables, sessions, error));
    TRY(pass_tables(&tables, doc_get(payload->root, "comparison"), error));
    for (const struct doc *session = sessions->first; session; session = session->next) {
        if (sessions->count > 1)
            tables.session++;
        TRY(pass_samples(&tables, session, error));
        TRY(pass_columns(&tables, "calls", doc_get(session, "calls"), calls, error));
        TRY(pass_blocks(&tables, session, error));
        TRY(pass_columns(&tables, "processes", doc_get(session, "process_list"), processes, error));
        TRY(pass_columns(
            &tables, "steps", doc_get(doc_get(session, "training"), "steps"), steps, error));
        TRY(pass_list(&tables, "series", doc_get(session, "series"), series, error));
        TRY(pass_list(&tables, "figures", doc_get(session, "cards"), figures, error));
        TRY(pass_list(&tables, "sources", doc_get(session, "sources"), sources, error));
        TRY(pass_tables(&tables, doc_get(session, "tables"), error));
    }
    return GPUT_OK;
}
