#include "analysis/analyze/analysis_energy.h"

#include "files/power/energy_table.h"

#include <stdlib.h>
#include <string.h>

struct energy_source {
    struct energy_table *table;
    double origin; /* on the clock of the calls */
};

static int next_energy_point(void *user, double *time, double joules[GPUT_ENERGY_FIGURE_COUNT],
    bool *end, struct gput_error *error)
{
    const struct energy_source *source = user;
    struct energy_row row = {0};
    TRY(energy_table_next(source->table, &row, end, error));
    *time = row.timestamp - source->origin;
    memcpy(joules, row.joules, sizeof row.joules);
    return GPUT_OK;
}

int analysis_energy_read(const char *tracking_file, double origin, const struct sweep_input *input,
    struct session_energy *session, double (**joules)[GPUT_ENERGY_FIGURE_COUNT],
    struct gput_error *error)
{
    struct energy_source source = {.origin = origin};
    const struct energy_points points = {next_energy_point, &source};
    *joules = NULL;
    TRY(energy_table_open(tracking_file, &source.table, error));
    if (!source.table)
        return GPUT_OK;
    *joules = calloc(input->n_targets + 1, sizeof **joules);
    int code = *joules ? block_energy_compute(input, &points, session, *joules, error)
                       : error_memory(error);
    energy_table_close(source.table);
    if (code != GPUT_OK) {
        free(*joules);
        *joules = NULL;
    }
    return code;
}
