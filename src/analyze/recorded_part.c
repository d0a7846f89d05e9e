#include "analyze/recorded_part.h"

#define PART_ROWS 131072

int recorded_pass(const struct gput_recorded_options *options, struct gput_table *table, bool ended,
    struct gput_error *error)
{
    struct gput_tables *part;
    if (!options->take || !table || (!ended && gput_table_row_count(table) < PART_ROWS))
        return GPUT_OK;
    TRY(table_take_rows(table, &part, error));
    return options->take(options->user, part, error);
}
