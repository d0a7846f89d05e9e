/* A table with one row a session: all figures of its report. */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"
#include "base/table.h"
#include "base/text.h"
#include "files/results/results_read.h"
#include "files/tracking/tracking_identity.h"
#include "model/results_columns.h"
#include "model/results_identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True for a column of whole numbers. */
static bool is_whole(const struct results_column *column)
{
    bool is_count = column->kind == RESULTS_COUNT_32 || column->kind == RESULTS_COUNT_64;
    return is_count || column->kind == RESULTS_FLAG || column->shown == SHOWN_WHOLE ||
           column->shown == SHOWN_RAM;
}

/* Reads the figures of a session again, from its report or else its tracking file. They are
 * missing if neither can be read any more. */
static void read_session(const struct jobs_rank *rank, struct gput_results *results)
{
    const char *path = rank->report ? rank->report : rank->path;
    struct tracking_reader *reader;
    if (text_ends_with(path, TRACKING_IDENTITY_EXTENSION)) {
        CLEANUP_FREE char *described = tracking_identity_described(path);
        results_forget(results);
        if (described)
            tracking_identity_read(described, results);
        return;
    }
    if (results_read(path, results, NULL, NULL) == GPUT_OK)
        return;
    results_finish(results);
    *results = (struct gput_results){0};
    results_forget(results);
    if (tracking_reader_salvage(rank->path, &reader, NULL) != GPUT_OK)
        return;
    tracking_identity_of(reader, rank->path, results, NULL);
    tracking_reader_close(reader);
}

/* Adds the row of a session. */
static void add_session(struct gput_table *table, const struct jobs_rank *rank,
    const struct results_identity_column *columns, size_t count)
{
    struct gput_results results = {0};
    read_session(rank, &results);
    bool has_figures = !isnan(results.elapsed_seconds);
    table_put_int(table, (int64_t)rank->job);
    table_put_text(table, rank->path);
    table_put_text(table, rank->report);
    for (size_t i = 0; i < count; i++) {
        const struct results_column *column = columns[i].column;
        const char *text = results_column_text(column, &results);
        double number = results_column_number(column, &results);
        if (column->kind == RESULTS_TEXT)
            table_put_text(table, *text ? text : NULL);
        else if (isnan(number) || (columns[i].is_figure && !has_figures))
            table_put_missing(table);
        else if (is_whole(column))
            table_put_int(table, (int64_t)fmin(number, 0x1p62));
        else
            table_put_double(table, number);
    }
    results_finish(&results);
}

int gput_jobs_sessions(
    const struct gput_jobs *jobs, struct gput_tables **tables, struct gput_error *error)
{
    struct results_identity_column columns[RESULTS_SESSION_COLUMNS];
    size_t count = results_session_columns(columns);
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (!building)
        return error_memory(error);
    struct gput_table *table = tables_add(building, "sessions");
    table_add_column(table, "job", GPUT_COLUMN_INT);
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "path", "report", NULL);
    for (size_t i = 0; i < count; i++) {
        const struct results_column *column = columns[i].column;
        table_add_column(table, columns[i].name,
            column->kind == RESULTS_TEXT ? GPUT_COLUMN_TEXT
            : is_whole(column)           ? GPUT_COLUMN_INT
                                         : GPUT_COLUMN_DOUBLE);
    }
    for (size_t i = 0; i < jobs->n_ranks; i++)
        add_session(table, jobs->order[i], columns, count);
    return tables_finish_building(building, tables, error);
}
