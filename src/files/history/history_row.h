/*
 * One session in the history: who it was, what it used at least and at most, which limits it had,
 * and how it ended. Each column in one row of the list below: the database, the files of rows that
 * wait for it, and the tables that readers get are made of that list.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "model/results.h"

#include <gputracker/table.h>

#include <stddef.h>

/*
 *     TEXT(ID, name, from, meaning)
 *     WHOLE(ID, name, unit, from, meaning)     a whole number
 *     NUMBER(ID, name, unit, from, meaning)
 *
 * from: the column of results that it is; NULL: history_row_fill() says where it is from. Columns
 * are added at the end: readers and writers of other versions find them by name.
 */
/* clang-format off */
#define HISTORY_COLUMNS(TEXT, WHOLE, NUMBER) \
    TEXT(SESSION_ID, "session_id", "identity.session_id", "of this session alone; of a job: of the job") \
    TEXT(WITHIN, "within", "identity.within", "ids of the sessions that have these processes, too") \
    TEXT(NAME, "name", NULL, "the program, and the script that it runs") \
    TEXT(ARGUMENTS, "arguments", NULL, "the whole command line, where it is kept (--command-lines)") \
    TEXT(HOST, "host", "identity.host", "name of the machine") \
    TEXT(BOOT_ID, "boot_id", "identity.boot_id", "of the machine since it was started") \
    TEXT(CLOCK, "clock", "identity.clock", "synchronized, or unsynchronized") \
    TEXT(USER, "user", "identity.user", "whose process it was") \
    TEXT(START, "start", "identity.start", "when tracking began, UTC") \
    TEXT(END, "end", "identity.end", "when it ended, UTC") \
    NUMBER(START_SECONDS, "start_seconds", "seconds", NULL, "when tracking began, since the epoch") \
    NUMBER(WALL, "wall_seconds", "seconds", "elapsed_seconds", "how long it took") \
    WHOLE(EXIT_STATUS, "exit_status", NULL, "identity.exit_status", "exit status of the command") \
    WHOLE(SIGNAL, "signal", NULL, "identity.signal", "number of the signal that ended the command") \
    WHOLE(OOM_KILLED, "oom_killed", NULL, "accounting.processes.oom_killed", "processes that the kernel killed because memory ran out") \
    TEXT(LIMIT_PASSED, "limit_passed", NULL, "the first limit of --limit that it passed") \
    WHOLE(LIMIT_ENFORCED, "limit_enforced", NULL, NULL, "1: it was ended for that") \
    NUMBER(CPU, "cpu_seconds", "seconds", "accounting.cpu_seconds.kernel", "CPU time: at least") \
    WHOLE(CPU_IS_EXACT, "cpu_is_exact", NULL, NULL, "1: it is all of the CPU time") \
    NUMBER(USER_CPU, "user_cpu_seconds", "seconds", "accounting.cpu_seconds.kernel_user", "of that, in user mode") \
    NUMBER(SYSTEM_CPU, "system_cpu_seconds", "seconds", "accounting.cpu_seconds.kernel_system", "of that, in the kernel") \
    NUMBER(CORES, "max_cores", NULL, NULL, "cores in use (maximum of the samples)") \
    NUMBER(THREADS, "max_threads", NULL, "max.combined_n_threads", "threads (maximum)") \
    NUMBER(RAM, "ram_bytes", "bytes", "peaks.combined_bytes", "peak RAM of all processes together: at least") \
    NUMBER(RAM_AT_MOST, "ram_at_most_bytes", "bytes", "peaks.combined_at_most_bytes", "and at most") \
    NUMBER(GROUP_RAM, "group_ram_bytes", "bytes", "peaks.control_group_bytes", "peak that the kernel charged to a control group of these processes, page cache included") \
    NUMBER(ALLOWED_RAM, "allowed_ram_bytes", "bytes", "allowed.ram_bytes", "RAM that it was allowed") \
    NUMBER(ALLOWED_CORES, "allowed_cores", NULL, "allowed.cores", "cores that it was allowed") \
    NUMBER(MACHINE_RAM, "machine_ram_bytes", "bytes", "static_data.ram_system_capacity_bytes", "RAM of the machine") \
    WHOLE(MACHINE_CORES, "machine_cores", NULL, "static_data.system_core_count", "cores of the machine") \
    WHOLE(GPUS, "gpus", NULL, NULL, "GPUs that it could use") \
    WHOLE(GPUS_USED, "gpus_used", NULL, NULL, "GPUs on which it held memory") \
    NUMBER(GPU_RAM, "gpu_ram_bytes", "bytes", "gpu_peaks.combined_bytes", "peak GPU RAM: at least") \
    NUMBER(GPU_RAM_AT_MOST, "gpu_ram_at_most_bytes", "bytes", "gpu_peaks.combined_at_most_bytes", "and at most") \
    NUMBER(GPU_SECONDS, "gpu_seconds", "seconds", NULL, "GPUs that it could use x wall time") \
    NUMBER(GPU_BUSY_SECONDS, "gpu_busy_seconds", "seconds", NULL, "of that, in which they were in use by any process: GPU utilization x time") \
    NUMBER(ENERGY, "energy_joules", "joules", "energy.combined_joules", "its share of the machine's energy") \
    NUMBER(MACHINE_ENERGY, "machine_energy_joules", "joules", "energy.machine.total_joules", "energy of the machine meanwhile") \
    NUMBER(STORAGE_READ, "storage_read_bytes", "bytes", "accounting.bytes.read_from_storage", "fetched from storage") \
    NUMBER(STORAGE_WRITTEN, "storage_written_bytes", "bytes", "accounting.bytes.written_to_storage", "written to storage") \
    WHOLE(PROCESSES, "processes", NULL, "accounting.processes.seen", "distinct processes known") \
    NUMBER(INPUT, "input_bytes", "bytes", NULL, "size of the files of --size-of together") \
    TEXT(INPUTS, "inputs", NULL, "these files, as JSON: {\"name\": bytes}") \
    TEXT(FILES, "files", NULL, "the files that the session wrote, as JSON: a list of paths") \
    TEXT(LAUNCHER, "launcher", "job.launcher", "what started this part of a job") \
    TEXT(JOB_ID, "job_id", "job.job_id", "the scheduler's") \
    TEXT(TASK, "task", "job.task", "element of an array") \
    TEXT(STEP, "step", "job.step", "of the job") \
    TEXT(RUN, "run", "job.run", "of the launcher") \
    TEXT(JOB_NAME, "job_name", "job.job_name", "the scheduler's name of the job") \
    NUMBER(TIME_LIMIT, "time_limit_seconds", "seconds", "job.time_limit_seconds", "wall time that the scheduler allows the job") \
    WHOLE(RANKS, "ranks", NULL, NULL, "ranks whose figures these are together; missing: it is no rank") \
    NUMBER(NODE_RAM, "node_ram_bytes", "bytes", NULL, "of a job: sum of the peaks of the ranks of the fullest machine, an upper bound of their RAM together") \
    WHOLE(WORLD_SIZE, "world_size", NULL, "job.world_size", "ranks of the job") \
    TEXT(NODE, "node", "job.node", "the machine's name in the job") \
    WHOLE(NODES, "nodes", NULL, "job.node_count", "machines of the job") \
    TEXT(CONTAINER, "container", "identity.container", "id or name of the container") \
    TEXT(VERSION, "version", "identity.version", "of gpu-tracker")
/* clang-format on */

enum history_column_id {
#define HISTORY_ID(ID, ...) HISTORY_##ID,
    HISTORY_COLUMNS(HISTORY_ID, HISTORY_ID, HISTORY_ID)
#undef HISTORY_ID
        HISTORY_COLUMN_COUNT
};

struct history_column {
    const char *name;
    enum gput_column_type type; /* whole numbers are GPUT_COLUMN_INT */
    const char *unit;
    const char *from;
    const char *meaning;
};

/* The columns, by their ids. */
extern const struct history_column history_columns[HISTORY_COLUMN_COUNT];

/* The id of the column of that name, or HISTORY_COLUMN_COUNT. */
enum history_column_id history_column_find(const char *name);

/* NaN and NULL: not known. Whole numbers are doubles, too. Texts are owned. */
struct history_row {
    union {
        double number;
        char *text;
    } values[HISTORY_COLUMN_COUNT];
};

/* Nothing is known. It is freed by history_row_finish(). */
void history_row_init(struct history_row *row);
void history_row_finish(struct history_row *row);

static inline double history_number(const struct history_row *row, enum history_column_id id)
{
    return row->values[id].number;
}

/* NULL: not known. */
static inline const char *history_text(const struct history_row *row, enum history_column_id id)
{
    return row->values[id].text;
}

/* Sets a text, which is copied; "" and NULL: not known. False without memory. */
bool history_row_set_text(struct history_row *row, enum history_column_id id, const char *text);

/* The same of an array or object, as JSON; NULL: there was no memory for it. */
int history_row_set_doc(struct history_row *row, enum history_column_id id, const struct doc *doc,
    struct gput_error *error);

/* Sets all that the results of a session say. Errors: GPUT_ERROR_MEMORY. */
int history_row_fill(
    struct history_row *row, const struct gput_results *results, struct gput_error *error);

/* The row as JSON in one line, without what is not known. Text in `text`, which fails without
 * memory. */
void history_row_write(const struct history_row *row, struct str *text);

/* Reads it back into a row that is initialized. Errors: GPUT_ERROR_FORMAT (`name` is for the
 * message), GPUT_ERROR_MEMORY. */
int history_row_read(struct history_row *row, const char *text, size_t length, const char *name,
    struct gput_error *error);
