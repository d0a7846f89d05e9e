#include "model/session_options.h"

#include "base/nearest.h"
#include "base/sized.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct gput_session_options usual = {
    .size = sizeof usual,
    .sleep_time_seconds = 1.0,
    .ram_unit = GPUT_RAM_UNIT_GIGABYTES,
    .gpu_ram_unit = GPUT_RAM_UNIT_GIGABYTES,
    .time_unit = GPUT_TIME_UNIT_HOURS,
    .carbon_intensity = NAN,
    .energy_period_seconds = 2,
};

void gput_session_options_init(struct gput_session_options *options, size_t size)
{
    sized_init(options, size, &usual, sizeof usual);
}

int gput_ram_mode_parse(const char *word, enum gput_ram_mode *mode, struct gput_error *error)
{
    static const char *const words[] = {
        [GPUT_RAM_ADAPTIVE] = "adaptive", [GPUT_RAM_EXACT] = "exact", [GPUT_RAM_TOTALS] = "totals"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) == 0) {
            *mode = (enum gput_ram_mode)i;
            return GPUT_OK;
        }
    }
    return nearest_refuse("adaptive, exact, totals", word, "RAM mode", error);
}

int session_options_read(const struct gput_session_options *given,
    struct gput_session_options *options, struct gput_limits *limits, struct gput_error *error)
{
    *options = usual;
    *limits = gput_limits_default();
    TRY(sized_read(options, sizeof *options, given, error));
    TRY(sized_read(limits, sizeof *limits, options->limits, error));
    options->limits = limits;
    return GPUT_OK;
}
