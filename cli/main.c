/*
 * gpu-tracker, the command. It sees the library through <gputracker/…> alone.
 *
 * main() takes the command line apart and calls the function of the command:
 *   own_stack.c          the stack, where the limit leaves too little
 *   standard_streams.c   no standard stream stays closed in gpu-tracker
 *   option.c             the table of options; command_options.c: which command has which
 *   command_table.c      the table of commands; topic.c groups them by what one may want
 *   parse_arguments.c    takes the command line apart by both tables into arguments.c
 *   choice.c, numbers.c  values of options: a word out of a list, a number
 *   words.c, suggest.c   the text of -e, split as a shell does; the commands that a typo may mean
 *   defaults.c           the user's config file: defaults of options
 *   output_files.c       where a command writes is nowhere that it reads, or writes otherwise
 *   help.c, wrap.c       help and -h, in lines that fit a terminal
 *   generate.c           the man page and completions, made from the tables when the program is
 *                        built: generate_man.c, generate_completions.c
 *
 * cmd-*.c has one command each. Those that track, run and attach, go on with:
 *   tracking.c           command line over config file over defaults: the options of a session
 *   tracking_files.c     names of its files; outputs.c: from an option to a place, also of ranks
 *   claim.c              a name that no other tracker may take
 *   spool.c              files that are written on this machine and moved to their places later
 *   track.c              a session from its options to the exit status
 *   launch.c             starts the command and stays next to it: signals, Ctrl-C, job control
 *   signals.c            signals as plain data, and dying or stopping of one
 *   display.h            what is on the terminal meanwhile: progress.c a line, live/ a view
 *   held_messages.c      messages that wait while the terminal is not free
 *   region_recording.c   run --regions: region_sources.c, region_program.c, region_logs.c and
 *                        region_reasons.c; phases/ are lines of output that begin phases
 *   torch_trace.c        run --torch-trace: torch_schedule.c, torch_protocol.c and torch_file.c
 *   report.c             the report: which format, to which file or screen
 *   html_report.c        run --report; notes.c: sentences for both reports
 *
 * Those that read files write with:
 *   window.c, cores.c    --start, --end and --steps; -j
 *   named_sessions.c     SESSION and NAME=SESSION of report and plot
 *   analysis_output.c    analyses and comparisons
 *   tables.c             tables; table_files.c: as Parquet and Arrow
 *   perfetto.c           sessions in Perfetto's viewer
 *   fix_script.c         doctor's remedies as a shell script
 *
 * All of them use:
 *   message.c, screen.c  errors and warnings, a line each; writing to what people read
 *   command.c            finds a command; command_name.c: what files call the one that is tracked
 *   environment.c        which paths of the environment are followed, and with which rights
 *   clock.c, temporary_folder.c: a clock of milliseconds, a folder that is removed
 */
#include "defaults.h"
#include "environment.h"
#include "generate.h"
#include "help.h"
#include "message.h"
#include "output_files.h"
#include "own_stack.h"
#include "parse_arguments.h"
#include "signals.h"
#include "standard_streams.h"

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

/* Whether a command reads what capabilities of this program's file open. Others read files. */
static bool reads_machine(const struct command *command)
{
    int (*const functions[])(const struct arguments *arguments) = {
        cmd_attach, cmd_doctor, cmd_energy_record, cmd_execute, cmd_live, cmd_run, cmd_serve};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (command->function == functions[i])
            return true;
    }
    return false;
}

static int run_command(struct arguments *arguments)
{
    struct gput_error error;
    if (arguments_have(arguments, OPTION_HELP)) {
        if (arguments->family)
            help_print_family(stdout, arguments->family);
        else if (arguments->wants_short_help)
            help_print_short(stdout, arguments->command);
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
    if (environment_check_rights(reads_machine(arguments->command), &error) != GPUT_OK ||
        defaults_read(arguments, &error) != GPUT_OK) {
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

static int run_program(int argc, char **argv)
{
    standard_streams_fill();
    signals_survive_full_files();
    /* Not for people: how the build makes the man pages and the completions. */
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

int main(int argc, char **argv)
{
    return own_stack_run(run_program, argc, argv);
}
