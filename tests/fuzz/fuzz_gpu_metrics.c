/* amdgpu's binary gpu_metrics: joules that make sense, or NaN; nothing is read past the table. */
#include "machine/gpu/gpu_metrics.h"

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
    free(table);
    return 0;
}
