#include "base/table.h"
#include "model/process_columns.h"

#include "model/processes.h"

int gput_processes_tables(
    const struct gput_processes *processes, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (building) {
        struct gput_table *table = tables_add(building, "processes");
        table_add_columns(table, "", NULL, process_columns, PROCESS_COLUMNS);
        for (size_t i = 0; i < processes->count; i++)
            table_put_columns(table, process_columns, PROCESS_COLUMNS, &processes->processes[i]);
        table = tables_add_record(building, "other_processes");
        table_add_columns(table, "", NULL, other_process_columns, OTHER_PROCESS_COLUMNS);
        table_put_columns(table, other_process_columns, OTHER_PROCESS_COLUMNS, processes);
    }
    return tables_finish_building(building, tables, error);
}
