#include <gputracker/results.h>

const char *gput_source_state_name(enum gput_source_state state)
{
    static const char *const names[] = {
        [GPUT_SOURCE_EXACT] = "exact",
        [GPUT_SOURCE_SAMPLED] = "sampled",
        [GPUT_SOURCE_UNAVAILABLE] = "unavailable",
    };
    return names[state];
}
