#include "files/tracking/tracking_reader.h"

#include "base/cleanup.h"
#include "base/names.h"
#include "base/text.h"
#include "files/spool_note.h"
#include "files/tracking/tracking_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

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

/* ---- Samples ---- */

#define ROWS_AT_ONCE 512
/* Between two samples that are farther apart the process was not seen: it may have been stopped. */
#define MAX_GAP_SECONDS 3600.0

int tracking_samples_read(
    struct tracking_reader *reader, struct tracking_samples *samples, struct gput_error *error)
{
    *samples = (struct tracking_samples){
        .first = NAN, .last = NAN, .max_ram = NAN, .max_gpu_ram = NAN, .first_cpu_percent = NAN};
    CLEANUP_FREE struct tracking_row *rows = calloc(ROWS_AT_ONCE, sizeof *rows);
    if (!rows)
        return error_memory(error);
    for (size_t count = 1; count > 0;) {
        TRY(tracking_reader_next(reader, rows, ROWS_AT_ONCE, &count, error));
        if (samples->first_row == 0 && count > 0)
            samples->first_row = names_hash(&rows[0], sizeof rows[0]) | 1;
        for (size_t i = 0; i < count; i++) {
            const double *values = rows[i].values;
            double gap = rows[i].timestamp - samples->last;
            double cpu = values[GPUT_CPU_COMBINED_SUM];
            /* A row without CPU time ends the time in which a machine was suspended. */
            if (gap < 0 || (gap >= MAX_GAP_SECONDS && !isnan(cpu)))
                samples->jump = gap;
            if (gap > 0 && gap < MAX_GAP_SECONDS && !isnan(cpu))
                samples->cpu_seconds += gap * cpu / 100;
            samples->cpu_count += !isnan(cpu);
            if (isnan(samples->first)) {
                samples->first = rows[i].timestamp;
                samples->first_cpu_percent = cpu;
            }
            samples->last = rows[i].timestamp;
            samples->max_ram = fmax(samples->max_ram, values[GPUT_COMBINED_RAM]);
            samples->max_gpu_ram = fmax(samples->max_gpu_ram, values[GPUT_COMBINED_GPU_RAM]);
            double gpu = values[GPUT_GPU_HARDWARE_UTILIZATION];
            samples->gpu_sum += isnan(gpu) ? 0 : gpu;
            samples->gpu_count += !isnan(gpu);
            double system = values[GPUT_CPU_SYSTEM_SUM];
            samples->system_sum += isnan(system) ? 0 : system;
            samples->system_count += !isnan(system);
            samples->count++;
        }
    }
    return GPUT_OK;
}

/* Returns how many bytes a file has up to its last line end. */
static off_t length_of_lines(FILE *file)
{
    char bytes[4096];
    const char *end = NULL;
    off_t at = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : 0;
    while (at > 0 && !end) {
        off_t before = at > (off_t)sizeof bytes ? at - (off_t)sizeof bytes : 0;
        size_t count = (size_t)(at - before);
        if (fseeko(file, before, SEEK_SET) != 0 || fread(bytes, 1, count, file) != count)
            return 0;
        end = memrchr(bytes, '\n', count);
        at = end ? before + (end - bytes) + 1 : before;
    }
    return at;
}

bool tracking_samples_begin(const char *path, const char *other)
{
    if (!text_ends_with(path, ".csv") || !text_ends_with(other, ".csv"))
        return false;
    CLEANUP_FILE FILE *file = fopen(path, "re");
    CLEANUP_FILE FILE *other_file = fopen(other, "re");
    off_t count = file && other_file ? length_of_lines(file) : 0;
    if (count == 0 || fseeko(file, 0, SEEK_SET) != 0)
        return false;
    char bytes[4096], other_bytes[sizeof bytes];
    for (off_t at = 0; at < count; at += (off_t)sizeof bytes) {
        size_t length = count - at < (off_t)sizeof bytes ? (size_t)(count - at) : sizeof bytes;
        if (fread(bytes, 1, length, file) != length ||
            fread(other_bytes, 1, length, other_file) != length ||
            memcmp(bytes, other_bytes, length) != 0)
            return false;
    }
    return true;
}

uint64_t tracking_samples_hash(const struct tracking_samples *samples)
{
    return samples->count > 0 ? names_hash(samples, sizeof *samples) : 0;
}
