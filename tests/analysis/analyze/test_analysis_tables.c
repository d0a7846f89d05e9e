#include "analysis/analyze/analysis.h"
#include "tables.h"

#include <math.h>
#include <string.h>

/* Two measurements, a block with a part. */
static struct gput_analysis *make(bool details)
{
    static const char *const names[] = {"main_ram", "main_n_threads"};
    struct gput_analysis *analysis = analysis_create(names, 2);
    doc_add_string(analysis->static_data, "ram_unit", "megabytes");
    doc_add_null(analysis->static_data, "ram_system_capacity");
    doc_add_int(analysis->static_data, "system_core_count", 4);
    analysis->details = details;
    analysis->overall[0] = (struct gput_statistics){1, 2, 1.5, 0.5, 4};
    analysis->blocks = analysis_create_blocks(analysis, 1, details);
    analysis->n_blocks = 1;
    struct gput_code_block *block = &analysis->blocks[0];
    analysis_name_block(block, "a", NULL);
    block->num_calls = 3;
    block->compute_time_total = 6;
    block->resource_usage[1].max = 9;
    block->parts = analysis_create_blocks(analysis, 1, details);
    block->n_parts = 1;
    analysis_name_block(&block->parts[0], "a", NULL);
    block->parts[0].process_id = 77;
    return analysis;
}

static struct gput_tables *tables_of(struct gput_analysis *analysis)
{
    struct gput_tables *tables;
    assert_int_equal(gput_analysis_tables(analysis, &tables, NULL), GPUT_OK);
    gput_analysis_destroy(analysis);
    return tables;
}

TEST(overall_has_a_row_a_measurement)
{
    struct gput_tables *tables = tables_of(make(false));
    const struct gput_table *overall = gput_tables_find(tables, "overall");
    assert_int_equal(gput_table_row_count(overall), 2);
    assert_int_equal(gput_table_column_count(overall), 7);
    assert_string_equal(gput_table_text(overall, 0, column_of(overall, "measurement")), "main_ram");
    assert_string_equal(gput_table_text(overall, 0, column_of(overall, "unit")), "megabytes");
    assert_true(gput_table_is_missing(overall, 1, column_of(overall, "unit")));
    assert_true(gput_table_double(overall, 0, column_of(overall, "std")) == 0.5);
    assert_int_equal(gput_table_int(overall, 0, column_of(overall, "missing_timepoints")), 4);
    const struct gput_table *data = gput_tables_find(tables, "static_data");
    assert_true(gput_table_is_missing(data, 0, column_of(data, "ram_system_capacity")));
    assert_int_equal(gput_table_int(data, 0, column_of(data, "system_core_count")), 4);
    gput_tables_destroy(tables);
}

TEST(parts_follow_their_block)
{
    struct gput_tables *tables = tables_of(make(false));
    const struct gput_table *blocks = gput_tables_find(tables, "code_blocks");
    assert_int_equal(gput_table_row_count(blocks), 2);
    assert_int_equal(gput_table_int(blocks, 0, column_of(blocks, "num_calls")), 3);
    assert_true(gput_table_is_missing(blocks, 0, column_of(blocks, "process_id")));
    assert_int_equal(gput_table_int(blocks, 1, column_of(blocks, "process_id")), 77);
    assert_true(gput_table_double(blocks, 0, column_of(blocks, "compute_time_total")) == 6);
    const struct gput_table *usage = gput_tables_find(tables, "code_block_usage");
    assert_int_equal(gput_table_row_count(usage), 4);
    assert_true(gput_table_double(usage, 1, column_of(usage, "max")) == 9);
    assert_int_equal(gput_table_int(usage, 2, column_of(usage, "process_id")), 77);
    gput_tables_destroy(tables);
}

/* Also where an analysis has no percentiles of the session as a whole. */
TEST(details_add_columns)
{
    struct gput_tables *tables = tables_of(make(true));
    const struct gput_table *overall = gput_tables_find(tables, "overall");
    assert_int_equal(gput_table_row_count(overall), 2);
    assert_true(gput_table_is_missing(overall, 1, column_of(overall, "p99")));
    const struct gput_table *blocks = gput_tables_find(tables, "code_blocks");
    assert_true(column_of(blocks, "compute_time_p95") > 0);
    assert_string_equal(
        gput_table_column_unit(blocks, column_of(blocks, "self_time_total")), "seconds");
    gput_tables_destroy(tables);
}

TEST(energy_has_columns_where_it_is_known)
{
    struct gput_analysis *analysis = make(false);
    analysis->has_energy = true;
    analysis->energy[GPUT_ENERGY_TOTAL] = 20;
    analysis->energy[GPUT_ENERGY_DRAM] = NAN;
    analysis->blocks[0].energy[GPUT_ENERGY_TOTAL] = 12;
    struct gput_tables *tables = tables_of(analysis);
    const struct gput_table *blocks = gput_tables_find(tables, "code_blocks");
    assert_true(gput_table_double(blocks, 0, column_of(blocks, "energy_total")) == 12);
    assert_string_equal(gput_table_column_unit(blocks, column_of(blocks, "energy_dram")), "joules");
    const struct gput_table *energy = gput_tables_find(tables, "energy");
    assert_true(gput_table_double(energy, 0, column_of(energy, "total")) == 20);
    assert_true(gput_table_is_missing(energy, 0, column_of(energy, "dram")));
    gput_tables_destroy(tables);
    tables = tables_of(make(false));
    assert_null(gput_tables_find(tables, "energy"));
    gput_tables_destroy(tables);
}

TEST(exact_figures_have_columns_where_the_marks_have_them)
{
    struct gput_analysis *analysis = make(false);
    analysis->exact = 63;
    analysis->blocks[0].exact[GPUT_EXACT_PROCESS_CPU_TIME] = 12;
    struct gput_tables *tables = tables_of(analysis);
    const struct gput_table *blocks = gput_tables_find(tables, "code_blocks");
    size_t cpu = column_of(blocks, "exact_process_cpu_time");
    assert_true(gput_table_double(blocks, 0, cpu) == 12);
    assert_true(gput_table_is_missing(blocks, 1, cpu));
    assert_string_equal(
        gput_table_column_unit(blocks, column_of(blocks, "exact_peak_rss_rise")), "bytes");
    gput_tables_destroy(tables);
}

RUN_TESTS(NULL, NULL)
