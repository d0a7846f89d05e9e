#include "commands/command.h"
#include "options/option.h"

#include <gputracker/blocks.h>
#include <gputracker/profile.h>

/*
 * The options that each command takes, in the order of its help, with OPTION_END at the end.
 */

/* Where metrics go. */
#define PUSH_OPTIONS                                                                               \
    OPTION_OTLP, OPTION_REMOTE_WRITE, OPTION_PUSH_INTERVAL, OPTION_PUSH_TIMEOUT, OPTION_LABEL

/* What all commands that track take. */
#define TRACKING_OPTIONS                                                                           \
    OPTION_OUTPUT, OPTION_TRACKING_FORMAT, OPTION_QUIET, OPTION_SUMMARY, OPTION_HTML_REPORT,       \
        OPTION_TRACKING_CONFIG, OPTION_SLEEP_TIME, OPTION_RAM_UNIT, OPTION_GPU_RAM_UNIT,           \
        OPTION_TIME_UNIT, OPTION_EXPECTED_CORES, OPTION_GPU_UUIDS, OPTION_DISABLE_LOGS,            \
        OPTION_GPU_BRAND, OPTION_GPU_PARTS, OPTION_TRACKING_FILE, OPTION_OVERWRITE, OPTION_RAM,    \
        OPTION_PROCESSES, OPTION_COMMAND_LINES, OPTION_RESOURCE_USAGE_FILE, OPTION_SPOOL,          \
        OPTION_ENERGY_UNIT, OPTION_CARBON_INTENSITY, OPTION_ENERGY_FOLDER, OPTION_ENERGY_DRIVER,   \
        OPTION_MEASUREMENT_PERIOD, OPTION_CONT, OPTION_LISTEN, PUSH_OPTIONS, OPTION_TEXTFILE,      \
        OPTION_LIMIT, OPTION_ENFORCE, OPTION_HISTORY, OPTION_NO_HISTORY, OPTION_SIZE_OF,           \
        OPTION_LOG_TO

#define COMMON_OPTIONS OPTION_HELP, OPTION_VERSION

static const enum option_id energy_record_options[] = {COMMON_OPTIONS, OPTION_OUTPUT_FOLDER,
    OPTION_ENERGY_DRIVER, OPTION_PERIOD, OPTION_MEASUREMENT_PERIOD, OPTION_CONT, OPTION_CMD,
    OPTION_OUTPUT, OPTION_TRACKING_FORMAT, OPTION_TRACKING_FILE, OPTION_OVERWRITE, OPTION_GPU_BRAND,
    OPTION_GPU_UUIDS, OPTION_DISABLE_LOGS, OPTION_END};
static const enum option_id energy_summary_options[] = {COMMON_OPTIONS, OPTION_WINDOW_START,
    OPTION_WINDOW_END, OPTION_OUTPUT, OPTION_SUMMARY_FORMAT, OPTION_END};
static const enum option_id energy_curve_options[] = {COMMON_OPTIONS, OPTION_WINDOW_START,
    OPTION_WINDOW_END, OPTION_CURVE_OUTPUT, OPTION_CURVE_FORMAT, OPTION_END};

static const enum option_id help_options[] = {COMMON_OPTIONS, OPTION_END};
static const enum option_id execute_options[] = {OPTION_HELP, OPTION_PROGRAM_VERSION,
    OPTION_EXECUTE, TRACKING_OPTIONS, OPTION_PROGRESS, OPTION_END};
static const enum option_id run_options[] = {COMMON_OPTIONS, OPTION_NO_CONFIG, TRACKING_OPTIONS,
    OPTION_PROGRESS, OPTION_LIVE, OPTION_LIVE_MARKS, OPTION_REGIONS, OPTION_REGION_FILE,
    OPTION_REGION_FILTER, OPTION_REGION_DEPTH, OPTION_REGION_MIN, OPTION_REGION_EXACT,
    OPTION_PHASE_TOKEN, OPTION_PHASES, OPTION_TORCH_TRACE, OPTION_TORCH_TRACE_FILE, OPTION_END};
static const enum option_id why_options[] = {
    COMMON_OPTIONS, OPTION_NO_CONFIG, TRACKING_OPTIONS, OPTION_PROGRESS, OPTION_END};
static const struct option_group run_groups[] = {
    {"Results", {OPTION_OUTPUT, OPTION_TRACKING_FORMAT, OPTION_HTML_REPORT, OPTION_QUIET}},
    {"Samples", {OPTION_SLEEP_TIME, OPTION_TRACKING_FILE}},
    {"Look", {OPTION_LIVE, OPTION_PROCESSES, OPTION_REGIONS}},
    {"Limits", {OPTION_LIMIT, OPTION_ENFORCE}},
    {"Metrics", {OPTION_LISTEN, OPTION_OTLP}},
    {NULL, {OPTION_END}},
};
static const struct option_group why_groups[] = {
    {"Results", {OPTION_OUTPUT, OPTION_TRACKING_FORMAT, OPTION_HTML_REPORT, OPTION_QUIET}},
    {"Samples", {OPTION_SLEEP_TIME, OPTION_TRACKING_FILE, OPTION_PROCESSES}},
    {"Limits", {OPTION_LIMIT, OPTION_ENFORCE}},
    {NULL, {OPTION_END}},
};
static const struct option_group attach_groups[] = {
    {"Results", {OPTION_OUTPUT, OPTION_TRACKING_FORMAT, OPTION_HTML_REPORT, OPTION_QUIET}},
    {"Samples", {OPTION_FOR, OPTION_SLEEP_TIME, OPTION_TRACKING_FILE, OPTION_PROCESSES}},
    {"Limits", {OPTION_LIMIT, OPTION_ENFORCE}},
    {"Metrics", {OPTION_LISTEN, OPTION_OTLP}},
    {NULL, {OPTION_END}},
};
static const struct option_group serve_groups[] = {
    {"Page", {OPTION_SERVE_LISTEN, OPTION_OWNERS, OPTION_SLEEP_TIME}},
    {"GPUs", {OPTION_GPU_BRAND, OPTION_GPU_UUIDS, OPTION_GPU_PARTS}},
    {"Send", {OPTION_OTLP, OPTION_REMOTE_WRITE, OPTION_PUSH_INTERVAL, OPTION_LABEL}},
    {"Power", {OPTION_ENERGY_FOLDER}},
    {NULL, {OPTION_END}},
};
static const enum option_id live_options[] = {COMMON_OPTIONS, OPTION_LIVE_JOB, OPTION_LIVE_MARKS,
    OPTION_SLEEP_TIME, OPTION_GPU_BRAND, OPTION_GPU_UUIDS, OPTION_DISABLE_LOGS, OPTION_END};
static const enum option_id attach_options[] = {
    COMMON_OPTIONS, OPTION_NO_CONFIG, OPTION_FOR, TRACKING_OPTIONS, OPTION_END};
static const enum option_id serve_options[] = {COMMON_OPTIONS, OPTION_SERVE_LISTEN, OPTION_OWNERS,
    OPTION_SLEEP_TIME, OPTION_GPU_BRAND, OPTION_GPU_UUIDS, OPTION_GPU_PARTS, OPTION_ENERGY_FOLDER,
    OPTION_ENERGY_DRIVER, OPTION_MEASUREMENT_PERIOD, OPTION_CONT, PUSH_OPTIONS, OPTION_DISABLE_LOGS,
    OPTION_END};
static const enum option_id show_options[] = {COMMON_OPTIONS, OPTION_OUTPUT, OPTION_TRACKING_FORMAT,
    OPTION_RAM_UNIT, OPTION_GPU_RAM_UNIT, OPTION_TIME_UNIT, OPTION_END};
static const enum option_id report_options[] = {COMMON_OPTIONS, OPTION_REPORT_OUTPUT,
    OPTION_OVERWRITTEN, OPTION_REPORT_FORMAT, OPTION_PERFETTO, OPTION_REPORT_MARKS,
    OPTION_REPORT_TITLE, OPTION_END};
static const enum option_id push_options[] = {COMMON_OPTIONS, OPTION_OTLP, OPTION_REMOTE_WRITE,
    OPTION_SENT_INTERVAL, OPTION_PUSH_TIMEOUT, OPTION_LABEL, OPTION_END};
static const enum option_id bench_options[] = {COMMON_OPTIONS, OPTION_BENCH_NAME, OPTION_BENCH_RUNS,
    OPTION_BENCH_PRECISION, OPTION_BENCH_MIN_TIME, OPTION_BENCH_MAX_TIME, OPTION_BENCH_WARMUP,
    OPTION_BENCH_SETUP, OPTION_BENCH_PREPARE, OPTION_BENCH_CONCLUDE, OPTION_BENCH_CLEANUP,
    OPTION_BENCH_IGNORE_FAILURE, OPTION_BENCH_INPUT, OPTION_BENCH_SHOW_OUTPUT, OPTION_BENCH_TIMEOUT,
    OPTION_BENCH_PARAMETER, OPTION_BENCH_PAIR, OPTION_BENCH_SHELL, OPTION_BENCH_SEED,
    OPTION_BENCH_IN_ORDER, OPTION_BENCH_KEEP, OPTION_BENCH_WORK, OPTION_BENCH_BASELINE,
    OPTION_BENCH_FAIL_IF, OPTION_BENCH_OUTPUT, OPTION_BENCH_FORMAT, OPTION_BENCH_DETAILS,
    OPTION_BENCH_QUIET, OPTION_SLEEP_TIME, OPTION_GPU_UUIDS, OPTION_END};
static const struct option_group bench_groups[] = {
    {"Commands", {OPTION_BENCH_NAME, OPTION_BENCH_PARAMETER, OPTION_BENCH_SHELL}},
    {"Runs", {OPTION_BENCH_RUNS, OPTION_BENCH_WARMUP, OPTION_BENCH_PREPARE, OPTION_BENCH_MAX_TIME}},
    {"Results", {OPTION_BENCH_OUTPUT, OPTION_BENCH_FORMAT, OPTION_BENCH_WORK}},
    {"Compare", {OPTION_BENCH_BASELINE, OPTION_BENCH_FAIL_IF}},
    {NULL, {OPTION_END}},
};
static const enum option_id compare_runs_options[] = {
    COMMON_OPTIONS, OPTION_OUTPUT, OPTION_COMPARED_FORMAT, OPTION_COMPARED_FAIL_IF, OPTION_END};
static const enum option_id job_options[] = {COMMON_OPTIONS, OPTION_OUTPUT, OPTION_JOB_FORMAT,
    OPTION_JOB_TABLE, OPTION_HTML_REPORT, OPTION_END};
static const enum option_id history_options[] = {COMMON_OPTIONS, OPTION_OUTPUT,
    OPTION_HISTORY_FORMAT, OPTION_HISTORY_SINCE, OPTION_HISTORY_LAST, OPTION_HISTORY_SORT,
    OPTION_END};
static const enum option_id size_options[] = {COMMON_OPTIONS, OPTION_SIZE_FORMAT, OPTION_SIZE_SHARE,
    OPTION_NEXT_SIZE_OF, OPTION_NEXT_RANKS, OPTION_HISTORY_SINCE, OPTION_END};
static const enum option_id plot_options[] = {COMMON_OPTIONS, OPTION_PLOT_OUTPUT,
    OPTION_OVERWRITTEN, OPTION_PLOT_FIGURES, OPTION_PLOT_BLOCKS, OPTION_REPORT_MARKS,
    OPTION_PLOT_START, OPTION_PLOT_END, OPTION_PLOT_SIZE, OPTION_PLOT_TITLE, OPTION_END};
static const enum option_id doctor_options[] = {
    COMMON_OPTIONS, OPTION_OUTPUT, OPTION_FORMAT, OPTION_FIX_SCRIPT, OPTION_GPU_BRAND, OPTION_END};
static const enum option_id gpus_options[] = {COMMON_OPTIONS, OPTION_TABLE_OUTPUT,
    OPTION_TABLE_FORMAT, OPTION_GPUS_TABLE, OPTION_GPU_PARTS, OPTION_WATCH, OPTION_WATCH_INTERVAL,
    OPTION_GPU_BRAND, OPTION_GPU_UUIDS, OPTION_END};
static const enum option_id analyze_options[] = {COMMON_OPTIONS, OPTION_ANALYZED_FILE,
    OPTION_SUB_TRACKING_FILE, OPTION_OUTPUT, OPTION_ANALYSIS_FORMAT, OPTION_ALL, OPTION_DETAILS,
    OPTION_OPEN_CALLS, OPTION_BY, OPTION_CORES, OPTION_END};
static const enum option_id compare_options[] = {COMMON_OPTIONS, OPTION_MAP,
    OPTION_COMPARISON_CONFIG, OPTION_STATISTIC, OPTION_OUTPUT, OPTION_COMPARISON_FORMAT, OPTION_ALL,
    OPTION_RELATIVE, OPTION_FAIL_IF, OPTION_END};
static const enum option_id combine_options[] = {
    COMMON_OPTIONS, OPTION_COMBINED_FILE, OPTION_PART, OPTION_MIX, OPTION_CORES, OPTION_END};
static const enum option_id mark_options[] = {
    COMMON_OPTIONS, OPTION_MARKED_FILE, OPTION_MARKED_PROCESS, OPTION_END};

static const enum option_id timeline_merge_options[] = {COMMON_OPTIONS, OPTION_MERGED_OUTPUT,
    OPTION_START, OPTION_STOP, OPTION_STEPS, OPTION_UNIT, OPTION_SUFFIX, OPTION_LOW, OPTION_CORES,
    OPTION_END};

/* What all commands that make tables take. */
#define TABLE_OPTIONS COMMON_OPTIONS, OPTION_TABLE_OUTPUT, OPTION_TABLE_FORMAT
#define RECORDING_OPTIONS TABLE_OPTIONS, OPTION_CORES
#define SELECTION_OPTIONS OPTION_START, OPTION_STOP, OPTION_STEPS, OPTION_UNIT

#ifdef WITH_TRAINING
static const enum option_id profile_job_options[] = {RECORDING_OPTIONS, OPTION_END};
static const enum option_id profile_steps_options[] = {
    RECORDING_OPTIONS, OPTION_STEPS_BY, SELECTION_OPTIONS, OPTION_END};
static const enum option_id profile_phases_options[] = {
    RECORDING_OPTIONS, OPTION_PHASE, SELECTION_OPTIONS, OPTION_END};
static const enum option_id profile_utilization_options[] = {RECORDING_OPTIONS, OPTION_RESOURCE,
    OPTION_UTILIZATION_BY, OPTION_PHASE, SELECTION_OPTIONS, OPTION_END};
static const enum option_id profile_devices_options[] = {
    RECORDING_OPTIONS, OPTION_RESOURCE, OPTION_RANGES, SELECTION_OPTIONS, OPTION_END};
static const enum option_id profile_dataloader_options[] = {
    RECORDING_OPTIONS, OPTION_TABLE, SELECTION_OPTIONS, OPTION_END};
static const enum option_id profile_rows_options[] = {RECORDING_OPTIONS, OPTION_TABLE,
    OPTION_METRIC, SELECTION_OPTIONS, OPTION_AT, OPTION_BETWEEN, OPTION_END};
static const enum option_id profile_kineto_options[] = {RECORDING_OPTIONS, OPTION_END};
static const enum option_id profile_kineto_top_options[] = {
    RECORDING_OPTIONS, OPTION_COUNT_SHOWN, OPTION_END};
static const enum option_id profile_python_options[] = {TABLE_OPTIONS, OPTION_SORT,
    OPTION_PYTHON_BY, OPTION_COUNT_SHOWN, OPTION_PROFILER, SELECTION_OPTIONS, OPTION_START_PHASE,
    OPTION_END_PHASE, OPTION_START_MODE, OPTION_END_MODE, OPTION_NODE, OPTION_END};
#endif

static const struct command commands[] = {
    {
        .name = "",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker -e \"bash example-script.sh\" --st=0.3 --tu=seconds",
        .function = cmd_execute,
        .usage = "-e \"COMMAND\" [OPTIONS]",
        .summary = "Run a command given as one string, and track it.",
        .help =
            "Tracks the computational resource usage (RAM, GPU RAM, CPU utilization, GPU "
            "utilization, and compute time) of a process corresponding to a given shell command.",
        .options = execute_options,
        .instead = "To give the command as it is: gpu-tracker run [OPTIONS] -- COMMAND",
    },
    {
        .name = "run",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker run -- make -j8\n"
                    "gpu-tracker run -f json -o usage.json -- python train.py\n"
                    "gpu-tracker run --live -- make -j8\n"
                    "gpu-tracker run --st 0.1 --tf samples.csv -- ./simulate\n"
                    "gpu-tracker run --limit ram=8GB --enforce -- ./simulate",
        .function = cmd_run,
        .usage = "[OPTIONS] [--] COMMAND [ARG...]",
        .summary = "Run a command and track it and all it starts.",
        .help =
            "Runs a command and tracks what it and everything it starts use. The command has the "
            "standard streams, terminal, signals and exit status that it would have without "
            "gpu-tracker. The report goes to standard error, or to a file with -o.\n"
            "\n"
            "The names of output files and folders (-o, --tf, --report ...) may contain %h for the "
            "host, %p for the process id, %j for the job, %r for the rank, %l for the local rank, "
            "%n for the next free number, %t for the time, %q{NAME} for an environment variable, "
            "and %% for a percent sign. Under mpirun, srun, torchrun and the like, a name that "
            "would be the same for all ranks has the rank put before its extension "
            "(usage.r3.json). Elements of job arrays and jobs of GNU parallel are numbered "
            "likewise (usage.t3.json).\n"
            "\n"
            "The exit status is the command's own. If a signal killed the command, gpu-tracker "
            "kills itself with the same signal. Other statuses: 124: a limit was exceeded and "
            "enforced. 125: gpu-tracker itself failed, or an option has an invalid value. 126: the "
            "command is not executable. 127: the command was not found. 2: usage error.",
        .options = run_options,
        .groups = run_groups,
        .takes_defaults = true,
        .operands = {ARGUMENT_COMMAND, 1, -1},
        .instead = "To give a command as one string: gpu-tracker -e \"COMMAND\"; as it is: "
                   "gpu-tracker run -- COMMAND",
        .takes_a_command = true,
    },
    {
        .name = "why",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker why -- python train.py\n"
                    "gpu-tracker why usage.json",
        .function = cmd_why,
        .usage = "[OPTIONS] [--] COMMAND [ARG...] | REPORT.json...",
        .summary = "Say where the time of a command went.",
        .help =
            "Runs a command as `run` does, and says at the end where its wall time went: "
            "computing, "
            "waiting for a CPU, held by a quota, waiting for storage or memory, or asleep in a "
            "pipe, a socket, a lock, a child, a timer. It divides the time of the main thread, "
            "with "
            "what its children did while it waited for them; that of all other threads; and that "
            "of the main thread while no GPU was busy. Each share has its possible error. Advice "
            "follows.\n"
            "\n"
            "Given reports in JSON, or the files that killed sessions left, it says the same of "
            "those sessions.",
        .options = why_options,
        .groups = why_groups,
        .takes_defaults = true,
        .operands = {ARGUMENT_COMMAND, 1, -1},
        .takes_a_command = true,
    },
    {
        .name = "attach",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker attach 4711\n"
                    "gpu-tracker attach --for 60 --tf samples.csv 4711",
        .function = cmd_attach,
        .usage = "[OPTIONS] PID",
        .summary = "Track a process that is already running.",
        .help =
            "Tracks a running process and its descendants until it ends, for a number of seconds "
            "(--for), or until Ctrl-C, then prints the report. What the process used before, and "
            "its exit status, cannot be known. A descendant whose parent ended before it was first "
            "sampled may be missing.",
        .options = attach_options,
        .groups = attach_groups,
        .takes_defaults = true,
        .operands = {ARGUMENT_TEXT, 0, 1},
        .instead = "To start a command: gpu-tracker run -- COMMAND",
    },
    {
        .name = "live",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker live\n"
                    "gpu-tracker live 4711\n"
                    "gpu-tracker live --job results",
        .function = cmd_live,
        .usage = "[OPTIONS] [PID]",
        .summary = "Watch a process, or the machine, on the terminal.",
        .help = "Shows what a running process and its descendants use, or, without PID, the "
                "machine and all of its processes. Each figure, including GPUs and power, is shown "
                "with its current value, its peak and its last minute. --job shows the ranks of a "
                "job instead. Processes can be sorted, folded, filtered and sent signals. Kernel "
                "threads are one row, kthreadd, until it "
                "is unfolded (space). '?' shows the keys, 'q' quits. Nothing is kept. 'gpu-tracker "
                "run --live' shows the same for a command.",
        .options = live_options,
        .operands = {ARGUMENT_TEXT, 0, 1},
        .instead = "To start a command: gpu-tracker run --live -- COMMAND",
    },
    {
        .name = "help",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker help\n"
                    "gpu-tracker help energy\n"
                    "gpu-tracker help sub-track analyze",
        .function = cmd_help,
        .usage = "[TOPIC | COMMAND]",
        .summary = "Show all commands, a topic, or one command.",
        .help = "Without an operand: the commands by purpose, on one screen. Topics are "
                "track, report, blocks, energy, training and serve. Each shows its commands and "
                "examples.",
        .options = help_options,
        .operands = {ARGUMENT_HELP, 0, 2},
    },
    {
        .name = "serve",
        .topic = TOPIC_SERVE,
        .examples = "gpu-tracker serve\n"
                    "gpu-tracker serve --listen 0.0.0.0:5001 --st 5",
        .function = cmd_serve,
        .usage = "[OPTIONS]",
        .summary = "Serve figures of the whole machine to Prometheus.",
        .help = "Measures the machine (CPU, RAM, network, GPUs, energy) and serves the figures at "
                "/metrics over HTTP, until Ctrl-C or SIGTERM. The format is Prometheus' text "
                "format or OpenMetrics. No process is tracked; 'gpu-tracker run' and 'gpu-tracker "
                "attach' with --listen also serve what a command or a process uses. With "
                "--energy-folder the power of the machine is recorded as well.",
        .options = serve_options,
        .instead = "On another port: gpu-tracker serve --listen 9000",
        .groups = serve_groups,
    },
    {
        .name = "show",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker show\n"
                    "gpu-tracker show -f json .gpu-tracker_4711",
        .function = cmd_show,
        .usage = "[OPTIONS] [FILE]",
        .summary = "Print a report, or what a killed session left.",
        .help =
            "Prints the results so far that a session keeps while it runs, in a hidden file "
            "(.gpu-tracker_*) of its working directory (for a rank of a parallel job, in the "
            "folder of its report) or in the file given by --resource-usage-file. The file "
            "remains when gpu-tracker itself is killed. Without FILE the newest one of the working "
            "directory is shown. The pickle that the older Python "
            "package leaves is also read, as data only, and so is a report in JSON.",
        .options = show_options,
        .operands = {ARGUMENT_FILE, 0, 1},
    },
    {
        .name = "bench",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker bench -- ./simulate small.in\n"
                    "gpu-tracker bench -n old './simulate old.in' -n new './simulate new.in' -r 9\n"
                    "gpu-tracker bench -P threads=1,2,4 './simulate {threads}' -o x.html",
        .function = cmd_bench,
        .usage = "[OPTIONS] COMMAND...",
        .summary = "Run commands repeatedly and compare what they use.",
        .help =
            "Runs one command after --, or several, each in quotes. A command in quotes is split "
            "into words as a shell does, and NAME=value before it sets a variable; for pipes and "
            "the like there is -S. Each run is tracked as by 'gpu-tracker run'. Commands run in "
            "blocks: each command once, in random order, so that changes on the machine affect all "
            "commands alike. The result has the mean of each figure with its 95 % interval, and "
            "says in words what differs from the first command. It also says how much equal runs "
            "of the first command differ, and what disturbed runs.\n"
            "\n"
            "Exit status: 0, or 3 when a rule of --fail-if holds, 1 when a run failed or a rule "
            "cannot be checked, 130 after Ctrl-C, which prints what there is.",
        .options = bench_options,
        .groups = bench_groups,
        .operands = {ARGUMENT_COMMAND, 1, -1},
        .instead = "One command with its arguments: gpu-tracker bench -- COMMAND",
    },
    {
        .name = "compare",
        .topic = TOPIC_REPORT,
        .examples = "gpu-tracker compare old.json new.json\n"
                    "gpu-tracker compare --fail-if 'wall > 3600' old.json new.json\n"
                    "gpu-tracker compare -f csv -o runs.csv old.json new.json train.sqlite",
        .function = cmd_compare,
        .usage = "[OPTIONS] FILE FILE...",
        .summary = "Compare the results of several runs.",
        .help =
            "Shows wall time, CPU time, peaks of RAM and GPU RAM, bytes and energy of several runs "
            "side by side, each with its change from the first. A FILE is what 'gpu-tracker run "
            "-o x.json' or '--tf' writes. The exit status is 3 when a rule of --fail-if is broken, "
            "and 1 when one cannot be checked. 'gpu-tracker sub-track compare' compares code "
            "blocks, 'gpu-tracker bench' runs commands repeatedly, and 'gpu-tracker report' shows "
            "the curves of runs over each other.",
        .options = compare_runs_options,
        .operands = {ARGUMENT_FILE, 2, -1},
    },
    {
        .name = "job",
        .topic = TOPIC_REPORT,
        .examples = "gpu-tracker job results\n"
                    "gpu-tracker job results -f csv -o ranks.csv\n"
                    "gpu-tracker job results --table findings -f csv\n"
                    "gpu-tracker job usage.r0.json usage.r1.json --report job.html",
        .function = cmd_job,
        .usage = "[OPTIONS] DIR|FILE...",
        .summary = "Show the results of many ranks as one job.",
        .help =
            "Reads the files of ranks on any number of machines: reports in JSON, tracking files "
            "and results files of killed sessions. A folder stands for all such files in it. "
            "Prints what each job used of its allocation, which ranks were slow, waited, failed or "
            "are missing, and advice with the figures it is based on. Several files of one session "
            "count once, and so do the figures of each machine and each GPU. The clocks of the "
            "machines are compared. A file that cannot be read is named; the others are shown.",
        .options = job_options,
        .operands = {ARGUMENT_FILE, 1, -1},
    },
    {
        .name = "history",
        .topic = TOPIC_REPORT,
        .examples = "gpu-tracker history on\n"
                    "gpu-tracker history\n"
                    "gpu-tracker history train.py --since 30d\n"
                    "gpu-tracker history -f csv -o sessions.csv\n"
                    "gpu-tracker history show 2",
        .function = cmd_history,
        .usage = "[OPTIONS] [NAME | DIR/ | show N... | report N... | compare N N... | on | off | "
                 "forget [N...|NAME|all]]",
        .summary = "Show what ran on this machine, and what it used.",
        .help =
            "Shows the sessions of this user on this machine, one a line, the last one at the end: "
            "when, how long, CPU time, peak RAM, GPU RAM, how it ended, and the command. With NAME "
            "only those whose command has that in its name; with DIR/ those whose reports are in "
            "that "
            "folder. 'show N' shows all that is known of session N, 'report N' writes its HTML "
            "report, and 'compare N M' compares two, where their files are still there.\n"
            "\n"
            "Nothing is kept until you say so. 'on' keeps every session from now on, of run, "
            "attach and gpu-tracker -e; 'off' ends that. One session: gpu-tracker run --history. "
            "'forget 12 13', 'forget train.py' and 'forget all' remove sessions from the history; "
            "files that they wrote stay. A row has the name of the program and its script, no "
            "arguments.\n"
            "\n"
            "The history is an SQLite database, history.HOST.sqlite in gpu-tracker/ of "
            "$XDG_STATE_HOME or ~/.local/state; GPUT_HISTORY=FOLDER names another folder, and "
            "turns it on.",
        .options = history_options,
        .operands = {ARGUMENT_TEXT, 0, -1},
    },
    {
        .name = "size",
        .topic = TOPIC_REPORT,
        .examples = "gpu-tracker size -- ./simulate big.in\n"
                    "gpu-tracker size simulate -f text\n"
                    "gpu-tracker size -f kubernetes -- ./simulate big.in",
        .function = cmd_size,
        .usage = "[OPTIONS] NAME | -- COMMAND [ARG...] | SESSION...",
        .summary = "Show how much RAM and time to ask a scheduler for.",
        .help =
            "Prints what to ask for, so that 95 % of future runs of a command fit: RAM, time, "
            "cores and GPUs, from its runs in the history ('gpu-tracker history on') or from "
            "SESSIONs, which are reports in JSON. The request is the only output. What it rests "
            "on goes to standard error: how many runs, how old, what had to be assumed. So this "
            "works:\n"
            "\n"
            "    sbatch $(gpu-tracker size -- ./simulate big.in) job.sh\n"
            "\n"
            "Runs that were killed because memory or time ran out count as ones that wanted more. "
            "Those that failed otherwise are left out. If runs were kept with --size-of and take "
            "more for larger inputs, the request is for the input of the next run.",
        .options = size_options,
        .operands = {ARGUMENT_TEXT, 1, -1},
    },
    {
        .name = "push",
        .topic = TOPIC_SERVE,
        .examples = "gpu-tracker push results --remote-write http://prometheus:9090\n"
                    "gpu-tracker push train.sqlite --otlp=http://collector:4318 --label job=train",
        .function = cmd_push,
        .usage = "[OPTIONS] SESSION...",
        .summary = "Send finished sessions to a metrics store.",
        .help =
            "Sends the samples of sessions, with their past times, to Prometheus or another "
            "receiver of remote write, or to one of OpenTelemetry. A SESSION is a tracking file, a "
            "report in JSON, the results file of a killed session, or a folder of these. If a "
            "receiver is busy, sending is tried again. If it refuses a session, that is reported, "
            "the other sessions are sent, and the exit status is 1. Prometheus accepts past "
            "samples if its configuration has a long enough out_of_order_time_window.",
        .options = push_options,
        .operands = {ARGUMENT_FILE, 1, -1},
    },
    {
        .name = "report",
        .topic = TOPIC_REPORT,
        .examples = "gpu-tracker report train.sqlite -o train.html\n"
                    "gpu-tracker report samples.csv --stf blocks.csv\n"
                    "gpu-tracker report before.csv after.csv -o both.html\n"
                    "gpu-tracker report train.sqlite -f csv -o tables",
        .function = cmd_report,
        .usage = "[OPTIONS] [SESSION...]",
        .summary = "Show sessions in one HTML file, or export them.",
        .help =
            "Writes an HTML file that shows what sessions used: curves of RAM, CPU, GPUs and "
            "power, code blocks, processes, figures with their bounds and sources. It opens in any "
            "browser and needs no network.\n"
            "\n"
            "Without a SESSION it is the newest tracking file of the working directory. A SESSION "
            "is a tracking file (.csv or .sqlite, also of the older Python package), a "
            "sub-tracking file, a recording of power (--energy-folder), a report in JSON, or the "
            "results file of a killed session. It may also be a training profile of SageMaker "
            "Debugger, a Python profile (cProfile, pyinstrument), a trace of PyTorch's profiler or "
            "in Chrome's format, or a folder of these. Results and sub-tracking files belong to "
            "the only tracking file next to them, or to the one with whose name theirs begins. "
            "NAME=SESSION gives a session a name. Sessions whose names or paths have different "
            "ranks (rank0=a.csv, run.r1.csv, rank2/t.csv) are shown as the ranks of one job.",
        .note = cmd_report_note,
        .options = report_options,
        .operands = {ARGUMENT_FILE, 0, -1},
    },
    {
        .name = "plot",
        .topic = TOPIC_REPORT,
        .examples = "gpu-tracker plot train.sqlite -o train.svg\n"
                    "gpu-tracker plot samples.csv --stf blocks.csv --blocks -o blocks.svg\n"
                    "gpu-tracker plot before.sqlite after.sqlite --size 88x50mm -o ram.pdf",
        .function = cmd_plot,
        .usage = "[OPTIONS] [SESSION...]",
        .summary = "Draw curves of sessions as a picture for papers.",
        .help = "Draws RAM, CPU, GPUs and power of sessions over time, as SVG, PDF or PNG, by the "
                "extension of -o. Several sessions are drawn over each other, each from its own "
                "beginning. A SESSION is anything that 'gpu-tracker report' accepts; without one "
                "it is the newest tracking file of the working directory.\n"
                "\n"
                "No peak is lost, however many samples there are. PDF and PNG need the libraries "
                "cairo and Pango (Debian: libpangocairo-1.0-0), SVG needs nothing.",
        .options = plot_options,
        .operands = {ARGUMENT_FILE, 0, -1},
    },
    {
        .name = "mark start",
        .topic = TOPIC_BLOCKS,
        .examples = "gpu-tracker mark start download --stf=blocks.csv\n"
                    "curl -O \"$url\"\n"
                    "gpu-tracker mark stop download --stf=blocks.csv",
        .function = cmd_mark,
        .view = GPUT_BLOCK_START,
        .usage = "[OPTIONS] NAME",
        .summary = "Mark the start of a code block in a script.",
        .help = "Writes a start mark for the code block NAME to a sub-tracking file. It is for "
                "shell scripts and other programs that cannot use the library. Give the same name "
                "to 'gpu-tracker mark stop' where the code block ends.",
        .options = mark_options,
        .operands = {ARGUMENT_TEXT, 1, 1},
    },
    {
        .name = "mark stop",
        .topic = TOPIC_BLOCKS,
        .examples = "gpu-tracker mark stop download --stf=blocks.csv",
        .function = cmd_mark,
        .view = GPUT_BLOCK_STOP,
        .usage = "[OPTIONS] NAME",
        .summary = "Mark the stop of a code block in a script.",
        .help = "Writes a stop mark for the code block NAME to a sub-tracking file. See "
                "'gpu-tracker mark start --help'.",
        .options = mark_options,
        .operands = {ARGUMENT_TEXT, 1, 1},
    },
    {
        .name = "sub-track combine",
        .topic = TOPIC_BLOCKS,
        .examples = "gpu-tracker sub-track combine --stf=all.csv -p worker1.csv -p worker2.csv\n"
                    "gpu-tracker sub-track combine --stf=all.csv -p worker*.csv\n"
                    "gpu-tracker sub-track combine --stf=all.csv -p folder/",
        .function = cmd_sub_track_combine,
        .usage = "--stf=<sub-track-file> -p <file-path>...",
        .summary = "Combine several sub-tracking files into one.",
        .help = "Combines multiple sub-tracking files into one. This is usually a result of "
                "sub-tracking a code block that is called in multiple simultaneous processes.",
        .options = combine_options,
        .operands = {ARGUMENT_FILE, 0, -1},
    },
    {
        .name = "energy record",
        .topic = TOPIC_ENERGY,
        .examples = "gpu-tracker energy record --output-folder=exp1 -- python train.py\n"
                    "gpu-tracker energy summary exp1",
        .function = cmd_energy_record,
        .usage = "--output-folder=<folder> [OPTIONS] --cmd=\"COMMAND\" | COMMAND [ARG...]",
        .summary = "Run a command and record power while it runs.",
        .help = "Runs a command and records the power of the machine, and the command's share of "
                "it, in a folder in AIPowerMeter's format. It does the same as 'gpu-tracker run "
                "--energy-folder', and prints no report. Without energy counters or GPUs the "
                "recording has only CPU time and memory, and one warning says so.\n"
                "\n"
                "The exit status is the command's own.",
        .options = energy_record_options,
        .operands = {ARGUMENT_COMMAND, 0, -1},
        .takes_a_command = true,
    },
    {
        .name = "energy summary",
        .topic = TOPIC_ENERGY,
        .examples = "gpu-tracker energy summary exp1\n"
                    "gpu-tracker energy summary --start 60 --end 120 -f json exp1",
        .function = cmd_energy_summary,
        .usage = "[OPTIONS] DIR",
        .summary = "Show the totals of a recording of power.",
        .help = "Shows joules, mean and maximum of every metric of a recording, written by "
                "AIPowerMeter or gpu-tracker. Integrals use the trapezoidal rule, segment by "
                "segment. The time between two segments adds nothing.",
        .options = energy_summary_options,
        .operands = {ARGUMENT_FILE, 1, 1},
    },
    {
        .name = "energy curve",
        .topic = TOPIC_ENERGY,
        .examples = "gpu-tracker energy curve exp1 intel_power,total_dram_power -o power.svg\n"
                    "gpu-tracker energy curve exp1 per_process_mem_use_abs -f csv",
        .function = cmd_energy_curve,
        .usage = "[OPTIONS] DIR NAME[,NAME...]",
        .summary = "Print or draw metrics of a recording of power.",
        .help = "Prints the points of metrics as text, JSON or CSV, or draws them. 'gpu-tracker "
                "energy summary' lists the metrics:\n"
                "\n"
                "    gpu-tracker energy curve exp1 intel_power,total_dram_power -o power.svg",
        .options = energy_curve_options,
        .operands = {ARGUMENT_FILE, 2, 2},
    },
    {
        .name = "gpus",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker gpus\n"
                    "gpu-tracker gpus -f csv\n"
                    "gpu-tracker gpus --table gpus -f json -o cards.json",
        .function = cmd_gpus,
        .usage = "[OPTIONS]",
        .summary = "Show who uses which GPU now, and the state of the cards.",
        .help = "Lists the GPUs of all vendors with RAM, utilization, power and its limit, "
                "temperature, clocks, PCIe link, what a card is slowed by and what is wrong with "
                "it; and each process on them, with its user, GPU RAM and share of the "
                "processors. JSON and CSV have more of each card. What a driver does not give is "
                "missing, never 0. 'missing' says why. Nothing is tracked.\n"
                "\n"
                "The exit status is 1 when there is a GPU that cannot be read.",
        .options = gpus_options,
    },
    {
        .name = "doctor",
        .topic = TOPIC_TRACK,
        .examples = "gpu-tracker doctor\n"
                    "gpu-tracker doctor -f json -o machine.json\n"
                    "gpu-tracker doctor --fix-script -o fix.sh",
        .function = cmd_doctor,
        .usage = "[OPTIONS]",
        .summary = "Show what can be measured here, and how to get more.",
        .help = "Checks every source of figures (procfs, memory maps, control groups, GPU drivers, "
                "energy counters, ...). It says whether the source is available, partly available "
                "or not, why, and what makes it available: a command to run, or a step for an "
                "administrator. It lists the GPUs that were found, with their UUIDs. Nothing is "
                "tracked.\n"
                "\n"
                "The environment variables GPUT_PROCFS, GPUT_SYSFS and GPUT_NVML replace /proc, "
                "/sys and libnvidia-ml.so.1, here and for all commands that track.",
        .options = doctor_options,
    },
    {
        .name = "sub-track analyze",
        .topic = TOPIC_BLOCKS,
        .examples = "gpu-tracker sub-track analyze --tf=samples.csv --stf=blocks.csv\n"
                    "gpu-tracker sub-track analyze --tf=samples.csv -f json -o before.json",
        .function = cmd_sub_track_analyze,
        .usage = "--tf=<tracking-file> [--stf=<sub-track-file>] [OPTIONS]",
        .summary = "Show what a session and its code blocks used.",
        .help = "Generates the sub-tracking analysis report: statistics over all samples of the "
                "tracking file, and for each code block over the samples taken while it ran.",
        .options = analyze_options,
    },
    {
        .name = "sub-track compare",
        .topic = TOPIC_BLOCKS,
        .examples = "gpu-tracker sub-track compare -m before=before.json -m after=after.json\n"
                    "gpu-tracker sub-track compare -m before=before.json -m after=after.json \\\n"
                    "        --stat max --fail-if 'max main_ram > +5%'\n"
                    "gpu-tracker sub-track compare -m before=before.json -m after=after.json \\\n"
                    "        -o comparison.svg",
        .function = cmd_sub_track_compare,
        .usage = "-m <name>=<file-path>... [OPTIONS]",
        .summary = "Compare the analyses of several sessions.",
        .help =
            "Compares the computational resource usage of several tracking sessions and of their "
            "code blocks. Code blocks match by name. Names that differ only in their line number "
            "match too, with a warning. Sessions are shown in ascending order.\n"
            "\n"
            "The exit status is 3 when a rule given with --fail-if is broken, and 1 when one "
            "cannot "
            "be checked, as a session lacks its figure.",
        .options = compare_options,
    },
#ifdef WITH_TRAINING
    {
        .name = "profile job",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker profile job profiler-output",
        .function = cmd_profile,
        .view = GPUT_PROFILE_JOB,
        .usage = "[OPTIONS] DIR",
        .summary = "Show when a job and its loop began and ended.",
        .help = "Reads a training profile (a folder that contains \"system\" or \"framework\"). "
                "Shows when the job and its training loop began and ended, and how much time was "
                "before, in and after the loop. Durations are in seconds.",
        .options = profile_job_options,
        .operands = {ARGUMENT_FILE, 1, 1},
    },
    {
        .name = "profile steps",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker profile steps --by framework_metric profiler-output",
        .function = cmd_profile,
        .view = GPUT_PROFILE_STEPS,
        .usage = "[OPTIONS] DIR",
        .summary = "Show how long training steps took.",
        .help = "Shows durations in microseconds: mean, minimum, maximum, 50th, 95th and 99th "
                "percentile. All events of one step and key form one span, from the first begin to "
                "the last end. An event without a step belongs to the step whose interval strictly "
                "contains it. Events in no step do not count.",
        .options = profile_steps_options,
        .operands = {ARGUMENT_FILE, 1, 1},
    },
    {
        .name = "profile phases",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker profile phases -f csv -o phases.csv profiler-output",
        .function = cmd_profile,
        .view = GPUT_PROFILE_PHASES,
        .usage = "[OPTIONS] DIR",
        .summary = "Show the intervals of training and evaluation.",
        .help = "Shows runs of consecutive steps of one training phase, and the intervals before, "
                "between and after them. Relative times count from the first system file.",
        .options = profile_phases_options,
        .operands = {ARGUMENT_FILE, 1, 1},
    },
    {
        .name = "profile utilization",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker profile utilization --resource gpu,cpu profiler-output",
        .function = cmd_profile,
        .view = GPUT_PROFILE_UTILIZATION,
        .usage = "[OPTIONS] DIR",
        .summary = "Show resource utilization during training.",
        .help = "Shows mean, minimum, maximum, 50th, 95th and 99th percentile of the readings of "
                "each resource and node, over the whole profile or for each training phase.",
        .options = profile_utilization_options,
        .operands = {ARGUMENT_FILE, 1, 1},
    },
    {
        .name = "profile devices",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker profile devices --ranges 80-100,0-80 profiler-output",
        .function = cmd_profile,
        .view = GPUT_PROFILE_DEVICES,
        .usage = "[OPTIONS] DIR",
        .summary = "Count readings by ranges of utilization.",
        .help = "Counts the readings of each resource and node in each range of percent. Readings "
                "outside all ranges are counted as \"other\".",
        .options = profile_devices_options,
        .operands = {ARGUMENT_FILE, 1, 1},
    },
    {
        .name = "profile dataloader",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker profile dataloader --table summary profiler-output",
        .function = cmd_profile,
        .view = GPUT_PROFILE_DATALOADER,
        .usage = "[OPTIONS] DIR",
        .summary = "Show how long data loading took, and outliers.",
        .help = "Shows initialization of iterators, lifetimes of workers, GetNext calls, and batch "
                "times (from one GetNext to the next of the same process). Each has its outliers: "
                "twice the median or more, longest first. Tables: summary, initialization, "
                "initialization_outliers, worker_outliers, getnext_outliers, batch_time_outliers.",
        .options = profile_dataloader_options,
        .operands = {ARGUMENT_FILE, 1, 1},
    },
    {
        .name = "profile metrics",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker profile metrics --table system -f csv profiler-output",
        .function = cmd_profile,
        .view = GPUT_PROFILE_METRICS,
        .usage = "[OPTIONS] DIR",
        .summary = "Show readings and events, row by row.",
        .help = "Shows the readings of the system and the events of the framework in a training "
                "profile, each once, in order of time. With --steps: the events of these "
                "steps, and the readings from their first begin to their last end. Tables: "
                "system, framework.",
        .options = profile_rows_options,
        .operands = {ARGUMENT_FILE, 1, 1},
    },
    {
        .name = "profile python",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker profile python top program.prof\n"
                    "gpu-tracker profile python top --sort cumtime -n 20 profiler-output",
        .function = cmd_profile_python,
        .usage = "top|list [OPTIONS] FILE|DIR...",
        .summary = "Show the Python functions that took the most time.",
        .help = "top: the functions of cProfile dumps (python_stats, .prof), printed as Python's "
                "pstats prints them, or of pyinstrument sessions (.json). Several files are added "
                "up. A folder stands for all files in it.\n"
                "\n"
                "list: the profiles themselves, with the node, mode, step, phase and time at which "
                "each begins and ends, taken from the names of their folders.\n"
                "\n"
                "Profiles of a training run can be selected by step, time, phase, mode and node.",
        .options = profile_python_options,
        .operands = {ARGUMENT_FILE, 2, -1},
    },
    {
        .name = "pytorch breakdown",
        .older_name = "profile breakdown",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker pytorch breakdown rank0.json rank1.json.gz\n"
                    "gpu-tracker pytorch breakdown traces/",
        .function = cmd_profile_kineto,
        .view = GPUT_KINETO_BREAKDOWN,
        .usage = "[OPTIONS] TRACE...",
        .summary = "Show how GPUs spent their time.",
        .help = "Reads traces of PyTorch's profiler, one file per rank, or folders of them. For "
                "each rank and GPU it shows the time spent idle, computing, communicating and "
                "copying memory, from the first to the last activity. It also shows how much of "
                "the communication and copying overlapped with computing. Kernels named nccl... or "
                "rccl... are communication. Ranks without a trace are listed. Where no GPU was "
                "used, it shows for each thread how long it ran operators and loaded data.",
        .options = profile_kineto_options,
        .operands = {ARGUMENT_FILE, 1, -1},
    },
    {
        .name = "pytorch kernels",
        .older_name = "profile kernels",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker pytorch kernels -n 20 traces/",
        .function = cmd_profile_kineto,
        .view = GPUT_KINETO_KERNELS,
        .usage = "[OPTIONS] TRACE...",
        .summary = "Show the kernels that took the most time.",
        .help =
            "Shows kernels and memory copies in traces of PyTorch's profiler, by total time "
            "over all ranks. The rest is summed up as \"others\". Where no GPU was used, it shows "
            "operators by their own time, which excludes the operators they called.",
        .options = profile_kineto_top_options,
        .operands = {ARGUMENT_FILE, 1, -1},
    },
    {
        .name = "pytorch idle",
        .older_name = "profile idle",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker pytorch idle -f json rank0.json",
        .function = cmd_profile_kineto,
        .view = GPUT_KINETO_IDLE,
        .usage = "[OPTIONS] TRACE...",
        .summary = "Show why GPU streams were idle.",
        .help =
            "Shows the gaps between the activities of each stream, by cause. Host wait: the next "
            "activity was launched after the previous one had ended. Kernel wait: a gap of up to "
            "30 ns, the delay between kernels. Other: it was launched in time, but waited for "
            "something else. Unknown: the trace has no launch time. Where no GPU was "
            "used, it shows the time between operators for each thread, and how much of it was "
            "data loading.",
        .options = profile_kineto_options,
        .operands = {ARGUMENT_FILE, 1, -1},
    },
    {
        .name = "pytorch diff",
        .older_name = "profile diff",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker pytorch diff before/ after/",
        .function = cmd_profile_kineto,
        .view = GPUT_KINETO_DIFF,
        .usage = "[OPTIONS] TRACE|DIR TRACE|DIR",
        .summary = "Compare two traces or runs, name by name.",
        .help =
            "Shows counts and total times of all events with a duration on both sides, by category "
            "and name, with the largest change of time first. All traces of a folder are added up, "
            "one file per rank. Ranks that are missing, or differ between the sides, are listed.",
        .options = profile_kineto_top_options,
        .operands = {ARGUMENT_FILE, 2, 2},
    },
#endif
    {
        .name = "timeline merge",
        .topic = TOPIC_TRAINING,
        .examples = "gpu-tracker timeline merge rank0.json samples.csv blocks.csv -o merged.json\n"
                    "gpu-tracker timeline merge --steps 10-12 profiler-output",
        .function = cmd_timeline_merge,
        .usage = "[OPTIONS] INPUT...",
        .summary = "Merge recordings into one timeline.",
        .help =
            "Puts recordings on one timeline that Perfetto (ui.perfetto.dev) and chrome://tracing "
            "open. They are training profiles of SageMaker Debugger (a folder that contains "
            "\"system\" or \"framework\"), traces of PyTorch's profiler, one file per rank, and "
            "any other trace in Chrome's format. Traces may be compressed with gzip or Zstandard. "
            "gpu-tracker's own tracking and sub-tracking files go onto it, too. A folder that is "
            "not a training profile stands for all trace files in it.\n"
            "\n"
            "Times are made absolute, so that all inputs share one clock. Readings of the machine "
            "and samples become counters; calls of code blocks become slices. If a file is "
            "truncated or damaged, its intact part is used, with one warning. Memory use is "
            "bounded, whatever the size of the files.",
        .options = timeline_merge_options,
        .operands = {ARGUMENT_FILE, 1, -1},
    },
};

const struct command *command_table(int *count)
{
    *count = sizeof commands / sizeof commands[0];
    return commands;
}
