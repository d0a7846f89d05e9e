#include "formats/tracking/tracking_samples.h"

#include "base/names.h"

#include <math.h>
#include <stdlib.h>

#define ROWS_AT_ONCE 512
/* Between two samples that are farther apart the process was not seen: it may have been stopped. */
#define MAX_GAP_SECONDS 3600.0

static void add_rows(
    struct tracking_samples *samples, const struct tracking_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double *values = rows[i].values;
        double gap = rows[i].timestamp - samples->last;
        if (gap < 0 || gap >= MAX_GAP_SECONDS)
            samples->jump = gap;
        if (gap > 0 && gap < MAX_GAP_SECONDS && !isnan(values[GPUT_CPU_COMBINED_SUM]))
            samples->cpu_seconds += gap * values[GPUT_CPU_COMBINED_SUM] / 100;
        samples->first = isnan(samples->first) ? rows[i].timestamp : samples->first;
        samples->last = rows[i].timestamp;
        samples->max_ram = fmax(samples->max_ram, values[GPUT_COMBINED_RAM]);
        samples->max_gpu_ram = fmax(samples->max_gpu_ram, values[GPUT_COMBINED_GPU_RAM]);
        double gpu = values[GPUT_GPU_HARDWARE_UTILIZATION];
        samples->gpu_sum += isnan(gpu) ? 0 : gpu;
        samples->gpu_count += !isnan(gpu);
        double system = values[GPUT_CPU_SYSTEM_SUM];
        samples->system_sum += isnan(system) ? 0 : system;
        samples->system_count += !isnan(system);
        samples->count++;
    }
}

int tracking_samples_read(
    struct tracking_reader *reader, struct tracking_samples *samples, struct gput_error *error)
{
    size_t count = 1;
    int code = GPUT_OK;
    *samples =
        (struct tracking_samples){.first = NAN, .last = NAN, .max_ram = NAN, .max_gpu_ram = NAN};
    struct tracking_row *rows = calloc(ROWS_AT_ONCE, sizeof *rows);
    if (!rows)
        return error_memory(error);
    while (code == GPUT_OK && count > 0) {
        code = tracking_reader_next(reader, rows, ROWS_AT_ONCE, &count, error);
        if (code == GPUT_OK)
            add_rows(samples, rows, count);
    }
    free(rows);
    return code;
}

uint64_t tracking_samples_hash(const struct tracking_samples *samples)
{
    return samples->count > 0 ? names_hash(samples, sizeof *samples) : 0;
}
