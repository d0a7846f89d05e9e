#include "report/report_energy.h"

#include "report/report_cells.h"

#include <stdio.h>

static const struct shown {
    const char *label, *scope;
} shown[GPUT_ENERGY_FIGURE_COUNT] = {
    [GPUT_ENERGY_PACKAGE] = {"CPU packages", "package"},
    [GPUT_ENERGY_CORE] = {"CPU cores", "core"},
    [GPUT_ENERGY_UNCORE] = {"CPU uncore", "uncore"},
    [GPUT_ENERGY_DRAM] = {"DRAM", "dram"},
    [GPUT_ENERGY_PSYS] = {"Platform", "psys"},
    [GPUT_ENERGY_GPU] = {"GPUs", "gpu"},
    [GPUT_ENERGY_TOTAL] = {"Machine", "system"},
    [GPUT_ENERGY_MAIN] = {"Share of main", "main"},
    [GPUT_ENERGY_DESCENDANTS] = {"Share of descendants", "descendants"},
    [GPUT_ENERGY_COMBINED] = {"Share of the session", "combined"},
};

void report_energy_init(struct report_energy *energy, struct report_session *session)
{
    struct report_spool *spool = &session->payload->spool;
    *energy = (struct report_energy){.session = session, .last_time = NAN};
    report_column_init(&energy->time, spool, REPORT_STEP_TIME);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        report_column_init(&energy->watts[i], spool, REPORT_STEP_FRACTION);
}

/* The mean power since the row before. */
static double watts_of(const struct report_energy *energy, int figure, double time, double joules)
{
    double seconds = time - energy->last_time;
    return seconds > 0 ? (joules - energy->last_joules[figure]) / seconds : NAN;
}

static int add_row(struct report_energy *energy, double time,
    const double joules[GPUT_ENERGY_FIGURE_COUNT], struct gput_error *error)
{
    TRY(report_column_add(&energy->time, report_session_time(energy->session, time), error));
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        TRY(report_column_add(&energy->watts[i], watts_of(energy, i, time, joules[i]), error));
        energy->last_joules[i] = joules[i];
    }
    energy->last_time = time;
    energy->is_known = true;
    return GPUT_OK;
}

int report_energy_add(
    struct report_energy *energy, const struct gput_table *part, struct gput_error *error)
{
    size_t time = report_cells_find(part, "timestamp"), columns[GPUT_ENERGY_FIGURE_COUNT];
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        columns[i] = report_cells_find(part, gput_energy_figure_name((enum gput_energy_figure)i));
    for (size_t row = 0; row < gput_table_row_count(part); row++) {
        double joules[GPUT_ENERGY_FIGURE_COUNT], moment = report_cells_number(part, row, time);
        if (!(fabs(moment) < REPORT_LAST_SECOND))
            continue;
        for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
            joules[i] = report_cells_number(part, row, columns[i]);
        TRY(add_row(energy, moment, joules, error));
    }
    return GPUT_OK;
}

int report_energy_end(struct report_energy *energy, struct gput_error *error)
{
    unsigned time;
    bool is_any = false;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        is_any = is_any || !isnan(energy->watts[i].max);
    if (!is_any)
        return GPUT_OK;
    TRY(report_session_add_time(energy->session, &energy->time, &time, error));
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        char id[64];
        snprintf(id, sizeof id, "power_%s", gput_energy_figure_name((enum gput_energy_figure)i));
        const struct report_series series = {
            .id = id,
            .label = shown[i].label,
            .group = "power",
            .scope = shown[i].scope,
            .unit = "watts",
            .limit = NAN,
            .time = time,
        };
        if (!isnan(energy->watts[i].max))
            TRY(report_session_add_series(energy->session, &series, &energy->watts[i], error));
    }
    return GPUT_OK;
}

void report_energy_finish(struct report_energy *energy)
{
    report_column_finish(&energy->time);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        report_column_finish(&energy->watts[i]);
}
