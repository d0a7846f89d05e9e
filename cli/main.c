/*
 * gpu-tracker, the command. It sees the library through <gputracker/…>, and src/base as the library
 * does.
 *
 * main() takes the command line apart and calls the function of the command. Its folders:
 *
 * commands/   command_table.c is the table of commands, and of which options each takes. cmd_*.c
 *             have the commands, a family each; command.c finds one, groups them by what one may
 *             want, and finds those that a typo may mean.
 * options/    option.c is the table of options. parse_arguments.c takes the command line apart by
 *             both tables into arguments.c, which reads words out of a list and windows of time
 *             (--start, --end, --steps), too; defaults.c is the user's config file.
 * help/       help.c: help and -h, in lines that fit a terminal. generate.c makes the man pages
 *             (generate_man.c) and completions (generate_completions.c) from the tables when the
 *             program is built.
 * track/      those that track, run and attach. tracking.c makes the options of a session out of
 *             command line, config file and defaults; tracking_files.c has the names of its files,
 *             outputs.c leads from an option to a place, also of ranks; claim.c takes a name that
 *             no other tracker may take; spool.c: files that are moved to their places later;
 *             track.c is a session from its options to the exit status; launch.c starts the
 *             command and stays next to it: signals, Ctrl-C, job control; signals.c has signals as
 *             plain data, and dying or stopping of one; display.h is what is on the terminal
 *             meanwhile, a line (track.c) or a view (live/); log_to.c logs the session to a tracker
 *             of experiments; report.c writes the report, html_report.c that of --report.
 * regions/    run --regions: region_recording.c, with region_sources.c, region_program.c and
 *             region_logs.c.
 * phases/     lines of a command's output that begin phases (--phase-token).
 * torch/      run --torch-trace: torch_trace.c, with torch_schedule.c and torch_protocol.c.
 * live/       the live view.
 * output/     what those that read files write with: analysis_output.c (analyses, comparisons,
 *             --fail-if), tables.c (also Parquet and Arrow), python_package.c and pickles.c;
 *             named_sessions.c: SESSION and NAME=SESSION, and what is read where no file is named;
 *             output_files.c: where a command writes is nowhere that it reads, or writes otherwise.
 * common/     what all use: message.c and screen.c (errors, warnings and notes, a line each, also
 *             those that wait until the terminal is free; writing to what people read),
 *             environment.c (which paths of the environment are followed, and with which rights;
 *             where the history is), temporary_folder.c.
 */
#include "base/error.h"
#include "common/environment.h"
#include "common/message.h"
#include "help/generate.h"
#include "help/help.h"
#include "options/defaults.h"
#include "options/parse_arguments.h"
#include "output/output_files.h"
#include "track/signals.h"

#include <gputracker/gputracker.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

/* Prints to the standard output; a full disk or a closed pipe after it is a failure. */
static int finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_SUCCESS;
    struct gput_error error;
    error_set(&error, GPUT_ERROR_IO, "Cannot write to the standard output.");
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

/* Checks operands, rights, defaults and outputs, and calls the function of the command. */
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
    if (arguments_have(arguments, OPTION_VERSION) ||
        arguments_have(arguments, OPTION_PROGRAM_VERSION)) {
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

/*
 * Opens /dev/null for a standard stream that is closed at the start. Otherwise a file would get its
 * number, and then what is meant for the screen. exec() closes it again: the tracked command finds
 * the stream closed, as without gpu-tracker.
 */
static void fill_standard_streams(void)
{
    /* open() takes the lowest number that is free, so from 0 upwards each hole is filled itself. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            return;
    }
}

/* Parses the command line and runs it. Returns the exit status. */
static int run_program(int argc, char **argv)
{
    fill_standard_streams();
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
        message_error(&error);
    arguments_finish(&arguments);
    return status;
}

#ifdef __GLIBC__
#define STACK_BYTES ((size_t)2 << 20)

struct program {
    int argc;
    char **argv;
    int status;
};

/* Runs the program from a context, which is given numbers alone: the two halves of a pointer. */
static void run_in_context(unsigned high, unsigned low)
{
    struct program *program = (struct program *)(uintptr_t)((uint64_t)high << 32 | low);
    program->status = run_program(program->argc, program->argv);
}

/* Runs the program on that stack. False: it was not run. */
static bool run_on(char *stack, struct program *program)
{
    ucontext_t here, there;
    uint64_t address = (uintptr_t)program;
    if (getcontext(&there) != 0)
        return false;
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK_BYTES;
    there.uc_link = &here;
    makecontext(
        &there, (void (*)(void))run_in_context, 2, (unsigned)(address >> 32), (unsigned)address);
    return swapcontext(&here, &there) == 0;
}
#endif

/* The command may need less stack than gpu-tracker does (ulimit -s): where the limit leaves too
 * little, the program runs on a stack of its own. */
int main(int argc, char **argv)
{
#ifdef __GLIBC__
    struct rlimit limit;
    struct program program = {.argc = argc, .argv = argv};
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_BYTES) {
        char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (stack != MAP_FAILED && run_on(stack, &program))
            return program.status;
    }
#endif
    return run_program(argc, argv);
}
