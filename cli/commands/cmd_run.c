/* gpu-tracker run: runs a command with its arguments and exits with its status. */
#include "common/message.h"
#include "options/arguments.h"
#include "options/option.h"
#include "track/track.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where "run --otlp URL -- COMMAND" or "run --regions mpi" took the value for the command: before
 * "--" it is that of any option, else of the last one. */
static void explain_optional_value(const struct arguments *arguments)
{
    char name[64], line[MESSAGE_LINE_SIZE / 2];
    bool is_of_any = arguments->n_operands > 1 && strcmp(arguments->operands[1], "--") == 0;
    size_t first = is_of_any || arguments->n_uses == 0 ? 0 : arguments->n_uses - 1;
    for (size_t i = first; i < arguments->n_uses; i++) {
        const struct option *row = option(arguments->uses[i].id);
        if (!row->optional || arguments->uses[i].value[0])
            continue;
        option_name(row, name);
        snprintf(line, sizeof line, "a value of %s follows an equals sign: %s=%.200s", name, name,
            arguments->operands[0]);
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
    }
    return status;
}
