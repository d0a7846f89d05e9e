/* gpu-tracker pytorch breakdown, kernels, idle, diff: traces of PyTorch's profiler. */
#include "base/error.h"
#include "base/number.h"
#include "commands/command.h"
#include "common/environment.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "output/tables.h"

#include <gputracker/profile.h>

#include <stdlib.h>

static int read_limit(const struct arguments *arguments, size_t *limit, struct gput_error *error)
{
    const char *word = arguments_value(arguments, OPTION_COUNT_SHOWN);
    int64_t number;
    if (!word)
        return GPUT_OK;
    if (!number_read_int64(word, &number) || number < 1)
        return error_set(error, GPUT_ERROR_INVALID, "-n must be 1 or more, not \"%s\".", word);
    *limit = (size_t)number;
    return GPUT_OK;
}

int cmd_profile_kineto(const struct arguments *arguments)
{
    int shown = 0;
    struct gput_kineto_options options = gput_kineto_options_default();
    options.paths = (const char *const *)arguments->operands;
    options.n_paths = (size_t)arguments->n_operands;
    options.temporary_folder = environment_path("TMPDIR");
    options.warn = analysis_warn;
    options.progress = analysis_show_progress;
    options.user = &shown;
    struct gput_tables *tables = NULL;
    struct gput_error error;
    enum gput_format format;
    int code = tables_read_format(arguments, &format, &error);
    if (code == GPUT_OK)
        code = read_limit(arguments, &options.limit, &error);
    if (code == GPUT_OK)
        code = arguments_read_cores(arguments, &options.cores, &error);
    bool usage = code == GPUT_ERROR_INVALID;
    if (code == GPUT_OK)
        code = gput_kineto_tables(
            (enum gput_kineto_view)arguments->command->view, &options, &tables, &error);
    analysis_end_progress(&shown);
    if (code == GPUT_OK)
        code = tables_write(arguments, tables, &error);
    gput_tables_destroy(tables);
    return message_exit_status(code, &error, usage ? EXIT_USAGE : EXIT_FAILURE);
}
