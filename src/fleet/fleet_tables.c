/* Jobs, machines, ranks and findings as tables. */
#include "fleet/fleet.h"

#include "base/screen.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>

/* Of a rank, machine or finding the number of its job is not a double of it. */
static double job_of_rank(const void *item)
{
    return (double)((const struct fleet_rank *)item)->job;
}

static double job_of_machine(const void *item)
{
    return (double)((const struct fleet_machine *)item)->job;
}

static double count_of_machine(const void *item)
{
    return (double)((const struct fleet_machine *)item)->count;
}

static double is_corrected(const void *item)
{
    return ((const struct fleet_machine *)item)->clock_is_corrected;
}

static const char *stopped_by(const void *item)
{
    return fleet_stopped_by(item);
}

static double is_straggler(const void *item)
{
    return ((const struct fleet_rank *)item)->is_straggler;
}

static double count_of_job(const void *item)
{
    return (double)((const struct fleet_job *)item)->count;
}

static double machines_of_job(const void *item)
{
    return (double)((const struct fleet_job *)item)->n_machines;
}

static const char *known(const char *text)
{
    return text[0] ? text : NULL;
}

#define TEXT_OF(function, type, member)                                                            \
    static const char *function(const void *item)                                                  \
    {                                                                                              \
        return known(((const type *)item)->member);                                                \
    }
TEXT_OF(name_of_job, struct fleet_job, name)
TEXT_OF(node_of_rank, struct fleet_rank, node)
TEXT_OF(host_of_rank, struct fleet_rank, host)
TEXT_OF(job_id_of_rank, struct fleet_rank, job_id)
TEXT_OF(task_of_rank, struct fleet_rank, task)
TEXT_OF(ranks_of_session, struct fleet_rank, ranks)
TEXT_OF(step_of_rank, struct fleet_rank, step)
TEXT_OF(launcher_of_rank, struct fleet_rank, launcher)
TEXT_OF(version_of_rank, struct fleet_rank, version)
TEXT_OF(boot_of_rank, struct fleet_rank, boot_id)

/* clang-format off */
#define NUMBER(type, member, unit, meaning) {#member, unit, meaning, GPUT_COLUMN_DOUBLE, COLUMN_OF(type, member)}
#define WHOLE(type, member, meaning) {#member, NULL, meaning, GPUT_COLUMN_INT, COLUMN_OF(type, member)}
#define BYTES(type, member, meaning) {#member, "bytes", meaning, GPUT_COLUMN_INT, COLUMN_OF(type, member)}
#define COUNT(name, function, meaning) {name, NULL, meaning, GPUT_COLUMN_INT, 0, function, NULL}
#define WORD(name, function, meaning) {name, NULL, meaning, GPUT_COLUMN_TEXT, 0, NULL, function}
#define OF_RANK(member, unit, meaning) NUMBER(struct fleet_rank, member, unit, meaning)
#define OF_JOB(member, unit, meaning) NUMBER(struct fleet_job, member, unit, meaning)
#define OF_MACHINE(member, unit, meaning) NUMBER(struct fleet_machine, member, unit, meaning)

static const struct column rank_columns[] = {
    COUNT("job", job_of_rank, "number of its job"),
    WHOLE(struct fleet_rank, rank, "in its job"),
    WORD("machine", node_of_rank, "as the launcher names it"),
    WORD("host", host_of_rank, "as it names itself"),
    WORD("boot_id", boot_of_rank, "the kernel's id of the machine"),
    WORD("job_id", job_id_of_rank, "as the scheduler or launcher has it; steps and runs are jobs of their own"),
    WORD("task", task_of_rank, "element of an array, or which of GNU parallel's jobs"),
    WORD("ranks", ranks_of_session, "of a session of several"),
    WORD("step", step_of_rank, "of its job"),
    WHOLE(struct fleet_rank, pid, "of the command"),
    WORD("launcher", launcher_of_rank, "what started it"),
    WORD("version", version_of_rank, "of gpu-tracker"),
    {"path", NULL, "the file with most of it", GPUT_COLUMN_TEXT, COLUMN_OF(struct fleet_rank, path)},
    {"start_timestamp", "seconds since the epoch", "with the clock of its machine put right", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct fleet_rank, start)},
    OF_RANK(seconds, "seconds", "wall time"),
    WHOLE(struct fleet_rank, exit_status, "of the command"),
    WHOLE(struct fleet_rank, signal, "that ended the command"),
    WORD("stopped_by", stopped_by, "what ended the command as it ends all of its workers: no failure"),
    OF_RANK(cpu_seconds, "seconds", "CPU time"),
    OF_RANK(cores, NULL, "that it may use"),
    OF_RANK(busy_cores, NULL, "CPU time by wall time"),
    OF_RANK(efficiency_percent, "percent", "busy cores of its share of the machine's allocation"),
    BYTES(struct fleet_rank, max_ram_bytes, "peak"),
    BYTES(struct fleet_rank, allowed_ram_bytes, "that it may use"),
    WHOLE(struct fleet_rank, gpus, "that it sees"),
    OF_RANK(gpu_percent, "percent", "mean use of them"),
    BYTES(struct fleet_rank, max_gpu_ram_bytes, "peak"),
    OF_RANK(energy_joules, "joules", "its share, where its tracker read the machine"),
    OF_RANK(waited_seconds, "seconds", "in which it used less CPU than the busiest rank"),
    COUNT("is_straggler", is_straggler, "1: it ran or worked far longer than the median"),
    WHOLE(struct fleet_rank, samples, "that were read"),
    WHOLE(struct fleet_rank, rows_lost, "that could not be written to its tracking file"),
    WHOLE(struct fleet_rank, restarts, "of its job"),
};

static const struct column job_columns[] = {
    WORD("name", name_of_job, "id, step and run"),
    COUNT("ranks", count_of_job, "that there are files of"),
    WHOLE(struct fleet_job, world_size, "ranks that there should be"),
    WHOLE(struct fleet_job, missing, "ranks without a file"),
    WHOLE(struct fleet_job, failed, "ranks that ended badly"),
    WHOLE(struct fleet_job, unfinished, "ranks of which no end is known"),
    COUNT("machines", machines_of_job, "that ranks ran on"),
    {"start_timestamp", "seconds since the epoch", "of the first rank", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct fleet_job, start)},
    OF_JOB(seconds, "seconds", "wall time from the first start to the last end"),
    OF_JOB(cpu_seconds, "seconds", "CPU time of all ranks"),
    OF_JOB(cores, NULL, "of the allocation"),
    OF_JOB(efficiency_percent, "percent", "CPU time of that of the allocation"),
    BYTES(struct fleet_job, max_ram_bytes, "peak of the largest rank"),
    BYTES(struct fleet_job, max_gpu_ram_bytes, "peak of the largest rank"),
    WHOLE(struct fleet_job, gpus, "that ranks see, each rank's own"),
    OF_JOB(gpu_percent, "percent", "mean use of them"),
    OF_JOB(energy_joules, "joules", "of CPUs, DRAM and GPUs, each machine and GPU once"),
    OF_JOB(cpu_joules, "joules", "of CPUs and DRAM"),
    OF_JOB(gpu_joules, "joules", "of GPUs"),
    WHOLE(struct fleet_job, slowest_rank, "the one that ran the longest"),
    OF_JOB(slowest_seconds, "seconds", "its wall time"),
    OF_JOB(median_seconds, "seconds", "median wall time of the ranks"),
    WHOLE(struct fleet_job, busiest_rank, "the one with the most CPU time"),
    OF_JOB(busiest_cpu_seconds, "seconds", "its CPU time"),
    OF_JOB(median_cpu_seconds, "seconds", "median CPU time of the ranks"),
    OF_JOB(imbalance_percent, "percent", "slowest or busiest rank against the median, the worse one"),
    OF_JOB(waited_seconds, "seconds", "of all ranks together"),
};

static const struct column machine_columns[] = {
    COUNT("job", job_of_machine, "number of its job"),
    {"machine", NULL, "as the launcher names it", GPUT_COLUMN_TEXT, COLUMN_OF(struct fleet_machine, name)},
    {"boot_id", NULL, "the kernel's id of it", GPUT_COLUMN_TEXT, COLUMN_OF(struct fleet_machine, boot_id)},
    COUNT("ranks", count_of_machine, "on it"),
    OF_MACHINE(cores, NULL, "that they may use together"),
    OF_MACHINE(seconds, "seconds", "from the first start to the last end"),
    OF_MACHINE(cpu_seconds, "seconds", "CPU time of the ranks"),
    BYTES(struct fleet_machine, max_ram_bytes, "sum of their peaks: at most this"),
    OF_MACHINE(energy_joules, "joules", "of its CPU and DRAM"),
    OF_MACHINE(clock_offset_seconds, "seconds", "of its clock against that of the lowest rank's machine, by starts and ends"),
    OF_MACHINE(clock_doubt_seconds, "seconds", "the offset is known to within this"),
    COUNT("clock_is_corrected", is_corrected, "1: times of its ranks were put right by the offset"),
};

static const struct column finding_columns[] = {
    WHOLE(struct fleet_finding, job, "number of the job; missing: of the files"),
    {"kind", NULL, "of finding", GPUT_COLUMN_TEXT, COLUMN_OF(struct fleet_finding, kind)},
    {"text", NULL, "a sentence", GPUT_COLUMN_TEXT, COLUMN_OF(struct fleet_finding, text)},
    {"evidence", NULL, "what it rests on", GPUT_COLUMN_TEXT, COLUMN_OF(struct fleet_finding, evidence)},
};
/* clang-format on */

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

int gput_fleet_tables(
    const struct gput_fleet *fleet, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (!building)
        return error_memory(error);
    ADD("jobs", job_columns, fleet->jobs, fleet->n_jobs);
    ADD("machines", machine_columns, fleet->machines, fleet->n_machines);
    ADD("ranks", rank_columns, fleet->ranks, fleet->n_ranks);
    ADD("findings", finding_columns, fleet->findings, fleet->n_findings);
    return tables_finish_building(building, tables, error);
}

static int render_tables(const struct gput_fleet *fleet, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct gput_tables *tables;
    TRY(gput_fleet_tables(fleet, &tables, error));
    int code = format == GPUT_CSV ? gput_tables_select(tables, "ranks", error) : GPUT_OK;
    if (code == GPUT_OK)
        code = gput_tables_render(tables, format, bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}

int gput_fleet_render(const struct gput_fleet *fleet, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct str text = {0};
    *bytes = NULL;
    if (format == GPUT_JSON || format == GPUT_CSV)
        return render_tables(fleet, format, bytes, length, error);
    if (format != GPUT_SUMMARY && format != GPUT_TEXT)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of a job.");
    fleet_write_text(fleet, &text);
    screen_make_harmless(&text, 0);
    return str_steal_bytes(&text, bytes, length, error);
}
