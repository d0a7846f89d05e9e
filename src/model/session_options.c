#include "model/session_options.h"

#include "base/nearest.h"
#include "base/number.h"
#include "base/sized.h"
#include "model/energy.h"
#include "model/units.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static const struct gput_session_options defaults = {
    .size = sizeof defaults,
    .sleep_time_seconds = 1.0,
    .ram_unit = GPUT_RAM_UNIT_GIGABYTES,
    .gpu_ram_unit = GPUT_RAM_UNIT_GIGABYTES,
    .time_unit = GPUT_TIME_UNIT_HOURS,
    .carbon_intensity = NAN,
    .energy_period_seconds = 2,
};

/* ---- The table of options that have a name ---- */

static int parse_ram_unit(const char *word, void *to, struct gput_error *error)
{
    return ram_unit_parse(word, "RAM", to, error);
}

static int parse_gpu_ram_unit(const char *word, void *to, struct gput_error *error)
{
    return ram_unit_parse(word, "GPU RAM", to, error);
}

static int parse_time_unit(const char *word, void *to, struct gput_error *error)
{
    return time_unit_parse(word, to, error);
}

static int parse_energy_unit(const char *word, void *to, struct gput_error *error)
{
    return energy_unit_parse(word, to, error);
}

/* The enumerators of these words count from 0. */
static int parse_ram_mode(const char *word, void *to, struct gput_error *error)
{
    static const char *const words[] = {
        [GPUT_RAM_ADAPTIVE] = "adaptive", [GPUT_RAM_EXACT] = "exact", [GPUT_RAM_TOTALS] = "totals"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) == 0) {
            *(enum gput_ram_mode *)to = (enum gput_ram_mode)i;
            return GPUT_OK;
        }
    }
    return nearest_refuse("adaptive, exact, totals", word, "RAM mode", error);
}

/* Reads the name of a driver of energy. */
static int parse_energy_driver(const char *word, void *to, struct gput_error *error)
{
    bool is_sqlite = strcmp(word, "sqlite") == 0;
    if (!is_sqlite && strcmp(word, "json") != 0)
        return nearest_refuse("json, sqlite", word, "driver", error);
    *(enum gput_energy_driver *)to =
        is_sqlite ? GPUT_ENERGY_DRIVER_SQLITE : GPUT_ENERGY_DRIVER_JSON;
    return GPUT_OK;
}

/* A year: longer times are typing errors. */
#define MAX_SECONDS 31536000.0
#define AT(member) offsetof(struct gput_session_options, member)

/* Each row: the name, the kind, how messages call the value and what it has to be, the member. */
/* clang-format off */
#define ROW(name, kind, noun, wanted, member) \
    .what = {name, GPUT_SESSION_OPTION_KIND_##kind, noun, wanted}, .offset = AT(member)
#define FROM(least, most) .min = (least), .max = (most)

static const struct session_option list[] = {
    {ROW("sleep_time", NUMBER, "sleep time", "a number of seconds, 0.001 or more, such as 0.1", sleep_time_seconds),
        FROM(0.001, MAX_SECONDS), .option = "st"},
    {ROW("ram_unit", WORD, "RAM unit", "a string", ram_unit), .parse = parse_ram_unit, .option = "ru"},
    {ROW("gpu_ram_unit", WORD, "GPU RAM unit", "a string", gpu_ram_unit), .parse = parse_gpu_ram_unit, .option = "gru"},
    {ROW("time_unit", WORD, "time unit", "a string", time_unit), .parse = parse_time_unit, .option = "tu"},
    {ROW("n_expected_cores", COUNT, "number of cores", "a whole number above 0", n_expected_cores), .option = "nec"},
    {ROW("gpu_uuids", LIST, "list of GPUs", "an array of strings", gpu_uuids), .option = "guuids"},
    {ROW("gpu_brand", TEXT, "GPU brand", "a string", gpu_brand), .option = "gb"},
    {ROW("resource_usage_file", PATH, "file", "a string", resource_usage_file)},
    {ROW("tracking_file", PATH, "file", "a string", tracking_file), .option = "tf"},
    {ROW("overwrite", FLAG, "flag", "true or false", overwrite)},
    {ROW("ram_mode", WORD, "RAM mode", "a string", ram_mode), .parse = parse_ram_mode, .option = "ram"},
    {ROW("energy_unit", WORD, "energy unit", "a string", energy_unit), .parse = parse_energy_unit, .option = "eu"},
    {ROW("carbon_intensity", NUMBER_OR_TEXT, "carbon intensity",
        "grams of CO2 for a kWh, 0 or more, or the code of a country", carbon_intensity),
        FROM(0, DBL_MAX), .text_offset = AT(carbon_country)},
    {ROW("energy_folder", PATH, "folder", "a string", energy_folder)},
    {ROW("energy_driver", WORD, "driver", "a string", energy_driver), .parse = parse_energy_driver,
        .is_not_in_file = true},
    {ROW("energy_period", NUMBER, "period", "a number of seconds, 0.1 or more", energy_period_seconds),
        FROM(0.1, MAX_SECONDS), .is_not_in_file = true},
    {ROW("energy_continue", FLAG, "flag", "true or false", energy_continue), .is_not_in_file = true},
    {ROW("listen", TEXT, "address", "a string", listen)},
    {ROW("otlp", TEXT, "address", "a string", otlp)},
    {ROW("remote_write", TEXT, "address", "a string", remote_write)},
    {ROW("textfile_folder", PATH, "folder", "a string", textfile_folder)},
    {ROW("labels", TEXT, "list of labels", "a string", labels)},
    {ROW("push_interval", NUMBER, "interval", "a number of seconds, 0.5 or more", push_interval_seconds),
        FROM(0.5, MAX_SECONDS)},
    {ROW("push_timeout", NUMBER, "time", "a number of seconds, 0.1 to 3600", push_timeout_seconds),
        FROM(0.1, 3600)},
    {ROW("gpu_parts", FLAG, "flag", "true or false", gpu_parts)},
    {ROW("processes", FLAG, "flag", "true or false", processes)},
    {ROW("command_lines", FLAG, "flag", "true or false", command_lines)},
    {ROW("procfs_root", TEXT, "folder", "a string", procfs_root), .is_not_in_file = true},
    {ROW("sysfs_root", TEXT, "folder", "a string", sysfs_root), .is_not_in_file = true},
    {ROW("nvml_path", TEXT, "library", "a string", nvml_path), .is_not_in_file = true},
};
/* clang-format on */
#define N_OPTIONS (sizeof list / sizeof list[0])

const struct session_option *session_options_list(size_t *count)
{
    *count = N_OPTIONS;
    return list;
}

const struct session_option *session_options_find(const char *name)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (strcmp(list[i].what.name, name) == 0)
            return &list[i];
    }
    return NULL;
}

const struct gput_session_option *gput_session_option_find(const char *name)
{
    const struct session_option *option = session_options_find(name);
    return option ? &option->what : NULL;
}

/* ---- Setting and checking ---- */

static int refuse(const struct session_option *option, struct gput_error *error)
{
    return error_set(
        error, GPUT_ERROR_INVALID, "%s must be %s.", option->what.name, option->what.wanted);
}

/* True where a number is in the range of an option; false for NaN. */
static bool is_in_range(const struct session_option *option, double number)
{
    return number >= option->min && number <= option->max;
}

int session_options_set(struct gput_session_options *options, const struct session_option *option,
    const char *text, struct gput_error *error)
{
    char *base = (char *)options, *member = base + option->offset;
    int64_t count;
    double number;
    if (!text && option->what.kind < GPUT_SESSION_OPTION_KIND_TEXT)
        return refuse(option, error);
    switch (option->what.kind) {
    case GPUT_SESSION_OPTION_KIND_FLAG:
        *(bool *)member = strcmp(text, "true") == 0;
        return *(bool *)member || strcmp(text, "false") == 0 ? GPUT_OK : refuse(option, error);
    case GPUT_SESSION_OPTION_KIND_COUNT:
        if (!number_read_int64(text, &count) || count < 1 || count > INT_MAX)
            return refuse(option, error);
        *(unsigned *)member = (unsigned)count;
        return GPUT_OK;
    case GPUT_SESSION_OPTION_KIND_NUMBER_OR_TEXT:
        if (!number_read_double(text, &number)) {
            *(double *)member = NAN; /* the text takes precedence over a number that was set */
            *(const char **)(base + option->text_offset) = text;
            return GPUT_OK;
        }
        if (!is_in_range(option, number))
            return refuse(option, error);
        *(double *)member = number;
        return GPUT_OK;
    case GPUT_SESSION_OPTION_KIND_NUMBER:
        if (!number_read_double(text, &number) || !is_in_range(option, number))
            return refuse(option, error);
        *(double *)member = number;
        return GPUT_OK;
    case GPUT_SESSION_OPTION_KIND_WORD:
        return option->parse(text, member, error);
    case GPUT_SESSION_OPTION_KIND_TEXT:
    case GPUT_SESSION_OPTION_KIND_LIST:
    case GPUT_SESSION_OPTION_KIND_PATH:
        break;
    }
    *(const char **)member = text;
    return GPUT_OK;
}

/* All members of options with a name are older than 1.0, so a program's struct has them. */
int gput_session_option_set(struct gput_session_options *options, const char *name,
    const char *text, struct gput_error *error)
{
    const struct session_option *option = session_options_find(name);
    if (!option)
        return error_set(error, GPUT_ERROR_INVALID, "%s is not an option of a session.", name);
    return session_options_set(options, option, text, error);
}

bool session_options_do_without(
    struct gput_session_options *options, size_t offset, const struct gput_error *reason)
{
    for (size_t i = 0; i < N_OPTIONS && options->do_without; i++) {
        if (list[i].offset != offset)
            continue;
        if (!options->do_without(options->user, list[i].what.name, reason))
            return false;
        *(const char **)((char *)options + offset) = NULL;
        return true;
    }
    return false;
}

int session_options_check(const struct gput_session_options *options, struct gput_error *error)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        bool is_number = list[i].what.kind == GPUT_SESSION_OPTION_KIND_NUMBER ||
                         list[i].what.kind == GPUT_SESSION_OPTION_KIND_NUMBER_OR_TEXT;
        if (!is_number)
            continue;
        double number = *(const double *)((const char *)options + list[i].offset);
        double unset = *(const double *)((const char *)&defaults + list[i].offset);
        bool is_unset = number == unset || (isnan(number) && isnan(unset));
        if (!is_unset && !is_in_range(&list[i], number))
            return refuse(&list[i], error);
    }
    return GPUT_OK;
}

void gput_session_options_init(struct gput_session_options *options, size_t size)
{
    sized_init(options, size, &defaults, sizeof defaults);
}

int session_options_read(const struct gput_session_options *given,
    struct gput_session_options *options, struct gput_limits *limits, struct gput_error *error)
{
    *options = defaults;
    *limits = gput_limits_default();
    TRY(sized_read(options, sizeof *options, given, error));
    TRY(sized_read(limits, sizeof *limits, options->limits, error));
    options->limits = limits;
    return GPUT_OK;
}
