#include "views/report/loaders/report_rates.h"

#include "base/table.h"

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
    REPORT_STEP_FRACTION, MIN_ENERGY_SECONDS, powers, sizeof powers / sizeof *powers};

/* What programs read and wrote, cached or not, and what of it storage did. */
static const struct report_rate bytes[] = {
    {"read_bytes", "io_read", "Read", "read"},
    {"write_bytes", "io_write", "Written", "written"},
    {"storage_read_bytes", "io_storage_read", "Read from storage", "storage_read"},
    {"storage_write_bytes", "io_storage_write", "Written to storage", "storage_written"},
};

const struct report_rates_table report_io = {"io_data", "io", "bytes_per_second", REPORT_STEP_WHOLE,
    MIN_IO_SECONDS, bytes, sizeof bytes / sizeof *bytes};

/* Of the first row, and where a clock was set back, there are none. */
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

void report_rates_init(struct report_rates *rates, const struct report_rates_table *table,
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

int report_rates_add(
    struct report_rates *rates, const struct gput_table *part, struct gput_error *error)
{
    size_t time = table_cells_find(part, "timestamp"), columns[TOTAL_RATES_MAX];
    for (size_t i = 0; i < rates->table->count; i++)
        columns[i] = table_cells_find(part, rates->table->rates[i].column);
    return total_rates_add(&rates->totals, part, time, columns, error);
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

void report_rates_finish(struct report_rates *rates)
{
    report_column_finish(&rates->time);
    for (size_t i = 0; i < rates->table->count; i++)
        report_column_finish(&rates->values[i]);
}
