/* amdgpu's binary gpu_metrics: figures that make sense, or none; nothing is read past the table. */
#include "machine/gpu/amdgpu.h"

#include "fuzz_text.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *table = malloc(size ? size : 1); /* of its own, so that every byte too far is seen */
    if (!table)
        abort();
    if (size)
        memcpy(table, data, size);
    double joules = gpu_metrics_energy_joules(table, size);
    if (!isnan(joules) && !(joules > 0 && isfinite(joules)))
        abort();
    struct card_reading reading;
    struct gpu_metrics_slowed slowed = {0};
    card_reading_clear(&reading, "not read");
    gpu_metrics_fill(table, size, &reading);
    for (int i = 0; i < 2; i++)
        gpu_metrics_add_slowed(&slowed, table, size, &reading);
    for (int i = 0; i < CARD_FIGURE_COUNT; i++)
        if (isnan(reading.values[i]) ? !reading.missing[i]
                                     : reading.missing[i] || !(reading.values[i] >= 0))
            abort();
    free(table);
    return 0;
}
