#include <gputracker/config.h>

#include "base/doc.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/sized.h"
#include "base/str.h"
#include "model/session_options.h"

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

/* A value of a file, and where it goes. */
struct reading {
    struct gput_config *config;
    const struct member *member;
    const struct doc *value;
    void *field;
    struct gput_error *error;
};

/* Checks the value and sets the field. */
typedef int read_value(struct reading *reading);

struct member {
    const char *name;
    read_value *read;
    size_t field; /* its offset in the config */
    bool is_unused;
};

static int wrong_type(const struct reading *reading, const char *wanted)
{
    return error_set(
        reading->error, GPUT_ERROR_INVALID, "\"%s\" must be %s.", reading->member->name, wanted);
}

static int want_string(const struct reading *reading)
{
    return reading->value->kind == DOC_STRING ? GPUT_OK : wrong_type(reading, "a string");
}

static int keep_string(struct reading *reading, const char **to)
{
    *to = keep(reading->config, reading->value->string);
    return *to ? GPUT_OK : error_memory(reading->error);
}

static int read_string(struct reading *reading)
{
    TRY(want_string(reading));
    return keep_string(reading, reading->field);
}

static int read_bool(struct reading *reading)
{
    if (reading->value->kind != DOC_BOOL)
        return wrong_type(reading, "true or false");
    *(bool *)reading->field = reading->value->boolean;
    return GPUT_OK;
}

/* For unsigned and pid_t alike: a whole number from 1 to INT_MAX. */
static int read_count(struct reading *reading)
{
    const struct doc *value = reading->value;
    if (value->kind != DOC_INT || value->integer < 1 || value->integer > INT_MAX)
        return wrong_type(reading, "a whole number above 0");
    *(int *)reading->field = (int)value->integer;
    return GPUT_OK;
}

static int read_number(struct reading *reading)
{
    const struct session_number *option = session_number_find(reading->member->name);
    double number = doc_number(reading->value);
    if (!(number >= option->min && number <= option->max))
        return wrong_type(reading, option->wanted);
    *(double *)reading->field = number;
    return GPUT_OK;
}

static int read_time(struct reading *reading)
{
    return doc_number(reading->value) > 0 ? GPUT_OK
                                          : wrong_type(reading, "a number of seconds above 0");
}

static int read_ram_unit(struct reading *reading)
{
    TRY(want_string(reading));
    return gput_ram_unit_parse(reading->value->string, "RAM", reading->field, reading->error);
}

static int read_gpu_ram_unit(struct reading *reading)
{
    TRY(want_string(reading));
    return gput_ram_unit_parse(reading->value->string, "GPU RAM", reading->field, reading->error);
}

static int read_time_unit(struct reading *reading)
{
    TRY(want_string(reading));
    return gput_time_unit_parse(reading->value->string, reading->field, reading->error);
}

static int read_energy_unit(struct reading *reading)
{
    TRY(want_string(reading));
    return gput_energy_unit_parse(reading->value->string, reading->field, reading->error);
}

/* Grams, or a country, which a session checks. */
static int read_carbon_intensity(struct reading *reading)
{
    return reading->value->kind == DOC_STRING
               ? keep_string(reading, &reading->config->options.carbon_country)
               : read_number(reading);
}

/* An array of strings, or one string; the options want them in one string, with commas. */
static int read_uuids(struct reading *reading)
{
    const struct doc *value = reading->value;
    const char **text = reading->field;
    if (value->kind == DOC_STRING)
        return read_string(reading);
    struct str joined = {0};
    bool strings = value->kind == DOC_ARRAY;
    for (const struct doc *uuid = value->first; strings && uuid; uuid = uuid->next) {
        strings = uuid->kind == DOC_STRING;
        str_printf(&joined, "%s%s", uuid == value->first ? "" : ",", strings ? uuid->string : "");
    }
    *text = joined.failed ? NULL : keep(reading->config, str_text(&joined));
    str_finish(&joined);
    if (!strings)
        return wrong_type(reading, "an array of strings");
    return *text ? GPUT_OK : error_memory(reading->error);
}

static int read_ram_mode(struct reading *reading)
{
    struct gput_error replaced;
    bool is_valid =
        reading->value->kind == DOC_STRING &&
        gput_ram_mode_parse(reading->value->string, reading->field, &replaced) == GPUT_OK;
    return is_valid ? GPUT_OK : wrong_type(reading, "\"adaptive\", \"exact\" or \"totals\"");
}

/* An object: {"ram": "8GB", "seconds": 90}. */
static int read_limits(struct reading *reading)
{
    if (reading->value->kind != DOC_OBJECT)
        return wrong_type(reading, "an object of limits, for example {\"ram\": \"8GB\"}");
    for (const struct doc *limit = reading->value->first; limit; limit = limit->next) {
        char number[NUMBER_TEXT_SIZE] = "";
        if (limit->kind == DOC_INT)
            number_format_int64(limit->integer, number);
        else if (limit->kind == DOC_DOUBLE)
            number_format_double(limit->number, number);
        struct str text = {0};
        str_printf(&text, "%s=%s", limit->key, limit->kind == DOC_STRING ? limit->string : number);
        int code = text.failed ? error_memory(reading->error)
                               : gput_limits_parse(str_text(&text), reading->field, reading->error);
        str_finish(&text);
        TRY(code);
    }
    return GPUT_OK;
}

#define IN_CONFIG(member) .field = offsetof(struct gput_config, member)
/* What only Python's Tracker has is checked, as files are shared with it, and not recommended. */
#define UNUSED .is_unused = true

static const struct member members[] = {
    {"sleep_time", read_number, IN_CONFIG(options.sleep_time_seconds)},
    {"ram_unit", read_ram_unit, IN_CONFIG(options.ram_unit)},
    {"gpu_ram_unit", read_gpu_ram_unit, IN_CONFIG(options.gpu_ram_unit)},
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
    {"push_interval", read_number, IN_CONFIG(options.push_interval_seconds)},
    {"push_timeout", read_number, IN_CONFIG(options.push_timeout_seconds)},
    {"limits", read_limits, IN_CONFIG(limits)},
    {"enforce", read_bool, IN_CONFIG(limits.enforce)},
    {"processes", read_bool, IN_CONFIG(options.processes)},
    {"command_lines", read_bool, IN_CONFIG(options.command_lines)},
    {"own_process", read_bool, UNUSED},
    {"n_join_attempts", read_count, UNUSED},
    {"join_timeout", read_time, UNUSED},
};

static int set_member(struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    double unused;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const struct member *member = &members[i];
        if (strcmp(value->key, member->name) != 0)
            continue;
        void *field = member->is_unused ? (void *)&unused : (char *)config + member->field;
        struct reading reading = {config, member, value, field, error};
        return value->kind == DOC_NULL ? GPUT_OK : member->read(&reading);
    }
    struct str known = {0};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (!members[i].is_unused)
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
