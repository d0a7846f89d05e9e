#include "base/table.h"
#include "files/tracking/tracking_reader.h"

#include <gputracker/recorded.h>

int gput_recorded_tables(const char *path, struct gput_tables **tables, struct gput_error *error)
{
    struct tracking_reader *reader;
    *tables = NULL;
    TRY(tracking_reader_open(path, &reader, error));
    struct gput_tables *building = tables_create();
    int code = building ? tracking_reader_tables(reader, building, error) : error_memory(error);
    tracking_reader_close(reader);
    if (code == GPUT_OK)
        return tables_finish_building(building, tables, error);
    gput_tables_destroy(building);
    return code;
}
