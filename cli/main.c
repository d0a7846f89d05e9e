/*
 * gpu-tracker, the command. It sees the library through <gputracker/…> alone.
 *
 * Along the path of the data:
 *
 *   standard-streams.c   no standard stream stays closed in gpu-tracker
 *   option.c             the table of options; command-table.c the table of commands
 *   parse-arguments.c    the command line, taken apart by both tables
 *   arguments.c          what it has: options and operands
 *   choice.c             one word out of a list; what is not in it is refused with the nearest
 *   topic.c              what one may want, and the commands for it
 *   wrap.c               lines that are not longer than a terminal is wide
 *   help.c               help and -h; generate-man.c and generate-completions.c make their files
 *                        from the same tables when the program is built
 *   cmd-*.c              one command each
 *   output-files.c       where a command writes is nowhere that it reads, or writes otherwise
 *   words.c              the text of -e, split as a shell splits it
 *   defaults.c           the user's config file: defaults of options
 *   window.c             --start, --end and --steps of what reads traces
 *   tracking.c           command line over config file over defaults: the options of a session
 *   track.c              a tracked command from its options to the exit status
 *   launch.c             starts it and stays next to it: signals, Ctrl-C, job control
 *   display.h            what is on the terminal meanwhile: progress.c a line, live/ a view
 *   signals.c            signals as plain data, and dying or stopping of one
 *   report.c             the report: which format, to which file or screen
 *   fix-script.c         doctor's remedies as a shell script
 *   analysis-output.c    the same for analyses and comparisons
 *   message.c            errors and warnings, a line each
 */
#include "defaults.h"
#include "generate.h"
#include "help.h"
#include "message.h"
#include "output-files.h"
#include "parse-arguments.h"
#include "signals.h"
#include "standard-streams.h"

#include <gputracker/gputracker.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints to the standard output; a full disk or a closed pipe after it is a failure. */
static int finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_SUCCESS;
    struct gput_error error;
    fail(&error, GPUT_ERROR_IO, "Cannot write to the standard output.");
    message_error(&error);
    return EXIT_FAILURE;
}

static int run_command(struct arguments *arguments)
{
    struct gput_error error;
    if (arguments_have(arguments, OPTION_HELP)) {
        if (arguments->family)
            help_print_family(stdout, arguments->family);
        else
            help_print(stdout, arguments->command);
        return finish_output();
    }
    if (arguments_have(arguments, OPTION_VERSION)) {
        puts(gput_version());
        return finish_output();
    }
    if (parse_check_operands(arguments, &error) != GPUT_OK) {
        message_error(&error);
        return EXIT_USAGE;
    }
    if (defaults_read(arguments, &error) != GPUT_OK) {
        message_error(&error);
        return arguments->command->takes_a_command ? EXIT_TRACKER_FAILED : EXIT_FAILURE;
    }
    if (output_files_expand(arguments, &error) != GPUT_OK ||
        output_files_check(arguments, &error) != GPUT_OK) {
        message_error(&error);
        return EXIT_USAGE;
    }
    return arguments->command->function(arguments);
}

static void refuse(const struct arguments *arguments, const struct gput_error *error)
{
    char options[OPTIONS_TEXT_SIZE];
    message_error(error);
    if (!arguments->needs_options_listed)
        return;
    parse_describe_options(arguments->command, options);
    message_note(options);
}

int main(int argc, char **argv)
{
    standard_streams_fill();
    signals_survive_full_files();
    /* Not for people: how the build makes the man page and the completions. */
    if (argc == 3 && strcmp(argv[1], "--generate") == 0)
        return generate(stdout, argv[2]) ? finish_output() : EXIT_USAGE;

    struct arguments arguments;
    struct gput_error error;
    int status = EXIT_USAGE;
    if (parse_arguments(argc, argv, &arguments, &error) == GPUT_OK)
        status = run_command(&arguments);
    else
        refuse(&arguments, &error);
    arguments_finish(&arguments);
    return status;
}
