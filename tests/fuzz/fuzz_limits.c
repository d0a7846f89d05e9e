/* --limit ram=8GB: an amount that can be passed, or a message. */
#include <gputracker/limits.h>

#include "fuzz_text.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct gput_limits limits = gput_limits_default();
    struct gput_error error = {0};
    int given = 0;
    int code = gput_limits_parse(text, &limits, &error);
    for (int kind = 0; kind < GPUT_LIMIT_KIND_COUNT; kind++) {
        if (limits.values[kind] != 0)
            given++;
        if (!isfinite(limits.values[kind]) || limits.values[kind] < 0)
            abort();
    }
    if (code == GPUT_OK ? given != 1 : given != 0 || !error.message[0])
        abort();
    free(text);
    return 0;
}
