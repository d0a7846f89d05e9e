#include "files/results/results_codec.h"
#include "model/results_columns.h"
#include "results.h"
#include "testing.h"

#include <math.h>
#include <zlib.h>

enum { AT_FORM = 16, AT_BODY_SIZE = 20, AT_CHECKSUM = 24, AT_VERSION = 28, AT_BODY = 56 };

/* An item in which each column has a value of its own; a number too large for a column is not
 * taken. */
static void fill(const struct results_list *list, void *item, double *next)
{
    for (size_t i = 0; i < list->n_columns; i++) {
        const struct results_column *column = &list->columns[i];
        char text[16];
        snprintf(text, sizeof text, "text %.0f", *next);
        if (column->description.type == GPUT_COLUMN_TEXT)
            results_column_set_text(column, item, text, strlen(text));
        else
            results_column_set_number(
                column, item, column->kind == RESULTS_FLAG ? 1 : (*next)++ + 0.0);
    }
    (*next)++;
}

static void make_results(struct gput_results *results)
{
    size_t count;
    double next = 1;
    const struct results_list *lists = results_lists(&count);
    memset(results, 0, sizeof *results);
    fill(&lists[0], results, &next);
    results->static_data.ram_unit = GPUT_RAM_UNIT_MEGABYTES;
    results->static_data.time_unit = GPUT_TIME_UNIT_DAYS;
    results->energy.unit = GPUT_ENERGY_UNIT_WATT_HOURS;
    for (size_t i = 1; i < count; i++) {
        for (int item = 0; item < 2; item++)
            fill(&lists[i], lists[i].add(results), &next);
    }
    results->sources[1].state = GPUT_SOURCE_UNAVAILABLE;
}

static void assert_same_item(const struct results_list *list, const void *item, const void *other)
{
    for (size_t i = 0; i < list->n_columns; i++) {
        const struct results_column *column = &list->columns[i];
        double number = results_column_number(column, item);
        if (!isnan(number) && number != results_column_number(column, other))
            fail_msg("%s.%s differs", list->name, column->description.name);
        assert_string_equal(results_column_text(column, item), results_column_text(column, other));
    }
}

static void assert_same(const struct gput_results *results, const struct gput_results *others)
{
    size_t count;
    const struct results_list *lists = results_lists(&count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lists[i].count(results), lists[i].count(others));
        for (size_t row = 0; row < lists[i].count(results); row++)
            assert_same_item(&lists[i], lists[i].at(results, row), lists[i].at(others, row));
    }
}

/* As a file would have them, so that reads beyond the end are seen. */
static enum results_decoded decode(const struct str *bytes, struct gput_results *results)
{
    char *exact = malloc(bytes->length + !bytes->length);
    memcpy(exact, bytes->data, bytes->length);
    struct results_copy copy = {.bytes = exact, .length = bytes->length};
    enum results_decoded decoded = results_decode(&copy, results);
    free(exact);
    return decoded;
}

static void repair_checksum(struct str *copy)
{
    size_t start = AT_VERSION;
    uint32_t sum = (uint32_t)crc32(0, (Bytef *)copy->data + start, (uInt)(copy->length - start));
    memcpy(copy->data + AT_CHECKSUM, &sum, sizeof sum);
}

TEST(every_column_is_read_back)
{
    struct gput_results results, read = {0};
    struct str copy = {0};
    make_results(&results);
    results.max[GPUT_SYSTEM_RAM] = NAN;
    results_encode(&results, 1, &copy);
    assert_int_equal(decode(&copy, &read), RESULTS_DECODED);
    assert_true(isnan(read.max[GPUT_SYSTEM_RAM]));
    assert_same(&results, &read);
    results_finish(&results);
    results_finish(&read);
    str_finish(&copy);
}

TEST(a_later_copy_is_preferred)
{
    struct gput_results results, read = {0};
    struct str bytes = {0};
    make_results(&results);
    results_encode(&results, 7, &bytes);
    struct results_copy copy = {.bytes = bytes.data, .length = bytes.length, .better_than = 7};
    assert_int_equal(results_decode(&copy, &read), RESULTS_DAMAGED);
    copy.better_than = 6;
    assert_int_equal(results_decode(&copy, &read), RESULTS_DECODED);
    assert_int_equal(copy.number, 7);
    assert_string_equal(copy.version, GPUT_VERSION);
    results_finish(&results);
    results_finish(&read);
    str_finish(&bytes);
}

/* As a later version writes it: fields, and a list, that this one does not know. */
TEST(unknown_fields_are_skipped)
{
    static const char unknown[] = "d\003newVALUE678"
                                  "t\003new\002\000xy"
                                  "L\004newsd\003newVALUE678";
    struct gput_results results, read = {0};
    struct str copy = {0};
    make_results(&results);
    results_encode(&results, 1, &copy);
    str_append_bytes(&copy, unknown, sizeof unknown - 1);
    uint32_t body = (uint32_t)(copy.length - AT_BODY);
    memcpy(copy.data + AT_BODY_SIZE, &body, sizeof body);
    repair_checksum(&copy);
    assert_int_equal(decode(&copy, &read), RESULTS_DECODED);
    assert_same(&results, &read);
    results_finish(&results);
    results_finish(&read);
    str_finish(&copy);
}

TEST(another_form_names_its_version)
{
    struct gput_results results = {0};
    struct str bytes = {0};
    results_encode(&results, 1, &bytes);
    bytes.data[AT_FORM] = 1; /* the struct in memory */
    memcpy(bytes.data + AT_VERSION, "0.9.0", sizeof "0.9.0");
    struct results_copy copy = {.bytes = bytes.data, .length = bytes.length};
    assert_int_equal(results_decode(&copy, &results), RESULTS_OTHER_FORM);
    assert_string_equal(copy.version, "0.9.0");
    str_finish(&bytes);
}

static void render_in_every_format(const struct gput_results *results)
{
    static const enum gput_format formats[] = {GPUT_FORMAT_TEXT, GPUT_FORMAT_FULL,
        GPUT_FORMAT_SUMMARY, GPUT_FORMAT_LINE, GPUT_FORMAT_JSON, GPUT_FORMAT_PROMETHEUS,
        GPUT_FORMAT_OPENMETRICS};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *bytes;
        assert_int_equal(
            gput_results_render(results, NULL, formats[i], &bytes, NULL, NULL), GPUT_OK);
        free(bytes);
    }
}

TEST(any_changed_byte_is_damage)
{
    struct gput_results results, read = {0};
    struct str copy = {0};
    make_results(&results);
    results_encode(&results, 1, &copy);
    for (size_t at = AT_BODY; at < copy.length; at++) {
        copy.data[at] ^= 1;
        assert_int_equal(decode(&copy, &read), RESULTS_DAMAGED);
        copy.data[at] ^= 1;
    }
    for (size_t length = 0; length < copy.length; length++) {
        struct str cut = {.data = copy.data, .length = length};
        assert_int_equal(decode(&cut, &read), RESULTS_DAMAGED);
    }
    results_finish(&results);
    str_finish(&copy);
}

/* With a right checksum, which anybody can compute. */
TEST(what_is_accepted_can_be_rendered)
{
    static const unsigned char bytes[] = {0, 1, 0x41, 0x7f, 0xff};
    struct gput_results results, read = {0};
    struct str copy = {0};
    make_results(&results);
    results_encode(&results, 1, &copy);
    for (size_t at = AT_BODY; at < copy.length; at++) {
        char before = copy.data[at];
        copy.data[at] = (char)bytes[at % sizeof bytes];
        repair_checksum(&copy);
        if (decode(&copy, &read) == RESULTS_DECODED && at % 7 == 0)
            render_in_every_format(&read);
        copy.data[at] = before;
    }
    results_finish(&results);
    results_finish(&read);
    str_finish(&copy);
}

RUN_TESTS(NULL, NULL)
