#include "views/report/document/report_column.h"

#include "column_decoder.h"
#include "testing.h"

static struct report_spool spool;

static int begin(void **state)
{
    (void)state;
    report_spool_init(&spool, "/tmp");
    return 0;
}

static int end(void **state)
{
    (void)state;
    report_spool_finish(&spool);
    return 0;
}

static void fill(struct report_column *column, double step, const double *values, size_t count)
{
    report_column_init(column, &spool, step);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(report_column_add(column, values[i], NULL), GPUT_OK);
    assert_int_equal(report_column_end(column, NULL), GPUT_OK);
    assert_int_equal(column->count, count);
}

static void check(const double *values, size_t count, double step, enum report_encoding encoding)
{
    struct report_column column;
    double *read = calloc(count + 1, sizeof *read);
    fill(&column, step, values, count);
    assert_int_equal(column.encoding, encoding);
    assert_true(decoder_read(&column, read));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(isnan(read[i]), isnan(values[i]));
        if (!isnan(values[i]))
            assert_true(fabs(read[i] - values[i]) <= step / 2 * (1 + 1e-9));
    }
    report_column_finish(&column);
    free(read);
}

#define CHECK(values, step, encoding) check(values, sizeof values / sizeof *values, step, encoding)

TEST(keeps_the_one_value_on_a_step)
{
    const double gigabytes[] = {0.001683456 * (1 / 1e-9)}, percent[] = {99.9000001};
    struct report_column column;
    fill(&column, 1, gigabytes, 1);
    assert_true(column.constant == 1683456);
    report_column_finish(&column);
    fill(&column, 0.001, percent, 1);
    assert_true(column.constant == 99.9);
    report_column_finish(&column);
    const double seconds[] = {3};
    fill(&column, 1e-9, seconds, 1);
    assert_true(column.constant == 3);
    report_column_finish(&column);
}

TEST(keeps_equal_rows_as_one_value)
{
    const double same[] = {42, 42, 42}, nothing[] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    CHECK(same, 1, REPORT_CONSTANT);
    CHECK(nothing, 1, REPORT_CONSTANT);
    CHECK(nothing, REPORT_DOUBLES, REPORT_CONSTANT);
    check(NULL, 0, 1, REPORT_CONSTANT);
    struct report_column column;
    fill(&column, 1, same, 3);
    assert_int_equal(column.bytes.length, 0);
    report_column_finish(&column);
}

TEST(keeps_whole_numbers_up_to_two_to_the_53)
{
    const double values[] = {
        0, 9007199254740992.0, -9007199254740992.0, 1, -1, 4096, 63, 64, -64, -65, 8191};
    CHECK(values, 1, REPORT_DELTA);
}

TEST(keeps_fractions_to_half_a_step)
{
    const double values[] = {0.0004, 99.9996, 17.0774, 0, 1e6, 12.3456789};
    CHECK(values, 0.001, REPORT_DELTA);
}

TEST(keeps_doubles_as_they_are)
{
    const double values[] = {0.1, 1e300, NAN, -0.0, 5e-324};
    CHECK(values, REPORT_DOUBLES, REPORT_F64);
}

TEST(keeps_missing_rows_apart_from_zero)
{
    const double first[] = {NAN, NAN, 7, 0, NAN}, last[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, NAN};
    const double alone[] = {0, NAN};
    CHECK(first, 1, REPORT_DELTA);
    CHECK(last, 1, REPORT_DELTA);
    CHECK(alone, 1, REPORT_DELTA);
}

TEST(takes_what_does_not_fit_for_missing)
{
    struct report_column column;
    const double values[] = {1, INFINITY, 1e300};
    double read[3];
    fill(&column, 1, values, 3);
    assert_false(report_column_fits(&column, INFINITY));
    assert_false(report_column_fits(&column, -1e17));
    assert_true(report_column_fits(&column, NAN));
    assert_true(decoder_read(&column, read));
    assert_true(read[0] == 1 && isnan(read[1]) && isnan(read[2]));
    assert_int_equal(column.missing_count, 2);
    report_column_finish(&column);
}

TEST(knows_the_figures_of_all_rows)
{
    struct report_column column;
    const double values[] = {NAN, 3, -2, NAN, 8};
    fill(&column, 1, values, 5);
    assert_true(column.min == -2 && column.max == 8 && column.sum == 9);
    report_column_finish(&column);
}

/* More than a block, in memory and in the spool. */
TEST(keeps_a_million_rows_and_every_peak)
{
    const size_t count = 1000000;
    double *values = calloc(count, sizeof *values);
    uint64_t random = 1;
    for (size_t i = 0; i < count; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        values[i] = random >> 60 == 0 ? NAN : (double)(random >> 30);
    }
    check(values, count, 1, REPORT_DELTA);
    assert_true(spool.length > 0);
    free(values);
}

TEST(small_changes_take_a_byte)
{
    struct report_column column;
    report_column_init(&column, &spool, 1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(report_column_add(&column, 63 * (i % 2), NULL), GPUT_OK);
    assert_int_equal(report_column_end(&column, NULL), GPUT_OK);
    assert_int_equal(column.bytes.length, 1000);
    report_column_finish(&column);
}

RUN_TESTS(begin, end)
