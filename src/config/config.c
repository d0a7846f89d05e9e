#include <gputracker/comparison.h>
#include <gputracker/config.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/doc.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/sized.h"
#include "model/session_options.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No configuration is longer, and no file of a user's defaults. */
#define MAX_BYTES ((size_t)16 << 20)
#define MAX_DEFAULTS_BYTES ((size_t)1 << 20)

/* ---- The configuration of a session ---- */

struct gput_config {
    struct gput_session_options options; /* its strings belong to `root` and `gpus` */
    struct gput_limits limits;
    bool disable_logs;
    pid_t process_id;
    struct doc *root; /* owned */
    struct str gpus;  /* list of GPUs, separated by commas */
};

/* Fails unless `is_wanted`: the member has an invalid value. */
static int want(
    bool is_wanted, const struct doc *value, const char *wanted, struct gput_error *error)
{
    return is_wanted
               ? GPUT_OK
               : error_set(error, GPUT_ERROR_INVALID, "\"%s\" must be %s.", value->key, wanted);
}

/* ---- Options of a session ---- */

/* Whether a value is of the kind that an option has. */
static bool has_kind(const struct session_option *option, const struct doc *value)
{
    bool is_number = value->kind == DOC_INT || value->kind == DOC_DOUBLE;
    switch (option->what.kind) {
    case GPUT_SESSION_OPTION_KIND_FLAG:
        return value->kind == DOC_BOOL;
    case GPUT_SESSION_OPTION_KIND_COUNT:
        return value->kind == DOC_INT;
    case GPUT_SESSION_OPTION_KIND_NUMBER:
        return is_number;
    case GPUT_SESSION_OPTION_KIND_NUMBER_OR_TEXT:
        return is_number || value->kind == DOC_STRING;
    case GPUT_SESSION_OPTION_KIND_LIST:
        for (const struct doc *item = value->first; item; item = item->next) {
            if (item->kind != DOC_STRING)
                return false;
        }
        return value->kind == DOC_ARRAY || value->kind == DOC_STRING;
    default:
        return value->kind == DOC_STRING;
    }
}

/* Returns the text of a string, a number, true or false; `number` is a buffer for it. */
static const char *text_of(const struct doc *value, char number[NUMBER_TEXT_SIZE])
{
    switch (value->kind) {
    case DOC_BOOL:
        return value->boolean ? "true" : "false";
    case DOC_INT:
        number_format_int64(value->integer, number);
        return number;
    case DOC_DOUBLE:
        number_format_double(value->number, number);
        return number;
    case DOC_STRING:
        return value->string;
    default:
        return "";
    }
}

/* Sets an option of a session to a value of the file. */
static int set_option(struct gput_config *config, const struct session_option *option,
    const struct doc *value, struct gput_error *error)
{
    char number[NUMBER_TEXT_SIZE];
    const char *text = text_of(value, number);
    TRY(want(has_kind(option, value), value, option->what.wanted, error));
    if (value->kind == DOC_ARRAY) { /* the only list is that of GPUs */
        str_clear(&config->gpus);
        str_append(&config->gpus, "");
        for (const struct doc *item = value->first; item; item = item->next)
            str_printf(&config->gpus, "%s%s", item == value->first ? "" : ",", item->string);
        if (config->gpus.failed)
            return error_memory(error);
        text = str_text(&config->gpus);
    }
    int code = session_options_set(&config->options, option, text, error);
    if (code == GPUT_OK || option->what.kind == GPUT_SESSION_OPTION_KIND_WORD)
        return code;
    return want(false, value, option->what.wanted, error);
}

/* ---- Other members of a file ---- */

/* Reads whether messages are switched off. */
static int set_disable_logs(
    struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    config->disable_logs = value->kind == DOC_BOOL && value->boolean;
    return want(value->kind == DOC_BOOL, value, "true or false", error);
}

/* Reads whether limits end the command. */
static int set_enforce(
    struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    config->limits.enforce = value->kind == DOC_BOOL && value->boolean;
    return want(value->kind == DOC_BOOL, value, "true or false", error);
}

static bool is_count(const struct doc *value)
{
    return value->kind == DOC_INT && value->integer >= 1 && value->integer <= INT_MAX;
}

/* Reads the id of the process to be tracked. */
static int set_process_id(
    struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    TRY(want(is_count(value), value, "a whole number above 0", error));
    config->process_id = (pid_t)value->integer;
    return GPUT_OK;
}

/* Sets limits from an object: {"ram": "8GB", "seconds": 90}. */
static int set_limits(struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    TRY(want(value->kind == DOC_OBJECT, value,
        "an object of limits, for example {\"ram\": \"8GB\"}", error));
    for (const struct doc *limit = value->first; limit; limit = limit->next) {
        char number[NUMBER_TEXT_SIZE];
        bool is_flag = limit->kind == DOC_BOOL;
        CLEANUP_STR struct str text = {0};
        str_printf(&text, "%s=%s", limit->key, is_flag ? "" : text_of(limit, number));
        TRY(text.failed ? error_memory(error)
                        : gput_limits_parse(str_text(&text), &config->limits, error));
    }
    return GPUT_OK;
}

/* Checks a flag that only the Python package uses. Python's Tracker shares its files with the
 * command. */

static int check_flag(struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    (void)config;
    return want(value->kind == DOC_BOOL, value, "true or false", error);
}

/* Checks a count that only the Python package uses. */
static int check_count(
    struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    (void)config;
    return want(is_count(value), value, "a whole number above 0", error);
}

static int check_time(struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    (void)config;
    return want(doc_number(value) > 0, value, "a number of seconds above 0", error);
}

/* Refuses a member that a session itself cannot handle: the command and Python's Tracker do so at
 * its end. */
static int refuse(struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    (void)config;
    return error_set(error, GPUT_ERROR_INVALID,
        "%s is not read from such a file: use --%s, or %s of Python's Tracker", value->key,
        strcmp(value->key, "log_to") == 0 ? "log-to" : value->key, value->key);
}

static const struct member {
    const char *name;
    int (*set)(struct gput_config *config, const struct doc *value, struct gput_error *error);
    bool is_of_python; /* of Python only, and not listed as valid */
} others[] = {
    {"disable_logs", set_disable_logs, false},
    {"process_id", set_process_id, false},
    {"limits", set_limits, false},
    {"enforce", set_enforce, false},
    {"own_process", check_flag, true},
    {"n_join_attempts", check_count, true},
    {"join_timeout", check_time, true},
    {"log_to", refuse, true},
    {"history", refuse, true},
};
#define N_OTHERS (sizeof others / sizeof others[0])

/* ---- The file ---- */

/* Sets one member of the file, or refuses its name with a suggestion. */
static int set_member(struct gput_config *config, const struct doc *value, struct gput_error *error)
{
    const struct session_option *option = session_options_find(value->key);
    if (option && !option->is_not_in_file)
        return value->kind == DOC_NULL ? GPUT_OK : set_option(config, option, value, error);
    for (size_t i = 0; i < N_OTHERS; i++) {
        if (strcmp(value->key, others[i].name) == 0)
            return value->kind == DOC_NULL ? GPUT_OK : others[i].set(config, value, error);
    }
    const char *name = value->key;
    size_t count;
    const struct session_option *options = session_options_list(&count);
    CLEANUP_STR struct str known = {0};
    for (size_t i = 0; i < count; i++) {
        if (!options[i].is_not_in_file)
            str_printf(&known, "%s%s", known.length > 0 ? ", " : "", options[i].what.name);
    }
    for (size_t i = 0; i < N_OTHERS; i++) {
        if (!others[i].is_of_python)
            str_printf(&known, ", %s", others[i].name);
    }
    char question[NEAREST_QUESTION_SIZE];
    nearest_question(str_text(&known), name, question);
    for (size_t i = 0; i < count; i++) {
        if (options[i].option && strcmp(options[i].option, name) == 0)
            nearest_question_of(options[i].what.name, question);
    }
    return error_set(error, GPUT_ERROR_INVALID, "Unknown option \"%s\"%s Valid options are %s.",
        name, question, str_text(&known));
}

/* Reads all members of the file. */
static int load(struct gput_config *config, const char *path, struct gput_error *error)
{
    TRY(doc_read_json_file(path, MAX_BYTES, &config->root, error));
    if (config->root->kind != DOC_OBJECT)
        return error_set(error, GPUT_ERROR_FORMAT,
            "Config file %s must hold one JSON object, for example {\"sleep_time\": 0.5}.", path);
    for (const struct doc *value = config->root->first; value; value = value->next) {
        struct gput_error inner = {0};
        if (set_member(config, value, &inner) != GPUT_OK)
            return error_set(error, inner.code, "Config file %.200s: %.800s", path, inner.message);
    }
    return GPUT_OK;
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
    doc_destroy(config->root);
    str_finish(&config->gpus);
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

/* ---- The user's defaults of options ---- */

struct visit {
    const char *path;
    gput_config_visitor *visitor;
    void *user;
};

/* Visits one value like the option on a command line. */
static int visit_value(
    const struct visit *visit, const char *name, const struct doc *value, struct gput_error *error)
{
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case DOC_NULL:
        return GPUT_OK;
    case DOC_BOOL:
        return value->boolean ? visit->visitor(visit->user, name, NULL, error) : GPUT_OK;
    case DOC_INT:
        snprintf(number, sizeof number, "%" PRId64, value->integer);
        return visit->visitor(visit->user, name, number, error);
    case DOC_DOUBLE:
        number_format_double(value->number, number);
        return visit->visitor(visit->user, name, number, error);
    case DOC_STRING:
        return visit->visitor(visit->user, name, value->string, error);
    case DOC_ARRAY:
    case DOC_OBJECT:
        break;
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "Config file %s: \"%.100s\" must be a string, a number, true, false, or an array of these.",
        visit->path, name);
}

/* Visits all members; each item of a list is visited like an option of its own. */
static int visit_members(
    const struct visit *visit, const struct doc *root, struct gput_error *error)
{
    if (root->kind != DOC_OBJECT)
        return error_set(error, GPUT_ERROR_FORMAT,
            "Config file %s must hold one JSON object, for example {\"format\": \"full\"}.",
            visit->path);
    for (const struct doc *member = root->first; member; member = member->next) {
        if (member->kind != DOC_ARRAY)
            TRY(visit_value(visit, member->key, member, error));
        for (const struct doc *item = member->kind == DOC_ARRAY ? member->first : NULL; item;
             item = item->next)
            TRY(visit_value(visit, member->key, item, error));
    }
    return GPUT_OK;
}

int gput_config_visit(
    const char *path, gput_config_visitor *visitor, void *user, struct gput_error *error)
{
    const struct visit visit = {path, visitor, user};
    struct doc *root;
    TRY(doc_read_json_file(path, MAX_DEFAULTS_BYTES, &root, error));
    int code = visit_members(&visit, root, error);
    doc_destroy(root);
    return code;
}

/* ---- The configuration of a comparison ---- */

struct gput_comparison_config {
    struct gput_comparison_session *sessions; /* owned */
    size_t n_sessions;
    enum gput_statistic statistic;
    struct doc *root; /* owns the texts of the sessions */
};

void gput_comparison_config_destroy(struct gput_comparison_config *config)
{
    if (!config)
        return;
    free(config->sessions);
    doc_destroy(config->root);
    free(config);
}

const struct gput_comparison_session *gput_comparison_config_sessions(
    const struct gput_comparison_config *config, size_t *count)
{
    *count = config->n_sessions;
    return config->sessions;
}

enum gput_statistic gput_comparison_config_statistic(const struct gput_comparison_config *config)
{
    return config->statistic;
}

/* Adds a file to a session of the comparison. */
static int add_session(struct gput_comparison_config *config, const char *name,
    const struct doc *path, const char *file, struct gput_error *error)
{
    if (path->kind != DOC_STRING)
        return error_set(error, GPUT_ERROR_FORMAT,
            "Config file %s: the file path of session \"%.100s\" is not a string.", file, name);
    if (!ARRAY_EXTEND(config->sessions, config->n_sessions))
        return error_memory(error);
    config->sessions[config->n_sessions++] = (struct gput_comparison_session){name, path->string};
    return GPUT_OK;
}

/* Reads the sessions and the statistic from the file. */
static int load_comparison(
    struct gput_comparison_config *config, const char *path, struct gput_error *error)
{
    TRY(doc_read_json_file(path, MAX_BYTES, &config->root, error));
    const struct doc *root = config->root;
    if (root->kind != DOC_OBJECT)
        return error_set(error, GPUT_ERROR_FORMAT, "Config file %s holds no JSON object.", path);
    for (const struct doc *member = root->first; member; member = member->next) {
        if (strcmp(member->key, "file_path_map") != 0 && strcmp(member->key, "statistic") != 0)
            return error_set(error, GPUT_ERROR_FORMAT,
                "Config file %s: \"%.100s\" is unknown. It may have file_path_map and statistic.",
                path, member->key);
    }
    const struct doc *map = doc_get(root, "file_path_map");
    if (map && map->kind != DOC_NULL) {
        if (map->kind != DOC_OBJECT)
            return error_set(error, GPUT_ERROR_FORMAT,
                "Config file %s: file_path_map is not an object of session names and file paths.",
                path);
        for (const struct doc *session = map->first; session; session = session->next) {
            if (session->kind != DOC_ARRAY)
                TRY(add_session(config, session->key, session, path, error));
            for (const struct doc *run = session->kind == DOC_ARRAY ? session->first : NULL; run;
                 run = run->next)
                TRY(add_session(config, session->key, run, path, error));
        }
    }

    const struct doc *word = doc_get(root, "statistic");
    if (!word || word->kind == DOC_NULL)
        return GPUT_OK;
    if (word->kind != DOC_STRING)
        return error_set(
            error, GPUT_ERROR_FORMAT, "Config file %s: statistic is not a string.", path);
    return gput_statistic_parse(word->string, &config->statistic, error);
}

int gput_comparison_config_load(
    const char *path, struct gput_comparison_config **config, struct gput_error *error)
{
    *config = NULL;
    struct gput_comparison_config *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->statistic = GPUT_STATISTIC_MEAN;
    int code = load_comparison(made, path, error);
    if (code == GPUT_OK)
        *config = made;
    else
        gput_comparison_config_destroy(made);
    return code;
}
