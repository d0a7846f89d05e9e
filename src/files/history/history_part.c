#include "files/history/history_part.h"

#include "base/cleanup.h"
#include "base/table.h"

#include <math.h>

/* Rows of a table that a reader gets at once. */
#define PART_ROWS 1000

/* Makes the table of the next part. */
static int make_table(struct history_part *part, struct gput_error *error)
{
    part->tables = tables_create();
    part->n_rows = 0;
    if (!part->tables)
        return error_memory(error);
    part->table = tables_add(part->tables, "sessions");
    table_add_column(part->table, "number", GPUT_COLUMN_INT);
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        const struct column column = {.name = history_columns[id].name,
            .unit = history_columns[id].unit,
            .meaning = history_columns[id].meaning,
            .type = history_columns[id].type};
        table_add_columns(part->table, "", NULL, &column, 1);
    }
    return GPUT_OK;
}

int history_part_begin(
    struct history_part *part, gput_table_receiver *receive, void *user, struct gput_error *error)
{
    *part = (struct history_part){.receive = receive, .user = user};
    return make_table(part, error);
}

/* Passes the part to the receiver. */
static int pass(struct history_part *part, struct gput_error *error)
{
    struct gput_tables *tables;
    TRY(tables_finish_building(STEAL(part->tables), &tables, error));
    return part->receive(part->user, tables, error);
}

int history_part_put(struct history_part *part, int64_t number, const struct history_row *row,
    struct gput_error *error)
{
    if (part->n_rows == PART_ROWS) {
        TRY(pass(part, error));
        TRY(make_table(part, error));
    }
    if (number > 0)
        table_put_int(part->table, number);
    else
        table_put_missing(part->table);
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        double value = history_columns[id].type == GPUT_COLUMN_TEXT ? NAN : row->values[id].number;
        if (history_columns[id].type == GPUT_COLUMN_TEXT)
            table_put_text(part->table, row->values[id].text);
        else if (!isfinite(value))
            table_put_missing(part->table);
        else if (history_columns[id].type == GPUT_COLUMN_INT)
            table_put_int(part->table, (int64_t)value);
        else
            table_put_double(part->table, value);
    }
    part->n_rows++;
    part->n_seen++;
    return GPUT_OK;
}

int history_part_end(struct history_part *part, struct gput_error *error)
{
    return pass(part, error);
}

void history_part_finish(struct history_part *part)
{
    gput_tables_destroy(part->tables);
    part->tables = NULL;
}
