#include "views/report/loaders/report_tracking_tables.h"

#include "base/array.h"
#include "base/names.h"
#include "base/table.h"
#include "files/tracking/total_rates.h"
#include "files/tracking/tracking_identity.h"
#include "views/report/document/report_processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_GPU_FIGURES 24

struct report_gpu {
    struct report_column time;
    struct report_column values[REPORT_GPU_FIGURES];
    double before_s, counters_before[REPORT_GPU_FIGURES]; /* the row before */
};

/* ---- The table gpu_data ---- */

/* Curves of each GPU, and the power of all at the same times. */
struct report_gpus {
    struct report_session *session;
    struct names uuids;      /* by the number of the GPU */
    struct report_gpu *gpus; /* owned */
    uint32_t count;
    struct report_column power_time, power; /* of all together */
    double moment, watts;                   /* of the rows that come; NaN: none yet, not known */
};

/* What a column of the table is to its curve. */
enum kind {
    PLAIN,
    RAM,    /* in the unit of the session */
    MHZ,    /* megahertz, of hertz */
    SLOWED, /* a counter of seconds; the curve is the share of the time since the row before */
};

/* The figures of a card are those of GPUs that the session used. */
static const struct figure {
    const char *column, *label, *group, *unit;
    enum kind kind;
} figures[REPORT_GPU_FIGURES] = {
    {"ram_used", "RAM in use", "gpu_ram", "bytes", RAM},
    {"main_ram", "RAM of main", "gpu_ram", "bytes", RAM},
    {"descendants_ram", "RAM of descendants", "gpu_ram", "bytes", RAM},
    {"combined_ram", "RAM of the session", "gpu_ram", "bytes", RAM},
    {"utilization_percent", "utilization", "gpu", "percent", PLAIN},
    {"main_sm_percent", "processors, main", "gpu", "percent", PLAIN},
    {"descendants_sm_percent", "processors, descendants", "gpu", "percent", PLAIN},
    {"power_watts", "power", "power", "watts", PLAIN},
    {"sm_active_percent", "processors with work", "card_parts", "percent", PLAIN},
    {"sm_occupancy_percent", "occupancy", "card_parts", "percent", PLAIN},
    {"tensor_active_percent", "tensor cores", "card_parts", "percent", PLAIN},
    {"dram_bandwidth_percent", "memory bandwidth", "card_parts", "percent", PLAIN},
    {"fp16_active_percent", "16 bits", "card_parts", "percent", PLAIN},
    {"fp32_active_percent", "32 bits", "card_parts", "percent", PLAIN},
    {"fp64_active_percent", "64 bits", "card_parts", "percent", PLAIN},
    {"power_cap_seconds", "by the power limit", "card_slowed", "percent", SLOWED},
    {"thermal_seconds", "by heat", "card_slowed", "percent", SLOWED},
    {"hardware_thermal_seconds", "by heat, the chip itself", "card_slowed", "percent", SLOWED},
    {"power_brake_seconds", "by the power supply", "card_slowed", "percent", SLOWED},
    {"sync_boost_seconds", "to other cards' clocks", "card_slowed", "percent", SLOWED},
    {"graphics_clock_mhz", "clock", "card_clock", "hertz", MHZ},
    {"memory_clock_mhz", "clock of the memory", "card_clock", "hertz", MHZ},
    {"temperature_celsius", "chip", "card_temperature", "celsius", PLAIN},
    {"memory_temperature_celsius", "memory", "card_temperature", "celsius", PLAIN},
};
#define COMBINED_RAM 3
#define MAIN_PERCENT 5
#define POWER 7

static void report_gpus_init(struct report_gpus *gpus, struct report_session *session)
{
    *gpus = (struct report_gpus){.session = session, .moment = NAN};
    report_column_init(&gpus->power_time, &session->payload->spool, REPORT_STEP_TIME);
    report_column_init(&gpus->power, &session->payload->spool, REPORT_STEP_FRACTION);
}

/* Percents and watts have fractions. */
static double step_of(const struct figure *figure)
{
    bool is_whole = strcmp(figure->unit, "percent") != 0 && strcmp(figure->unit, "watts") != 0;
    return is_whole ? REPORT_STEP_WHOLE : REPORT_STEP_FRACTION;
}

/* What the curve has of the value of a row. A counter that was reset leaves a gap. */
static double value_of(
    struct report_gpu *gpu, int figure, double value, double time_s, double ram_factor)
{
    switch (figures[figure].kind) {
    case RAM:
        return value * ram_factor;
    case MHZ:
        return value * 1e6;
    case SLOWED: {
        double slowed_s = value - gpu->counters_before[figure], span_s = time_s - gpu->before_s;
        gpu->counters_before[figure] = value;
        return slowed_s >= 0 && span_s > 0 ? fmin(100, 100 * slowed_s / span_s) : NAN;
    }
    default:
        return value;
    }
}

/* The GPU of a row, made when it is its first; NULL without memory. */
static struct report_gpu *gpu_of(struct report_gpus *gpus, const char *uuid)
{
    uint32_t number = names_add(&gpus->uuids, uuid, strlen(uuid));
    if (number == NAMES_NONE)
        return NULL;
    if (number < gpus->count)
        return &gpus->gpus[number];
    if (!ARRAY_EXTEND(gpus->gpus, gpus->count))
        return NULL;
    struct report_gpu *gpu = &gpus->gpus[gpus->count];
    report_column_init(&gpu->time, &gpus->session->payload->spool, REPORT_STEP_TIME);
    gpu->before_s = NAN;
    for (int i = 0; i < REPORT_GPU_FIGURES; i++) {
        report_column_init(&gpu->values[i], &gpus->session->payload->spool, step_of(&figures[i]));
        gpu->counters_before[i] = NAN;
    }
    return &gpus->gpus[gpus->count++];
}

/* The rows of a moment are whole: those of one GPU that is not known leave a gap. */
static int end_moment(struct report_gpus *gpus, struct gput_error *error)
{
    if (isnan(gpus->moment))
        return GPUT_OK;
    TRY(report_column_add(&gpus->power_time, gpus->moment, error));
    return report_column_add(&gpus->power, gpus->watts, error);
}

/* Adds up the power of all GPUs at a moment. */
static int add_power(
    struct report_gpus *gpus, double moment, double watts, struct gput_error *error)
{
    if (moment == gpus->moment) {
        gpus->watts += watts;
        return GPUT_OK;
    }
    TRY(end_moment(gpus, error));
    gpus->moment = moment;
    gpus->watts = watts;
    return GPUT_OK;
}

/* Adds rows of the table. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
static int report_gpus_add(
    struct report_gpus *gpus, const struct gput_table *part, struct gput_error *error)
{
    size_t uuid = table_cells_find(part, "uuid"), time = table_cells_find(part, "timestamp");
    double ram_factor = 1 / gput_ram_unit_factor(gpus->session->static_data.gpu_ram_unit);
    size_t columns[REPORT_GPU_FIGURES];
    for (int i = 0; i < REPORT_GPU_FIGURES; i++)
        columns[i] = table_cells_find(part, figures[i].column);
    for (size_t row = 0; row < gput_table_row_count(part); row++) {
        double moment = table_cells_number(part, row, time);
        if (!(fabs(moment) < REPORT_LAST_SECOND))
            continue;
        struct report_gpu *gpu = gpu_of(gpus, table_cells_text(part, row, uuid));
        if (!gpu)
            return error_memory(error);
        double time_s = report_session_time(gpus->session, moment);
        TRY(report_column_add(&gpu->time, time_s, error));
        TRY(add_power(gpus, time_s, table_cells_number(part, row, columns[POWER]), error));
        for (int i = 0; i < REPORT_GPU_FIGURES; i++) {
            double value = table_cells_number(part, row, columns[i]);
            TRY(report_column_add(
                &gpu->values[i], value_of(gpu, i, value, time_s, ram_factor), error));
        }
        gpu->before_s = time_s;
    }
    return GPUT_OK;
}

/* The same GPU in the results, or NULL. */
static const struct gput_gpu *find_result(const struct report_gpus *gpus, const char *uuid)
{
    const struct gput_results *results = gpus->session->results;
    for (uint32_t i = 0; results && i < results->n_gpus; i++) {
        if (strcmp(results->gpus[i].uuid, uuid) == 0)
            return &results->gpus[i];
    }
    return NULL;
}

/* Adds the curves to the session. */
static int report_gpus_end(struct report_gpus *gpus, struct gput_error *error)
{
    struct doc *list = gpus->count ? doc_add_array(gpus->session->doc, "gpus") : NULL;
    for (uint32_t i = 0; i < gpus->count; i++) {
        const struct gput_gpu *result = find_result(gpus, names_text(&gpus->uuids, i));
        struct doc *object = doc_add_object(list, NULL);
        doc_add_string(object, "uuid", names_text(&gpus->uuids, i));
        if (result)
            doc_add_string(object, "name", result->name);

        /* Add the curves of a GPU. */
        struct report_gpu *gpu = &gpus->gpus[i];
        bool is_used = gpu->values[COMBINED_RAM].max > 0 || gpu->values[MAIN_PERCENT].max > 0 ||
                       gpu->values[MAIN_PERCENT + 1].max > 0;
        unsigned time;
        TRY(report_session_add_time(gpus->session, &gpu->time, &time, error));
        for (int k = 0; k < REPORT_GPU_FIGURES; k++) {
            char id[64], label[64], scope[32];
            snprintf(scope, sizeof scope, "gpu%u", i);
            snprintf(id, sizeof id, "gpu%u_%s", i, figures[k].column);
            snprintf(label, sizeof label, "GPU %u: %s", i, figures[k].label);
            const struct report_series series = {
                .id = id,
                .label = label,
                .group = figures[k].group,
                .scope = scope,
                .unit = figures[k].unit,
                .limit = k == 0 && result ? result->ram_capacity_bytes : NAN,
                .time = time,
                .of_interval = figures[k].kind == SLOWED,
            };
            bool is_of_card = strncmp(figures[k].group, "card_", 5) == 0;
            if (!isnan(gpu->values[k].max) && (is_used || !is_of_card))
                TRY(report_session_add_series(gpus->session, &series, &gpu->values[k], error));
        }
    }

    /* What each GPU says of a moment, added up: the energy of the session has means of longer
     * times, which are lower than the highest of one GPU. */
    struct report_series series = {.id = "power_gpu",
        .label = "GPUs, single readings",
        .group = "power",
        .scope = "gpu",
        .unit = "watts",
        .limit = NAN};
    TRY(end_moment(gpus, error));
    if (isnan(gpus->power.max))
        return GPUT_OK;
    TRY(report_session_add_time(gpus->session, &gpus->power_time, &series.time, error));
    return report_session_add_series(gpus->session, &series, &gpus->power, error);
}

/* ---- Totals of energy and I/O ---- */

/* A column, and its curve of rates. A rate is that of the time up to its row, so the area under a
 * curve is the total. */
struct report_rate {
    const char *column, *id, *label, *scope;
};

/* A table: its name, and its curves with what they share. */
struct report_rates_table {
    const char *name, *group, *unit;
    double step; /* that values are kept to */
    double min_seconds;
    const struct report_rate *rates;
    size_t count;
};

struct report_rates {
    const struct report_rates_table *table;
    struct report_session *session;
    bool without_gpus; /* their curve is there already */
    struct report_column time;
    struct report_column values[TOTAL_RATES_MAX];
    struct total_rates totals;
};

static const struct report_rate powers[] = {
    {"package", "power_package", "CPU packages", "package"},
    {"core", "power_core", "CPU cores", "core"},
    {"uncore", "power_uncore", "CPU uncore", "uncore"},
    {"dram", "power_dram", "DRAM", "dram"},
    {"psys", "power_psys", "Platform", "psys"},
    {"gpu", "power_gpu", "GPUs", "gpu"},
    {"total", "power_total", "Machine", "system"},
    {"main", "power_main", "Share of main", "main"},
    {"descendants", "power_descendants", "Share of descendants", "descendants"},
    {"combined", "power_combined", "Share of the session", "combined"},
};

static const struct report_rates_table report_power_of_energy = {"energy_data", "power", "watts",
    REPORT_STEP_FRACTION, MIN_ENERGY_SECONDS, powers, sizeof powers / sizeof *powers};

/* What programs read and wrote, cached or not, and what of it storage did. */
static const struct report_rate bytes[] = {
    {"read_bytes", "io_read", "Read", "read"},
    {"write_bytes", "io_write", "Written", "written"},
    {"storage_read_bytes", "io_storage_read", "Read from storage", "storage_read"},
    {"storage_write_bytes", "io_storage_write", "Written to storage", "storage_written"},
};

static const struct report_rates_table report_io = {"io_data", "io", "bytes_per_second",
    REPORT_STEP_WHOLE, MIN_IO_SECONDS, bytes, sizeof bytes / sizeof *bytes};

/* The first row has no rates, nor has a row before which a clock was set back. */
static int take_rates(void *user, const struct total_row *begin, const struct total_row *end,
    const double *of_interval, struct gput_error *error)
{
    struct report_rates *rates = user;
    (void)begin;
    if (!end)
        return GPUT_OK;
    TRY(report_column_add(&rates->time, report_session_time(rates->session, end->time), error));
    for (size_t i = 0; i < rates->table->count; i++)
        TRY(report_column_add(&rates->values[i], of_interval[i], error));
    return GPUT_OK;
}

/* Begins the curves of a table of totals. */
static void report_rates_init(struct report_rates *rates, const struct report_rates_table *table,
    struct report_session *session)
{
    struct report_spool *spool = &session->payload->spool;
    *rates = (struct report_rates){.table = table,
        .session = session,
        .totals = total_rates_of(table->count, table->min_seconds, take_rates, rates)};
    report_column_init(&rates->time, spool, REPORT_STEP_TIME);
    for (size_t i = 0; i < table->count; i++)
        report_column_init(&rates->values[i], spool, table->step);
}

/* Adds rows of the table. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
static int report_rates_add(
    struct report_rates *rates, const struct gput_table *part, struct gput_error *error)
{
    size_t time = table_cells_find(part, "timestamp"), columns[TOTAL_RATES_MAX];
    for (size_t i = 0; i < rates->table->count; i++)
        columns[i] = table_cells_find(part, rates->table->rates[i].column);
    return total_rates_add(&rates->totals, part, time, columns, error);
}

/* Whether a rate of that scope is known. */
static bool has(const struct report_rates *rates, const char *scope)
{
    for (size_t i = 0; i < rates->table->count; i++) {
        if (strcmp(rates->table->rates[i].scope, scope) == 0 && !isnan(rates->values[i].max))
            return true;
    }
    return false;
}

/* Energy of GPUs alone is not that of the machine. */
static bool is_shown(const struct report_rates *rates, size_t index)
{
    const char *scope = rates->table->rates[index].scope;
    bool is_of_gpus = strcmp(scope, "gpu") == 0, is_total = strcmp(scope, "system") == 0;
    if (isnan(rates->values[index].max) || (is_of_gpus && rates->without_gpus))
        return false;
    return !is_total || !has(rates, "gpu") || has(rates, "package") || has(rates, "dram");
}

/* Adds the curves to the session. */
static int report_rates_end(struct report_rates *rates, struct gput_error *error)
{
    unsigned time;
    bool is_any = false;
    TRY(total_rates_end(&rates->totals, error));
    for (size_t i = 0; i < rates->table->count; i++)
        is_any = is_any || is_shown(rates, i);
    if (!is_any)
        return GPUT_OK;
    TRY(report_session_add_time(rates->session, &rates->time, &time, error));
    for (size_t i = 0; i < rates->table->count; i++) {
        const struct report_rate *rate = &rates->table->rates[i];
        const struct report_series series = {
            .id = rate->id,
            .label = rate->label,
            .group = rates->table->group,
            .scope = rate->scope,
            .unit = rates->table->unit,
            .limit = NAN,
            .time = time,
            .of_interval = true,
        };
        if (is_shown(rates, i))
            TRY(report_session_add_series(rates->session, &series, &rates->values[i], error));
    }
    return GPUT_OK;
}

static void report_rates_finish(struct report_rates *rates)
{
    report_column_finish(&rates->time);
    for (size_t i = 0; i < rates->table->count; i++)
        report_column_finish(&rates->values[i]);
}

/* ---- All tables ---- */

#define ROWS_AT_ONCE 1024

/* What is made of the tables while their rows come. */
struct loading {
    struct report_session *session;
    struct report_gpus gpus;
    struct report_rates energy, io;
    struct report_processes processes;
};

/* Adds the rows of those tables that a report shows. */
static int take_rows(void *user, const struct gput_tables *tables, const struct gput_table *part,
    struct gput_error *error)
{
    struct loading *loading = user;
    const char *name = gput_table_name(part);
    (void)tables;
    if (strcmp(name, "gpu_data") == 0)
        return report_gpus_add(&loading->gpus, part, error);
    if (strcmp(name, report_power_of_energy.name) == 0)
        return report_rates_add(&loading->energy, part, error);
    if (strcmp(name, report_io.name) == 0)
        return report_rates_add(&loading->io, part, error);
    if (strcmp(name, "process_data") == 0)
        return report_processes_add(&loading->processes, part, error);
    if (strcmp(name, TRACKING_IDENTITY_TABLE) == 0) {
        TRY(report_session_describe(loading->session, error));
        tracking_identity_read_table(part, loading->session->described);
    }
    return GPUT_OK;
}

/* A damaged table costs what comes after it, not the samples that were read. */
static int read_tables(struct report_session *session, struct tracking_reader *reader,
    struct loading *loading, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    if (!building)
        return error_memory(error);
    tables_set_receiver(building, ROWS_AT_ONCE, take_rows, loading);
    struct gput_error reason;
    int code = tracking_reader_tables(reader, building, &reason);
    gput_tables_destroy(building);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    if (code != GPUT_OK && code != GPUT_ERROR_INVALID) /* invalid: such files have none */
        report_session_warn(session, reason.message);
    return GPUT_OK;
}

int report_tracking_tables_load(
    struct report_session *session, struct tracking_reader *reader, struct gput_error *error)
{
    struct loading loading = {.session = session};
    report_gpus_init(&loading.gpus, session);
    report_rates_init(&loading.energy, &report_power_of_energy, session);
    report_rates_init(&loading.io, &report_io, session);
    report_processes_init(&loading.processes, session);
    int code = read_tables(session, reader, &loading, error);
    if (code == GPUT_OK)
        code = report_gpus_end(&loading.gpus, error);
    loading.energy.without_gpus = !isnan(loading.gpus.power.max);
    if (code == GPUT_OK)
        code = report_rates_end(&loading.energy, error);
    if (code == GPUT_OK)
        code = report_rates_end(&loading.io, error);
    if (code == GPUT_OK)
        code = report_processes_end(&loading.processes, error);
    for (uint32_t i = 0; i < loading.gpus.count; i++) {
        report_column_finish(&loading.gpus.gpus[i].time);
        for (int j = 0; j < REPORT_GPU_FIGURES; j++)
            report_column_finish(&loading.gpus.gpus[i].values[j]);
    }
    report_column_finish(&loading.gpus.power_time);
    report_column_finish(&loading.gpus.power);
    free(loading.gpus.gpus);
    names_finish(&loading.gpus.uuids);

    report_rates_finish(&loading.energy);
    report_rates_finish(&loading.io);
    report_processes_finish(&loading.processes);
    return code;
}
