/* gpu-tracker mark: where a code block of a script starts and stops. */
#include "base/error.h"
#include "base/number.h"
#include "commands/command.h"
#include "common/message.h"
#include "options/arguments.h"

#include <gputracker/sub_tracking.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without --pid it is the caller's mark: the shell that runs this very command. */
static int read_process(
    const struct arguments *arguments, int64_t *process_id, struct gput_error *error)
{
    const char *word = arguments_value(arguments, OPTION_MARKED_PROCESS);
    *process_id = getppid();
    if (!word)
        return GPUT_OK;
    word += strspn(word, " "); /* ps aligns its columns */
    if (!number_read_int64(word, process_id) || *process_id <= 0)
        return error_set(
            error, GPUT_ERROR_INVALID, "--pid must be a process id, not \"%s\".", word);
    return GPUT_OK;
}

int cmd_mark(const struct arguments *arguments)
{
    struct gput_error error;
    int64_t process_id;
    char usual_path[40];
    int code = read_process(arguments, &process_id, &error);
    if (code == GPUT_OK) {
        const char *path = arguments_value(arguments, OPTION_MARKED_FILE);
        snprintf(usual_path, sizeof usual_path, "%" PRId64 ".csv", process_id);
        code = gput_sub_tracking_mark(path ? path : usual_path, process_id, arguments->operands[0],
            (enum gput_block_position)arguments->command->view, &error);
    }
    return message_exit_status(code, &error, EXIT_FAILURE);
}
