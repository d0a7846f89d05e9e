#include "base/table.h"
#include "output/process_columns.h"

#include "model/processes.h"

int gput_processes_tables(
    const struct gput_processes *processes, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (building) {
        struct gput_table *table = tables_add(building, "processes");
        table_add_columns(table, "", NULL, process_columns, process_column_count);
        for (size_t i = 0; i < processes->count; i++)
            table_put_columns(
                table, process_columns, process_column_count, &processes->processes[i]);
        table = tables_add_record(building, "other_processes");
        table_add_columns(table, "", NULL, other_process_columns, other_process_column_count);
        table_put_columns(table, other_process_columns, other_process_column_count, processes);
    }
    return tables_finish_building(building, tables, error);
}
