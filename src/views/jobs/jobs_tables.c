/* Jobs, machines, ranks, allocations and findings as tables. */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"
#include "base/screen.h"
#include "base/table.h"
#include "base/text.h"
#include "files/results/results_read.h"
#include "files/tracking/tracking_identity.h"
#include "model/results_columns.h"
#include "model/results_identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *stopped_by(const void *item)
{
    return jobs_stopped_by(item);
}

static double cpu_wait_percent(const void *item)
{
    return jobs_cpu_wait_percent(item);
}

/* clang-format off */
#define NUMBER(type, member, unit, meaning) {#member, unit, meaning, GPUT_COLUMN_DOUBLE, COLUMN_OF(type, member)}
#define WHOLE(type, member, meaning) {#member, NULL, meaning, GPUT_COLUMN_INT, COLUMN_OF(type, member)}
#define BYTES(type, member, meaning) {#member, "bytes", meaning, GPUT_COLUMN_INT, COLUMN_OF(type, member)}
#define COUNT(type, name, member, meaning) {name, NULL, meaning, GPUT_COLUMN_INT, COLUMN_OF(type, member)}
#define WORD(type, name, member, meaning) {name, NULL, meaning, GPUT_COLUMN_TEXT, COLUMN_OF(type, member)}
#define OF_RANK(member, unit, meaning) NUMBER(struct jobs_rank, member, unit, meaning)
#define OF_JOB(member, unit, meaning) NUMBER(struct jobs_job, member, unit, meaning)
#define OF_MACHINE(member, unit, meaning) NUMBER(struct jobs_machine, member, unit, meaning)

/* One column for each cause of wall time. */
#define TIME_WENT(ID, name, word, meaning) \
    {"time_went_" #name "_seconds", "seconds", "in which the main thread, or the child that it waited for, " meaning, GPUT_COLUMN_DOUBLE, \
        COLUMN_OF(struct jobs_rank, time_went.seconds_of[WALL_##ID])},

static const struct column rank_columns[] = {
    COUNT(struct jobs_rank, "job", job, "number of its job"),
    WHOLE(struct jobs_rank, rank, "in its job"),
    WORD(struct jobs_rank, "machine", node, "as the launcher names it"),
    WORD(struct jobs_rank, "host", host, "as it names itself"),
    WORD(struct jobs_rank, "boot_id", boot_id, "the kernel's id of the machine"),
    WORD(struct jobs_rank, "job_id", job_id, "as the scheduler or launcher has it; steps and runs are jobs of their own"),
    WORD(struct jobs_rank, "task", task, "element of an array, or which of GNU parallel's jobs"),
    WORD(struct jobs_rank, "ranks", ranks, "of a session whose ranks are its descendants"),
    WORD(struct jobs_rank, "step", step, "of its job"),
    WORD(struct jobs_rank, "run", run, "distinguishes runs of the launcher"),
    WHOLE(struct jobs_rank, pid, "of the command"),
    WORD(struct jobs_rank, "user", user, "whose process the command is"),
    WORD(struct jobs_rank, "launcher", launcher, "what started it"),
    WORD(struct jobs_rank, "version", version, "of gpu-tracker"),
    WORD(struct jobs_rank, "path", path, "the file with most of it"),
    WORD(struct jobs_rank, "report", report, "its report, where `path` has samples"),
    {"start_timestamp", "seconds since the epoch", "after correction of its machine's clock", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct jobs_rank, start)},
    OF_RANK(seconds, "seconds", "wall time"),
    WHOLE(struct jobs_rank, exit_status, "of the command"),
    WHOLE(struct jobs_rank, signal, "that ended the command"),
    {"stopped_by", NULL, "what ended the command as it ends all of its workers: no failure", GPUT_COLUMN_TEXT, .text = stopped_by},
    WORD(struct jobs_rank, "limit_enforced", limit_enforced, "kind of the limit for which its tracker ended the command"),
    WHOLE(struct jobs_rank, oom_killed, "processes that the kernel killed because memory ran out: of its control group, possibly shared with other processes"),
    OF_RANK(cpu_seconds, "seconds", "CPU time"),
    OF_RANK(cores, NULL, "that it may use"),
    OF_RANK(busy_cores, NULL, "CPU time by wall time"),
    OF_RANK(share_cores, NULL, "its share of the cores that the ranks of its machine may use together; at most `cores`"),
    OF_RANK(efficiency_percent, "percent", "`busy_cores` of `share_cores`"),
    BYTES(struct jobs_rank, max_ram_bytes, "peak"),
    COUNT(struct jobs_rank, "ram_is_at_least", ram_is_at_least, "1: the peak was at least this: only samples are known, or results so far"),
    BYTES(struct jobs_rank, allowed_ram_bytes, "that it may use"),
    WHOLE(struct jobs_rank, gpus, "that it sees"),
    OF_RANK(gpu_percent, "percent", "mean use of them"),
    BYTES(struct jobs_rank, max_gpu_ram_bytes, "peak"),
    BYTES(struct jobs_rank, read_bytes, "read, cached or not; not what sockets received by recv()"),
    BYTES(struct jobs_rank, written_bytes, "written; not what sockets sent by send()"),
    OF_RANK(energy_joules, "joules", "its share, where its tracker read the machine"),
    OF_RANK(waited_seconds, "seconds", "in calls of MPI where regions say it; else in which it used less CPU than the busiest rank, or its own share of cores; missing: a rank that looks busy may spin"),
    {"cpu_wait_percent", "percent", "of its time for which the main thread was ready to run and waited for a CPU, or was held by a CPU quota", GPUT_COLUMN_DOUBLE, .number = cpu_wait_percent},
    WALL_CAUSES(TIME_WENT)
    COUNT(struct jobs_rank, "is_straggler", is_straggler, "1: it ran or worked far longer than the median"),
    WHOLE(struct jobs_rank, samples, "that were read"),
    WHOLE(struct jobs_rank, rows_lost, "that could not be written to its tracking file"),
    WHOLE(struct jobs_rank, restarts, "of its job"),
    WORD(struct jobs_rank, "command", command, "the program and its script; with arguments only where command lines were asked for"),
};

static const struct column job_columns[] = {
    WORD(struct jobs_job, "name", name, "id, step and run"),
    COUNT(struct jobs_job, "ranks", present, "ranks with files, each counted once; if there are no ranks, sessions"),
    WHOLE(struct jobs_job, world_size, "ranks that there should be"),
    WHOLE(struct jobs_job, missing, "ranks without a file; 0 where `known_ranks` are"),
    WHOLE(struct jobs_job, known_ranks, "of sessions of `gpu-tracker run -- mpirun …`, which may not see all"),
    WHOLE(struct jobs_job, failed, "ranks that failed, also those that were started again and ended well; tasks that failed in the end"),
    COUNT(struct jobs_job, "retried", retried, "sessions after which a rank was started again"),
    WHOLE(struct jobs_job, unfinished, "ranks whose end is not known"),
    COUNT(struct jobs_job, "machines", n_machines, "that ranks ran on"),
    {"start_timestamp", "seconds since the epoch", "of the first rank", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct jobs_job, start)},
    OF_JOB(seconds, "seconds", "wall time from the first start to the last end"),
    OF_JOB(run_seconds, "seconds", "in which at least one session ran: `seconds` without the gaps between them"),
    COUNT(struct jobs_job, "is_list", is_list, "1: sessions that no launcher calls ranks, and that did not run together: a list and its sums, no job"),
    {"user", NULL, "whose it is", GPUT_COLUMN_TEXT, COLUMN_OF(struct jobs_job, user)},
    {"command", NULL, "the program and its script; of a list, of its first session", GPUT_COLUMN_TEXT, COLUMN_OF(struct jobs_job, command)},
    {"job_name", NULL, "the scheduler's: as a rule that of its batch script", GPUT_COLUMN_TEXT, COLUMN_OF(struct jobs_job, job_name)},
    OF_JOB(time_limit_seconds, "seconds", "that the scheduler allows"),
    OF_JOB(cpu_seconds, "seconds", "CPU time of all ranks"),
    OF_JOB(cores, NULL, "of the allocation; of an array on average over its time, so a fraction"),
    OF_JOB(efficiency_percent, "percent", "CPU time as a share of the allocation"),
    BYTES(struct jobs_job, max_ram_bytes, "peak of the largest rank"),
    BYTES(struct jobs_job, machine_ram_bytes, "on the machine that came closest to its limit"),
    BYTES(struct jobs_job, allowed_ram_bytes, "that limit"),
    OF_JOB(ram_percent, "percent", "how close"),
    COUNT(struct jobs_job, "ram_is_at_least", ram_is_at_least, "1: that of one of the ranks is"),
    BYTES(struct jobs_job, max_gpu_ram_bytes, "peak of the largest rank"),
    WHOLE(struct jobs_job, gpus, "visible to the ranks, each counted once; for ranks with only samples, at most"),
    OF_JOB(gpu_percent, "percent", "mean use of them"),
    OF_JOB(energy_joules, "joules", "of CPUs, DRAM and GPUs, each machine and GPU once"),
    OF_JOB(cpu_joules, "joules", "of CPUs and DRAM"),
    OF_JOB(gpu_joules, "joules", "of GPUs"),
    WHOLE(struct jobs_job, slowest_rank, "the one that ran the longest"),
    OF_JOB(slowest_seconds, "seconds", "its wall time"),
    OF_JOB(median_seconds, "seconds", "median wall time of the ranks that did not fail"),
    WHOLE(struct jobs_job, busiest_rank, "the one with the most CPU time"),
    OF_JOB(busiest_cpu_seconds, "seconds", "its CPU time"),
    OF_JOB(median_cpu_seconds, "seconds", "median CPU time of the ranks that did not fail"),
    OF_JOB(imbalance_percent, "percent", "slowest or busiest rank against the median, the worse one"),
    OF_JOB(waited_seconds, "seconds", "of all ranks together"),
};

static const struct column machine_columns[] = {
    COUNT(struct jobs_machine, "job", job, "number of its job"),
    WORD(struct jobs_machine, "machine", name, "as the launcher names it"),
    WORD(struct jobs_machine, "boot_id", boot_id, "the kernel's id of it"),
    COUNT(struct jobs_machine, "ranks", count, "on it"),
    OF_MACHINE(cores, NULL, "that they may use together; of an array on average over its time, so a fraction"),
    OF_MACHINE(seconds, "seconds", "from the first start to the last end"),
    OF_MACHINE(cpu_seconds, "seconds", "CPU time of the ranks"),
    BYTES(struct jobs_machine, allowed_ram_bytes, "that its ranks may use together"),
    OF_MACHINE(ram_percent, "percent", "how much of that they used, page cache that the kernel gives back not counted"),
    BYTES(struct jobs_machine, max_ram_bytes, "highest sum of the peaks of ranks that ran at the same time: at most this, unless `ram_is_at_least`"),
    COUNT(struct jobs_machine, "ram_is_at_least", ram_is_at_least, "1: that of one of the ranks is"),
    OF_MACHINE(energy_joules, "joules", "of its CPU and DRAM"),
    OF_MACHINE(unread_seconds, "seconds", "in which ranks ran and no tracker read these; missing: there are none, or another machine has the same boot id"),
    OF_MACHINE(clock_offset_seconds, "seconds", "of its clock against the clock of the lowest rank's machine; missing: not compared"),
    OF_MACHINE(clock_doubt_seconds, "seconds", "the offset is known to within this"),
    WORD(struct jobs_machine, "clock_source", clock_source, "what the offset is based on: reference, same boot, marks, starts and ends, starts, none"),
    WORD(struct jobs_machine, "clock_block", clock_block, "of marks: the block that ranks exit at the same time"),
    COUNT(struct jobs_machine, "clock_is_corrected", clock_is_corrected, "1: times of its ranks were corrected by the offset"),
    COUNT(struct jobs_machine, "clock_is_doubtful", clock_is_doubtful, "1: its ranks started late, or its clock is off: their times are not in those of the job"),
};

#define OF_ALLOCATION(member, unit, meaning) NUMBER(struct jobs_allocation, member, unit, meaning)
static const struct column allocation_columns[] = {
    {"job_id", NULL, "as the scheduler has it", GPUT_COLUMN_TEXT, COLUMN_OF(struct jobs_allocation, job_id)},
    {"job_name", NULL, "as a rule that of its batch script", GPUT_COLUMN_TEXT, COLUMN_OF(struct jobs_allocation, job_name)},
    {"user", NULL, "whose it is", GPUT_COLUMN_TEXT, COLUMN_OF(struct jobs_allocation, user)},
    COUNT(struct jobs_allocation, "first_job", first_job, "number of the first of its jobs: steps, runs, and sessions without a rank"),
    COUNT(struct jobs_allocation, "jobs", n_jobs, "how many of these there are"),
    COUNT(struct jobs_allocation, "sessions", n_sessions, "in all of them"),
    COUNT(struct jobs_allocation, "machines", n_machines, "that they ran on"),
    {"start_timestamp", "seconds since the epoch", "of the first session", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct jobs_allocation, start)},
    OF_ALLOCATION(seconds, "seconds", "from the first start to the last end"),
    OF_ALLOCATION(run_seconds, "seconds", "in which at least one session ran"),
    OF_ALLOCATION(idle_seconds, "seconds", "between sessions, in which none ran"),
    OF_ALLOCATION(time_limit_seconds, "seconds", "that the scheduler allows"),
    OF_ALLOCATION(cpu_seconds, "seconds", "CPU time of all sessions"),
    OF_ALLOCATION(cores, NULL, "that were allocated"),
    OF_ALLOCATION(efficiency_percent, "percent", "CPU time as a share of these cores, also between sessions"),
    BYTES(struct jobs_allocation, machine_ram_bytes, "highest sum of the peaks of sessions that ran at the same time on one machine"),
    COUNT(struct jobs_allocation, "ram_is_at_least", ram_is_at_least, "1: that of one of the sessions is"),
    BYTES(struct jobs_allocation, allowed_ram_bytes, "what the machine that came closest to its limit was allowed"),
    OF_ALLOCATION(ram_percent, "percent", "how close"),
    {"ask", NULL, "options to ask for next time", GPUT_COLUMN_TEXT, COLUMN_OF(struct jobs_allocation, ask)},
};

static const struct column finding_columns[] = {
    WHOLE(struct jobs_finding, job, "number of the job; missing: of the files"),
    WORD(struct jobs_finding, "kind", kind, "of finding"),
    WORD(struct jobs_finding, "text", text, "a sentence"),
    WORD(struct jobs_finding, "evidence", evidence, "what it is based on"),
};
/* clang-format on */

/* Adds a table of items that lie in an array. */
static void add(struct gput_tables *tables, const char *name, const struct column *columns,
    size_t n_columns, const void *items, size_t count, size_t size)
{
    struct gput_table *table = tables_add(tables, name);
    table_add_columns(table, "", NULL, columns, n_columns);
    for (size_t i = 0; i < count; i++)
        table_put_columns(table, columns, n_columns, (const char *)items + i * size);
}

#define ADD(name, columns, items, count)                                                           \
    add(building, name, columns, COLUMN_COUNT(columns), items, count, sizeof *(items))

int gput_jobs_tables(
    const struct gput_jobs *jobs, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (!building)
        return error_memory(error);
    ADD("jobs", job_columns, jobs->jobs, jobs->n_jobs);
    ADD("machines", machine_columns, jobs->machines, jobs->n_machines);

    struct gput_table *table = tables_add(building, "ranks");
    table_add_columns(table, "", NULL, rank_columns, COLUMN_COUNT(rank_columns));
    for (size_t i = 0; i < jobs->n_ranks; i++)
        table_put_columns(table, rank_columns, COLUMN_COUNT(rank_columns), jobs->order[i]);

    ADD("allocations", allocation_columns, jobs->allocations, jobs->n_allocations);
    ADD("findings", finding_columns, jobs->findings, jobs->n_findings);
    return tables_finish_building(building, tables, error);
}

int gput_jobs_render(const struct gput_jobs *jobs, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct str text = {0};
    *bytes = NULL;
    if (format == GPUT_FORMAT_JSON || format == GPUT_FORMAT_CSV) {
        /* Write the tables in a format. CSV has the table of ranks only. */
        struct gput_tables *tables;
        TRY(gput_jobs_tables(jobs, &tables, error));
        int code = format == GPUT_FORMAT_CSV ? gput_tables_select(tables, "ranks", error) : GPUT_OK;
        if (code == GPUT_OK)
            code = gput_tables_render(tables, format, bytes, length, error);
        gput_tables_destroy(tables);
        return code;
    }
    if (format != GPUT_FORMAT_SUMMARY && format != GPUT_FORMAT_TEXT)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of a job.");
    jobs_write_text(jobs, &text);
    screen_sanitize(&text, 0);
    return str_steal_bytes(&text, bytes, length, error);
}

/* ---- All figures of each session ---- */

/* True for a column of whole numbers. */
static bool is_whole(const struct results_column *column)
{
    bool is_count = column->kind == RESULTS_COUNT_32 || column->kind == RESULTS_COUNT_64;
    return is_count || column->kind == RESULTS_FLAG || column->shown == SHOWN_WHOLE ||
           column->shown == SHOWN_RAM;
}

/* Reads the figures of a session again, from its report or else its tracking file. They are
 * missing if neither can be read any more. */
static void read_session(const struct jobs_rank *rank, struct gput_results *results)
{
    const char *path = rank->report ? rank->report : rank->path;
    struct tracking_reader *reader;
    if (text_ends_with(path, TRACKING_IDENTITY_EXTENSION)) {
        CLEANUP_FREE char *described = tracking_identity_described(path);
        results_forget(results);
        if (described)
            tracking_identity_read(described, results);
        return;
    }
    if (results_read(path, results, NULL, NULL) == GPUT_OK)
        return;
    results_finish(results);
    *results = (struct gput_results){0};
    results_forget(results);
    if (tracking_reader_salvage(rank->path, &reader, NULL) != GPUT_OK)
        return;
    tracking_identity_of(reader, rank->path, results, NULL);
    tracking_reader_close(reader);
}

int gput_jobs_sessions(
    const struct gput_jobs *jobs, struct gput_tables **tables, struct gput_error *error)
{
    struct results_identity_column columns[RESULTS_SESSION_COLUMNS];
    size_t count = results_session_columns(columns);
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (!building)
        return error_memory(error);
    struct gput_table *table = tables_add(building, "sessions");
    table_add_column(table, "job", GPUT_COLUMN_INT);
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "path", "report", NULL);
    for (size_t i = 0; i < count; i++) {
        const struct results_column *column = columns[i].column;
        table_add_column(table, columns[i].name,
            column->kind == RESULTS_TEXT ? GPUT_COLUMN_TEXT
            : is_whole(column)           ? GPUT_COLUMN_INT
                                         : GPUT_COLUMN_DOUBLE);
    }
    for (size_t i = 0; i < jobs->n_ranks; i++) {
        /* Add the row of a session. */
        const struct jobs_rank *rank = jobs->order[i];
        struct gput_results results = {0};
        read_session(rank, &results);
        bool has_figures = !isnan(results.elapsed_seconds);
        table_put_int(table, (int64_t)rank->job);
        table_put_text(table, rank->path);
        table_put_text(table, rank->report);
        for (size_t k = 0; k < count; k++) {
            const struct results_column *column = columns[k].column;
            const char *text = results_column_text(column, &results);
            double number = results_column_number(column, &results);
            if (column->kind == RESULTS_TEXT)
                table_put_text(table, *text ? text : NULL);
            else if (isnan(number) || (columns[k].is_figure && !has_figures))
                table_put_missing(table);
            else if (is_whole(column))
                table_put_int(table, (int64_t)fmin(number, 0x1p62));
            else
                table_put_double(table, number);
        }
        results_finish(&results);
    }
    return tables_finish_building(building, tables, error);
}
