/* gpu-tracker sub-track combine: several sub-tracking files into one. */
#include "base/error.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"

#include <gputracker/sub_tracking.h>

#include <stdlib.h>
#include <sys/stat.h>

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A single path is a directory; but with --mix, where one file is enough, it may be a file. */
static int combine(const struct arguments *arguments, const char *output, const char *const *paths,
    size_t n_paths, struct gput_error *error)
{
    int shown = 0;
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    options.mix = arguments_have(arguments, OPTION_MIX);
    options.progress = analysis_show_progress;
    options.warn = analysis_warn;
    options.user = &shown;
    TRY(arguments_read_cores(arguments, &options.cores, error));
    int code = n_paths > 1 || (options.mix && !is_directory(paths[0]))
                   ? gput_sub_tracking_combine(output, paths, n_paths, &options, error)
                   : gput_sub_tracking_combine_directory(output, paths[0], &options, error);
    analysis_end_progress(&shown);
    return code;
}

int cmd_sub_track_combine(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, OPTION_COMBINED_FILE);
    if (!output || (!arguments_have(arguments, OPTION_PART) && arguments->n_operands == 0)) {
        struct gput_error error;
        error_set(&error, GPUT_ERROR_INVALID,
            "A file to make and paths to combine are needed. Usage: gpu-tracker sub-track combine "
            "--stf=<sub-track-file> -p <file-path>...");
        message_error(&error);
        return EXIT_USAGE;
    }
    struct gput_error error;
    size_t max_paths = arguments->n_uses + (size_t)arguments->n_operands;
    const char **paths = calloc(max_paths, sizeof *paths);
    int code = GPUT_OK;
    if (!paths) {
        code = error_memory(&error);
    } else {
        size_t n_paths = 0;
        size_t position = 0;
        for (const char *path; (path = arguments_next(arguments, OPTION_PART, &position));)
            paths[n_paths++] = path;
        /* What a shell made of `-p worker-*.csv`: the first file is the option's, these follow. */
        for (int i = 0; i < arguments->n_operands; i++)
            paths[n_paths++] = arguments->operands[i];
        code = combine(arguments, output, paths, n_paths, &error);
    }
    free(paths);
    return message_exit_status(code, &error, EXIT_FAILURE);
}
