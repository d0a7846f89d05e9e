#include "analysis/analyze/recorded_part.h"

#define PART_ROWS 131072

int recorded_pass_full(
    const struct gput_recorded_options *options, struct gput_table *table, struct gput_error *error)
{
    bool is_full = table && gput_table_row_count(table) >= PART_ROWS;
    return is_full ? recorded_pass_rest(options, table, error) : GPUT_OK;
}

int recorded_pass_rest(
    const struct gput_recorded_options *options, struct gput_table *table, struct gput_error *error)
{
    struct gput_tables *part;
    if (!options->receive || !table)
        return GPUT_OK;
    TRY(table_take_rows(table, &part, error));
    return options->receive(options->user, part, error);
}
