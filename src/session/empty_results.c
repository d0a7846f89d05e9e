/* Results that no session made: of which nothing is known but the machine. */
#include "model/results_columns.h"
#include "model/session_options.h"

#include <gputracker/session.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

int gput_session_empty_results(const struct gput_session_options *given,
    struct gput_results **results, struct gput_error *error)
{
    struct gput_session_options options;
    struct gput_limits limits;
    *results = NULL;
    TRY(session_options_read(given, &options, &limits, error));
    struct gput_results *made = *results = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    results_forget(made);
    uint32_t cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    made->static_data = (struct gput_static_data){.ram_unit = options.ram_unit,
        .gpu_ram_unit = options.gpu_ram_unit,
        .time_unit = options.time_unit,
        .ram_system_capacity_bytes =
            (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
        .system_core_count = cores,
        .n_expected_cores = options.n_expected_cores ? options.n_expected_cores : cores,
        .allowed_ram_bytes = NAN,
        .allowed_cores = NAN};
    return GPUT_OK;
}
