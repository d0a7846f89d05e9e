/* gpu-tracker run: runs a command with its arguments and exits with its status. */
#include "arguments.h"
#include "message.h"
#include "option.h"
#include "track.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where "run --otlp URL -- COMMAND" took the URL for the command. */
static void explain_optional_value(const struct arguments *arguments)
{
    char name[64], line[MESSAGE_LINE_SIZE / 2];
    if (arguments->n_operands < 2 || strcmp(arguments->operands[1], "--") != 0)
        return;
    for (size_t i = 0; i < arguments->n_uses; i++) {
        const struct option *row = option(arguments->uses[i].id);
        if (!row->optional || arguments->uses[i].value[0])
            continue;
        option_name(row, name);
        snprintf(line, sizeof line, "a value of %s follows an equals sign: %s=%.200s", name, name,
            arguments->operands[0]);
        message_note(line);
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
    if (status == EXIT_NOT_EXECUTABLE || status == EXIT_NOT_FOUND)
        explain_optional_value(arguments);
    return status;
}
