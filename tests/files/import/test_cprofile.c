#include "files/import/cprofile.h"
#include "testing.h"

#include <string.h>

/* Dumps put together by hand: {("a.py", 3, "f"): (1, 2, 0.5, 1.0, {("~", 0, "<built-in x>"): …})}
 */
struct bytes {
    unsigned char data[512];
    size_t length;
};

static void put(struct bytes *bytes, const void *data, size_t length)
{
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

#define PUT(bytes, literal) put(bytes, literal, sizeof(literal) - 1)

static void put_double(struct bytes *bytes, double value)
{
    PUT(bytes, "g");
    put(bytes, &value, sizeof value);
}

/* The function as a tuple with a reference flag: the next use is by reference 0. */
static void put_dump(struct bytes *bytes)
{
    PUT(bytes, "{");
    PUT(bytes, "\xa9\x03\xfa\x04"
               "a.py\xe9\x03\0\0\0\xda\x01"
               "f"); /* references 0 to 3 */
    PUT(bytes, ")\x05"
               "i\x01\0\0\0"
               "i\x02\0\0\0");
    put_double(bytes, 0.5);
    put_double(bytes, 1.0);
    PUT(bytes, "{");
    PUT(bytes, "r\0\0\0\0"); /* f called itself */
    PUT(bytes, ")\x04"
               "i\x01\0\0\0"
               "i\x01\0\0\0");
    put_double(bytes, 0.25);
    put_double(bytes, 0.25);
    PUT(bytes, "0");
    PUT(bytes, ")\x03z\x01~i\0\0\0\0z\x0c<built-in x>");
    PUT(bytes, ")\x05l\x02\0\0\0\x01\0\x01\0"
               "i\x01\x80\0\0"); /* 1 + 2^15, and as i32 */
    put_double(bytes, 2.0);
    put_double(bytes, 2.0);
    PUT(bytes, "{0");
    PUT(bytes, "0");
}

TEST(reads_functions_calls_and_callers)
{
    struct bytes bytes = {.length = 0};
    struct cprofile profile = {0};
    struct gput_error error = {0};
    put_dump(&bytes);
    if (cprofile_add(&profile, bytes.data, bytes.length, "dump", &error) != GPUT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(profile.function_count, 2);
    assert_int_equal(profile.functions[0].line, 3);
    assert_int_equal(profile.functions[0].counts.total_calls, 2);
    assert_int_equal(profile.functions[0].caller_count, 1);
    assert_int_equal(profile.functions[0].callers[0].function, 0);
    assert_int_equal(profile.functions[1].counts.primitive_calls, 32769);
    cprofile_finish(&profile);
}

TEST(prints_as_pstats_does)
{
    struct bytes bytes = {.length = 0};
    struct cprofile profile = {0};
    struct str text = {0};
    put_dump(&bytes);
    assert_int_equal(cprofile_add(&profile, bytes.data, bytes.length, "dump", NULL), GPUT_OK);
    assert_int_equal(cprofile_add(&profile, bytes.data, bytes.length, "dump", NULL), GPUT_OK);
    assert_int_equal(cprofile_print(&profile, CPROFILE_BY_TOTAL_TIME, 10, &text, NULL), GPUT_OK);
    assert_string_equal(str_text(&text),
        "         65542 function calls (65540 primitive calls) in 5.000 seconds\n\n"
        "   Ordered by: internal time\n\n"
        "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
        "    65538    4.000    0.000    4.000    0.000 {built-in x}\n"
        "      4/2    1.000    0.250    2.000    1.000 a.py:3(f)\n\n\n");
    str_finish(&text);
    cprofile_finish(&profile);
}

TEST(gives_all_functions_and_their_callers)
{
    struct bytes bytes = {.length = 0};
    struct cprofile profile = {0};
    struct gput_tables *building = tables_create(), *tables;
    put_dump(&bytes);
    assert_int_equal(cprofile_add(&profile, bytes.data, bytes.length, "dump", NULL), GPUT_OK);
    assert_int_equal(cprofile_put_all(&profile, building, NULL), GPUT_OK);
    assert_int_equal(tables_finish_building(building, &tables, NULL), GPUT_OK);
    const struct gput_table *functions = gput_tables_find(tables, "functions");
    const struct gput_table *callers = gput_tables_find(tables, "callers");
    assert_int_equal(gput_table_row_count(functions), 2);
    assert_string_equal(gput_table_text(functions, 0, 0), "a.py");
    assert_int_equal(gput_table_int(functions, 0, 1), 3);
    assert_string_equal(gput_table_text(functions, 1, 2), "<built-in x>");
    assert_int_equal(gput_table_int(functions, 1, 3), 32769);
    assert_true(gput_table_double(functions, 1, 6) == 2.0);
    assert_int_equal(gput_table_row_count(callers), 1);
    assert_int_equal(gput_table_int(callers, 0, 0), 0); /* f called itself */
    assert_int_equal(gput_table_int(callers, 0, 1), 0);
    assert_true(gput_table_double(callers, 0, 4) == 0.25);
    gput_tables_destroy(tables);
    cprofile_finish(&profile);
}

TEST(refuses_every_cut)
{
    struct bytes bytes = {.length = 0};
    struct gput_error error;
    put_dump(&bytes);
    for (size_t length = 0; length < bytes.length; length++) {
        struct cprofile profile = {0};
        unsigned char *exact = malloc(length + 1);
        memcpy(exact, bytes.data, length);
        assert_int_equal(cprofile_add(&profile, exact, length, "dump", &error), GPUT_ERROR_FORMAT);
        assert_string_equal(error.message, "dump ends too early");
        free(exact);
        cprofile_finish(&profile);
    }
}

TEST(refuses_what_is_no_dump)
{
    static const char self[] = "\xfb\x01r\0\0\0\0"; /* a dict in itself */
    static const char tuple[] = ")\x01N";           /* no dict */
    static const char code[] = "c\0\0\0\0";         /* code, which is never read */
    static const char keys[] = "{i\x01\0\0\0i\x01\0\0\0"
                               "0"; /* {1: 1} */
    static const char *const dumps[] = {self, tuple, code, keys};
    static const size_t lengths[] = {
        sizeof self - 1, sizeof tuple - 1, sizeof code - 1, sizeof keys - 1};
    for (size_t i = 0; i < 4; i++) {
        struct cprofile profile = {0};
        assert_int_equal(
            cprofile_add(&profile, dumps[i], lengths[i], "dump", NULL), GPUT_ERROR_FORMAT);
        cprofile_finish(&profile);
    }
    char deep[200];
    struct cprofile profile = {0};
    for (size_t i = 0; i < sizeof deep; i += 2)
        memcpy(deep + i, ")\x01", 2);
    assert_int_equal(cprofile_add(&profile, deep, sizeof deep, "dump", NULL), GPUT_ERROR_FORMAT);
    cprofile_finish(&profile);
}

RUN_TESTS(NULL, NULL)
