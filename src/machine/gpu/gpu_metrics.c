#include "machine/gpu/gpu_metrics.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The counter's unit: 2^-16 J. */
#define JOULES_PER_COUNT 15.259e-6

/* Discrete cards have format 1; its revisions 1 to 4 have the counter at the same offset. APUs have
 * format 2, without a counter. */
#define FORMAT_DISCRETE 1
#define FIRST_REVISION 1
#define LAST_REVISION 4
#define COUNTER_OFFSET 24

double gpu_metrics_energy_joules(const void *table, size_t length)
{
    const uint8_t *bytes = table;
    uint64_t counter;
    if (length < COUNTER_OFFSET + sizeof counter || bytes[2] != FORMAT_DISCRETE ||
        bytes[3] < FIRST_REVISION || bytes[3] > LAST_REVISION)
        return NAN;
    memcpy(&counter, bytes + COUNTER_OFFSET, sizeof counter);
    if (counter == 0 || counter == UINT64_MAX || counter == UINT32_MAX)
        return NAN;
    return (double)counter * JOULES_PER_COUNT;
}
