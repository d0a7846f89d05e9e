#include "views/report/loaders/report_tracking_tables.h"

#include "base/table.h"
#include "files/tracking/tracking_identity.h"
#include "views/report/document/report_processes.h"
#include "views/report/loaders/report_gpus.h"
#include "views/report/loaders/report_rates.h"

#include <string.h>

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
    loading.energy.without_gpus = report_gpus_have_power(&loading.gpus);
    if (code == GPUT_OK)
        code = report_rates_end(&loading.energy, error);
    if (code == GPUT_OK)
        code = report_rates_end(&loading.io, error);
    if (code == GPUT_OK)
        code = report_processes_end(&loading.processes, error);
    report_gpus_finish(&loading.gpus);
    report_rates_finish(&loading.energy);
    report_rates_finish(&loading.io);
    report_processes_finish(&loading.processes);
    return code;
}
