#include "options/defaults.h"

#include "base/error.h"
#include "base/nearest.h"
#include "common/environment.h"
#include "common/message.h"
#include "options/arguments.h"

#include <gputracker/config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct defaults {
    struct arguments *arguments;
    size_t n_given; /* uses on the command line, which stand first until all are read */
    const char *path;
};

/*
 * Whether somebody else wrote a file, or could have: options say which files are written and
 * replaced. Root's environment may have the HOME of a user.
 */
static bool is_of_another(const char *path)
{
    char folder[PATH_MAX];
    struct stat file, parent;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    return stat(path, &file) != 0 || stat(folder, &parent) != 0 ||
           (file.st_uid != geteuid() && file.st_uid != 0) ||
           (parent.st_uid != geteuid() && parent.st_uid != 0) ||
           (file.st_mode | parent.st_mode) & S_IWOTH;
}

/* Whether a file that was not named is to be read; says it where not. */
static bool is_followed(const char *path)
{
    char text[MESSAGE_LINE_SIZE];
    const char *why = environment_is_untrusted() ? "this gpu-tracker has capabilities of its file"
                      : is_of_another(path)      ? "another user can write it"
                                                 : NULL;
    if (!why)
        return true;
    snprintf(text, sizeof text,
        "Config file %.500s is not followed: %s. GPUT_CONFIG names a file to follow; --no-config "
        "says that none is.",
        path, why);
    message_warning(NULL, text);
    return false;
}

/* Empty variables count as none, except GPUT_CONFIG. False: there is no file. */
static bool find_file(char path[PATH_MAX])
{
    const char *named = getenv("GPUT_CONFIG"), *folder = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int length = -1;
    if (named && !environment_is_untrusted())
        return (size_t)snprintf(path, PATH_MAX, "%s", named) < PATH_MAX && named[0];
    if (folder && folder[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/gpu-tracker/config.json", folder);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.config/gpu-tracker/config.json", home);
    return length > 0 && length < PATH_MAX && access(path, F_OK) == 0 && is_followed(path);
}

/* The option of that long name, in which `_` may stand for `-`; OPTION_END: there is none. */
static enum option_id find_option(const char *name)
{
    static const enum option_id never[] = {
        OPTION_HELP, OPTION_VERSION, OPTION_NO_CONFIG, OPTION_TRACKING_CONFIG, OPTION_END};
    enum option_id id, other;
    size_t length = strlen(name);
    const enum option_id *known[] = {command_find("run")->options, command_find("attach")->options};
    for (size_t i = 0; i < 2; i++) {
        if (option_find_long(known[i], name, length, &id, &other) == OPTION_FOUND &&
            (strlen(option(id)->long_name) == length ||
                option_is_other_name(option(id), name, length)) &&
            !option_is_among(never, id))
            return id;
    }
    return OPTION_END;
}

/* Refuses an option that run does not have, and names the one that may be meant. */
static int unknown(const struct defaults *defaults, const char *name, struct gput_error *error)
{
    char words[700] = "", question[NEAREST_QUESTION_SIZE];
    for (const enum option_id *id = command_find("run")->options; *id != OPTION_END; id++) {
        size_t used = strlen(words);
        if (option(*id)->long_name && find_option(option(*id)->long_name) != OPTION_END)
            snprintf(
                words + used, sizeof words - used, "%s%s", used ? " " : "", option(*id)->long_name);
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "Config file %.100s: unknown option \"%.40s\"%s Options: %s", defaults->path, name,
        nearest_question(words, name, question), words);
}

/* What the command line says instead. */
static bool is_overridden(const struct arguments *arguments, size_t n_given, enum option_id id)
{
    static const enum option_id of_report[] = {OPTION_TRACKING_FORMAT, OPTION_QUIET, OPTION_SUMMARY,
        OPTION_PROGRESS, OPTION_OUTPUT, OPTION_END};
    bool is_given = false, has_output = false, has_config = false, has_summary = false;
    for (size_t i = 0; i < n_given; i++) {
        is_given |= arguments->uses[i].id == id;
        has_output |= arguments->uses[i].id == OPTION_OUTPUT;
        has_config |= arguments->uses[i].id == OPTION_TRACKING_CONFIG;
        has_summary |= arguments->uses[i].id == OPTION_SUMMARY;
    }
    return is_given || (has_output && id == OPTION_TRACKING_FORMAT) ||
           (has_summary && id == OPTION_QUIET) || (has_config && !option_is_among(of_report, id));
}

/* Adds an option of the file, unless the command lacks it or the command line has it. */
static int visit(void *user, const char *name, const char *value, struct gput_error *error)
{
    struct defaults *defaults = user;
    struct arguments *arguments = defaults->arguments;
    enum option_id id = find_option(name);
    if (id == OPTION_END)
        return unknown(defaults, name, error);
    bool is_flag = option(id)->kind == ARGUMENT_NONE;
    if (is_flag != !value)
        return error_set(error, GPUT_ERROR_INVALID, "Config file %.300s: \"%.40s\" must be %s.",
            defaults->path, name, is_flag ? "true or false" : "a string or a number");
    if (!option_is_among(arguments->command->options, id) ||
        is_overridden(arguments, defaults->n_given, id))
        return GPUT_OK;
    return arguments_add(arguments, id, value ? value : "", error);
}

int defaults_read(struct arguments *arguments, struct gput_error *error)
{
    char path[PATH_MAX];
    if (!arguments->command->takes_defaults || arguments_have(arguments, OPTION_NO_CONFIG) ||
        !find_file(path))
        return GPUT_OK;
    struct defaults defaults = {arguments, arguments->n_uses, path};
    TRY(gput_config_visit(path, visit, &defaults, error));
    /* Without -o, --summary on the command line overrides a format of the file. */
    bool has_summary = false, has_format = false;
    for (size_t i = 0; i < defaults.n_given; i++) {
        has_summary |= arguments->uses[i].id == OPTION_SUMMARY;
        has_format |= arguments->uses[i].id == OPTION_TRACKING_FORMAT;
    }
    if (!has_summary || has_format || arguments_have(arguments, OPTION_OUTPUT) ||
        !arguments_have(arguments, OPTION_TRACKING_FORMAT))
        return GPUT_OK;
    return arguments_add(arguments, OPTION_TRACKING_FORMAT, "summary", error);
}
