#include "views/report/document/report_column_reader.h"

#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds a column and reads it back. */
static void check(const double *values, size_t count, double step, int decimals)
{
    struct report_payload payload;
    struct report_column column;
    struct report_column_reader reader;
    assert_int_equal(report_payload_init(&payload, "/tmp", NULL), GPUT_OK);
    report_column_init(&column, &payload.spool, step);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(report_column_add(&column, values[i], NULL), GPUT_OK);
    assert_int_equal(
        report_payload_add_column(&payload, payload.root, "x", &column, NULL), GPUT_OK);
    const struct doc *added = doc_get(payload.root, "x");
    assert_true(report_is_column(added));
    assert_int_equal(report_column_reader_init(&reader, &payload, added, NULL), GPUT_OK);
    assert_int_equal(reader.count, count);
    assert_int_equal(reader.decimals, decimals);
    for (size_t i = 0; i <= count; i++) {
        double value, wanted = i < count ? values[i] : NAN; /* after the last row */
        assert_int_equal(report_column_reader_next(&reader, &value, NULL), GPUT_OK);
        assert_int_equal(isnan(value), isnan(wanted));
        assert_true(isnan(wanted) || fabs(value - wanted) <= step / 2 * (1 + 1e-9));
    }
    report_column_reader_finish(&reader);
    report_payload_finish(&payload);
}

TEST(reads_what_was_written)
{
    const double same[] = {5, 5, 5}, nothing[] = {NAN, NAN}, whole[] = {1, -3, 1e15, 0},
                 parts[] = {0.25, 99.999, 1e6}, any[] = {0.1, 1e300, NAN, -5e-9},
                 missing[] = {1, NAN, 3, 4, 5, 6, 7, 8, NAN, NAN, 11};
    check(same, 3, 1, -1);
    check(nothing, 2, 1, -1);
    check(whole, 4, 1, 0);
    check(parts, 3, 0.001, 3);
    check(parts, 3, 1e-9, 9);
    check(any, 4, REPORT_DOUBLES, -1);
    check(missing, 11, 1, 0);
}

/* More than one block of the temporary file, of values and of missing rows. */
TEST(reads_columns_longer_than_memory)
{
    enum { COUNT = 700000 };
    double *values = malloc(COUNT * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = i % 3 == 1 ? NAN : (double)(i * i % 1000003);
    check(values, COUNT, 1, 0);
    check(values, COUNT, REPORT_DOUBLES, -1);
    free(values);
}

TEST(numbers_are_as_short_as_they_are_kept)
{
    struct str text = {0};
    report_append_number(&text, 3, 6);
    str_append_char(&text, ' ');
    report_append_number(&text, 0.1 + 0.2, 6);
    str_append_char(&text, ' ');
    report_append_number(&text, 0.1 + 0.2, -1);
    str_append_char(&text, ' ');
    report_append_number(&text, 1e20, 3);
    assert_string_equal(str_text(&text), "3 0.3 0.30000000000000004 1e+20");
    str_finish(&text);
}

/* The place of a column of that many doubles, of which the first is `first`. */
static int64_t place_of_column(struct report_payload *payload, const char *key, double first)
{
    struct report_column column;
    report_column_init(&column, &payload->spool, REPORT_DOUBLES);
    assert_int_equal(report_column_add(&column, first, NULL), GPUT_OK);
    for (size_t i = 1; i < 3 * REPORT_BLOCK_BYTES / sizeof(double) + 5; i++)
        assert_int_equal(report_column_add(&column, (double)i / 7, NULL), GPUT_OK);
    assert_int_equal(
        report_payload_add_column(payload, payload->root, key, &column, NULL), GPUT_OK);
    return doc_get_int(doc_get(payload->root, key), "offset");
}

TEST(equal_columns_of_a_session_are_there_once)
{
    struct report_payload payload;
    assert_int_equal(report_payload_init(&payload, "/tmp", NULL), GPUT_OK);
    int64_t first = place_of_column(&payload, "a", 1);
    assert_int_not_equal(place_of_column(&payload, "b", 2), first);
    uint64_t length = payload.length;
    assert_int_equal(place_of_column(&payload, "c", 1), first);
    assert_int_equal(payload.length, length);
    report_payload_begin_session(&payload);
    int64_t next = place_of_column(&payload, "d", 1);
    assert_int_equal(next, length);
    assert_int_equal(place_of_column(&payload, "e", 1), next);
    report_payload_finish(&payload);
}

RUN_TESTS(NULL, NULL)
