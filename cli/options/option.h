/*
 * The table of options: one row each. It drives parsing (arguments.c), the help (help.c), the man
 * page (generate_man.c) and the shell completions (generate_completions.c), so that they cannot
 * disagree. The table of commands (command_table.c) has the options of each command.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Two rows may have the same name when no command takes both. */
enum option_id {
    OPTION_END, /* ends the list of a command's options */
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_PROGRAM_VERSION,
    OPTION_EXECUTE,
    OPTION_OUTPUT,
    OPTION_FORMAT,
    OPTION_SUMMARY_FORMAT,
    OPTION_TRACKING_FORMAT,
    OPTION_QUIET,
    OPTION_SUMMARY,
    OPTION_PROGRESS,
    OPTION_LIVE,
    OPTION_LIVE_MARKS,
    OPTION_REGIONS,
    OPTION_REGION_FILE,
    OPTION_REGION_FILTER,
    OPTION_REGION_DEPTH,
    OPTION_REGION_MIN,
    OPTION_REGION_EXACT,
    OPTION_TORCH_TRACE,
    OPTION_TORCH_TRACE_FILE,
    OPTION_PHASE_TOKEN,
    OPTION_PHASES,
    OPTION_TRACKING_CONFIG,
    OPTION_NO_CONFIG,
    OPTION_SLEEP_TIME,
    OPTION_RAM_UNIT,
    OPTION_GPU_RAM_UNIT,
    OPTION_TIME_UNIT,
    OPTION_EXPECTED_CORES,
    OPTION_GPU_UUIDS,
    OPTION_DISABLE_LOGS,
    OPTION_GPU_BRAND,
    OPTION_TRACKING_FILE,
    OPTION_OVERWRITE,
    OPTION_OVERWRITTEN,
    OPTION_RAM,
    OPTION_PROCESSES,
    OPTION_COMMAND_LINES,
    OPTION_RESOURCE_USAGE_FILE,
    OPTION_SPOOL,
    OPTION_FOR,
    OPTION_ENERGY_UNIT,
    OPTION_CARBON_INTENSITY,
    OPTION_ENERGY_FOLDER,
    OPTION_ENERGY_DRIVER,
    OPTION_OUTPUT_FOLDER,
    OPTION_PERIOD,
    OPTION_MEASUREMENT_PERIOD,
    OPTION_CONT,
    OPTION_LISTEN,
    OPTION_SERVE_LISTEN,
    OPTION_OTLP,
    OPTION_REMOTE_WRITE,
    OPTION_LABEL,
    OPTION_PUSH_INTERVAL,
    OPTION_PUSH_TIMEOUT,
    OPTION_TEXTFILE,
    OPTION_OWNERS,
    OPTION_SENT_INTERVAL,
    OPTION_CMD,
    OPTION_WINDOW_START,
    OPTION_WINDOW_END,
    OPTION_CURVE_OUTPUT,
    OPTION_CURVE_FORMAT,
    OPTION_FIX_SCRIPT,
    OPTION_HISTORY,
    OPTION_NO_HISTORY,
    OPTION_SIZE_OF,
    OPTION_LOG_TO,
    OPTION_HISTORY_FORMAT,
    OPTION_HISTORY_SINCE,
    OPTION_HISTORY_LAST,
    OPTION_HISTORY_SORT,
    OPTION_GPUS_TABLE,
    OPTION_GPU_PARTS,
    OPTION_WATCH,
    OPTION_WATCH_INTERVAL,
    OPTION_SIZE_FORMAT,
    OPTION_SIZE_SHARE,
    OPTION_NEXT_SIZE_OF,
    OPTION_NEXT_RANKS,
    OPTION_LIMIT,
    OPTION_ENFORCE,
    OPTION_ANALYSIS_FORMAT,
    OPTION_COMPARISON_FORMAT,
    OPTION_COMPARED_FORMAT,
    OPTION_JOB_FORMAT,
    OPTION_JOB_TABLE,
    OPTION_LIVE_JOB,
    OPTION_ANALYZED_FILE,
    OPTION_SUB_TRACKING_FILE,
    OPTION_ALL,
    OPTION_DETAILS,
    OPTION_OPEN_CALLS,
    OPTION_BY,
    OPTION_COMPARISON_CONFIG,
    OPTION_MAP,
    OPTION_STATISTIC,
    OPTION_RELATIVE,
    OPTION_FAIL_IF,
    OPTION_COMPARED_FAIL_IF,
    OPTION_COMBINED_FILE,
    OPTION_PART,
    OPTION_MIX,
    OPTION_MARKED_FILE,
    OPTION_MARKED_PROCESS,
    OPTION_HTML_REPORT,
    OPTION_REPORT_OUTPUT,
    OPTION_REPORT_FORMAT,
    OPTION_PERFETTO,
    OPTION_REPORT_MARKS,
    OPTION_REPORT_TITLE,
    OPTION_PLOT_OUTPUT,
    OPTION_PLOT_FIGURES,
    OPTION_PLOT_BLOCKS,
    OPTION_PLOT_START,
    OPTION_PLOT_END,
    OPTION_PLOT_SIZE,
    OPTION_PLOT_TITLE,
    OPTION_MERGED_OUTPUT,
    OPTION_START,
    OPTION_STOP,
    OPTION_STEPS,
    OPTION_UNIT,
    OPTION_SUFFIX,
    OPTION_LOW,
    OPTION_CORES,
    OPTION_TABLE_OUTPUT,
    OPTION_TABLE_FORMAT,
    OPTION_TABLE,
    OPTION_STEPS_BY,
    OPTION_UTILIZATION_BY,
    OPTION_RESOURCE,
    OPTION_PHASE,
    OPTION_METRIC,
    OPTION_RANGES,
    OPTION_AT,
    OPTION_BETWEEN,
    OPTION_SORT,
    OPTION_PYTHON_BY,
    OPTION_COUNT_SHOWN,
    OPTION_PROFILER,
    OPTION_START_PHASE,
    OPTION_END_PHASE,
    OPTION_START_MODE,
    OPTION_END_MODE,
    OPTION_NODE,
    OPTION_BENCH_NAME,
    OPTION_BENCH_RUNS,
    OPTION_BENCH_PRECISION,
    OPTION_BENCH_MIN_TIME,
    OPTION_BENCH_MAX_TIME,
    OPTION_BENCH_WARMUP,
    OPTION_BENCH_SETUP,
    OPTION_BENCH_PREPARE,
    OPTION_BENCH_CONCLUDE,
    OPTION_BENCH_CLEANUP,
    OPTION_BENCH_IGNORE_FAILURE,
    OPTION_BENCH_INPUT,
    OPTION_BENCH_SHOW_OUTPUT,
    OPTION_BENCH_TIMEOUT,
    OPTION_BENCH_PARAMETER,
    OPTION_BENCH_PAIR,
    OPTION_BENCH_SHELL,
    OPTION_BENCH_SEED,
    OPTION_BENCH_IN_ORDER,
    OPTION_BENCH_KEEP,
    OPTION_BENCH_WORK,
    OPTION_BENCH_BASELINE,
    OPTION_BENCH_FAIL_IF,
    OPTION_BENCH_OUTPUT,
    OPTION_BENCH_FORMAT,
    OPTION_BENCH_DETAILS,
    OPTION_BENCH_QUIET,
    OPTION_COUNT,
};

/* What an argument is, for those who complete it. */
enum argument_kind {
    ARGUMENT_NONE,    /* the option is a flag */
    ARGUMENT_TEXT,    /* anything */
    ARGUMENT_FILE,    /* a path */
    ARGUMENT_WORD,    /* one of `words` */
    ARGUMENT_COMMAND, /* a command line */
    ARGUMENT_HELP,    /* what there is help on: a topic, or the words of a command */
};

struct option {
    char short_name;       /* 'o', or 0 */
    const char *long_name; /* "output", or NULL */
    enum argument_kind kind;
    const char *argument; /* what help calls the argument: "output" is shown as <output> */
    const char *words;    /* ARGUMENT_WORD: the valid ones, with blanks between */
    bool optional;        /* its value follows an equals sign or is not there: "" */
    bool repeatable;      /* every use counts; of any other option the last one does */
    bool newer;           /* not in the old command: yields when a prefix fits an old option too */
    const char *setting;  /* the option of a session that it sets by its name there, or NULL */
    const char *other_names; /* longer long names, which help and Python use; or NULL */
    const char *brief;       /* one line for -h; NULL: the first sentence of `help` */
    const char *help;
};

const struct option *option(enum option_id id);

/* How users write it: "--output", or "-p" when it has no long name. Static text of `buffer`. */
const char *option_name(const struct option *option, char buffer[64]);

/* The option that sets an option of a session; NULL: none does. */
const struct option *option_of_setting(const char *setting);

/* Whether it is one of the other long names. */
bool option_is_other_name(const struct option *row, const char *name, size_t length);

enum option_match { OPTION_UNKNOWN, OPTION_FOUND, OPTION_AMBIGUOUS };

/*
 * Finds a long option by its name or a prefix that fits no other one of `ids` (a list with
 * OPTION_END at its end). The options of the old command go first, so that every prefix its users
 * know stays unique whatever is added. When the prefix is ambiguous, *id and *other are two that
 * it fits.
 */
enum option_match option_find_long(const enum option_id *ids, const char *name, size_t length,
    enum option_id *id, enum option_id *other);

/* Finds a short option. OPTION_END when there is none. */
enum option_id option_find_short(const enum option_id *ids, char name);

/* Whether a list of options has this one. */
bool option_is_among(const enum option_id *ids, enum option_id wanted);

/* All options, with OPTION_END at the end. */
const enum option_id *option_all(void);
