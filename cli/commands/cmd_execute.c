/* gpu-tracker -e "COMMAND": the form of the old command, with its output and its exit statuses. */
#include "base/error.h"
#include "base/words.h"
#include "common/message.h"
#include "options/arguments.h"
#include "track/track.h"

#include <stdlib.h>
#include <unistd.h>

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
