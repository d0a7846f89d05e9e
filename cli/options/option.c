#include "options/option.h"

#include <stdio.h>
#include <string.h>

#define RAM_UNITS "bytes kilobytes megabytes gigabytes terabytes"

static const struct option options[OPTION_COUNT] = {
    [OPTION_HELP] = {'h', "help", ARGUMENT_NONE, .help = "Show this help message and exit."},
    [OPTION_VERSION] = {0, "version", ARGUMENT_NONE, .help = "Show the version and exit."},
    [OPTION_PROGRAM_VERSION] = {'v', "version", ARGUMENT_NONE,
        .help = "Show the version and exit."},
    [OPTION_EXECUTE] = {'e', "execute", ARGUMENT_COMMAND, "command",
        .help = "The command to run along with its arguments, all within quotes, e.g. \"ls -l "
                "-a\". Quotes and backslashes inside mean what they mean to a shell; nothing is "
                "expanded."},
    [OPTION_OUTPUT] = {'o', "output", ARGUMENT_FILE, "output",
        .brief = "Write the results to a file: usage.json",
        .help = "File path to store the measurements in. If not set, they are printed to the "
                "screen. \"-\" is the standard output."},
    [OPTION_FORMAT] = {'f', "format", ARGUMENT_WORD, "format", "text json",
        .help = "File format of the output. Either 'json' or 'text'. Defaults to the format of the "
                "output's extension, else to 'text'."},
    [OPTION_SUMMARY_FORMAT] = {'f', "format", ARGUMENT_WORD, "format", "summary text json",
        .help =
            "File format of the output: 'summary' is for people, in units that fit; 'text' has one "
            "line per metric, as AIPowerMeter prints them; 'json' is for programs. Defaults to "
            "the format of the output's extension, else to 'summary'."},
    [OPTION_TRACKING_FORMAT] = {'f', "format", ARGUMENT_WORD, "format",
        "summary text full json pickle prometheus nextflow-trace snakemake-benchmark",
        .brief = "summary, text, full, json, pickle, prometheus",
        .help = "File format of the output. 'summary' is about ten lines for people, 'text' the "
                "report of the older gpu_tracker, 'full' every figure with its source, in units "
                "that fit. 'json' is the same for programs. 'pickle' is a stopped Tracker, which "
                "the Python package "
                "loads (only with -o). 'prometheus' is metrics for a textfile collector. "
                "'nextflow-trace' and 'snakemake-benchmark' are what these engines read. Defaults "
                "to 'summary' on the screen; with -o to the format of the file's extension (.json, "
                ".pkl, .prom), else to 'full'. With gpu-tracker -e it defaults to 'text'."},
    [OPTION_QUIET] = {'q', "quiet", ARGUMENT_NONE, .newer = true,
        .brief = "Print nothing; -o still writes its file",
        .help = "Print neither the report nor the paths of output files on the screen; -o still "
                "writes its file."},
    [OPTION_SUMMARY] = {0, "summary", ARGUMENT_NONE, .newer = true,
        .help = "With -o: also print the summary on the screen."},
    [OPTION_PROGRESS] = {0, "progress", ARGUMENT_NONE, .newer = true,
        .help = "While the command runs, show time, cores, RAM and GPUs in the last line of the "
                "terminal, if the standard error is one. What the command prints scrolls above "
                "it."},
    [OPTION_LIVE] = {0, "live", ARGUMENT_NONE, .newer = true, .brief = "Watch it on the terminal",
        .help =
            "While the command runs, show a live view of it on the terminal. The command's output "
            "is shown there too, and printed in full at the end. Samples are then taken every 0.5 "
            "seconds unless --st says otherwise."},
    [OPTION_LIVE_MARKS] = {0, "stf", ARGUMENT_FILE, "sub-track-file", .newer = true,
        .other_names = "sub-tracking-file",
        .help = "A sub-tracking file that the command writes: the live view shows its open code "
                "blocks. Defaults to the file that GPUT_BLOCKS_FILE names."},
    [OPTION_REGIONS] = {0, "regions", ARGUMENT_TEXT, "sources", .newer = true, .optional = true,
        .brief = "Use of its NVTX, OpenMP, MPI ... regions",
        .help = "Record the regions that the command announces, as code blocks, without changing "
                "it. A comma-separated list. By default: nvtx (PyTorch with CUDA, JAX, RAPIDS, "
                "NCCL), itt (PyTorch, oneAPI), ompt (OpenMP of LLVM and Intel), roctx (HIP). Also "
                "mpi (calls of MPI functions) and python:module.function,module.* (calls of these "
                "functions). The report shows what each region used."},
    [OPTION_REGION_FILE] = {0, "region-file", ARGUMENT_FILE, "sub-track-file", .newer = true,
        .help = "Keep the marks of --regions in this file (.gputblocks, .csv, .sqlite), for "
                "'sub-track analyze' and others. Defaults to the name of the tracking file with "
                "'-regions.gputblocks'; without --tf none is kept."},
    [OPTION_REGION_FILTER] = {0, "region-filter", ARGUMENT_TEXT, "pattern", .newer = true,
        .repeatable = true,
        .help =
            "Record only regions that match 'domain:name' or 'name', with * and ? as in a shell. A "
            "leading exclamation mark excludes those that match. Can be given several times."},
    [OPTION_REGION_DEPTH] = {0, "region-depth", ARGUMENT_TEXT, "count", .newer = true,
        .help = "Record regions only to this depth: 1 means those that are not nested in another "
                "region of their thread and domain."},
    [OPTION_REGION_MIN] = {0, "region-min", ARGUMENT_TEXT, "seconds", .newer = true,
        .help = "Record only regions that take at least this long. Shorter ones are only counted."},
    [OPTION_REGION_EXACT] = {0, "region-exact", ARGUMENT_TEXT, "kinds", .newer = true,
        .optional = true,
        .help = "Record exact figures of each region: CPU time, page faults, energy of the "
                "processors. A comma-separated list adds peak (the peak RSS within each region), "
                "counters (instructions, cycles, cache misses) and gpu (GPU time)."},
    [OPTION_TORCH_TRACE] = {0, "torch-trace", ARGUMENT_TEXT, "trace", .newer = true,
        .repeatable = true,
        .help = "Have PyTorch's profiler trace the command while it runs, without changing it. "
                "2s@60s traces two seconds, one minute after the start. 5steps@100 traces five "
                "steps of the optimizer, from step 100 on. All ranks begin together. Can be given "
                "several times."},
    [OPTION_TORCH_TRACE_FILE] = {0, "torch-trace-file", ARGUMENT_FILE, "timeline", .newer = true,
        .help = "Write the traces of --torch-trace and the samples to this file, as one timeline "
                "(.json, .json.gz). Defaults to the name of the tracking file with '-torch.json', "
                "or to torch-trace.json."},
    [OPTION_PHASE_TOKEN] = {0, "phase-token", ARGUMENT_TEXT, "regex", .newer = true,
        .help = "A line of the command's output that matches this extended regular expression "
                "begins a phase, which ends when the next one begins. The first group, or the "
                "whole match, is its name. Phases are code blocks: the report shows what each "
                "used, and --region-file keeps them."},
    [OPTION_PHASES] = {0, "phases", ARGUMENT_WORD, "kind", "auto", .newer = true,
        .brief = "Split the run where its use changes (auto)",
        .help = "'auto': derive phases from the samples. A phase ends where the use of CPU, RAM or "
                "GPUs changes. Phases are code blocks, called 'derived:phase 1' and so on."},
    [OPTION_TRACKING_CONFIG] = {0, "tconfig", ARGUMENT_FILE, "config-file", .other_names = "config",
        .help =
            "JSON config file containing the keyword arguments of the Tracker class, to be "
            "used instead of the corresponding options. Options on the command line override it."},
    [OPTION_NO_CONFIG] = {0, "no-config", ARGUMENT_NONE, .newer = true,
        .help = "Take no defaults from the user's config file (gpu-tracker/config.json in "
                "$XDG_CONFIG_HOME or ~/.config)."},
    [OPTION_SLEEP_TIME] = {0, "st", ARGUMENT_TEXT, "sleep-time", .setting = "sleep_time",
        .other_names = "sleep-time interval", .brief = "Or --interval: seconds between samples (1)",
        .help = "The number of seconds between samples, 0.001 or more. Defaults to 1."},
    [OPTION_RAM_UNIT] = {0, "ru", ARGUMENT_WORD, "ram-unit", RAM_UNITS, .setting = "ram_unit",
        .other_names = "ram-unit",
        .help = "One of 'bytes', 'kilobytes', 'megabytes', 'gigabytes', or 'terabytes'. Without it "
                "'-f full' has units that fit each figure, and everything else 'gigabytes'."},
    [OPTION_GPU_RAM_UNIT] = {0, "gru", ARGUMENT_WORD, "gpu-ram-unit", RAM_UNITS,
        .setting = "gpu_ram_unit", .other_names = "gpu-ram-unit", .help = "The same for GPU RAM."},
    [OPTION_TIME_UNIT] = {0, "tu", ARGUMENT_WORD, "time-unit", "seconds minutes hours days",
        .setting = "time_unit", .other_names = "time-unit",
        .help = "Unit of the wall time: 'seconds', 'minutes', 'hours', or 'days'. Without it '-f "
                "full' has one that fits, and everything else 'hours'."},
    [OPTION_EXPECTED_CORES] = {0, "nec", ARGUMENT_TEXT, "num-cores", .setting = "n_expected_cores",
        .other_names = "expected-cores n-expected-cores",
        .help = "The number of cores expected to be used, by which hardware percentages are "
                "divided. Defaults to those that the command may use; with gpu-tracker -e or -f "
                "text, to all of the machine."},
    [OPTION_GPU_UUIDS] = {0, "guuids", ARGUMENT_TEXT, "gpu-uuids", .setting = "gpu_uuids",
        .other_names = "gpu-uuids", .brief = "Only these GPUs: UUIDs or indexes",
        .help = "Comma-separated list of the UUIDs (or indexes) of the GPUs whose utilization is "
                "tracked. Defaults to those that the tracked program can see; to all if none is "
                "tracked, with gpu-tracker -e, and with -f text."},
    [OPTION_DISABLE_LOGS] = {0, "disable-logs", ARGUMENT_NONE, .brief = "Print no warnings",
        .help = "Suppress warnings while tracking."},
    [OPTION_GPU_BRAND] = {0, "gb", ARGUMENT_WORD, "gpu-brand", "nvidia amd intel",
        .setting = "gpu_brand", .other_names = "gpu-brand", .brief = "nvidia, amd or intel",
        .help =
            "The brand of the GPUs: 'nvidia', 'amd' or 'intel'. Defaults to all that are found."},
    [OPTION_TRACKING_FILE] = {0, "tf", ARGUMENT_FILE, "tracking-file", .setting = "tracking_file",
        .other_names = "tracking-file", .brief = "Or --tracking-file: keep samples (x.sqlite)",
        .help = "Store every sample in this file as it is taken. Valid file extensions are .csv "
                "and .sqlite; in the latter the table is called \"data\". A name that ends in "
                ".plain.csv is for programs that read CSV with a single header: units and machine "
                "are in a file next to it."},
    [OPTION_OVERWRITE] = {0, "overwrite", ARGUMENT_NONE, .setting = "overwrite",
        .help =
            "Replace output files that exist already. Without it they are kept, and a free name "
            "(x.1.csv) is written; with gpu-tracker -e a tracking file that exists is an error, "
            "and a report is replaced."},
    [OPTION_OVERWRITTEN] = {0, "overwrite", ARGUMENT_NONE, .newer = true,
        .help =
            "Without -o, replace the file of an earlier report or picture. Without this option a "
            "free name (report.1.html) is written."},
    [OPTION_RAM] = {0, "ram", ARGUMENT_WORD, "ram-mode", "adaptive exact totals",
        .setting = "ram_mode", .newer = true, .other_names = "ram-mode",
        .help = "When to read the private and shared parts of RAM, which are expensive to read. "
                "'adaptive': when they may have changed, at a bounded cost. 'exact': at every "
                "sample. 'totals': like 'adaptive', but not while only one process is tracked. "
                "Defaults to 'adaptive'."},
    [OPTION_PROCESSES] = {0, "processes", ARGUMENT_NONE, .setting = "processes", .newer = true,
        .brief = "Show each process",
        .help = "Report each process individually, including those too short-lived to be sampled: "
                "as a tree after the text, as \"processes\" in JSON, and as the table "
                "\"process_data\" of an .sqlite tracking file."},
    [OPTION_COMMAND_LINES] = {0, "command-lines", ARGUMENT_NONE, .setting = "command_lines",
        .newer = true,
        .help =
            "Like --processes, with the command line of each process. Command lines may contain "
            "secrets."},
    [OPTION_RESOURCE_USAGE_FILE] = {0, "resource-usage-file", ARGUMENT_FILE, "file",
        .setting = "resource_usage_file", .newer = true,
        .help = "Where to keep the results so far while tracking runs. The file is removed at the "
                "end; if the tracker is killed, 'gpu-tracker show' prints it. Defaults to a hidden "
                "file in the working directory; for a rank of a parallel job, in the folder of its "
                "report or tracking file."},
    [OPTION_SPOOL] = {0, "spool", ARGUMENT_FILE, "folder", .newer = true,
        .help = "Write all files to this local folder (such as /tmp) first, and move them to their "
                "final places at the end. Files that cannot be moved are named, and stay in the "
                "folder."},
    [OPTION_FOR] = {0, "for", ARGUMENT_TEXT, "seconds", .newer = true,
        .brief = "Stop after this time",
        .help = "Stop tracking after this many seconds. By default, track until the process ends."},
    [OPTION_ENERGY_UNIT] = {0, "eu", ARGUMENT_WORD, "energy-unit",
        "joules watt-hours kilowatt-hours", .setting = "energy_unit", .newer = true,
        .other_names = "energy-unit",
        .help = "One of 'joules', 'watt-hours', or 'kilowatt-hours'. Without it '-f full' has "
                "units that fit each figure, and everything else 'joules'."},
    [OPTION_CARBON_INTENSITY] = {0, "carbon-intensity", ARGUMENT_TEXT, "g/kWh",
        .setting = "carbon_intensity", .newer = true,
        .help = "Grams of CO2 equivalent per kilowatt-hour of your grid, or the code of a country "
                "(FR, FRA) for its mean over a year. The report then shows the emissions of the "
                "command's energy."},
    [OPTION_ENERGY_FOLDER] = {0, "energy-folder", ARGUMENT_FILE, "folder",
        .setting = "energy_folder", .newer = true, .brief = "Also record power in this folder",
        .help =
            "Also record power in this folder, in AIPowerMeter's format, as 'gpu-tracker energy "
            "record' does; 'gpu-tracker energy summary' reads it."},
    [OPTION_ENERGY_DRIVER] = {0, "energy-driver", ARGUMENT_WORD, "driver", "json sqlite",
        .setting = "energy_driver", .newer = true,
        .help = "How to store the recording of power: 'json': lines of power_metrics.json; "
                "'sqlite': the table power_metrics of power_metrics.sqlite. Defaults to 'json'."},
    [OPTION_OUTPUT_FOLDER] = {0, "output-folder", ARGUMENT_FILE, "folder",
        .setting = "energy_folder",
        .help = "The folder to record in; it is created if it does not exist."},
    [OPTION_PERIOD] = {0, "period", ARGUMENT_TEXT, "seconds", .setting = "sleep_time",
        .help = "Seconds between samples of processes. Defaults to 0.1."},
    [OPTION_MEASUREMENT_PERIOD] = {0, "measurement-period", ARGUMENT_TEXT, "seconds",
        .setting = "energy_period", .newer = true,
        .help = "The period, in seconds, over which power is averaged in the recording, which has "
                "one line at the beginning of each period and one at its end. Defaults to 2."},
    [OPTION_CONT] = {0, "cont", ARGUMENT_NONE, .setting = "energy_continue", .newer = true,
        .help = "Add to the existing recording of power in the folder, as a separate segment."},
    [OPTION_LISTEN] = {0, "listen", ARGUMENT_TEXT, "host:port", .setting = "listen", .newer = true,
        .brief = "Serve metrics to Prometheus",
        .help = "Serve the results so far to Prometheus while tracking runs, at "
                "http://host:port/metrics. A port alone listens on this machine only. Port 0 "
                "chooses a free port, which is printed to standard error. More names of this "
                "machine can follow, separated by commas: 0.0.0.0:5001,trainer.example.org."},
    [OPTION_SERVE_LISTEN] = {0, "listen", ARGUMENT_TEXT, "host:port",
        .help = "Where to serve. A port alone listens on this machine only; 0.0.0.0:5001 or "
                "[::]:5001 is open to all. Port 0 chooses a free port, which is printed to "
                "standard error. More names of this machine can follow, separated by commas: "
                "0.0.0.0:5001,trainer.example.org. Defaults to 127.0.0.1:5001."},
    [OPTION_OTLP] = {0, "otlp", ARGUMENT_TEXT, "url", .setting = "otlp", .newer = true,
        .optional = true, .brief = "Send metrics to OpenTelemetry",
        .help = "Send metrics to an OpenTelemetry receiver (OTLP over HTTP, protobuf): "
                "--otlp=http://collector:4318. Without a URL, it is taken from "
                "OTEL_EXPORTER_OTLP_ENDPOINT and its related variables, else it is "
                "http://localhost:4318."},
    [OPTION_REMOTE_WRITE] = {0, "remote-write", ARGUMENT_TEXT, "url", .setting = "remote_write",
        .newer = true, .brief = "Send metrics to Prometheus",
        .help = "Send metrics to a receiver of Prometheus' remote write, such as "
                "http://prometheus:9090. Fields of each request, such as a token, are in "
                "GPUT_REMOTE_WRITE_HEADERS."},
    [OPTION_LABEL] = {0, "label", ARGUMENT_TEXT, "name=value", .setting = "labels", .newer = true,
        .repeatable = true, .brief = "A label for all metrics: job=train",
        .help = "A label for all metrics that are served or sent: --label job=train. Can be given "
                "several times."},
    [OPTION_PUSH_INTERVAL] = {0, "push-interval", ARGUMENT_TEXT, "seconds",
        .setting = "push_interval", .newer = true,
        .help = "Seconds between two samples that are sent, 0.5 or more. Defaults to "
                "OTEL_METRIC_EXPORT_INTERVAL or 60 for --otlp, and to 15 for --remote-write."},
    [OPTION_PUSH_TIMEOUT] = {0, "push-timeout", ARGUMENT_TEXT, "seconds", .setting = "push_timeout",
        .newer = true,
        .help = "Seconds that a receiver has to answer, 0.1 to 3600; at most 10 once the command "
                "has ended. Defaults to OTEL_EXPORTER_OTLP_TIMEOUT or 10 for --otlp, and to 30 for "
                "--remote-write; then only 0.5 to 3 once the command has ended."},
    [OPTION_OWNERS] = {0, "owners", ARGUMENT_NONE,
        .help = "Also serve what each user and each job of the machine uses: CPU time, RAM and "
                "GPUs. Anyone who can read the page sees their names."},
    [OPTION_TEXTFILE] = {0, "textfile", ARGUMENT_FILE, "folder", .setting = "textfile_folder",
        .newer = true,
        .help = "Keep metrics of the command in a folder of node_exporter's textfile collector. "
                "Sessions can share the folder: each writes a file of its own, and removes those "
                "of sessions that ended long ago."},
    [OPTION_SENT_INTERVAL] = {0, "push-interval", ARGUMENT_TEXT, "seconds",
        .help = "Seconds between two samples that are sent. Defaults to 0: all samples."},
    [OPTION_CMD] = {0, "cmd", ARGUMENT_TEXT, "command", .help = "The command, as one string."},
    [OPTION_WINDOW_START] = {0, "start", ARGUMENT_TEXT, "date-or-seconds",
        .help = "Skip everything before this moment: a date as in the recording (\"2023-06-30 "
                "16:32:14\"), or seconds after its start. Numbers from 1e8 on are seconds "
                "since the epoch, from 1e14 on microseconds."},
    [OPTION_WINDOW_END] = {0, "end", ARGUMENT_TEXT, "date-or-seconds",
        .help = "Skip everything after this moment; given like --start."},
    [OPTION_CURVE_OUTPUT] = {'o', "output", ARGUMENT_FILE, "output",
        .help = "Write to this file; a name that ends in .svg, .pdf or .png makes a picture. "
                "Defaults to the standard output."},
    [OPTION_CURVE_FORMAT] = {'f', "format", ARGUMENT_WORD, "format", "text json csv svg pdf png",
        .help = "'text', 'json', 'csv', or a picture: 'svg', 'pdf' or 'png'. Defaults to the "
                "format of the output's extension, else to 'text'."},
    [OPTION_GPUS_TABLE] = {0, "table", ARGUMENT_WORD, "name", "gpus processes", .newer = true,
        .brief = "Show only this table: gpus or processes",
        .help = "Show only this table: 'gpus', with all figures of each card, or 'processes'. CSV "
                "is one table: by default that of the processes."},
    [OPTION_GPU_PARTS] = {0, "gpu-parts", ARGUMENT_NONE, .setting = "gpu_parts", .newer = true,
        .other_names = "parts", .brief = "Show how busy parts of the chip are, too",
        .help = "Show how busy parts of the chip are, too: processors, tensor cores, arithmetic, "
                "memory, links (NVIDIA, from Hopper on). They are means of the time between two "
                "readings. DCGM reads the same counters, and may miss values meanwhile."},
    [OPTION_WATCH] = {0, "watch", ARGUMENT_NONE, .newer = true, .help = "Repeat until Ctrl+C."},
    [OPTION_WATCH_INTERVAL] = {0, "interval", ARGUMENT_TEXT, "seconds", .newer = true,
        .help = "Seconds between two readings of --watch. Defaults to 1."},
    [OPTION_FIX_SCRIPT] = {0, "fix-script", ARGUMENT_NONE,
        .brief = "Print a script that makes sources available",
        .help = "Print a shell script that makes unavailable sources available, instead of the "
                "findings. Read it, then run it as root."},
    [OPTION_HISTORY] = {0, "history", ARGUMENT_NONE, .newer = true,
        .help = "Keep this session in the history, which 'gpu-tracker history' shows and "
                "'gpu-tracker size' reads: one row of figures, without the command's arguments "
                "(unless --command-lines is given). 'gpu-tracker history on' does that for all."},
    [OPTION_NO_HISTORY] = {0, "no-history", ARGUMENT_NONE, .newer = true,
        .help = "Do not keep this session in the history."},
    [OPTION_SIZE_OF] = {0, "size-of", ARGUMENT_FILE, "file", .newer = true, .repeatable = true,
        .help = "Keep the size of this input file in the history, so that 'gpu-tracker size' can "
                "tell what grows with it. Can be given several times: sizes are added."},
    [OPTION_LOG_TO] = {0, "log-to", ARGUMENT_WORD, "tracker", "mlflow wandb trackio tensorboard",
        .newer = true,
        .help = "At the end, log curves and summary to 'mlflow', 'wandb', 'trackio' or "
                "'tensorboard': into the run that its variables name (MLFLOW_RUN_ID, "
                "WANDB_RUN_ID), else into one of its own. Needs the Python package, and that of "
                "the tracker, in the Python that GPUT_PYTHON names."},
    [OPTION_HISTORY_FORMAT] = {'f', "format", ARGUMENT_WORD, "format", "text json csv",
        .brief = "text, json or csv",
        .help = "'text' is for people; 'json' and 'csv' have all columns, in bytes and seconds. "
                "Defaults to the format of the output's extension, else to 'text'."},
    [OPTION_HISTORY_SINCE] = {0, "since", ARGUMENT_TEXT, "time", .newer = true,
        .brief = "Only of the last 30d, 12h, 90m, or since a date",
        .help = "Only sessions that began since then: 30d, 12h or 90m ago, or 2026-11-29."},
    [OPTION_HISTORY_LAST] = {'n', NULL, ARGUMENT_TEXT, "number", .newer = true,
        .brief = "Only the last sessions, this many; 0 is all",
        .help =
            "Only the last sessions, this many. 0 is all. Defaults to 50 as text, else to all."},
    [OPTION_HISTORY_SORT] = {0, "sort", ARGUMENT_WORD, "by", "began took cpu ram gpu-ram energy",
        .newer = true, .brief = "began, took, cpu, ram, gpu-ram or energy; the largest are last",
        .help =
            "Sort by 'began', 'took', 'cpu', 'ram', 'gpu-ram' or 'energy'. The largest are last, "
            "and -n takes these. Defaults to 'began'."},
    [OPTION_SIZE_FORMAT] = {'f', "format", ARGUMENT_WORD, "format",
        "slurm pbs kubernetes json text", .brief = "slurm, pbs, kubernetes, json or text",
        .help = "'slurm' is options of sbatch in one line, 'pbs' those of qsub, 'kubernetes' the "
                "resources of a container as YAML, 'json' all figures with their evidence, 'text' "
                "is for people. Defaults to 'slurm'."},
    [OPTION_SIZE_SHARE] = {0, "share", ARGUMENT_TEXT, "percent", .newer = true,
        .brief = "How many of 100 future runs are to fit: 95",
        .help = "How many of 100 future runs are to fit: 50 or more, below 100. Defaults to 95."},
    [OPTION_NEXT_SIZE_OF] = {0, "size-of", ARGUMENT_FILE, "file", .newer = true, .repeatable = true,
        .brief = "An input file of the next run",
        .help = "An input file of the next run, where runs were kept with --size-of and take more "
                "for larger inputs. Defaults to the files among the command's arguments."},
    [OPTION_NEXT_RANKS] = {0, "ranks", ARGUMENT_TEXT, "number", .newer = true,
        .brief = "Ranks of the next job",
        .help = "Ranks of the next job, where jobs take more RAM or time with more ranks and no "
                "run was "
                "kept with --size-of. Defaults to the most that were seen."},
    [OPTION_LIMIT] = {0, "limit", ARGUMENT_TEXT, "name=amount", .repeatable = true, .newer = true,
        .brief = "Warn above ram=8GB, gpu_ram=, seconds=",
        .help = "Warn when the command and all it started exceed a limit: ram=8GB, gpu_ram=500MiB, "
                "seconds=90 or cpu_seconds=3600. Can be given several times."},
    [OPTION_ENFORCE] = {0, "enforce", ARGUMENT_NONE, .newer = true,
        .brief = "End the command above a limit",
        .help = "End the command and all it started when a limit is exceeded: SIGTERM, then "
                "SIGKILL five seconds later. The exit status is then 124."},
    [OPTION_ANALYSIS_FORMAT] = {'f', "format", ARGUMENT_WORD, "format",
        "summary text json csv pickle",
        .help = "File format of the output: 'summary' are tables for people, 'text' is what the "
                "older gpu_tracker printed. 'json', 'csv' and 'pickle' (which the Python package "
                "loads) have every figure. Defaults to the format of the output's extension "
                "(.json, .csv, .pkl), else to 'summary' on a terminal and to 'text' elsewhere."},
    [OPTION_COMPARISON_FORMAT] = {'f', "format", ARGUMENT_WORD, "format",
        "summary text json csv pickle svg pdf png",
        .brief = "summary, text, json, pickle, svg, png, pdf",
        .help = "File format of the output: 'summary' are tables for people, 'text' is what the "
                "older gpu_tracker printed. 'json', 'csv' and 'pickle' (which the Python package "
                "loads) have every figure; 'svg', 'pdf' and 'png' are a picture of the main ones. "
                "Defaults to the format of the output's extension (.json, .csv, .pkl, .svg, .pdf, "
                ".png), else to 'summary' on a terminal and to 'text' elsewhere."},
    [OPTION_COMPARED_FORMAT] = {'f', "format", ARGUMENT_WORD, "format", "summary json csv",
        .brief = "summary, json or csv",
        .help = "File format of the output: 'summary' is for people; 'json' and 'csv' have a row "
                "per run, in base units. Defaults to the format of the output's extension, else to "
                "'summary'."},
    [OPTION_JOB_FORMAT] = {'f', "format", ARGUMENT_WORD, "format", "summary json csv",
        .brief = "summary, json or csv",
        .help = "File format of the output: 'summary' is for people, 'json' has jobs, machines, "
                "ranks, allocations and findings, 'csv' has the ranks. Defaults to the format of "
                "the output's "
                "extension, else to 'summary'."},
    [OPTION_LIVE_JOB] = {0, "job", ARGUMENT_FILE, "where", .newer = true,
        .help = "Watch the ranks of a job, the worst first: the folder of their files (--tf, -o), "
                "or the pages that they serve (--listen), as HOST:PORT,HOST:PORT."},
    [OPTION_JOB_TABLE] = {0, "table", ARGUMENT_WORD, "name",
        "jobs machines ranks allocations sessions findings", .newer = true,
        .brief = "Only this table: jobs, ranks, findings ...",
        .help = "Show only this table: 'jobs', 'machines', 'ranks', 'allocations', 'findings' or "
                "'sessions', which has all figures of each session's end. "
                "CSV holds one "
                "table, by default 'ranks'."},
    [OPTION_ALL] = {0, "all", ARGUMENT_NONE, .newer = true,
        .brief = "Also figures that are 0 or not known",
        .help = "Also summarize figures that are 0 or unknown throughout."},
    [OPTION_ANALYZED_FILE] = {0, "tf", ARGUMENT_FILE, "tracking-file",
        .other_names = "tracking-file",
        .help = "The tracking file (.csv or .sqlite) of the session."},
    [OPTION_SUB_TRACKING_FILE] = {0, "stf", ARGUMENT_FILE, "sub-track-file",
        .other_names = "sub-tracking-file",
        .help = "The sub-tracking file with the start and stop times of the code blocks: .csv, "
                ".sqlite or .gputblocks. The first two have the columns process_id, "
                "code_block_name, position (0 start, 1 stop) and timestamp, in SQLite in a table "
                "\"data\". Without it the session as a whole is analyzed."},
    [OPTION_DETAILS] = {0, "details", ARGUMENT_NONE, .newer = true,
        .help = "Also show percentiles (p50, p95, p99), and the self time of each code block, "
                "which excludes the blocks called inside it. If the sub-tracking file has it, also "
                "show what the kernel counted in its calls (CPU time, page faults, peak RSS)."},
    [OPTION_OPEN_CALLS] = {0, "open-calls", ARGUMENT_NONE, .newer = true,
        .help = "Calls without a stop, of a program that was killed or still runs, count up to the "
                "last sample: in the figures, time and self time of their block, not in its number "
                "of calls and how long these took."},
    [OPTION_BY] = {0, "by", ARGUMENT_WORD, "part", "process thread source domain category rank",
        .newer = true,
        .help = "Break each code block down by 'process', by 'thread', or by 'rank' of a parallel "
                "job. Or group code blocks by a part of their names: the 'source' (nvtx, token) is "
                "before the colon, the 'domain' of a source (nvtx:train) before the slash, the "
                "'category' in brackets at the end."},
    [OPTION_COMPARISON_CONFIG] = {0, "cconfig", ARGUMENT_FILE, "config-file",
        .other_names = "config", .brief = "The same in a JSON file",
        .help = "JSON config file with file_path_map (session names and their files) and "
                "statistic, to be used instead of -m and --stat. Sessions given with -m are added "
                "to it; --stat on the command line overrides it."},
    [OPTION_MAP] = {'m', NULL, ARGUMENT_TEXT, "name>=<file-path", .repeatable = true,
        .brief = "A session and its file; several are compared",
        .help = "A tracking session and the file with its results: what 'sub-track analyze' wrote "
                "as JSON or pickle, or a pickle of the Python package. Files given under the same "
                "name are runs of one session; their mean is compared."},
    [OPTION_STATISTIC] = {0, "stat", ARGUMENT_WORD, "statistic", "min max mean std",
        .other_names = "statistic", .brief = "min, max, mean or std; mean if not given",
        .help = "The summary statistic of the measurements to compare. One of 'min', 'max', "
                "'mean', or 'std'. Defaults to 'mean'."},
    [OPTION_RELATIVE] = {0, "relative", ARGUMENT_NONE, .newer = true,
        .brief = "Also show changes in percent",
        .help = "Also show the change relative to the first session, in percent."},
    [OPTION_FAIL_IF] = {0, "fail-if", ARGUMENT_TEXT, "rule", .repeatable = true, .newer = true,
        .brief = "Exit with 3 for such as 'max main_ram > +5%'",
        .help = "Exit with status 3 when a session other than the first breaks a rule such as "
                "'max main_ram > +5%' or 'mean compute_time in train > 2.5'. Can be given several "
                "times. A change within the noise of several runs breaks no rule."},
    [OPTION_COMPARED_FAIL_IF] = {0, "fail-if", ARGUMENT_TEXT, "rule", .repeatable = true,
        .newer = true, .brief = "Exit with 3 for such as 'wall > +5%'",
        .help = "Exit with status 3 when a run other than the first breaks a rule such as 'wall > "
                "+5%', 'cpu > 2.5' (seconds) or 'written > 1e9' (bytes). The figures are wall, "
                "cpu, cores, ram, gpu_ram, gpu, read, written, energy and exit_status. A rule "
                "whose figure a run lacks is an error, with status 1. Can be given several "
                "times."},
    [OPTION_COMBINED_FILE] = {0, "stf", ARGUMENT_FILE, "sub-track-file",
        .other_names = "sub-tracking-file",
        .help = "The sub-tracking file to create; it must not exist."},
    [OPTION_PART] = {'p', NULL, ARGUMENT_FILE, "file-path", .repeatable = true,
        .help = "Paths to the sub-tracking files to combine. Must all be the same file format and "
                "the same file format as the resulting sub-tracking file. If only one path is "
                "provided, it is interpreted as a path to a directory and all the files in this "
                "directory are combined, sorted by name."},
    [OPTION_MIX] = {0, "mix", ARGUMENT_NONE, .newer = true,
        .help = "Combine files of different formats (.csv, .sqlite, .gputblocks); the result has "
                "the format of its extension. With one file, this converts it."},
    [OPTION_MARKED_FILE] = {0, "stf", ARGUMENT_FILE, "sub-track-file",
        .other_names = "sub-tracking-file",
        .help = "The sub-tracking file (.csv or .sqlite) to add the mark to; it is created if it "
                "does not exist. Defaults to <pid>.csv."},
    [OPTION_MARKED_PROCESS] = {0, "pid", ARGUMENT_TEXT, "pid",
        .help = "The process that the code block belongs to. Defaults to the parent of "
                "gpu-tracker: the shell or script."},
    [OPTION_HTML_REPORT] = {0, "report", ARGUMENT_FILE, "file", .newer = true,
        .brief = "Also write a page with all curves",
        .help =
            "Also write an HTML report to this file at the end, with curves of all samples; see "
            "'gpu-tracker report', which writes other formats. Without --tf the samples are kept "
            "in a temporary file."},
    [OPTION_REPORT_OUTPUT] = {'o', "output", ARGUMENT_FILE, "file",
        .help = "The file to write, with -f csv a folder. Its extension sets the format unless -f "
                "does. \"-\" is the standard output. Defaults to report.html; for other formats, "
                "to the standard output or the folder report-csv."},
    [OPTION_REPORT_FORMAT] = {'f', "format", ARGUMENT_WORD, "format",
        "html json csv parquet arrow speedscope collapsed", .newer = true,
        .help = "What to write: 'html' is the page, 'json' all that it shows, 'csv' the same as a "
                "folder with one file per table. 'parquet' and 'arrow' are such a folder, or one "
                "file with the samples (they need the Python package and pyarrow). 'speedscope' "
                "and 'collapsed' (one line per stack, with its microseconds) are code blocks and "
                "events as stacks. Defaults to 'html'."},
    [OPTION_PERFETTO] = {0, "perfetto", ARGUMENT_NONE, .newer = true,
        .help = "Merge the sessions into one timeline (see 'gpu-tracker timeline merge') and serve "
                "it to the viewer at ui.perfetto.dev. Prints the address for a browser on this "
                "machine, and ends when the timeline has been fetched. -o keeps it in a file."},
    [OPTION_REPORT_MARKS] = {0, "stf", ARGUMENT_FILE, "sub-track-file", .repeatable = true,
        .other_names = "sub-tracking-file",
        .help = "A sub-tracking file (.csv, .sqlite or .gputblocks) with the code blocks of the "
                "session. Can be given several times: all belong to the session if there is only "
                "one, else the first to the first session, and so on."},
    [OPTION_REPORT_TITLE] = {0, "title", ARGUMENT_TEXT, "title", .newer = true,
        .help = "The title of the page. Defaults to the names of the sessions."},
    [OPTION_PLOT_OUTPUT] = {'o', "output", ARGUMENT_FILE, "file",
        .help = "The picture to write: .svg, .pdf or .png (300 dots per inch). \"-\" is the "
                "standard output, as SVG. Defaults to plot.svg."},
    [OPTION_PLOT_FIGURES] = {0, "figures", ARGUMENT_TEXT, "name,name", .newer = true,
        .help = "What to draw, separated by commas: charts (ram, gpu_ram, cpu, gpu, threads, "
                "power, ...) or single curves (main_ram, gpu0_power_watts, ...). For an unknown "
                "name, all names are listed. Defaults to those of ram, gpu_ram, cpu, gpu and power "
                "that were used."},
    [OPTION_PLOT_BLOCKS] = {0, "blocks", ARGUMENT_NONE, .newer = true,
        .help = "Also draw the code blocks that took the most time, each in a row of its own; the "
                "outermost ones are bands in the charts, too."},
    [OPTION_PLOT_START] = {0, "start", ARGUMENT_TEXT, "seconds", .newer = true,
        .help = "Skip everything before this moment: seconds after the start of the session."},
    [OPTION_PLOT_END] = {0, "end", ARGUMENT_TEXT, "seconds", .newer = true,
        .help = "Skip everything after this moment; given like --start."},
    [OPTION_PLOT_SIZE] = {0, "size", ARGUMENT_TEXT, "width[xheight]unit", .newer = true,
        .help = "The size in mm, cm, in or pt: 88x50mm, 3.5in. Defaults to 160mm, and as high as "
                "the charts need. Text is always 8 pt."},
    [OPTION_PLOT_TITLE] = {0, "title", ARGUMENT_TEXT, "title", .newer = true,
        .help = "A title above the charts. Defaults to none."},
    [OPTION_MERGED_OUTPUT] = {'o', "output", ARGUMENT_FILE, "file",
        .help = "The file to write. Defaults to <end>_<node>_merged_timeline.json in the folder "
                "of the first input. \"-\" is the standard output; a name that ends with \".gz\" "
                "is compressed with gzip."},
    [OPTION_START] = {0, "start", ARGUMENT_TEXT, "microseconds", .newer = true,
        .help = "Skip everything before this moment: microseconds since the epoch; with --unit "
                "step, before this step."},
    [OPTION_STOP] = {0, "end", ARGUMENT_TEXT, "microseconds", .newer = true,
        .help = "Skip everything after this moment; given like --start."},
    [OPTION_STEPS] = {0, "steps", ARGUMENT_TEXT, "first-last", .newer = true,
        .help = "Only these training steps, both ends included: 10-12, or 10."},
    [OPTION_UNIT] = {0, "unit", ARGUMENT_WORD, "unit", "time step", .newer = true,
        .help =
            "With 'step', --start and --end are step numbers, both included; --steps is shorter. "
            "Defaults to 'time'."},
    [OPTION_SUFFIX] = {0, "suffix", ARGUMENT_WORD, "suffix",
        "pythontimeline.json model_timeline.json horovod_timeline.json "
        "smdataparallel_timeline.json trace.json.gz",
        .repeatable = true, .newer = true,
        .help = "Read only the event files of a training profile with this suffix: "
                "pythontimeline.json, model_timeline.json, horovod_timeline.json, "
                "smdataparallel_timeline.json or trace.json.gz. Can be given several times. "
                "Defaults to all."},
    [OPTION_LOW] = {0, "low", ARGUMENT_TEXT, "metric=threshold", .newer = true,
        .help =
            "Mark the moments when this metric of a training profile is below the threshold, with "
            "all readings near them. Defaults to GPUUtilization=85; 'none' marks nothing."},
    [OPTION_CORES] = {'j', "cores", ARGUMENT_TEXT, "number", .newer = true,
        .help = "How many cores to use for reading large files. The result is the same. Defaults "
                "to all that this process may use."},
    [OPTION_TABLE_OUTPUT] = {'o', "output", ARGUMENT_FILE, "file",
        .help = "The file to write. Defaults to the screen."},
    [OPTION_TABLE_FORMAT] = {'f', "format", ARGUMENT_WORD, "format", "text json csv",
        .help =
            "'text', 'json' or 'csv'. Defaults to the format of the output's extension, else to "
            "'text'."},
    [OPTION_TABLE] = {0, "table", ARGUMENT_TEXT, "name", .newer = true,
        .help = "Show only this table."},
    [OPTION_STEPS_BY] = {0, "by", ARGUMENT_WORD, "key", "training_phase framework_metric process",
        .newer = true,
        .help = "Show separately each 'training_phase', 'framework_metric' or 'process'. "
                "Defaults to 'training_phase'."},
    [OPTION_UTILIZATION_BY] = {0, "by", ARGUMENT_WORD, "key", "training_phase dimension",
        .repeatable = true, .newer = true,
        .help = "Show separately each 'training_phase' or each 'dimension' of a resource. Can be "
                "given twice. Defaults to neither."},
    [OPTION_RESOURCE] = {0, "resource", ARGUMENT_WORD, "resource", "cpu gpu memory i/o network",
        .repeatable = true, .newer = true,
        .help = "'cpu', 'gpu', 'memory', 'i/o' or 'network'; separate several by commas. Defaults "
                "to all; for devices to cpu and gpu."},
    [OPTION_PHASE] = {0, "phase", ARGUMENT_TEXT, "phase", .repeatable = true, .newer = true,
        .help = "Use only this training phase, for example Step:ModeKeys.TRAIN; separate several "
                "by commas. Defaults to all."},
    [OPTION_METRIC] = {0, "metric", ARGUMENT_TEXT, "metric", .repeatable = true, .newer = true,
        .help = "Show only rows of this metric: a name, dimension or process; separate several by "
                "commas. Defaults to all."},
    [OPTION_RANGES] = {0, "ranges", ARGUMENT_TEXT, "ranges", .repeatable = true, .newer = true,
        .help = "The ranges of percent to count, both ends included; a reading counts for the "
                "first range that contains it. Defaults to 90-100,10-90,0-10."},
    [OPTION_AT] = {0, "at", ARGUMENT_TEXT, "moments", .repeatable = true, .newer = true,
        .help = "Instead of rows, sum up the events that contain these moments: by process as a "
                "share of the largest, by metric, and by training phase. Moments are microseconds "
                "since the epoch; separate several by commas."},
    [OPTION_BETWEEN] = {0, "between", ARGUMENT_TEXT, "intervals", .repeatable = true, .newer = true,
        .help = "Instead of rows, sum up the events, except steps, that overlap these intervals: "
                "by process and by metric, as shares of the largest. Intervals are from-to in "
                "microseconds since the epoch; separate several by commas."},
    [OPTION_SORT] = {0, "sort", ARGUMENT_WORD, "order", "tottime cumtime pcalls ncalls",
        .newer = true,
        .help = "Sort functions by 'tottime', 'cumtime', 'pcalls' or 'ncalls'. "
                "Defaults to 'tottime'."},
    [OPTION_PYTHON_BY] = {0, "by", ARGUMENT_WORD, "order", "tottime cumtime pcalls ncalls",
        .newer = true, .help = "The older name of --sort."},
    [OPTION_COUNT_SHOWN] = {'n', NULL, ARGUMENT_TEXT, "number", .newer = true,
        .help = "The number of rows to show. Defaults to 10; for diff to all."},
    [OPTION_PROFILER] = {0, "profiler", ARGUMENT_WORD, "profiler", "cprofile pyinstrument",
        .newer = true,
        .help = "Which profiles to use if there are both: 'cprofile' or 'pyinstrument'. "
                "Defaults to 'cprofile'."},
    [OPTION_START_PHASE] = {0, "start-phase", ARGUMENT_WORD, "phase",
        "start stepstart forwardpassend stepend end", .newer = true,
        .help = "Only profiles that begin in this part of their first step: 'start', 'stepstart', "
                "'forwardpassend', 'stepend' or 'end'."},
    [OPTION_END_PHASE] = {0, "end-phase", ARGUMENT_WORD, "phase",
        "start stepstart forwardpassend stepend end", .newer = true,
        .help = "Only profiles that end in this part of their last step."},
    [OPTION_START_MODE] = {0, "start-mode", ARGUMENT_WORD, "mode",
        "train eval predict global prestepzero posthookclose", .newer = true,
        .help = "Only profiles that begin in this mode: 'train', 'eval', 'predict', 'global', "
                "'prestepzero' or 'posthookclose'."},
    [OPTION_END_MODE] = {0, "end-mode", ARGUMENT_WORD, "mode",
        "train eval predict global prestepzero posthookclose", .newer = true,
        .help = "Only profiles that end in this mode."},
    [OPTION_NODE] = {0, "node", ARGUMENT_TEXT, "node", .newer = true,
        .help = "Only profiles of this node."},
    [OPTION_BENCH_NAME] = {'n', "name", ARGUMENT_TEXT, "name", .repeatable = true, .newer = true,
        .brief = "Name of the command that follows",
        .help = "The name of a command in the results: the first --name is of the first command, "
                "and so on. Defaults to the command itself."},
    [OPTION_BENCH_RUNS] = {'r', "runs", ARGUMENT_TEXT, "number", .newer = true,
        .brief = "Runs of each command",
        .help = "Run each command this many times. By default each runs at least 5 times and 3 "
                "seconds, until wall time and RAM are exact enough (--precision) or the time "
                "(--max-time) is over."},
    [OPTION_BENCH_PRECISION] = {0, "precision", ARGUMENT_TEXT, "percent", .newer = true,
        .help = "How exact wall time and RAM are to be: half of the 95 % interval, in percent. "
                "Defaults to 1%."},
    [OPTION_BENCH_MIN_TIME] = {0, "min-time", ARGUMENT_TEXT, "seconds", .newer = true,
        .help = "Run for at least this many seconds. Defaults to 3."},
    [OPTION_BENCH_MAX_TIME] = {0, "max-time", ARGUMENT_TEXT, "seconds", .newer = true,
        .brief = "End after this time; 60 s if not given",
        .help = "Begin no further block of runs after this many seconds, all commands together. "
                "Defaults to 60. It has no effect with --runs."},
    [OPTION_BENCH_WARMUP] = {'w', "warmup", ARGUMENT_TEXT, "number", .newer = true,
        .brief = "Runs before that, which do not count",
        .help = "Run each command this many times before the runs that count, so that files are in "
                "RAM."},
    [OPTION_BENCH_SETUP] = {0, "setup", ARGUMENT_TEXT, "command", .newer = true,
        .help = "A line for sh that runs once for each command before all runs, for example to "
                "build it."},
    [OPTION_BENCH_PREPARE] = {'p', "prepare", ARGUMENT_TEXT, "command", .newer = true,
        .brief = "A line for sh before each run",
        .help = "A line for sh that runs before each run, for example to empty a cache. It is not "
                "measured."},
    [OPTION_BENCH_CONCLUDE] = {0, "conclude", ARGUMENT_TEXT, "command", .newer = true,
        .help = "A line for sh that runs after each run. It is not measured."},
    [OPTION_BENCH_CLEANUP] = {0, "cleanup", ARGUMENT_TEXT, "command", .newer = true,
        .help = "A line for sh that runs once for each command after all runs."},
    [OPTION_BENCH_IGNORE_FAILURE] = {'i', "ignore-failure", ARGUMENT_NONE, .newer = true,
        .help = "Count runs that fail. Without it a run that ends with another exit status than 0 "
                "ends the benchmark."},
    [OPTION_BENCH_INPUT] = {0, "input", ARGUMENT_FILE, "file", .newer = true,
        .help = "The standard input of each run. Defaults to /dev/null."},
    [OPTION_BENCH_SHOW_OUTPUT] = {0, "show-output", ARGUMENT_NONE, .newer = true,
        .help = "Let the commands write to the screen. By default their output is discarded."},
    [OPTION_BENCH_TIMEOUT] = {0, "timeout", ARGUMENT_TEXT, "seconds", .newer = true,
        .help = "Kill a run, with all that it has started, after this many seconds. The run then "
                "counts as failed."},
    [OPTION_BENCH_PARAMETER] = {'P', "parameter", ARGUMENT_TEXT, "name=values", .repeatable = true,
        .newer = true, .brief = "Values of {name}: 1,2,4 or 1..8",
        .help = "Run with each value of a parameter, written in the command as {name}: "
                "threads=1,2,4, size=1..8, or share=0..1..0.25 with a step. With several "
                "parameters all combinations run; see --pair."},
    [OPTION_BENCH_PAIR] = {0, "pair", ARGUMENT_NONE, .newer = true,
        .help = "Change several parameters together: first run with the first value of each, then "
                "with the second ones, and so on. They need the same number of values."},
    [OPTION_BENCH_SHELL] = {'S', "shell", ARGUMENT_NONE, .newer = true,
        .brief = "Run the commands by sh -c",
        .help = "Run each command by sh -c, for pipes and variables. What an empty shell costs is "
                "measured and subtracted."},
    [OPTION_BENCH_SEED] = {0, "seed", ARGUMENT_TEXT, "number", .newer = true,
        .help = "Begin the random order of runs with this number, to repeat an order. The results "
                "name the number."},
    [OPTION_BENCH_IN_ORDER] = {0, "in-order", ARGUMENT_NONE, .newer = true,
        .help = "Within each block, run the commands as they were given. By default chance "
                "decides, so that none is always first."},
    [OPTION_BENCH_KEEP] = {0, "keep", ARGUMENT_FILE, "folder", .newer = true,
        .help = "Keep the samples of each run in this folder, for 'gpu-tracker report'."},
    [OPTION_BENCH_WORK] = {0, "work", ARGUMENT_TEXT, "regex", .newer = true,
        .brief = "A number in the output: 'tokens: ([0-9]+)'",
        .help = "An extended regular expression whose first group is a number in the command's "
                "output: its units of work. Time, CPU time, energy and RAM are then also shown per "
                "unit. The last match counts."},
    [OPTION_BENCH_BASELINE] = {0, "baseline", ARGUMENT_FILE, "file", .newer = true,
        .brief = "Compare with results of an earlier day",
        .help = "Compare with an earlier benchmark, a file that -o x.json wrote. What differs of "
                "the machine is named."},
    [OPTION_BENCH_FAIL_IF] = {0, "fail-if", ARGUMENT_TEXT, "rule", .repeatable = true,
        .newer = true, .brief = "Exit with 3 for such as 'ram > +5%'",
        .help = "Exit with status 3 when a rule holds, such as 'ram > +5%' or 'wall > 2.5'. A "
                "change is from the baseline, or without one from the first command, and has to "
                "be more than noise. A rule without a figure to check, or one that the runs "
                "cannot decide, is an error (status 1). Can be given several times."},
    [OPTION_BENCH_OUTPUT] = {'o', "output", ARGUMENT_FILE, "file",
        .brief = "Also write the results to a file: x.json, x.html",
        .help = "Write the results to a file as well. Its extension sets the format (.json, .csv, "
                ".md, .adoc, .html) unless -f does. \"-\" is the standard output."},
    [OPTION_BENCH_FORMAT] = {'f', "format", ARGUMENT_WORD, "format",
        "text json csv markdown asciidoc html hyperfine bencher", .newer = true,
        .brief = "text, json, csv, markdown, html, hyperfine ...",
        .help = "'text' is for people, 'json' has everything, 'csv' has a line for each run, "
                "'markdown' and 'asciidoc' have a table, 'html' is a page with every run. "
                "'hyperfine' is the JSON of hyperfine, 'bencher' that of Bencher. Defaults to the "
                "format of the output's extension, else to 'text'."},
    [OPTION_BENCH_DETAILS] = {0, "details", ARGUMENT_NONE, .newer = true,
        .help = "Show all figures, and why others are missing. By default page faults, bytes and "
                "the like are shown where commands differ in them."},
    [OPTION_BENCH_QUIET] = {'q', "quiet", ARGUMENT_NONE, .newer = true,
        .help = "With -o, print nothing on the screen."},
};

const struct option *option(enum option_id id)
{
    return &options[id];
}

const struct option *option_of_setting(const char *setting)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options[i].setting && strcmp(options[i].setting, setting) == 0)
            return &options[i];
    }
    return NULL;
}

const char *option_name(const struct option *option, char buffer[64])
{
    if (option->long_name)
        snprintf(buffer, 64, "--%s", option->long_name);
    else
        snprintf(buffer, 64, "-%c", option->short_name);
    return buffer;
}

/* Whether a long name begins with `name`; older programs have _ for -. */
static bool begins_with(const char *long_name, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (long_name[i] != name[i] && !(long_name[i] == '-' && name[i] == '_'))
            return false;
    }
    return true;
}

bool option_is_other_name(const struct option *row, const char *name, size_t length)
{
    const char *at = row->other_names ? row->other_names : "";
    while (*at) {
        size_t word = strcspn(at, " ");
        if (word == length && begins_with(at, name, length))
            return true;
        at += word + (at[word] == ' ');
    }
    return false;
}

/* Counts the options that begin so and are old or newer as asked; *id and *other are two of them.
 * An exact name counts alone. */
static int count_matches(const enum option_id *ids, const char *name, size_t length, bool newer,
    enum option_id *id, enum option_id *other)
{
    int count = 0;
    for (; *ids != OPTION_END; ids++) {
        const struct option *candidate = &options[*ids];
        if (!candidate->long_name || !begins_with(candidate->long_name, name, length))
            continue;
        if (candidate->long_name[length] == '\0') {
            *id = *ids;
            return 1;
        }
        if (candidate->newer != newer)
            continue;
        if (count < 2)
            *(count == 0 ? id : other) = *ids;
        count++;
    }
    return count;
}

enum option_match option_find_long(const enum option_id *ids, const char *name, size_t length,
    enum option_id *id, enum option_id *other)
{
    int count = count_matches(ids, name, length, false, id, other);
    if (count == 0)
        count = count_matches(ids, name, length, true, id, other);
    for (; count == 0 && *ids != OPTION_END; ids++) {
        count = option_is_other_name(&options[*ids], name, length);
        if (count)
            *id = *ids;
    }
    return count == 0 ? OPTION_UNKNOWN : count == 1 ? OPTION_FOUND : OPTION_AMBIGUOUS;
}

enum option_id option_find_short(const enum option_id *ids, char name)
{
    for (; *ids != OPTION_END; ids++) {
        if (options[*ids].short_name == name)
            return *ids;
    }
    return OPTION_END;
}

bool option_is_among(const enum option_id *ids, enum option_id wanted)
{
    while (*ids != OPTION_END && *ids != wanted)
        ids++;
    return *ids == wanted;
}

const enum option_id *option_all(void)
{
    static enum option_id all[OPTION_COUNT];
    if (all[0] == OPTION_END) {
        for (int id = OPTION_END + 1; id < OPTION_COUNT; id++)
            all[id - 1] = (enum option_id)id;
    }
    return all;
}
