#include "report/loaders/report_rates.h"

#include "base/table_cells.h"

#include <string.h>

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

const struct report_rates_table report_power_of_energy = {"energy_data", "power", "watts",
    REPORT_STEP_FRACTION, 0.05, powers, sizeof powers / sizeof *powers};

/* What programs read and wrote, cached or not, and what of it storage did. */
static const struct report_rate bytes[] = {
    {"read_bytes", "io_read", "Read", "read"},
    {"write_bytes", "io_write", "Written", "written"},
    {"storage_read_bytes", "io_storage_read", "Read from storage", "storage_read"},
    {"storage_write_bytes", "io_storage_write", "Written to storage", "storage_written"},
};

const struct report_rates_table report_io = {"io_data", "io", "bytes_per_second", REPORT_STEP_WHOLE,
    0.2, bytes, sizeof bytes / sizeof *bytes};

void report_rates_init(struct report_rates *rates, const struct report_rates_table *table,
    struct report_session *session)
{
    struct report_spool *spool = &session->payload->spool;
    *rates = (struct report_rates){
        .table = table, .session = session, .begin.time = NAN, .end.time = NAN, .after.time = NAN};
    report_column_init(&rates->time, spool, REPORT_STEP_TIME);
    for (size_t i = 0; i < table->count; i++)
        report_column_init(&rates->values[i], spool, table->step);
}

/* The first row has no totals of a source whose baseline it is: those after it count from there.
 * One that was not read then has its own baseline later, which is 0. */
static void begin_at_zero(struct report_rates *rates, const struct report_totals *row)
{
    for (size_t i = 0; rates->time.count == 1 && i < rates->table->count; i++) {
        if (isnan(rates->begin.values[i]) && row->values[i] > 0)
            rates->begin.values[i] = 0;
    }
}

/* The rates from the row before to this one: of the first, none. */
static int add_rates(
    struct report_rates *rates, const struct report_totals *row, struct gput_error *error)
{
    double seconds = row->time - rates->begin.time;
    begin_at_zero(rates, row);
    TRY(report_column_add(&rates->time, report_session_time(rates->session, row->time), error));
    for (size_t i = 0; i < rates->table->count; i++) {
        double amount = row->values[i] - rates->begin.values[i];
        if (amount < 0) /* not written after all: the kernel subtracts pages of removed files */
            amount = 0;
        double rate = seconds > 0 ? amount / seconds : NAN;
        TRY(report_column_add(&rates->values[i], rate, error));
    }
    rates->begin = *row;
    return GPUT_OK;
}

/* The rates of all rows so far. */
static int add_last_rates(struct report_rates *rates, struct gput_error *error)
{
    struct report_totals last = isnan(rates->after.time) ? rates->end : rates->after;
    rates->end.time = rates->after.time = NAN;
    return isnan(last.time) ? GPUT_OK : add_rates(rates, &last, error);
}

static int add_row(
    struct report_rates *rates, const struct report_totals *row, struct gput_error *error)
{
    struct report_totals *end = &rates->end, *after = &rates->after;
    bool has_end = !isnan(end->time);
    double before = has_end ? end->time : rates->begin.time;
    if (isnan(before) || row->time < before || row->time < after->time) { /* a clock was set back */
        TRY(add_last_rates(rates, error));
        return add_rates(rates, row, error);
    }
    if (row->time - before < rates->table->min_seconds) {
        *after = *row;
        return GPUT_OK;
    }
    if (has_end)
        TRY(add_rates(rates, end, error));
    *end = *row;
    after->time = NAN;
    return GPUT_OK;
}

int report_rates_add(
    struct report_rates *rates, const struct gput_table *part, struct gput_error *error)
{
    size_t time = table_cells_find(part, "timestamp"), columns[REPORT_RATES_MAX];
    for (size_t i = 0; i < rates->table->count; i++)
        columns[i] = table_cells_find(part, rates->table->rates[i].column);
    for (size_t row = 0; row < gput_table_row_count(part); row++) {
        struct report_totals totals = {.time = table_cells_number(part, row, time)};
        if (!(fabs(totals.time) < REPORT_LAST_SECOND))
            continue;
        for (size_t i = 0; i < rates->table->count; i++)
            totals.values[i] = table_cells_number(part, row, columns[i]);
        TRY(add_row(rates, &totals, error));
    }
    return GPUT_OK;
}

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

int report_rates_end(struct report_rates *rates, struct gput_error *error)
{
    unsigned time;
    bool is_any = false;
    TRY(add_last_rates(rates, error));
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

void report_rates_finish(struct report_rates *rates)
{
    report_column_finish(&rates->time);
    for (size_t i = 0; i < rates->table->count; i++)
        report_column_finish(&rates->values[i]);
}
