#include "base/table.h"

#include <gputracker/processes.h>

#include <math.h>
#include <sys/wait.h>

static void put_whole(struct gput_table *table, double value)
{
    if (isnan(value))
        table_put_missing(table);
    else
        table_put_int(table, (int64_t)value);
}

static void add_moment(struct gput_table *table, const char *name)
{
    table_add_column(table, name, GPUT_COLUMN_DOUBLE);
    table_set_unit(table, "seconds since the epoch");
}

static const char *const transfers[] = {
    "read_bytes", "write_bytes", "storage_read_bytes", "storage_write_bytes"};

static void add_transfers(struct gput_table *table)
{
    for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++)
        table_add_column(table, transfers[i], GPUT_COLUMN_INT);
}

static struct gput_table *add_processes(struct gput_tables *tables)
{
    struct gput_table *table = tables_add(tables, "processes");
    table_add_column(table, "pid", GPUT_COLUMN_INT);
    table_add_column(table, "parent", GPUT_COLUMN_INT);
    table_add_column(table, "name", GPUT_COLUMN_TEXT);
    table_add_column(table, "command_line", GPUT_COLUMN_TEXT);
    add_moment(table, "start_timestamp");
    add_moment(table, "end_timestamp");
    table_add_column(table, "end_timestamp_source", GPUT_COLUMN_TEXT);
    table_add_column(table, "at_least", GPUT_COLUMN_TEXT);
    table_add_column(table, "cpu_seconds", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "peak_ram_bytes", GPUT_COLUMN_INT);
    table_add_column(table, "peak_ram_source", GPUT_COLUMN_TEXT);
    table_add_column(table, "peak_gpu_ram_bytes", GPUT_COLUMN_INT);
    add_transfers(table);
    table_add_column(table, "exit_code", GPUT_COLUMN_INT);
    table_add_column(table, "exit_signal", GPUT_COLUMN_INT);
    return table;
}

static void put_process(struct gput_table *table, const struct gput_process *process)
{
    bool exited = process->has_status && WIFEXITED(process->status);
    bool killed = process->has_status && WIFSIGNALED(process->status);
    table_put_int(table, process->pid);
    put_whole(table, process->parent > 0 ? (double)process->parent : NAN);
    table_put_text(table, process->name[0] ? process->name : NULL);
    table_put_text(table, process->command_line);
    table_put_double(table, (double)process->start_ns * 1e-9);
    table_put_double(table, process->end_ns ? (double)process->end_ns * 1e-9 : NAN);
    table_put_text(table, gput_process_end_name(process));
    table_put_text(table, gput_process_at_least(process));
    table_put_double(table, process->cpu_seconds);
    put_whole(table, process->peak_ram_bytes);
    table_put_text(table, gput_process_peak_name(process->peak));
    put_whole(table, process->peak_gpu_ram_bytes);
    put_whole(table, process->read_bytes);
    put_whole(table, process->write_bytes);
    put_whole(table, process->storage_read_bytes);
    put_whole(table, process->storage_write_bytes);
    put_whole(table, exited ? WEXITSTATUS(process->status) : NAN);
    put_whole(table, killed ? WTERMSIG(process->status) : NAN);
}

static void add_others(struct gput_tables *tables, const struct gput_processes *processes)
{
    struct gput_table *table = tables_add_record(tables, "other_processes");
    table_add_column(table, "count", GPUT_COLUMN_INT);
    table_add_column(table, "cpu_seconds", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "largest_peak_ram_bytes", GPUT_COLUMN_INT);
    table_add_column(table, "largest_peak_gpu_ram_bytes", GPUT_COLUMN_INT);
    add_transfers(table);
    table_put_int(table, (int64_t)processes->others.count);
    table_put_double(table, processes->others.cpu_seconds);
    put_whole(table, processes->others.peak_ram_bytes);
    put_whole(table, processes->others.peak_gpu_ram_bytes);
    put_whole(table, processes->others.read_bytes);
    put_whole(table, processes->others.write_bytes);
    put_whole(table, processes->others.storage_read_bytes);
    put_whole(table, processes->others.storage_write_bytes);
}

int gput_processes_tables(
    const struct gput_processes *processes, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (building) {
        struct gput_table *table = add_processes(building);
        for (size_t i = 0; i < processes->count; i++)
            put_process(table, &processes->processes[i]);
        add_others(building, processes);
    }
    return tables_finish_building(building, tables, error);
}
