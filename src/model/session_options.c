#include "model/session_options.h"

#include "base/nearest.h"
#include "base/sized.h"

#include <float.h>
#include <math.h>
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

/* A year: more is a typing error. */
#define MAX_SECONDS 31536000.0
#define AT(member) offsetof(struct gput_session_options, member)

static const struct session_number numbers[] = {
    {"sleep_time", AT(sleep_time_seconds), 0.001, MAX_SECONDS,
        "a number of seconds, 0.001 or more"},
    {"carbon_intensity", AT(carbon_intensity), 0, DBL_MAX,
        "grams of CO2 for a kWh, 0 or more, or the code of a country"},
    {"energy_period", AT(energy_period_seconds), 0.1, MAX_SECONDS,
        "a number of seconds, 0.1 or more"},
    {"push_interval", AT(push_interval_seconds), 0.5, MAX_SECONDS,
        "a number of seconds, 0.5 or more"},
    {"push_timeout", AT(push_timeout_seconds), 0.1, 3600, "a number of seconds, 0.1 to 3600"},
};
#define N_NUMBERS (sizeof numbers / sizeof numbers[0])

const struct session_number *session_number_find(const char *name)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        if (strcmp(numbers[i].name, name) == 0)
            return &numbers[i];
    }
    return NULL;
}

int session_numbers_check(const struct gput_session_options *options, struct gput_error *error)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        const char *field = (const char *)options + numbers[i].offset,
                   *default_field = (const char *)&usual + numbers[i].offset;
        double value = *(const double *)field, default_value = *(const double *)default_field;
        bool is_default = value == default_value || (isnan(value) && isnan(default_value));
        if (!is_default && !(value >= numbers[i].min && value <= numbers[i].max))
            return error_set(
                error, GPUT_ERROR_INVALID, "%s must be %s.", numbers[i].name, numbers[i].wanted);
    }
    return GPUT_OK;
}

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
