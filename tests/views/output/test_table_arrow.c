#include "base/table.h"
#include "testing.h"

#include <gputracker/arrow.h>

#include <math.h>
#include <string.h>

/* Nine rows: a number without gaps, one with a gap in row 8, a whole number with one in row 0, and
 * texts with one in row 1. */
static struct gput_tables *make_tables(void)
{
    struct gput_tables *tables = tables_create();
    struct gput_table *table = tables_add(tables, "t");
    table_add_column(table, "whole", GPUT_COLUMN_DOUBLE);
    table_set_unit(table, "volts");
    table_add_column(table, "gap", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "count", GPUT_COLUMN_INT);
    table_add_column(table, "text", GPUT_COLUMN_TEXT);
    static const char *const texts[] = {"schön", NULL, "b\xff", "", "e", "f", "g", "h", "i"};
    for (int row = 0; row < 9; row++) {
        table_put_double(table, row);
        table_put_double(table, row == 8 ? NAN : row);
        table_put_int(table, row == 0 ? INT64_MIN : row);
        table_put_text(table, texts[row]);
    }
    return tables;
}

static struct ArrowArrayStream stream_of(const struct gput_tables *tables)
{
    struct ArrowArrayStream stream;
    assert_int_equal(gput_table_arrow_stream(gput_tables_get(tables, 0), &stream, NULL), GPUT_OK);
    return stream;
}

TEST(has_names_types_and_units)
{
    static const char unit[] = "\1\0\0\0\4\0\0\0unit\5\0\0\0volts";
    struct gput_tables *tables = make_tables();
    struct ArrowSchema schema;
    assert_int_equal(gput_table_arrow_schema(gput_tables_get(tables, 0), &schema, NULL), GPUT_OK);
    gput_tables_destroy(tables);
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, 4);
    static const char *const names[] = {"whole", "gap", "count", "text"};
    static const char *const formats[] = {"g", "g", "l", "u"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(schema.children[i]->name, names[i]);
        assert_string_equal(schema.children[i]->format, formats[i]);
        assert_int_equal(schema.children[i]->flags, ARROW_FLAG_NULLABLE);
    }
    assert_memory_equal(schema.children[0]->metadata, unit, sizeof unit - 1);
    assert_null(schema.children[1]->metadata);
    schema.release(&schema);
    assert_null(schema.release);
}

TEST(gives_one_batch_and_then_the_end)
{
    struct gput_tables *tables = make_tables();
    struct ArrowArrayStream stream = stream_of(tables);
    struct ArrowArray batch, end;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 9);
    assert_int_equal(batch.n_children, 4);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    assert_null(end.release);
    assert_null(stream.get_last_error(&stream));
    batch.release(&batch);
    stream.release(&stream);
    gput_tables_destroy(tables);
}

TEST(marks_what_is_missing)
{
    static const int64_t nulls[] = {0, 1, 1, 1};
    static const uint8_t bits[][2] = {{0, 0}, {0xff, 0x00}, {0xfe, 0x01}, {0xfd, 0x01}};
    struct gput_tables *tables = make_tables();
    struct ArrowArrayStream stream = stream_of(tables);
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(batch.children[i]->null_count, nulls[i]);
        if (nulls[i] > 0)
            assert_memory_equal(batch.children[i]->buffers[0], bits[i], 2);
        else
            assert_null(batch.children[i]->buffers[0]);
    }
    batch.release(&batch);
    stream.release(&stream);
    gput_tables_destroy(tables);
}

TEST(copies_texts_as_utf8_and_no_numbers)
{
    static const int32_t offsets[] = {0, 6, 6, 10, 10, 11, 12, 13, 14, 15};
    struct gput_tables *tables = make_tables();
    const struct gput_table *table = gput_tables_get(tables, 0);
    struct ArrowArrayStream stream = stream_of(tables);
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_ptr_equal(batch.children[0]->buffers[1], gput_table_doubles(table, 0));
    assert_ptr_equal(batch.children[2]->buffers[1], gput_table_ints(table, 2));
    assert_memory_equal(batch.children[3]->buffers[1], offsets, sizeof offsets);
    assert_memory_equal(batch.children[3]->buffers[2],
        "schönb\xef\xbf\xbd"
        "efghi",
        15);
    batch.release(&batch);
    stream.release(&stream);
    gput_tables_destroy(tables);
}

/* As consumers do: a child is moved out, the rest is released, then table and stream go. */
TEST(what_was_moved_out_outlives_all_else)
{
    struct gput_tables *tables = make_tables();
    struct ArrowArrayStream stream = stream_of(tables);
    struct ArrowSchema schema, field;
    struct ArrowArray batch, column;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    field = *schema.children[0];
    schema.children[0]->release = NULL;
    column = *batch.children[1];
    batch.children[1]->release = NULL;
    schema.release(&schema);
    batch.release(&batch);
    stream.release(&stream);
    gput_tables_destroy(tables);
    assert_string_equal(field.name, "whole");
    assert_true(((const double *)column.buffers[1])[7] == 7);
    field.release(&field);
    column.release(&column);
}

TEST(a_table_without_rows_has_a_batch_without_rows)
{
    struct gput_tables *tables = tables_create();
    struct gput_table *table = tables_add(tables, "empty");
    table_add_column(table, "number", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "text", GPUT_COLUMN_TEXT);
    struct ArrowArrayStream stream = stream_of(tables);
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 0);
    assert_non_null(batch.children[0]->buffers[1]);
    assert_int_equal(((const int32_t *)batch.children[1]->buffers[1])[0], 0);
    assert_non_null(batch.children[1]->buffers[2]);
    batch.release(&batch);
    stream.release(&stream);
    gput_tables_destroy(tables);
}

RUN_TESTS(NULL, NULL)
