#include "views/report/document/report_bytes.h"

#include "base/str.h"
#include "testing.h"

#include <string.h>

static int take(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    (void)error;
    str_append_bytes(user, bytes, length);
    return GPUT_OK;
}

static int refuse(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    (void)bytes, (void)length, (void)error;
    ++*(int *)user;
    return GPUT_ERROR_IO;
}

TEST(keeps_the_order_of_several_that_share_a_spool)
{
    struct report_spool spool;
    struct report_bytes bytes[2];
    struct str expected[2] = {{0}, {0}}, got = {0};
    report_spool_init(&spool, "/tmp");
    report_bytes_init(&bytes[0], &spool);
    report_bytes_init(&bytes[1], &spool);
    for (int i = 0; i < 40000; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "%d,", i * 7);
        assert_int_equal(report_bytes_add(&bytes[i % 2], text, (size_t)length, NULL), GPUT_OK);
        str_append(&expected[i % 2], text);
    }
    assert_true(spool.length > 0);
    for (int i = 0; i < 2; i++) {
        str_clear(&got);
        assert_int_equal(report_bytes_pass(&bytes[i], take, &got, NULL), GPUT_OK);
        assert_int_equal(bytes[i].length, expected[i].length);
        assert_string_equal(str_text(&got), str_text(&expected[i]));
        report_bytes_finish(&bytes[i]);
        str_finish(&expected[i]);
    }
    str_finish(&got);
    report_spool_finish(&spool);
}

TEST(little_takes_no_file)
{
    struct report_spool spool;
    struct report_bytes bytes;
    report_spool_init(&spool, "/no/such/folder");
    report_bytes_init(&bytes, &spool);
    assert_int_equal(report_bytes_add_zeros(&bytes, REPORT_BLOCK_BYTES, NULL), GPUT_OK);
    struct gput_error error;
    assert_int_equal(report_bytes_add(&bytes, "x", 1, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "/no/such/folder"));
    report_bytes_finish(&bytes);
    report_spool_finish(&spool);
}

TEST(a_receiver_that_fails_ends_it)
{
    struct report_spool spool;
    struct report_bytes bytes;
    int calls = 0;
    report_spool_init(&spool, "/tmp");
    report_bytes_init(&bytes, &spool);
    assert_int_equal(report_bytes_add_zeros(&bytes, 3 * REPORT_BLOCK_BYTES, NULL), GPUT_OK);
    assert_int_equal(report_bytes_pass(&bytes, refuse, &calls, NULL), GPUT_ERROR_IO);
    assert_int_equal(calls, 1);
    report_bytes_finish(&bytes);
    report_spool_finish(&spool);
}

RUN_TESTS(NULL, NULL)
