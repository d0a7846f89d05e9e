#include "files/tracking/tracking_reader.h"

#include "files/spool_note.h"
#include "files/tracking/tracking_format.h"

#include <stdlib.h>

/* Opens a file, or where its tracker was killed the one in the spool that it would have become. */
static int open_reader(
    const char *path, bool salvage, struct tracking_reader **reader, struct gput_error *error)
{
    const struct tracking_format *format;
    struct spool_note note;
    char found[PATH_MAX];
    *reader = NULL;
    TRY(tracking_format_of(path, &format, error));
    if (spool_note_of(path, &note)) {
        if (!spool_note_find(&note, path, found))
            return error_set(error, GPUT_ERROR_GONE,
                "Tracking file %.300s is empty: its rows stayed where they were spooled, on %s in "
                "%.300s.",
                path, note.host, note.folder);
        path = found;
    }
    int code = format->open(path, salvage, reader, error);
    if (code != GPUT_OK) {
        tracking_reader_close(*reader);
        *reader = NULL;
    }
    return code;
}

int tracking_reader_open(
    const char *path, struct tracking_reader **reader, struct gput_error *error)
{
    return open_reader(path, false, reader, error);
}

int tracking_reader_salvage(
    const char *path, struct tracking_reader **reader, struct gput_error *error)
{
    return open_reader(path, true, reader, error);
}

void tracking_reader_close(struct tracking_reader *reader)
{
    if (!reader)
        return;
    reader->format->close(reader);
    for (size_t i = 0; i < reader->cell_count; i++) {
        free((char *)reader->cells[i].name);
        free((char *)reader->cells[i].text);
    }
    free(reader->cells);
    free(reader->path);
    str_finish(&reader->warning);
    free(reader);
}

const struct gput_static_data *tracking_reader_static_data(const struct tracking_reader *reader)
{
    return &reader->static_data;
}

const struct tracking_static_cell *tracking_reader_static_cells(
    const struct tracking_reader *reader, size_t *count)
{
    *count = reader->cell_count;
    return reader->cells;
}

uint64_t tracking_reader_rows_skipped(const struct tracking_reader *reader)
{
    return reader->salvage.rows_skipped;
}

bool tracking_reader_has(const struct tracking_reader *reader, enum gput_measurement_id id)
{
    return id < GPUT_MEASUREMENT_COUNT && reader->has[id];
}

void tracking_reader_use_cores(struct tracking_reader *reader, unsigned cores)
{
    if (cores > 0 && reader->format->use_cores)
        reader->format->use_cores(reader, cores);
}

int tracking_reader_next(struct tracking_reader *reader, struct tracking_row *rows, size_t capacity,
    size_t *count, struct gput_error *error)
{
    struct gput_error damage;
    struct salvage *salvage = &reader->salvage;
    *count = 0;
    if (salvage->cut_short)
        return GPUT_OK;
    int code = reader->format->next(reader, rows, capacity, count, &damage);
    if (salvage_rest(salvage, code, &damage) != GPUT_OK)
        return error_copy(error, &damage);
    if (salvage_lost(salvage))
        salvage_describe(salvage, reader->rows, &reader->warning);
    return reader->warning.failed ? error_memory(error) : GPUT_OK;
}

int tracking_reader_tables(
    struct tracking_reader *reader, struct gput_tables *building, struct gput_error *error)
{
    if (!reader->format->read_tables)
        return error_set(error, GPUT_ERROR_INVALID,
            "%s has no further tables; a tracking file that ends in .sqlite has", reader->path);
    return reader->format->read_tables(reader, building, error);
}

void tracking_reader_progress(const struct tracking_reader *reader, uint64_t *done, uint64_t *total)
{
    reader->format->progress(reader, done, total);
}

const char *tracking_reader_warning(const struct tracking_reader *reader)
{
    return reader->warning.length ? reader->warning.data : NULL;
}
