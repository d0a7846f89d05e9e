/* gpu-tracker run: runs a command with its arguments and exits with its status. */
#include "base/error.h"
#include "base/words.h"
#include "common/message.h"
#include "options/arguments.h"
#include "options/option.h"
#include "options/parse_arguments.h"
#include "track/track.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* gpu-tracker -e "COMMAND": the form of the old command, with its output and its exit statuses. */
int cmd_execute(const struct arguments *arguments)
{
    struct gput_error error;
    const char *text = arguments_value(arguments, OPTION_EXECUTE);
    if (!text) {
        error_set(&error, GPUT_ERROR_INVALID,
            "There is nothing to track. Try gpu-tracker run -- COMMAND, or gpu-tracker help");
        message_error(&error);
        return EXIT_USAGE;
    }
    char **argv;
    int code = words_split(text, &argv, &error);
    if (code == GPUT_OK && !argv[0]) {
        code = error_set(&error, GPUT_ERROR_INVALID, "Empty command provided.");
        words_free(argv);
    }
    if (code != GPUT_OK) {
        message_error(&error);
        return EXIT_FAILURE;
    }
    struct track_style style = {
        .is_older_form = true,
        .announces = true,
        .screen_fd = STDOUT_FILENO,
        .failed_status = EXIT_FAILURE,
        .not_executable_status = EXIT_FAILURE,
        .not_found_status = EXIT_FAILURE,
    };
    int status = track_command(arguments, argv, &style);
    words_free(argv);
    return status;
}

/* Where "run --otlp URL -- COMMAND", "run --regions mpi" or "run --live 5 -- COMMAND" took the
 * value for the command: before "--" it is that of any option, else of the last one. */
static void explain_optional_value(const struct arguments *arguments)
{
    char name[64], line[MESSAGE_LINE_SIZE / 2];
    bool is_of_any = arguments->n_operands > 1 && strcmp(arguments->operands[1], "--") == 0;
    size_t first = is_of_any || arguments->n_uses == 0 ? 0 : arguments->n_uses - 1;
    for (size_t i = first; i < arguments->n_uses; i++) {
        const struct option *row = option(arguments->uses[i].id);
        bool is_last = i + 1 == arguments->n_uses;
        option_name(row, name);
        if (row->optional && !arguments->uses[i].value[0])
            snprintf(line, sizeof line, "a value of %s follows an equals sign: %s=%.200s", name,
                name, arguments->operands[0]);
        else if (is_of_any && is_last && row->kind == ARGUMENT_NONE)
            snprintf(line, sizeof line, "%s takes no value. Options: gpu-tracker run -h", name);
        else
            continue;
        message_note(line);
    }
}

/* Where run "sleep 1" took both words for the name of a program, or run A=1 x a variable. */
static void explain_words(const struct arguments *arguments)
{
    char line[MESSAGE_LINE_SIZE / 2];
    const char *words = arguments->operands[0];
    bool begins_with_variable = words[strcspn(words, " =/")] == '=';
    if (arguments->n_operands > 1 && begins_with_variable)
        snprintf(line, sizeof line,
            "a variable of the command: gpu-tracker run -- env %.100s %.100s", words,
            arguments->operands[1]);
    else if (arguments->n_operands > 1 || !strchr(words, ' '))
        return;
    else if (begins_with_variable || strpbrk(words, "|&;<>()$`\\\"'*?~"))
        snprintf(line, sizeof line,
            "the quotes make it the name of one program. For a shell to read it: gpu-tracker run "
            "-- sh -c '%.200s'",
            words);
    else
        snprintf(line, sizeof line,
            "the quotes make it the name of one program. Without them: gpu-tracker run -- %.200s",
            words);
    message_note(line);
}

/* Where run -- -o x took an option for the command, or one begins with a dash of a text, which
 * word processors put in place of hyphens. */
static void explain_dash(const struct arguments *arguments)
{
    static const char *const dashes[] = {"\u2012", "\u2013", "\u2014", "\u2212"};
    const char *name = arguments->operands[0];
    char line[MESSAGE_LINE_SIZE / 2];
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++) {
        size_t length = strlen(dashes[i]);
        if (strncmp(name, dashes[i], length) != 0)
            continue;
        const char *rest = name + length;
        snprintf(line, sizeof line,
            "%.200s begins with a dash of a text, not with a hyphen. As an option: %s%.200s", name,
            strcspn(rest, "=") > 1 ? "--" : "-", rest);
        message_note(line);
    }
    if (name[0] == '-' && name[1])
        message_note("options go before the command: gpu-tracker run [OPTIONS] -- COMMAND");
}

/* Where run train.py named a file of this folder, which no shell would run under that name. */
static void explain_file(const struct arguments *arguments)
{
    static const struct {
        const char *ending, *program;
    } interpreters[] = {
        {".py", "python3"}, {".sh", "sh"}, {".R", "Rscript"}, {".jl", "julia"}, {".pl", "perl"}};
    const char *name = arguments->operands[0], *ending = strrchr(name, '.');
    char line[MESSAGE_LINE_SIZE / 2];
    struct stat info;
    bool is_file = stat(name, &info) == 0 && S_ISREG(info.st_mode);
    if (!is_file)
        return;
    if (access(name, X_OK) == 0) {
        if (strchr(name, '/') || parse_is_program(name))
            return; /* it cannot be executed, and the error says why */
        snprintf(
            line, sizeof line, "%.200s is a file here: gpu-tracker run -- ./%.200s", name, name);
        message_note(line);
        return;
    }
    for (size_t i = 0; ending && i < sizeof interpreters / sizeof *interpreters; i++) {
        if (strcmp(ending, interpreters[i].ending) != 0)
            continue;
        snprintf(line, sizeof line, "%.200s is a file here: gpu-tracker run -- %s %.200s", name,
            interpreters[i].program, name);
        message_note(line);
    }
}

/* Where run cd /tmp named what only a shell can do. */
static void explain_builtin(const struct arguments *arguments)
{
    static const char of_any[] = ". : alias bg case cd eval exec exit export fg for getopts hash "
                                 "if jobs read readonly set shift times trap type ulimit umask "
                                 "unalias unset until wait while";
    static const char of_bash[] = "[[ declare dirs history let local popd pushd shopt source";
    const char *name = arguments->operands[0];
    bool is_of_any = choice_find(of_any, name) >= 0;
    char line[MESSAGE_LINE_SIZE / 2], words[200] = "";
    if (!is_of_any && choice_find(of_bash, name) < 0)
        return;
    for (int i = 0; i < arguments->n_operands; i++) {
        size_t used = strlen(words);
        snprintf(
            words + used, sizeof words - used, "%s%s", i > 0 ? " " : "", arguments->operands[i]);
    }
    snprintf(line, sizeof line, "%s is a shell's own: gpu-tracker run -- %s -c '%s'", name,
        is_of_any ? "sh" : "bash", words);
    message_note(line);
}

/* Where run x --tf y.csv gave the command an option that is only ours, and the command refused it.
 */
static void explain_late_option(const struct arguments *arguments)
{
    static const char ours[] = "--tf --tracking-file --st --sleep-time --report --tconfig";
    for (int i = 1; i < arguments->n_operands; i++) {
        char name[32], line[MESSAGE_LINE_SIZE / 2];
        const char *word = arguments->operands[i];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        if (strcmp(word, "--") == 0)
            return;
        if (choice_find(ours, name) < 0)
            continue;
        snprintf(line, sizeof line,
            "%s was given to the command. Options of gpu-tracker go before it: gpu-tracker run %s "
            "... -- %.100s",
            name, name, arguments->operands[0]);
        message_note(line);
        return;
    }
}

int cmd_run(const struct arguments *arguments)
{
    struct track_style style = {
        .screen_fd = STDERR_FILENO,
        .failed_status = EXIT_TRACKER_FAILED,
        .not_executable_status = EXIT_NOT_EXECUTABLE,
        .not_found_status = EXIT_NOT_FOUND,
    };
    int status = track_command(arguments, arguments->operands, &style);
    if (status == EXIT_NOT_EXECUTABLE || status == EXIT_NOT_FOUND) {
        explain_optional_value(arguments);
        explain_words(arguments);
        explain_dash(arguments);
        explain_file(arguments);
    }
    if (status == EXIT_NOT_FOUND)
        explain_builtin(arguments);
    if (status == EXIT_USAGE && !arguments_have(arguments, OPTION_QUIET))
        explain_late_option(arguments);
    return status;
}
