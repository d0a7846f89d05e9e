/* Tracking files: a curve for each measurement, and those of each GPU, of energy and the processes,
 * where the file has them. */
#include "views/report/loaders/report_loader.h"
#include "views/report/loaders/report_tracking_tables.h"

#include "base/cleanup.h"
#include "base/human.h"
#include "base/str.h"
#include "files/tracking/tracking_identity.h"
#include "files/tracking/tracking_reader.h"
#include "model/measurement_list.h"
#include "model/results_identity.h"

#define ROWS_AT_ONCE 256

struct loading {
    struct report_session *session;
    struct tracking_reader *reader;
    struct report_column time;
    struct report_column values[GPUT_MEASUREMENT_COUNT];
    double factors[GPUT_MEASUREMENT_COUNT]; /* from the file's unit to the base unit */
    uint64_t unfit[GPUT_MEASUREMENT_COUNT];
    double weighted[GPUT_MEASUREMENT_COUNT]; /* sums of values by the time since the row before */
    double seconds[GPUT_MEASUREMENT_COUNT];  /* of which these are */
    uint64_t untimed;                        /* rows without a time */
    double previous;                         /* the row before; NaN: there is none */
    uint64_t backward;                       /* rows before the one before them */
    double back_seconds;                     /* by which they are, in all */
};

/* Adds a row of samples to all curves. */
static int add_row(
    struct loading *loading, const struct tracking_row *row, struct gput_error *error)
{
    if (!(fabs(row->timestamp) < REPORT_LAST_SECOND)) {
        loading->untimed++;
        return GPUT_OK;
    }
    double since = row->timestamp - loading->previous;
    loading->previous = row->timestamp;
    if (since < 0) {
        loading->backward++;
        loading->back_seconds -= since;
    }
    double time = report_session_time(loading->session, row->timestamp);
    loading->session->first_sample = fmin(loading->session->first_sample, row->timestamp);
    TRY(report_column_add(&loading->time, time, error));
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        if (!tracking_reader_has(loading->reader, (enum gput_measurement_id)i))
            continue;
        struct report_column *column = &loading->values[i];
        double value = row->values[i] * loading->factors[i];
        loading->unfit[i] += !report_column_fits(column, value);
        if (since > 0 && report_column_fits(column, value) && !isnan(value)) {
            loading->weighted[i] += value * since;
            loading->seconds[i] += since;
        }
        TRY(report_column_add(column, value, error));
    }
    return GPUT_OK;
}

/* What the figure cannot exceed; NaN: not known. What it must not exceed is read later. */
static double limit_of(const struct loading *loading, enum gput_measurement_id id)
{
    const struct gput_static_data *data = tracking_reader_static_data(loading->reader);
    const struct gput_measurement *measurement = gput_measurement(id);
    bool is_system = id == GPUT_SYSTEM_RAM || id == GPUT_SYSTEM_GPU_RAM;
    if (is_system)
        return measurement->quantity == GPUT_QUANTITY_RAM ? data->ram_system_capacity_bytes
                                                          : data->gpu_ram_system_capacity_bytes;
    if (id == GPUT_CPU_SYSTEM_SUM && data->system_core_count > 0)
        return data->system_core_count * 100.0;
    return NAN;
}

/* Adds the curves that have any value. */
static int add_curves(struct loading *loading, struct gput_error *error)
{
    const struct gput_static_data *data = tracking_reader_static_data(loading->reader);
    unsigned time;
    report_session_warn_unfit(loading->session, "timestamp", loading->untimed);

    /* What is drawn then is not what was. */
    CLEANUP_STR struct str text = {0};
    char seconds[HUMAN_SIZE];
    if (loading->backward != 0) {
        str_printf(&text,
            "%s: %llu sample%s before the one before, by %s%s: the system's time was set back. The "
            "session took longer than its times say, and its curves run over each other there.",
            loading->session->path, (unsigned long long)loading->backward,
            loading->backward > 1 ? "s lie" : " lies",
            human_seconds(loading->back_seconds, seconds), loading->backward > 1 ? " in all" : "");
        report_session_warn(loading->session, str_text(&text));
    }

    TRY(report_session_add_time(loading->session, &loading->time, &time, error));
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        bool is_of_gpu = i >= GPUT_MAIN_GPU_RAM && i <= GPUT_GPU_HARDWARE_UTILIZATION;
        bool is_of_time = i >= GPUT_TIME_COMPUTING && i <= GPUT_TIME_UNKNOWN;
        bool is_zero = !(loading->values[i].max > 0);
        /* A tracking file has zeros in the columns of GPUs where there is none. */
        if (!tracking_reader_has(loading->reader, (enum gput_measurement_id)i) ||
            (is_zero && (is_of_time || (is_of_gpu && data->system_gpu_count == 0))))
            continue;
        const struct gput_measurement *measurement = gput_measurement((enum gput_measurement_id)i);
        const struct measurement_curve *curve = &measurement_curves[i];
        bool is_ram = measurement->quantity == GPUT_QUANTITY_RAM ||
                      measurement->quantity == GPUT_QUANTITY_GPU_RAM;
        bool is_percent = measurement->quantity == GPUT_QUANTITY_PERCENT;
        const struct report_series series = {
            .id = measurement->name,
            .label = curve->label,
            .group = curve->group,
            .scope = curve->scope,
            .unit = is_ram       ? "bytes"
                    : is_percent ? "percent"
                                 : "count",
            .limit = limit_of(loading, measurement->id),
            .time = time,
            .of_interval = curve->is_of_interval,
        };
        report_session_warn_unfit(loading->session, measurement->name, loading->unfit[i]);

        /* For the cards of a session whose results are not known, and comparisons. What is of
         * intervals has the weight of these, as the means of results have. */
        const struct report_column *values = &loading->values[i];
        uint64_t count = values->count - values->missing_count;
        loading->session->max[i] = values->max;
        loading->session->mean[i] = count ? values->sum / (double)count : NAN;
        if (measurement_curves[i].is_of_interval && loading->seconds[i] > 0)
            loading->session->mean[i] = loading->weighted[i] / loading->seconds[i];
        TRY(report_session_add_series(loading->session, &series, &loading->values[i], error));
    }
    return GPUT_OK;
}

/* ---- Whose samples these are ---- */

/* A file next to it may be of samples that were there before. */
static bool is_of_samples(
    const struct report_session *session, const struct gput_identity *identity)
{
    double start = results_identity_seconds(identity->start);
    double end = results_identity_seconds(identity->end);
    return isnan(session->start) || (session->start >= start - REPORT_CLOCK_DOUBT &&
                                        !(session->start > end + REPORT_CLOCK_DOUBT));
}

/* Reads whose samples these are. */
static int read_identity(struct report_session *session, struct gput_error *error)
{
    TRY(report_session_describe(session, error));
    bool is_read = session->described->identity.host[0] ||
                   tracking_identity_read(session->path, session->described);
    if (!is_read || !is_of_samples(session, &session->described->identity)) {
        gput_results_destroy(session->described);
        session->described = NULL;
        return GPUT_OK;
    }
    session->static_data.allowed_ram_bytes = session->described->static_data.allowed_ram_bytes;
    session->static_data.allowed_cores = session->described->static_data.allowed_cores;
    session->described->static_data = session->static_data;
    return GPUT_OK;
}

static void add_limit(
    struct report_session *session, enum gput_measurement_id measurement, double limit)
{
    struct doc *curve = report_session_curve(session, gput_measurement(measurement)->name);
    if (curve && !isnan(limit))
        doc_add_double(curve, "limit", limit);
}

/* ---- The loader ---- */

static void loading_finish(struct loading *loading)
{
    report_column_finish(&loading->time);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        report_column_finish(&loading->values[i]);
    tracking_reader_close(loading->reader);
}

/* Adds a tracking file: its samples as curves and figures, and the tables that it has. */
static int load(struct report_session *session, struct gput_error *error)
{
    CLEANUP(loading_finish) struct loading loading = {.session = session, .previous = NAN};
    struct report_spool *spool = &session->payload->spool;
    TRY(tracking_reader_salvage(session->path, &loading.reader, error));
    const struct gput_static_data *data = tracking_reader_static_data(loading.reader);
    session->has_samples = true;
    session->first_sample = NAN;
    session->static_data = *data;
    report_column_init(&loading.time, spool, REPORT_STEP_TIME);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        enum gput_quantity quantity = gput_measurement((enum gput_measurement_id)i)->quantity;
        double step = quantity == GPUT_QUANTITY_PERCENT ? REPORT_STEP_FRACTION : REPORT_STEP_WHOLE;
        session->max[i] = session->mean[i] = NAN;
        loading.factors[i] = 1 / static_data_unit_factor(data, quantity);
        report_column_init(&loading.values[i], spool, step);
    }

    /* Read all rows. */
    struct tracking_row rows[ROWS_AT_ONCE];
    uint64_t done, total;
    size_t count;
    do {
        TRY(tracking_reader_next(loading.reader, rows, ROWS_AT_ONCE, &count, error));
        for (size_t i = 0; i < count; i++)
            TRY(add_row(&loading, &rows[i], error));
        tracking_reader_progress(loading.reader, &done, &total);
        report_session_progress(loading.session, total ? (double)done / (double)total : 0);
    } while (count > 0);
    const char *warning = tracking_reader_warning(loading.reader);
    if (warning && loading.time.count == 0 && !loading.session->results)
        return error_set(error, GPUT_ERROR_FORMAT, "%s There is nothing to show.", warning);
    report_session_warn(loading.session, warning);

    if (loading.time.count > 1)
        session->sample_seconds =
            (session->end - session->start) / (double)(loading.time.count - 1);
    TRY(add_curves(&loading, error));
    TRY(report_tracking_tables_load(session, loading.reader, error));
    TRY(read_identity(session, error));

    /* What the session was allowed, for its curves. */
    const struct gput_static_data *allowed =
        session->results ? &session->results->static_data : &session->static_data;
    if (!session->results ||
        !results_ram_is_not_of_limit(session->results, session->results->max[GPUT_COMBINED_RAM]))
        add_limit(session, GPUT_COMBINED_RAM, allowed->allowed_ram_bytes);
    add_limit(session, GPUT_CPU_COMBINED_SUM, allowed->allowed_cores * 100);
    return GPUT_OK;
}

/* Whether a file is a tracking file. */
static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    struct tracking_reader *reader;
    if (is_folder)
        return report_session_refuse(path, error);
    TRY(tracking_reader_salvage(path, &reader, error));
    tracking_reader_close(reader);
    return GPUT_OK;
}

const struct report_loader report_tracking_loader = {"tracking", probe, load};
