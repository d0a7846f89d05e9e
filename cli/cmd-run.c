/* gpu-tracker run: runs a command with its arguments and exits with its status. */
#include "arguments.h"
#include "message.h"
#include "track.h"

#include <unistd.h>

int cmd_run(const struct arguments *arguments)
{
    struct track_style style = {
        .screen_fd = STDERR_FILENO,
        .failed_status = EXIT_TRACKER_FAILED,
        .not_executable_status = EXIT_NOT_EXECUTABLE,
        .not_found_status = EXIT_NOT_FOUND,
    };
    return track_command(arguments, arguments->operands, &style);
}
