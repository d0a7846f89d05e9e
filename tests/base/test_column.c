#include "base/table.h"
#include "testing.h"

#include <math.h>
#include <string.h>

struct item {
    double seconds;
    const char *name;
    int count;
    char word[8];
    bool is_new;
    size_t size;
    int64_t change;
};

static double count(const void *item)
{
    int value = ((const struct item *)item)->count;
    return value < 0 ? NAN : value;
}

static const struct column columns[] = {
    {"name", NULL, "its name", GPUT_COLUMN_TEXT, COLUMN_OF(struct item, name)},
    {"time", "seconds", "how long", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct item, seconds)},
    {"count", NULL, NULL, GPUT_COLUMN_INT, .number = count},
    {"word", NULL, NULL, GPUT_COLUMN_TEXT, COLUMN_OF(struct item, word)},
    {"is_new", NULL, NULL, GPUT_COLUMN_INT, COLUMN_OF(struct item, is_new)},
    {"size", NULL, NULL, GPUT_COLUMN_INT, COLUMN_OF(struct item, size)},
    {"change", NULL, NULL, GPUT_COLUMN_INT, COLUMN_OF(struct item, change)},
};

static const struct item items[] = {
    {1.5, "a", 3, "b", true, SIZE_MAX / 4096, -4}, {NAN, NULL, -1, "", false, 0, 0}};

static char *json_of(const struct item *item)
{
    struct str text = {0};
    struct doc *object = doc_create_object();
    columns_add_to_doc(columns, COLUMN_COUNT(columns), item, object);
    doc_write_json(object, -1, &text);
    doc_destroy(object);
    return str_steal(&text);
}

TEST(documents_have_each_column)
{
    char *json = json_of(&items[0]);
    assert_string_equal(json, "{\"name\": \"a\", \"time\": 1.5, \"count\": 3, \"word\": \"b\", "
                              "\"is_new\": 1, \"size\": 4503599627370495, \"change\": -4}");
    free(json);
}

TEST(what_is_missing_is_null_in_documents)
{
    char *json = json_of(&items[1]);
    assert_string_equal(json, "{\"name\": null, \"time\": null, \"count\": null, \"word\": null, "
                              "\"is_new\": 0, \"size\": 0, \"change\": 0}");
    free(json);
}

TEST(tables_have_each_column)
{
    struct gput_tables *tables = tables_create();
    struct gput_table *table = tables_add(tables, "items");
    table_add_columns(table, "of_", NULL, columns, COLUMN_COUNT(columns));
    for (size_t i = 0; i < 2; i++)
        table_put_columns(table, columns, COLUMN_COUNT(columns), &items[i]);
    assert_int_equal(tables_finish_building(tables, &tables, NULL), GPUT_OK);
    assert_string_equal(gput_table_column_name(table, 1), "of_time");
    assert_string_equal(gput_table_column_unit(table, 1), "seconds");
    assert_string_equal(gput_table_column_meaning(table, 1), "how long");
    assert_null(gput_table_column_meaning(table, 2));
    assert_string_equal(gput_table_text(table, 0, 0), "a");
    assert_true(gput_table_double(table, 0, 1) == 1.5);
    assert_int_equal(gput_table_int(table, 0, 2), 3);
    for (size_t i = 0; i < 4; i++)
        assert_true(gput_table_is_missing(table, 1, i));
    gput_tables_destroy(tables);
}

TEST(a_unit_can_be_given_for_all)
{
    struct gput_tables *tables = tables_create();
    struct gput_table *table = tables_add(tables, "items");
    table_add_columns(table, "", "hours", columns, 2);
    assert_string_equal(gput_table_column_unit(table, 1), "hours");
    gput_tables_destroy(tables);
}

RUN_TESTS(NULL, NULL)
