#include "command.h"

#include <stddef.h>
#include <string.h>

/* What all commands that track take. */
#define TRACKING_OPTIONS                                                                           \
    OPTION_OUTPUT, OPTION_FORMAT, OPTION_TRACKING_CONFIG, OPTION_SLEEP_TIME, OPTION_RAM_UNIT,      \
        OPTION_GPU_RAM_UNIT, OPTION_TIME_UNIT, OPTION_EXPECTED_CORES, OPTION_GPU_UUIDS,            \
        OPTION_DISABLE_LOGS, OPTION_GPU_BRAND, OPTION_TRACKING_FILE, OPTION_OVERWRITE, OPTION_RAM, \
        OPTION_RESOURCE_USAGE_FILE, OPTION_ENERGY_UNIT, OPTION_CARBON_INTENSITY, OPTION_LIMIT,     \
        OPTION_ENFORCE

#define COMMON_OPTIONS OPTION_HELP, OPTION_VERSION

static const enum option_id execute_options[] = {
    COMMON_OPTIONS, OPTION_EXECUTE, TRACKING_OPTIONS, OPTION_END};
static const enum option_id run_options[] = {COMMON_OPTIONS, TRACKING_OPTIONS, OPTION_END};
static const enum option_id attach_options[] = {
    COMMON_OPTIONS, OPTION_FOR, TRACKING_OPTIONS, OPTION_END};
static const enum option_id show_options[] = {COMMON_OPTIONS, OPTION_OUTPUT, OPTION_FORMAT,
    OPTION_RAM_UNIT, OPTION_GPU_RAM_UNIT, OPTION_TIME_UNIT, OPTION_END};
static const enum option_id doctor_options[] = {
    COMMON_OPTIONS, OPTION_OUTPUT, OPTION_FORMAT, OPTION_GPU_BRAND, OPTION_END};
static const enum option_id analyze_options[] = {COMMON_OPTIONS, OPTION_ANALYZED_FILE,
    OPTION_SUB_TRACKING_FILE, OPTION_OUTPUT, OPTION_ANALYSIS_FORMAT, OPTION_DETAILS, OPTION_BY,
    OPTION_END};
static const enum option_id compare_options[] = {COMMON_OPTIONS, OPTION_MAP,
    OPTION_COMPARISON_CONFIG, OPTION_STATISTIC, OPTION_OUTPUT, OPTION_ANALYSIS_FORMAT,
    OPTION_RELATIVE, OPTION_FAIL_IF, OPTION_END};
static const enum option_id combine_options[] = {
    COMMON_OPTIONS, OPTION_COMBINED_FILE, OPTION_PART, OPTION_MIX, OPTION_END};
static const enum option_id mark_options[] = {
    COMMON_OPTIONS, OPTION_MARKED_FILE, OPTION_MARKED_PROCESS, OPTION_END};

static const enum option_id timeline_merge_options[] = {COMMON_OPTIONS, OPTION_MERGED_OUTPUT,
    OPTION_START, OPTION_STOP, OPTION_UNIT, OPTION_SUFFIX, OPTION_LOW, OPTION_END};

static const struct command commands[] = {
    {
        .name = "",
        .function = cmd_execute,
        .usage = "-e \"COMMAND\" [OPTIONS]",
        .summary = "Run a command given as one text, and track it.",
        .help =
            "Tracks the computational resource usage (RAM, GPU RAM, CPU utilization, GPU "
            "utilization, and compute time) of a process corresponding to a given shell command.",
        .options = execute_options,
    },
    {
        .name = "run",
        .function = cmd_run,
        .usage = "[OPTIONS] [--] COMMAND [ARG...]",
        .summary = "Run a command and track it and all it starts.",
        .help =
            "Runs a command and tracks what it and everything it starts use. The command has the "
            "standard streams, the terminal, the signals and the exit status that it has without "
            "gpu-tracker; the report goes to the standard error, or to a file with -o.\n"
            "\n"
            "The exit status is the command's own; when a signal killed it, the same signal kills "
            "gpu-tracker. 125: gpu-tracker itself failed, 126: the command is not executable, "
            "127: it was not found, 2: wrong use of gpu-tracker.",
        .options = run_options,
        .operand = ARGUMENT_COMMAND,
        .least_operands = 1,
        .most_operands = -1,
        .takes_a_command = true,
    },
    {
        .name = "attach",
        .function = cmd_attach,
        .usage = "[OPTIONS] PID",
        .summary = "Track a process that is running already.",
        .help =
            "Tracks a running process and its descendants until it ends, for some seconds (--for), "
            "or until Ctrl-C, then prints the report. What the process used before, descendants "
            "that lose their parent, and its exit status cannot be known.",
        .options = attach_options,
        .operand = ARGUMENT_TEXT,
        .least_operands = 0,
        .most_operands = 1,
    },
    {
        .name = "show",
        .function = cmd_show,
        .usage = "[OPTIONS] FILE",
        .summary = "Print the results that a killed session left behind.",
        .help =
            "Prints the results so far that a tracking session keeps in a hidden file "
            "(.gpu-tracker_*) of its working directory, or where --resource-usage-file says. The "
            "file stays there when gpu-tracker itself is killed.",
        .options = show_options,
        .operand = ARGUMENT_FILE,
        .least_operands = 1,
        .most_operands = 1,
    },
    {
        .name = "mark start",
        .function = cmd_mark_start,
        .usage = "[OPTIONS] NAME",
        .summary = "Mark where a code block of a script starts.",
        .help = "Writes to a sub-tracking file that the code block of that name starts now, for "
                "shell scripts and other programs that cannot use the library. The same name is "
                "to be given to 'gpu-tracker mark stop' where it ends:\n"
                "\n"
                "    gpu-tracker mark start download --stf=blocks.csv\n"
                "    curl -O \"$url\"\n"
                "    gpu-tracker mark stop download --stf=blocks.csv",
        .options = mark_options,
        .operand = ARGUMENT_TEXT,
        .least_operands = 1,
        .most_operands = 1,
    },
    {
        .name = "mark stop",
        .function = cmd_mark_stop,
        .usage = "[OPTIONS] NAME",
        .summary = "Mark where a code block of a script stops.",
        .help = "Writes to a sub-tracking file that the code block of that name stops now. See "
                "'gpu-tracker mark start --help'.",
        .options = mark_options,
        .operand = ARGUMENT_TEXT,
        .least_operands = 1,
        .most_operands = 1,
    },
    {
        .name = "sub-track combine",
        .function = cmd_sub_track_combine,
        .usage = "--stf=<sub-track-file> -p <file-path>...",
        .summary = "Combine several sub-tracking files into one.",
        .help = "Combines multiple sub-tracking files into one. This is usually a result of "
                "sub-tracking a code block that is called in multiple simultaneous processes.\n"
                "\n"
                "    gpu-tracker sub-track combine --stf=all.csv -p worker1.csv -p worker2.csv\n"
                "    gpu-tracker sub-track combine --stf=all.csv -p folder/",
        .options = combine_options,
    },
    {
        .name = "doctor",
        .function = cmd_doctor,
        .usage = "[OPTIONS]",
        .summary = "Show what this machine can tell, and how to be told more.",
        .help =
            "Looks at every source of figures (procfs, memory maps, control groups, GPU drivers, "
            "energy counters, ...) and says whether it is available, partly so or not, why, and "
            "what opens it: a command to run, or a step for an administrator. Lists the GPUs that "
            "were found, with their UUIDs. Nothing is tracked.\n"
            "\n"
            "GPUT_PROCFS, GPUT_SYSFS and GPUT_NVML in the environment name another /proc, /sys and "
            "libnvidia-ml.so.1 than this machine's, here and for all commands that track.",
        .options = doctor_options,
    },
    {
        .name = "sub-track analyze",
        .function = cmd_sub_track_analyze,
        .usage = "--tf=<tracking-file> [--stf=<sub-track-file>] [OPTIONS]",
        .summary = "Show what a session and each of its code blocks used.",
        .help = "Generates the sub-tracking analysis report: statistics over all samples of the "
                "tracking file, and for each code block over the samples taken while it ran.",
        .options = analyze_options,
    },
    {
        .name = "sub-track compare",
        .function = cmd_sub_track_compare,
        .usage = "-m <name>=<file-path>... [OPTIONS]",
        .summary = "Compare the analyses of several sessions.",
        .help =
            "Compares the computational resource usage of several tracking sessions and of their "
            "code blocks. Code blocks match by name; those that differ in nothing but their line "
            "number match too, with a warning. Sessions are shown in ascending order.\n"
            "\n"
            "The exit status is 3 when a rule given with --fail-if is broken.",
        .options = compare_options,
    },
    {
        .name = "timeline merge",
        .function = cmd_timeline_merge,
        .usage = "[OPTIONS] INPUT...",
        .summary = "Merge recordings into one timeline.",
        .help =
            "Puts recordings on one timeline that Perfetto (ui.perfetto.dev) and chrome://tracing "
            "open: training profiles of SageMaker Debugger (a folder with \"system\" or "
            "\"framework\" in it), traces of PyTorch's profiler, one file a rank, and any other "
            "trace in the Chrome form, packed by gzip or not; of a folder without a training "
            "profile all trace files.\n"
            "\n"
            "Times are made absolute, so that all inputs share one clock. Readings of the machine "
            "become counters. Files that break off or are damaged are used as far as they are "
            "whole, with one warning each. Memory is bounded whatever their size.",
        .options = timeline_merge_options,
        .operand = ARGUMENT_FILE,
        .least_operands = 1,
        .most_operands = -1,
    },
};

const struct command *command_table(int *count)
{
    *count = sizeof commands / sizeof commands[0];
    return commands;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}
