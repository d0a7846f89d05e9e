#include <gputracker/session.h>

#include "base/error.h"

#include <stddef.h>

struct gput_options gput_options_default(void)
{
    return (struct gput_options){
        .sleep_time_seconds = 1.0,
        .ram_unit = GPUT_GIGABYTES,
        .gpu_ram_unit = GPUT_GIGABYTES,
        .time_unit = GPUT_HOURS,
    };
}
