/* Results that no session of this process made: from a file, of this tool or the older one, or
 * empty. */
#include "model/results.h"
#include "model/session_options.h"

#include "base/file.h"
#include "formats/results/results_file.h"
#include "import/results_read_pickle.h"

#include <gputracker/session.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Ours have 150 kB, a pickle of the older package less. */
#define MAX_BYTES ((size_t)16 << 20)

static int read_results(const char *path, struct gput_results *results, struct gput_error *error)
{
    struct str content = {0};
    int code = file_read_bounded(path, MAX_BYTES, &content, error);
    if (code == GPUT_OK && results_is_pickle(str_text(&content), content.length))
        code = results_read_pickle(str_text(&content), content.length, path, results, error);
    else if (code == GPUT_OK)
        code = results_file_parse(path, &content, results, error);
    str_finish(&content);
    return code;
}

static void forget_all(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
}

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
    forget_all(made->max, GPUT_MEASUREMENT_COUNT);
    forget_all(made->mean, GPUT_MEASUREMENT_COUNT);
    return GPUT_OK;
}

int gput_results_load(const char *path, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    struct gput_results *loaded = calloc(1, sizeof *loaded);
    int code = loaded ? read_results(path, loaded, error) : error_memory(error);
    if (code == GPUT_OK)
        *results = loaded;
    else
        gput_results_destroy(loaded);
    return code;
}
