#include <gputracker/config.h>

#include "base/doc.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/sized.h"
#include "base/str.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* No configuration is longer. */
#define MAX_BYTES ((size_t)16 << 20)

/* Strings of the options, in a list. */
struct kept_string {
    struct kept_string *next;
    char text[];
};

struct gput_config {
    struct gput_session_options options;
    struct gput_limits limits;
    bool disable_logs;
    pid_t process_id;
    struct kept_string *strings;
};

/* Copies a text so that it lives as long as the config. NULL without memory. */
static const char *keep(struct gput_config *config, const char *text)
{
    size_t size = strlen(text) + 1;
    struct kept_string *kept = malloc(sizeof *kept + size);
    if (!kept)
        return NULL;
    memcpy(kept->text, text, size);
    kept->next = config->strings;
    config->strings = kept;
    return kept->text;
}

static int wrong_type(const struct doc *value, const char *wanted, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_INVALID, "\"%s\" must be %s.", value->key, wanted);
}

/*
 * Each of these checks a value and sets the field of the config for its member.
 */
typedef int read_value(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error);

static int read_string(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    const char **text = field;
    if (value->kind != DOC_STRING)
        return wrong_type(value, "a string", error);
    *text = keep(config, value->string);
    return *text ? GPUT_OK : error_memory(error);
}

static int read_bool(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    if (value->kind != DOC_BOOL)
        return wrong_type(value, "true or false", error);
    *(bool *)field = value->boolean;
    return GPUT_OK;
}

/* For unsigned and pid_t alike: a whole number from 1 to INT_MAX. */
static int read_count(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    if (value->kind != DOC_INT || value->integer < 1 || value->integer > INT_MAX)
        return wrong_type(value, "a whole number above 0", error);
    *(int *)field = (int)value->integer;
    return GPUT_OK;
}

static int read_sleep_time(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    double seconds = doc_number(value);
    if (!(seconds >= 0.001))
        return wrong_type(value, "a number of seconds, 0.001 or more", error);
    *(double *)field = seconds;
    return GPUT_OK;
}

static int read_push_interval(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    double seconds = value->kind == DOC_INT ? (double)value->integer : value->number;
    if ((value->kind != DOC_INT && value->kind != DOC_DOUBLE) || !(seconds >= 0.5))
        return wrong_type(value, "a number of seconds, 0.5 or more", error);
    *(double *)field = seconds;
    return GPUT_OK;
}

static int read_push_timeout(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    double seconds = value->kind == DOC_INT ? (double)value->integer : value->number;
    if ((value->kind != DOC_INT && value->kind != DOC_DOUBLE) ||
        !(seconds >= 0.1 && seconds <= 3600))
        return wrong_type(value, "a number of seconds, 0.1 to 3600", error);
    *(double *)field = seconds;
    return GPUT_OK;
}

static int read_ram_unit(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    if (value->kind != DOC_STRING)
        return wrong_type(value, "a string", error);
    const char *what = strcmp(value->key, "ram_unit") == 0 ? "RAM" : "GPU RAM";
    return gput_ram_unit_parse(value->string, what, field, error);
}

static int read_time_unit(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    if (value->kind != DOC_STRING)
        return wrong_type(value, "a string", error);
    return gput_time_unit_parse(value->string, field, error);
}

static int read_energy_unit(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    if (value->kind != DOC_STRING)
        return wrong_type(value, "a string", error);
    return gput_energy_unit_parse(value->string, field, error);
}

/* Grams, or a country, which a session checks. */
static int read_carbon_intensity(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    double grams = doc_number(value);
    if (value->kind == DOC_STRING)
        return read_string(config, value, &config->options.carbon_country, error);
    if (!(grams >= 0))
        return wrong_type(
            value, "grams of CO2 for a kWh, 0 or more, or the code of a country", error);
    *(double *)field = grams;
    return GPUT_OK;
}

/* An array of strings, or one string; the options want them in one string, with commas. */
static int read_uuids(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    const char **text = field;
    if (value->kind == DOC_STRING)
        return read_string(config, value, field, error);
    struct str joined = {0};
    bool strings = value->kind == DOC_ARRAY;
    for (const struct doc *uuid = value->first; strings && uuid; uuid = uuid->next) {
        strings = uuid->kind == DOC_STRING;
        str_printf(&joined, "%s%s", uuid == value->first ? "" : ",", strings ? uuid->string : "");
    }
    *text = joined.failed ? NULL : keep(config, str_text(&joined));
    str_finish(&joined);
    if (!strings)
        return wrong_type(value, "an array of strings", error);
    return *text ? GPUT_OK : error_memory(error);
}

static int read_ram_mode(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    enum gput_ram_mode *mode = field;
    if (value->kind == DOC_STRING && strcmp(value->string, "exact") == 0)
        *mode = GPUT_RAM_EXACT;
    else if (value->kind == DOC_STRING && strcmp(value->string, "adaptive") == 0)
        *mode = GPUT_RAM_ADAPTIVE;
    else if (value->kind == DOC_STRING && strcmp(value->string, "totals") == 0)
        *mode = GPUT_RAM_TOTALS;
    else
        return wrong_type(value, "\"adaptive\", \"exact\" or \"totals\"", error);
    return GPUT_OK;
}

/* Arguments of the Tracker class that a session does not use are checked anyway, as there. */
static int read_unused_count(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)field;
    int unused;
    return read_count(config, value, &unused, error);
}

static int read_unused_seconds(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    (void)field;
    return doc_number(value) > 0 ? GPUT_OK
                                 : wrong_type(value, "a number of seconds above 0", error);
}

static int read_unused_bool(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)field;
    bool unused;
    return read_bool(config, value, &unused, error);
}

/* An object: {"ram": "8GB", "seconds": 90}. */
static int read_limits(
    struct gput_config *config, const struct doc *value, void *field, struct gput_error *error)
{
    (void)config;
    if (value->kind != DOC_OBJECT)
        return wrong_type(value, "an object of limits, for example {\"ram\": \"8GB\"}", error);
    for (const struct doc *limit = value->first; limit; limit = limit->next) {
        char number[NUMBER_TEXT_SIZE] = "";
        if (limit->kind == DOC_INT)
            number_format_int64(limit->integer, number);
        else if (limit->kind == DOC_DOUBLE)
            number_format_double(limit->number, number);
        struct str text = {0};
        str_printf(&text, "%s=%s", limit->key, limit->kind == DOC_STRING ? limit->string : number);
        int code =
            text.failed ? error_memory(error) : gput_limits_parse(str_text(&text), field, error);
        str_finish(&text);
        TRY(code);
    }
    return GPUT_OK;
}

#define IN_CONFIG(field) offsetof(struct gput_config, field)
/* What only Python's Tracker has is read, as files are shared with it, and not recommended. */
#define UNUSED sizeof(struct gput_config)

static const struct member {
    const char *name;
    read_value *read;
    size_t field; /* its offset in the config */
} members[] = {
    {"sleep_time", read_sleep_time, IN_CONFIG(options.sleep_time_seconds)},
    {"ram_unit", read_ram_unit, IN_CONFIG(options.ram_unit)},
    {"gpu_ram_unit", read_ram_unit, IN_CONFIG(options.gpu_ram_unit)},
    {"time_unit", read_time_unit, IN_CONFIG(options.time_unit)},
    {"n_expected_cores", read_count, IN_CONFIG(options.n_expected_cores)},
    {"gpu_uuids", read_uuids, IN_CONFIG(options.gpu_uuids)},
    {"gpu_brand", read_string, IN_CONFIG(options.gpu_brand)},
    {"disable_logs", read_bool, IN_CONFIG(disable_logs)},
    {"process_id", read_count, IN_CONFIG(process_id)},
    {"resource_usage_file", read_string, IN_CONFIG(options.resource_usage_file)},
    {"tracking_file", read_string, IN_CONFIG(options.tracking_file)},
    {"overwrite", read_bool, IN_CONFIG(options.overwrite)},
    {"ram_mode", read_ram_mode, IN_CONFIG(options.ram_mode)},
    {"energy_unit", read_energy_unit, IN_CONFIG(options.energy_unit)},
    {"carbon_intensity", read_carbon_intensity, IN_CONFIG(options.carbon_intensity)},
    {"energy_folder", read_string, IN_CONFIG(options.energy_folder)},
    {"listen", read_string, IN_CONFIG(options.listen)},
    {"otlp", read_string, IN_CONFIG(options.otlp)},
    {"remote_write", read_string, IN_CONFIG(options.remote_write)},
    {"textfile_folder", read_string, IN_CONFIG(options.textfile_folder)},
    {"labels", read_string, IN_CONFIG(options.labels)},
    {"push_interval", read_push_interval, IN_CONFIG(options.push_interval_seconds)},
    {"push_timeout", read_push_timeout, IN_CONFIG(options.push_timeout_seconds)},
    {"limits", read_limits, IN_CONFIG(limits)},
    {"enforce", read_bool, IN_CONFIG(limits.enforce)},
    {"processes", read_bool, IN_CONFIG(options.processes)},
    {"command_lines", read_bool, IN_CONFIG(options.command_lines)},
    {"own_process", read_unused_bool, UNUSED},
    {"n_join_attempts", read_unused_count, UNUSED},
    {"join_timeout", read_unused_seconds, UNUSED},
};

static int set_member(struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (strcmp(value->key, members[i].name) == 0)
            return value->kind == DOC_NULL
                       ? GPUT_OK
                       : members[i].read(config, value, (char *)config + members[i].field, error);
    }
    struct str known = {0};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (members[i].field != UNUSED)
            str_printf(&known, "%s%s", i ? ", " : "", members[i].name);
    char question[NEAREST_QUESTION_SIZE];
    int code = error_set(error, GPUT_ERROR_INVALID, "Unknown option \"%s\"%s Valid options are %s.",
        value->key, nearest_question(str_text(&known), value->key, question), str_text(&known));
    str_finish(&known);
    return code;
}

static int apply(
    struct gput_config *config, const struct doc *root, const char *path, struct gput_error *error)
{
    if (root->kind != DOC_OBJECT)
        return error_set(error, GPUT_ERROR_FORMAT,
            "Config file %s must hold one JSON object, for example {\"sleep_time\": 0.5}.", path);
    for (const struct doc *value = root->first; value; value = value->next) {
        struct gput_error inner = {0};
        int code = set_member(config, value, &inner);
        if (code != GPUT_OK)
            return error_set(error, inner.code, "Config file %.200s: %.800s", path, inner.message);
    }
    return GPUT_OK;
}

static int load(struct gput_config *config, const char *path, struct gput_error *error)
{
    struct doc *root;
    TRY(doc_read_json_file(path, MAX_BYTES, &root, error));
    int code = apply(config, root, path, error);
    doc_destroy(root);
    return code;
}

int gput_config_load(const char *path, struct gput_config **config, struct gput_error *error)
{
    *config = NULL;
    struct gput_config *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->options = gput_session_options_default();
    made->limits = gput_limits_default();
    made->options.limits = &made->limits;
    int code = load(made, path, error);
    if (code == GPUT_OK)
        *config = made;
    else
        gput_config_destroy(made);
    return code;
}

void gput_config_destroy(struct gput_config *config)
{
    if (!config)
        return;
    for (struct kept_string *kept = config->strings, *next; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    free(config);
}

void gput_config_options(const struct gput_config *config, struct gput_session_options *options)
{
    sized_write(options, &config->options, sizeof config->options);
}

void gput_config_limits(const struct gput_config *config, struct gput_limits *limits)
{
    sized_write(limits, &config->limits, sizeof config->limits);
}

bool gput_config_disables_logs(const struct gput_config *config)
{
    return config->disable_logs;
}

pid_t gput_config_process_id(const struct gput_config *config)
{
    return config->process_id;
}
