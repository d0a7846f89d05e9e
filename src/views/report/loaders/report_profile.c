/* Training profiles of SageMaker Debugger: events of the framework as calls, readings of the system
 * as curves, steps and phases, and the views of gputracker/profile.h as tables. */
#include "views/report/loaders/report_events.h"
#include "views/report/loaders/report_loader.h"
#include "views/report/loaders/report_python.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/text.h"
#include "files/trace/system_metrics.h"

#include <gputracker/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_PREFIX "Step:"
/* Readings of the system are at most so far apart. */
#define READING_SECONDS 60.0

static void warn(void *user, const char *message)
{
    report_session_warn(user, message);
}

/* ---- Readings ---- */

struct device {
    struct report_column time, values;
    double last;                          /* seconds, of its last reading; NaN: there is none */
    char *node, *name, *dimension, *type; /* owned */
};

struct devices {
    struct report_session *session;
    struct names keys;
    struct device *devices; /* by the number of their key; owned */
    uint32_t count;
};

/* Begins the curve of a device. False without memory. */
static bool begin_device(struct devices *devices, const struct system_reading *reading)
{
    struct report_spool *spool = &devices->session->payload->spool;
    if (!ARRAY_EXTEND(devices->devices, devices->count))
        return false;
    struct device *device = &devices->devices[devices->count++];
    *device = (struct device){.node = strdup(reading->node),
        .name = strdup(reading->name),
        .dimension = strdup(reading->dimension),
        .type = strdup(reading->type),
        .last = NAN};
    report_column_init(&device->time, spool, REPORT_STEP_TIME);
    report_column_init(&device->values, spool, REPORT_DOUBLES);
    return device->node && device->name && device->dimension && device->type;
}

/* Finds the device that a reading is of, or begins it. NULL without memory. */
static struct device *device_of(struct devices *devices, const struct system_reading *reading)
{
    char key[512];
    int length = snprintf(
        key, sizeof key, "%.120s/%.120s/%.120s", reading->node, reading->name, reading->dimension);
    uint32_t number = names_add(&devices->keys, key, (size_t)length);
    if (number == NAMES_NONE)
        return NULL;
    if (number == devices->count && !begin_device(devices, reading))
        return NULL;
    return &devices->devices[number];
}

/* Adds a reading to the curve of its device. */
static int add_reading(void *user, const struct system_reading *reading, struct gput_error *error)
{
    struct devices *devices = user;
    struct device *device = device_of(devices, reading);
    if (!device)
        return error_memory(error);
    double time = report_session_time(devices->session, (double)reading->time_us * 1e-6);

    /* A profile may be of a job that was interrupted: no reading holds until the next one then. */
    if (time - device->last > 2 * READING_SECONDS) {
        TRY(report_column_add(&device->time, device->last + READING_SECONDS, error));
        TRY(report_column_add(&device->values, NAN, error));
    }
    device->last = time;
    TRY(report_column_add(&device->time, time, error));
    return report_column_add(&device->values, reading->value, error);
}

static bool is_percent(const struct device *device)
{
    return strstr(device->dimension, "Utilization") || strstr(device->dimension, "Percent");
}

static void devices_finish(struct devices *devices)
{
    for (uint32_t i = 0; i < devices->count; i++) {
        struct device *device = &devices->devices[i];
        report_column_finish(&device->time);
        report_column_finish(&device->values);
        free(device->node);
        free(device->name);
        free(device->dimension);
        free(device->type);
    }
    free(devices->devices);
    names_finish(&devices->keys);
}

/* Reads all readings of the system, and adds a curve for each device. */
static int add_devices(
    struct report_session *session, struct doc *training, struct gput_error *error)
{
    CLEANUP(devices_finish) struct devices devices = {.session = session};
    CLEANUP(trace_root_finish) struct trace_root root = {0};
    struct read_report report = {.warn = warn, .user = session};
    TRY(trace_root_read(session->path, &root, error));
    for (size_t i = 0; i < root.count; i++) {
        const struct trace_file *file = &root.files[i];
        if (file->kind == TRACE_FILE_SYSTEM && trace_file_is_readable(file, &report))
            TRY(system_metrics_read(file->path, add_reading, &devices, &report, error));
    }
    struct doc *rows = devices.count ? doc_add_array(training, "utilization") : NULL;
    for (uint32_t i = 0; i < devices.count; i++) {
        /* Add the curve of a device, and whose it is. */
        struct device *device = &devices.devices[i];
        const char *key = names_text(&devices.keys, i);
        char label[512]; /* the readings of I/O are of no device */
        snprintf(label, sizeof label, "%.120s/%.120s%s%.120s", device->node, device->name,
            device->name[0] ? "/" : "", device->dimension);
        struct report_series series = {.id = key,
            .label = label,
            .group = is_percent(device) ? device->type : device->dimension,
            .scope = device->name,
            .unit = is_percent(device) ? "percent" : "",
            .limit = is_percent(device) ? 100 : NAN};
        struct doc *row = doc_add_object(rows, NULL);
        doc_add_string(row, "series", key);
        doc_add_string(row, "node", device->node);
        doc_add_string(row, "device", device->name);
        doc_add_string(row, "dimension", device->dimension);
        doc_add_string(row, "resource", device->type);
        TRY(report_session_add_time(devices.session, &device->time, &series.time, error));
        TRY(report_session_add_series(devices.session, &series, &device->values, error));
    }
    return GPUT_OK;
}

/* ---- Views ---- */

/* A view of the profile; `*tables` NULL: it has nothing of the kind. */
static int make_view(struct report_session *session, enum gput_profile_view view, bool each_step,
    struct gput_tables **tables, struct gput_error *error)
{
    struct gput_profile_options options = gput_profile_options_default();
    struct gput_error reason;
    options.path = session->path;
    options.each_step = each_step;
    options.by_dimension = true; /* the memory of a GPU is not how busy it is */
    options.temporary_folder = session->payload->spool.folder;
    options.warn = warn;
    options.user = session;
    *tables = NULL;
    int code = gput_profile_tables(view, &options, tables, &reason);
    if (code == GPUT_OK || code == GPUT_ERROR_NOT_FOUND)
        return GPUT_OK;
    return error_copy(error, &reason);
}

/* Adds the tables of those views that a report shows. */
static int add_tables(struct report_session *session, struct gput_error *error)
{
    static const struct {
        enum gput_profile_view view;
        const char *id, *title;
    } views[] = {
        {GPUT_PROFILE_JOB, "profile_job", "Job"},
        {GPUT_PROFILE_STEPS, "profile_steps", "Durations of steps"},
        {GPUT_PROFILE_UTILIZATION, "profile_utilization", "Utilization"},
        {GPUT_PROFILE_DEVICES, "profile_devices", "Readings by range of percent"},
        {GPUT_PROFILE_DATALOADER, "profile_dataloader", "Data loading"},
    };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        CLEANUP(gput_tables_destroy_pointer) struct gput_tables *tables = NULL;
        TRY(make_view(session, views[i].view, false, &tables, error));
        size_t count = tables ? gput_tables_count(tables) : 0;
        for (size_t k = 0; k < count; k++) {
            const struct gput_table *table = gput_tables_get(tables, k);
            char id[96], title[128];
            snprintf(id, sizeof id, "%s%s%s", views[i].id, count > 1 ? "_" : "",
                count > 1 ? gput_table_name(table) : "");
            snprintf(title, sizeof title, "%s%s%s", views[i].title, count > 1 ? ": " : "",
                count > 1 ? gput_table_name(table) : "");
            if (gput_table_row_count(table) > 0)
                report_session_add_table(session, id, title, table);
        }
    }
    return GPUT_OK;
}

/* ---- Steps and phases ---- */

/* Moments of views count from the first system file. */
static double moment_of(struct report_session *session, const struct gput_table *table, size_t row,
    size_t column, int64_t origin_us)
{
    double us = table_cells_number(table, row, column) + (double)origin_us;
    return report_session_time(session, us * 1e-6);
}

enum { NUMBER, START, STOP, PHASE, COLUMNS };

struct steps {
    struct report_column columns[COLUMNS];
    struct names phases;
};

static void steps_finish(struct steps *steps)
{
    for (int i = 0; i < COLUMNS; i++)
        report_column_finish(&steps->columns[i]);
    names_finish(&steps->phases);
}

/* Adds the steps of a training, if there are any. */
static int add_steps(struct report_session *session, struct doc *training, int64_t origin_us,
    struct gput_error *error)
{
    static const struct {
        const char *key;
        double step;
    } columns[COLUMNS] = {{"number", REPORT_STEP_WHOLE}, {"start", REPORT_STEP_TIME},
        {"stop", REPORT_STEP_TIME}, {"phase", REPORT_STEP_WHOLE}};
    struct report_payload *payload = session->payload;
    CLEANUP(gput_tables_destroy_pointer) struct gput_tables *tables = NULL;
    TRY(make_view(session, GPUT_PROFILE_PHASES, true, &tables, error));
    const struct gput_table *table = tables ? gput_tables_get(tables, 0) : NULL;
    if (!table)
        return GPUT_OK;
    CLEANUP(steps_finish) struct steps steps = {0};
    for (int i = 0; i < COLUMNS; i++)
        report_column_init(&steps.columns[i], &payload->spool, columns[i].step);
    size_t name = table_cells_find(table, "training_phase");
    size_t start = table_cells_find(table, "start_time_us");
    size_t end = table_cells_find(table, "end_time_us");
    for (size_t row = 0; row < gput_table_row_count(table); row++) {
        const char *text = table_cells_text(table, row, name);
        if (!text_begins_with(text, STEP_PREFIX))
            continue; /* before, between or after steps */
        uint32_t phase = names_add(&steps.phases, text, strlen(text));
        if (phase == NAMES_NONE)
            return error_memory(error);
        const double values[COLUMNS] = {(double)steps.columns[NUMBER].count,
            moment_of(session, table, row, start, origin_us),
            moment_of(session, table, row, end, origin_us), phase};
        for (int i = 0; i < COLUMNS; i++)
            TRY(report_column_add(&steps.columns[i], values[i], error));
    }
    if (steps.columns[NUMBER].count == 0)
        return GPUT_OK;

    struct doc *object = doc_add_object(training, "steps");
    report_payload_add_names(object, "phases", &steps.phases);
    for (int i = 0; i < COLUMNS; i++)
        TRY(report_payload_add_column(payload, object, columns[i].key, &steps.columns[i], error));
    return GPUT_OK;
}

/* ---- The loader ---- */

/* Notes the time of the earliest reading. */
static int find_first(void *user, const struct system_reading *reading, struct gput_error *error)
{
    int64_t *first_us = user;
    (void)error;
    if (reading->time_us < *first_us)
        *first_us = reading->time_us;
    return GPUT_OK;
}

/* Adds a training profile: its events, steps, devices and tables. */
static int load(struct report_session *session, struct gput_error *error)
{
    int64_t origin_us;
    TRY(gput_profile_start(session->path, &origin_us, error));

    /* Readings may be before all events; the names of their files have the minute alone. What is
     * wrong with these is said when they are read as a whole. */
    CLEANUP(trace_root_finish) struct trace_root root = {0};
    struct read_report report = {0};
    int64_t first_us = INT64_MAX;
    TRY(trace_root_read(session->path, &root, error));
    for (size_t i = 0; i < root.count; i++) {
        const struct trace_file *file = &root.files[i];
        if (file->kind == TRACE_FILE_SYSTEM && file->time_us < first_us &&
            trace_file_is_readable(file, &report))
            TRY(system_metrics_read(file->path, find_first, &first_us, &report, error));
    }
    if (first_us < INT64_MAX)
        report_session_time(session, (double)first_us * 1e-6);

    TRY(report_events_add(session, timeline_add_root, error));
    struct doc *training = doc_add_object(session->doc, "training");
    TRY(add_devices(session, training, error));

    CLEANUP(gput_tables_destroy_pointer) struct gput_tables *tables = NULL;
    TRY(make_view(session, GPUT_PROFILE_PHASES, false, &tables, error));
    const struct gput_table *table = tables ? gput_tables_get(tables, 0) : NULL;
    struct doc *list = table ? doc_add_array(training, "phases") : NULL;
    for (size_t row = 0; table && row < gput_table_row_count(table); row++) {
        size_t name = table_cells_find(table, "training_phase");
        struct doc *phase = doc_add_object(list, NULL);
        doc_add_string(phase, "name", table_cells_text(table, row, name));
        doc_add_double(phase, "start",
            moment_of(session, table, row, table_cells_find(table, "start_time_us"), origin_us));
        doc_add_double(phase, "stop",
            moment_of(session, table, row, table_cells_find(table, "end_time_us"), origin_us));
    }
    TRY(add_steps(session, training, origin_us, error));
    TRY(add_tables(session, error));
    return report_python_add_functions(session, error);
}

static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    return is_folder && trace_root_is(path) ? GPUT_OK : report_session_refuse(path, error);
}

const struct report_loader report_profile_loader = {"profile", probe, load};
