#include "analysis/timeline/timeline_inputs.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_string.h"
#include "base/names.h"
#include "base/str.h"
#include "base/table.h"
#include "base/text.h"
#include "files/marks/open_starts.h"
#include "files/marks/sub_tracking_file.h"
#include "files/tracking/total_rates.h"
#include "files/tracking/tracking_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Further tables ---- */

/* The further tables of a tracking file become slices (processes) and counters (each GPU, I/O and
 * power). */

#define TABLE_ROWS_AT_ONCE 1024
#define NUMBER_OF_PROCESSES 1 /* number of the thread with their slices; samples have 0 */

/* Rates as counters. A counter keeps its value until the next one, so the rate of an interval is
 * set at its start. */
struct rates {
    struct adding *adding;
    const char *table, *format;   /* format of a counter's name, from the name of its column */
    char *names[TOTAL_RATES_MAX]; /* owned */
    size_t columns[TOTAL_RATES_MAX];
    struct total_rates totals;
};

struct adding {
    struct timeline_inputs *inputs;
    const struct gput_static_data *data;
    uint32_t samples, processes; /* threads of the timeline */
    double end;
    struct rates energy, io;
    struct names gpus; /* index by UUID */
    struct str name, args;
};

static bool is_moment(double seconds)
{
    return fabs(seconds) < 9e9;
}

/* ---- Counters ---- */

/* Adds a value of a counter to the track of samples. */
static int add_counter(
    struct adding *adding, const char *name, double time, double value, struct gput_error *error)
{
    return timeline_add_counter(
        adding->inputs->timeline, adding->samples, name, time, value, error);
}

/* ---- Each GPU ---- */

/* Adds a row of a GPU as values of counters. */
static int add_gpu_row(
    struct adding *adding, const struct gput_table *part, size_t row, struct gput_error *error)
{
    const char *uuid = table_cells_text(part, row, table_cells_find(part, "uuid"));
    double time = table_cells_number(part, row, table_cells_find(part, "timestamp"));
    double factor = 1 / gput_ram_unit_factor(adding->data->gpu_ram_unit);
    uint32_t number = names_add(&adding->gpus, uuid, strlen(uuid));
    if (number == NAMES_NONE)
        return error_memory(error);
    for (size_t i = 0; is_moment(time) && i < gput_table_column_count(part); i++) {
        const char *column = gput_table_column_name(part, i);
        double value = table_cells_number(part, row, i);
        bool is_ram = strstr(column, "ram") != NULL;
        if (!isfinite(value) || strcmp(column, "timestamp") == 0 || strstr(column, "joules"))
            continue;
        str_clear(&adding->name);
        str_printf(
            &adding->name, "GPU %" PRIu32 ": %s%s", number, column, is_ram ? " (bytes)" : "");
        if (adding->name.failed)
            return error_memory(error);
        TRY(add_counter(
            adding, adding->name.data, time, is_ram ? round(value * factor) : value, error));
    }
    return GPUT_OK;
}

/* ---- Totals ---- */

/* Adds the rates of an interval as values of counters. After the last interval, ends them with
 * 0. */
static int on_rates(void *user, const struct total_row *begin, const struct total_row *end,
    const double *of_interval, struct gput_error *error)
{
    const struct rates *rates = user;
    for (size_t i = 0; i < rates->totals.count; i++) {
        double rate = end ? of_interval[i] : isnan(begin->values[i]) ? NAN : 0;
        if (isfinite(rate))
            TRY(add_counter(rates->adding, rates->names[i], begin->time, rate, error));
    }
    return GPUT_OK;
}

/* Adds the rates of the totals in a part of a table. */
static int add_rates(struct rates *rates, const struct gput_table *part, struct gput_error *error)
{
    size_t time = table_cells_find(part, "timestamp");

    /* Name the columns of the table, except the time, at its first part. */
    size_t *count = &rates->totals.count;
    bool are_named = *count > 0;
    for (size_t i = 0; !are_named && i < gput_table_column_count(part); i++) {
        struct str name = {0};
        if (i == time || *count == TOTAL_RATES_MAX)
            continue;
        str_printf(&name, rates->format, gput_table_column_name(part, i));
        rates->columns[*count] = i;
        rates->names[*count] = str_steal(&name);
        if (!rates->names[*count])
            return error_memory(error);
        ++*count;
    }

    return total_rates_add(&rates->totals, part, time, rates->columns, error);
}

static void finish_rates(struct rates *rates)
{
    for (size_t i = 0; i < rates->totals.count; i++)
        free(rates->names[i]);
}

/* ---- Processes ---- */

/* Appends a cell as a member of `args`, unless it is missing. Sizes are in bytes. */
static void append_cell(
    struct adding *adding, const struct gput_table *part, size_t row, size_t column)
{
    const char *name = gput_table_column_name(part, column);
    const char *text = table_cells_text(part, row, column);
    double number = table_cells_number(part, row, column);
    struct str *args = &adding->args;
    double factor = strcmp(name, "peak_ram") == 0 ? 1 / gput_ram_unit_factor(adding->data->ram_unit)
                    : strcmp(name, "peak_gpu_ram") == 0
                        ? 1 / gput_ram_unit_factor(adding->data->gpu_ram_unit)
                        : 0;
    if (!isfinite(number) && !text[0])
        return;
    str_printf(args, "%s\"%s%s\": ", args->length > 1 ? ", " : "", name, factor ? "_bytes" : "");
    if (!isfinite(number)) {
        json_write_string(text, strlen(text), args);
        return;
    }
    number = factor ? round(number * factor) : number;
    if (number == floor(number) && fabs(number) < 0x1p53)
        str_printf(args, "%.0f", number);
    else
        str_append_double(args, number);
}

/* Adds a process as a slice from its start to its end. Its arguments have all columns but the name
 * and these times. */
static int add_process(
    struct adding *adding, const struct gput_table *part, size_t row, struct gput_error *error)
{
    size_t name = table_cells_find(part, "name");
    size_t begin = table_cells_find(part, "start_timestamp");
    size_t finish = table_cells_find(part, "end_timestamp");
    const char *text = table_cells_text(part, row, name);
    double start = table_cells_number(part, row, begin);
    double end = table_cells_number(part, row, finish);
    if (isnan(end))
        end = fmax(adding->end, start);
    if (!is_moment(start) || !is_moment(end) || end < start)
        return GPUT_OK;
    str_clear(&adding->name);
    json_write_string(text, strlen(text), &adding->name);
    str_clear(&adding->args);
    str_append(&adding->args, "{");
    for (size_t i = 0; i < gput_table_column_count(part); i++)
        if (i != name && i != begin && i != finish)
            append_cell(adding, part, row, i);
    str_append(&adding->args, "}");
    if (adding->name.failed || adding->args.failed)
        return error_memory(error);
    int64_t start_ns = timeline_ns_of_seconds(start);
    struct timeline_event slice = {.type = 'X',
        .thread = adding->processes,
        .start_ns = start_ns,
        .duration_ns = timeline_ns_of_seconds(end) - start_ns,
        .name = {adding->name.data + 1, adding->name.length - 2, 0},
        .args = {adding->args.data, adding->args.length, 0}};
    return timeline_add(adding->inputs->timeline, &slice, NULL, error);
}

/* ---- All ---- */

/* Adds the rows of the tables that a timeline shows. */
static int on_rows(void *user, const struct gput_tables *tables, const struct gput_table *part,
    struct gput_error *error)
{
    struct adding *adding = user;
    const char *name = gput_table_name(part);
    (void)tables;
    if (strcmp(name, adding->energy.table) == 0)
        return add_rates(&adding->energy, part, error);
    if (strcmp(name, adding->io.table) == 0)
        return add_rates(&adding->io, part, error);
    bool is_gpu = strcmp(name, "gpu_data") == 0, is_process = strcmp(name, "process_data") == 0;
    for (size_t row = 0; (is_gpu || is_process) && row < gput_table_row_count(part); row++)
        TRY(is_gpu ? add_gpu_row(adding, part, row, error) : add_process(adding, part, row, error));
    return GPUT_OK;
}

/* Adds the tables that a tracking file has besides its samples. */
static int read_tables(
    struct adding *adding, struct tracking_reader *reader, struct gput_error *error)
{
    struct gput_error reason;
    struct gput_tables *building = tables_create();
    if (!building)
        return error_memory(error);
    tables_set_receiver(building, TABLE_ROWS_AT_ONCE, on_rows, adding);
    int code = tracking_reader_tables(reader, building, &reason);
    gput_tables_destroy(building);
    if (code == GPUT_ERROR_FORMAT)
        read_report_warn(&adding->inputs->report, reason.message);
    else if (code != GPUT_OK && code != GPUT_ERROR_INVALID) /* INVALID: such files have no tables */
        return error_copy(error, &reason);
    TRY(total_rates_end(&adding->energy.totals, error));
    return total_rates_end(&adding->io.totals, error);
}

/* ---- The session ---- */

#define ROWS_AT_ONCE 256

static bool is_of_gpus(int column)
{
    return column >= GPUT_MAIN_GPU_RAM && column <= GPUT_GPU_HARDWARE_UTILIZATION;
}

/* Counts a file in the report after its end, and passes its warning on. */
static void note_reading(struct read_report *report, const char *warning, uint64_t rows_skipped)
{
    report->files++;
    report->damaged += rows_skipped;
    report->truncated += warning && rows_skipped == 0;
    read_report_warn(report, warning);
}

/* Destination of the samples of one tracking file. */
struct sampling {
    struct timeline *timeline;
    uint32_t thread;
    bool has_gpus;                          /* the machine may have GPUs */
    char *names[GPUT_MEASUREMENT_COUNT];    /* names of counters, "main_ram (bytes)"; NULL: not in
                                               the file */
    double factors[GPUT_MEASUREMENT_COUNT]; /* factors to bytes; 0: no conversion */
    double end;                             /* time of the last sample; NaN: there is none */
};

/* Names the counters after the columns of the file, with their units. Returns false without
 * memory. */
static bool name_columns(struct sampling *sampling, const struct tracking_reader *reader)
{
    const struct gput_static_data *data = tracking_reader_static_data(reader);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        const struct gput_measurement *measurement = gput_measurement((enum gput_measurement_id)i);
        struct str name = {0};
        if (!tracking_reader_has(reader, measurement->id))
            continue;
        if (measurement->quantity == GPUT_QUANTITY_RAM)
            sampling->factors[i] = 1 / gput_ram_unit_factor(data->ram_unit);
        else if (measurement->quantity == GPUT_QUANTITY_GPU_RAM)
            sampling->factors[i] = 1 / gput_ram_unit_factor(data->gpu_ram_unit);
        str_printf(&name, "%s%s", measurement->name, sampling->factors[i] != 0 ? " (bytes)" : "");
        sampling->names[i] = str_steal(&name);
        if (!sampling->names[i])
            return false;
    }
    return true;
}

/* Adds a row of samples as values of counters. */
static int add_row(
    struct sampling *sampling, const struct tracking_row *row, struct gput_error *error)
{
    if (!(fabs(row->timestamp) < 9e9)) /* the year 2255; a later time cannot be that of a sample */
        return GPUT_OK;
    sampling->end = fmax(sampling->end, row->timestamp);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        double factor = sampling->factors[i];
        if (!sampling->names[i] || !isfinite(row->values[i]))
            continue;
        if (!sampling->has_gpus && row->values[i] == 0 && is_of_gpus(i))
            continue; /* tracking files have 0 if there are no GPUs */
        double value = factor != 0 ? round(row->values[i] * factor) : row->values[i];
        TRY(timeline_add_counter(sampling->timeline, sampling->thread, sampling->names[i],
            row->timestamp, value, error));
    }
    return GPUT_OK;
}

static void sampling_finish(struct sampling *sampling)
{
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        free(sampling->names[i]);
}

/* Adds the samples of a session as counters of a process of its own. */
static int add_samples(struct timeline_inputs *inputs, const char *path,
    struct tracking_reader *reader, struct gput_error *error)
{
    struct timeline_tracks *tracks = &inputs->timeline->tracks;
    CLEANUP(sampling_finish)
    struct sampling sampling = {.timeline = inputs->timeline,
        .end = NAN,
        .has_gpus = tracking_reader_static_data(reader)->system_gpu_count != 0};
    CLEANUP_STR struct str name = {0};
    str_printf(&name, "Session %s", file_base_name(path));
    uint32_t process = name.failed ? TRACK_NONE : timeline_process(tracks, path, name.data);
    sampling.thread = process == TRACK_NONE ? TRACK_NONE : timeline_thread(tracks, process, 0, 0);
    if (sampling.thread == TRACK_NONE ||
        !timeline_thread_rename(tracks, sampling.thread, "samples") ||
        !name_columns(&sampling, reader))
        return error_memory(error);

    struct tracking_row rows[ROWS_AT_ONCE];
    size_t count;
    do {
        TRY(tracking_reader_next(reader, rows, ROWS_AT_ONCE, &count, error));
        for (size_t i = 0; i < count; i++)
            TRY(add_row(&sampling, rows + i, error));
        inputs->report.events += count;
    } while (count > 0);
    note_reading(
        &inputs->report, tracking_reader_warning(reader), tracking_reader_rows_skipped(reader));

    /* Add the further tables to the same process. If a table is damaged, the rest is skipped with a
     * warning. */
    struct adding adding = {.inputs = inputs,
        .data = tracking_reader_static_data(reader),
        .samples = timeline_thread(tracks, process, 0, 0),
        .processes = timeline_thread(tracks, process, 0, NUMBER_OF_PROCESSES),
        .end = sampling.end,
        .energy = {.adding = &adding, .table = "energy_data", .format = "power_%s (watts)"},
        .io = {.adding = &adding, .table = "io_data", .format = "%s per second"}};
    adding.energy.totals = total_rates_of(0, MIN_ENERGY_SECONDS, on_rates, &adding.energy);
    adding.io.totals = total_rates_of(0, MIN_IO_SECONDS, on_rates, &adding.io);
    bool is_ready = adding.samples != TRACK_NONE && adding.processes != TRACK_NONE &&
                    timeline_thread_rename(tracks, adding.processes, "processes");
    int code = is_ready ? read_tables(&adding, reader, error) : error_memory(error);
    finish_rates(&adding.energy);
    finish_rates(&adding.io);
    names_finish(&adding.gpus);
    str_finish(&adding.name);
    str_finish(&adding.args);
    return code;
}

/* The calls of one block in one thread. Calls of different blocks need not nest. */
struct block_lane {
    uint32_t thread; /* thread of the timeline; TRACK_NONE before its first call */
    struct str name; /* name as JSON, in quotes */
    struct open_starts open;
};

/* The calls of one sub-tracking file. */
struct calling {
    struct timeline_inputs *inputs;
    const char *path;
    uint32_t source;
    struct sub_tracking_names *names;
    struct names lane_keys;
    struct block_lane *lanes; /* by number of their key */
    uint32_t lane_count;
    uint64_t starts; /* number of start marks */
    uint64_t calls;  /* number of starts whose stop was found */
};

/* Finds the track of a thread, by its file, process and thread id. */
static int find_thread(struct calling *calling, const struct sub_tracking_mark *row,
    uint32_t *thread, struct gput_error *error)
{
    struct timeline_tracks *tracks = &calling->inputs->timeline->tracks;
    CLEANUP_STR struct str key = {0};
    CLEANUP_STR struct str name = {0};
    str_printf(&key, "%s\n%" PRId64, calling->path, row->process_id);
    str_printf(&name, "Code blocks of process %" PRId64, row->process_id);
    uint32_t process =
        key.failed || name.failed ? TRACK_NONE : timeline_process(tracks, key.data, name.data);
    int64_t number = row->thread_id == SUB_TRACKING_UNKNOWN ? row->process_id : row->thread_id;
    *thread = process == TRACK_NONE ? TRACK_NONE
                                    : timeline_thread(tracks, process, calling->source, number);
    return *thread == TRACK_NONE ? error_memory(error) : GPUT_OK;
}

/* Returns the lane of a code block in a thread, adding it at the first mark. NULL: out of
 * memory. */
static struct block_lane *lane_of(struct calling *calling, const struct sub_tracking_mark *row)
{
    char key[64];
    int length = snprintf(key, sizeof key, "%" PRIx64 " %" PRIx64 " %" PRIx32,
        (uint64_t)row->process_id, (uint64_t)row->thread_id, row->name);
    uint32_t number = names_add(&calling->lane_keys, key, (size_t)length);
    if (number == NAMES_NONE)
        return NULL;
    if (number < calling->lane_count)
        return &calling->lanes[number];
    if (!ARRAY_EXTEND(calling->lanes, calling->lane_count))
        return NULL;
    const char *text = sub_tracking_names_text(calling->names, row->name);
    struct block_lane *lane = &calling->lanes[calling->lane_count++];
    *lane = (struct block_lane){.thread = TRACK_NONE};
    json_write_string(text, strlen(text), &lane->name);
    return lane->name.failed ? NULL : lane;
}

/* Finds the start of a stop: the one that the mark names, else the latest of its thread. A named
 * start may be of another thread, or come later in the file. */
static bool find_start(
    struct open_starts *open, const struct sub_tracking_mark *row, int64_t *start_ns)
{
    if (row->started_ns == SUB_TRACKING_UNKNOWN)
        return open_starts_pop_latest(open, start_ns);
    *start_ns = row->started_ns;
    open_starts_pop(open, *start_ns);
    return true;
}

/* Keeps the start of a call, or adds a slice from its start to its stop. */
static int add_mark(
    struct calling *calling, const struct sub_tracking_mark *row, struct gput_error *error)
{
    struct block_lane *lane = lane_of(calling, row);
    int64_t start_ns;
    if (!lane)
        return error_memory(error);
    if (row->position == SUB_TRACKING_START) {
        calling->starts++;
        return open_starts_push(&lane->open, row->timestamp_ns) ? GPUT_OK : error_memory(error);
    }
    if (!find_start(&lane->open, row, &start_ns)) {
        calling->inputs->report.unusable++;
        return GPUT_OK;
    }
    calling->calls++;

    struct timeline_event slice = {.type = 'X', .start_ns = start_ns};
    if (row->timestamp_ns < start_ns ||
        __builtin_sub_overflow(row->timestamp_ns, start_ns, &slice.duration_ns)) {
        calling->inputs->report.unusable++;
        return GPUT_OK;
    }
    if (lane->thread == TRACK_NONE)
        TRY(find_thread(calling, row, &lane->thread, error));
    slice.thread = lane->thread;
    slice.name = (struct json_text){lane->name.data + 1, lane->name.length - 2, 0};
    return timeline_add(calling->inputs->timeline, &slice, NULL, error);
}

/* Frees the lanes of calls and their names. */
static void calling_finish(struct calling *calling)
{
    for (uint32_t i = 0; i < calling->lane_count; i++) {
        str_finish(&calling->lanes[i].name);
        open_starts_finish(&calling->lanes[i].open);
    }
    free(calling->lanes);
    names_finish(&calling->lane_keys);
    sub_tracking_names_destroy(calling->names);
}

/* Adds the calls of a sub-tracking file as slices. */
static int add_sub_tracking(
    struct timeline_inputs *inputs, const char *path, struct gput_error *error)
{
    CLEANUP(calling_finish)
    struct calling calling = {.inputs = inputs, .path = path, .names = sub_tracking_names_create()};
    CLEANUP(sub_tracking_reader_close_pointer) struct sub_tracking_reader *reader = NULL;
    struct read_report *report = &inputs->report;
    calling.source = names_add(&inputs->sources, path, strlen(path));
    if (calling.source == NAMES_NONE || !calling.names)
        return error_memory(error);
    TRY(sub_tracking_reader_salvage(path, calling.names, &reader, error));

    struct sub_tracking_mark rows[ROWS_AT_ONCE];
    size_t count;
    do {
        TRY(sub_tracking_reader_next(reader, rows, ROWS_AT_ONCE, &count, error));
        for (size_t i = 0; i < count; i++)
            TRY(add_mark(&calling, rows + i, error));
        report->events += count;
    } while (count > 0);
    note_reading(
        report, sub_tracking_reader_warning(reader), sub_tracking_reader_rows_skipped(reader));
    if (calling.starts > calling.calls)
        report->unusable += calling.starts - calling.calls;

    /* Give threads the names that the program gave them. */
    const struct sub_tracking_labels *labels = sub_tracking_reader_labels(reader);
    for (size_t i = 0; i < labels->count; i++) {
        const struct sub_tracking_label *label = &labels->items[i];
        struct sub_tracking_mark row = {
            .process_id = label->process_id, .thread_id = label->thread_id};
        uint32_t thread;
        if (!label->thread_name)
            continue;
        TRY(find_thread(&calling, &row, &thread, error));
        if (!timeline_thread_rename(&calling.inputs->timeline->tracks, thread, label->thread_name))
            return error_memory(error);
    }
    return GPUT_OK;
}

bool timeline_is_session(const char *path)
{
    struct sub_tracking_names *names;
    struct tracking_reader *samples = NULL;
    struct sub_tracking_reader *marks = NULL;
    if (!text_ends_with(path, ".csv") && !text_ends_with(path, ".sqlite") &&
        !text_ends_with(path, ".gputblocks"))
        return false;
    if (tracking_reader_salvage(path, &samples, NULL) == GPUT_OK) {
        tracking_reader_close(samples);
        return true;
    }
    names = sub_tracking_names_create();
    bool is_session = names && sub_tracking_reader_salvage(path, names, &marks, NULL) == GPUT_OK;
    if (is_session)
        sub_tracking_reader_close(marks);
    sub_tracking_names_destroy(names);
    return is_session;
}

int timeline_add_session(struct timeline_inputs *inputs, const char *path, struct gput_error *error)
{
    struct tracking_reader *reader;
    struct gput_error not_tracking, not_sub_tracking;
    if (inputs->search)
        return GPUT_OK; /* a session has no steps */
    int code = tracking_reader_salvage(path, &reader, &not_tracking);
    if (code == GPUT_OK) {
        code = add_samples(inputs, path, reader, error);
        tracking_reader_close(reader);
        return code;
    }
    if (code != GPUT_ERROR_FORMAT && code != GPUT_ERROR_INVALID)
        return error_copy(error, &not_tracking);
    code = add_sub_tracking(inputs, path, &not_sub_tracking);
    if (code != GPUT_ERROR_FORMAT)
        return code == GPUT_OK ? GPUT_OK : error_copy(error, &not_sub_tracking);

    /* A session file that is damaged beyond reading does not keep others from being merged. */
    struct str text = {0};
    if (not_tracking.code == GPUT_ERROR_FORMAT) /* its name may be that of a tracking file */
        str_append_sentence(&text, not_tracking.message);
    str_append_sentence(&text, not_sub_tracking.message);
    str_append(&text, "This file is skipped");
    inputs->report.files++;
    inputs->report.damaged++;
    read_report_warn_text(&inputs->report, &text);
    return GPUT_OK;
}
