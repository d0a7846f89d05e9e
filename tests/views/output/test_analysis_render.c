#include "analysis/analyze/analysis.h"
#include "analysis/analyze/analysis_load.h"
#include "tables.h"
#include "views/output/analysis_render.h"
#include "views/output/text_grid.h"

#include <stdlib.h>
#include <string.h>

/* A block whose every column has a value of its own: 101, 102, … */
static struct gput_analysis *make(void)
{
    static const char *const names[] = {"main_ram"};
    struct gput_analysis *analysis = analysis_create(names, 1);
    analysis->blocks = analysis_create_blocks(analysis, 1, false);
    analysis->n_blocks = 1;
    analysis_name_block(&analysis->blocks[0], "train", NULL);
    struct doc *object = doc_create_object();
    for (size_t i = 0; i < n_block_columns; i++)
        doc_add_int(object, block_columns[i].name, 101 + (int64_t)i);
    assert_null(columns_read_doc(block_columns, n_block_columns, object, &analysis->blocks[0]));
    doc_destroy(object);
    return analysis;
}

static void render(const struct gput_analysis *analysis, enum gput_format format, char **bytes)
{
    assert_int_equal(gput_analysis_render(analysis, format, bytes, NULL, NULL), GPUT_OK);
}

TEST(a_column_of_blocks_is_in_each_format)
{
    struct gput_analysis *analysis = make(), *again;
    char *json, *text, *csv;
    render(analysis, GPUT_FORMAT_JSON, &json);
    render(analysis, GPUT_FORMAT_TEXT, &text);
    render(analysis, GPUT_FORMAT_CSV, &csv);
    struct gput_tables *tables;
    assert_int_equal(gput_analysis_tables(analysis, &tables, NULL), GPUT_OK);
    assert_int_equal(analysis_read_json(json, strlen(json), "again", &again, NULL), GPUT_OK);
    const struct gput_table *blocks = gput_tables_find(tables, "code_blocks");
    for (size_t i = 0; i < n_block_columns; i++) {
        const struct column *column = &block_columns[i];
        int value = 101 + (int)i;
        char in_json[128], in_text[128];
        struct str title = {0};
        text_append_title(&title, column->name);
        snprintf(in_json, sizeof in_json, "\"%s\": %d", column->name, value);
        snprintf(in_text, sizeof in_text, "\n\t%s:", str_text(&title));
        str_finish(&title);
        const char *line = strstr(text, in_text);
        if (!strstr(json, in_json) || !line || atoi(strchr(line, ':') + 1) != value)
            fail_msg("no %s in JSON or text", column->name);
        if ((strstr(csv, column->name) == NULL) != column->hides_zero)
            fail_msg("%s in CSV", column->name);
        assert_int_equal(gput_table_int(blocks, 0, column_of(blocks, column->name)), value);
        assert_non_null(gput_table_column_meaning(blocks, column_of(blocks, column->name)));
        assert_true(column_number(column, &again->blocks[0]) == value);
    }
    free(json);
    free(text);
    free(csv);
    gput_tables_destroy(tables);
    gput_analysis_destroy(again);
    gput_analysis_destroy(analysis);
}

TEST(what_is_0_can_be_left_out)
{
    struct gput_analysis *analysis = make();
    analysis->blocks[0].num_outside_calls = 0;
    char *json;
    render(analysis, GPUT_FORMAT_JSON, &json);
    assert_null(strstr(json, "num_outside_calls"));
    assert_non_null(strstr(json, "num_calls"));
    free(json);
    gput_analysis_destroy(analysis);
}

TEST(other_formats_are_refused)
{
    char *bytes;
    struct gput_error error;
    struct gput_analysis *analysis = make();
    for (int format = GPUT_FORMAT_PICKLE; format < 100; format++)
        assert_int_equal(
            gput_analysis_render(analysis, (enum gput_format)format, &bytes, NULL, &error),
            GPUT_ERROR_INVALID);
    gput_analysis_destroy(analysis);
}

RUN_TESTS(NULL, NULL)
