#include "views/report/export/report_html.h"

#include "base/str.h"
#include "testing.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#define PAGE "<title><!--gput-title--></title><body><!--gput-data--></body>"
#define BEGIN "</title><body><script type=\"application/octet-stream\" id=\"gput-data\">"
#define END "</script></body>"

static int take(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    (void)error;
    str_append_bytes(user, bytes, length);
    return GPUT_OK;
}

static void fill(struct report_payload *payload, const char *title, struct str *html)
{
    assert_int_equal(report_html_fill(payload, PAGE, title, take, html, NULL), GPUT_OK);
}

static int digit(char letter)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, letter);
    assert_non_null(at);
    return (int)(at - digits);
}

/* The payload in the file, of `*length` bytes; freed by the caller. */
static unsigned char *unpack(const struct str *html, size_t *length)
{
    const char *text = strstr(html->data, BEGIN) + strlen(BEGIN), *end = strstr(text, END);
    unsigned char *packed = malloc((size_t)(end - text)), *bytes = malloc(1 << 20);
    size_t packed_length = 0;
    assert_int_equal((end - text) % 4, 0);
    for (; text < end; text += 4) {
        int count = 3 - (text[2] == '=') - (text[3] == '=');
        int number = digit(text[0]) << 18 | digit(text[1]) << 12 |
                     (count > 1 ? digit(text[2]) << 6 : 0) | (count > 2 ? digit(text[3]) : 0);
        for (int i = 0; i < count; i++)
            packed[packed_length++] = (unsigned char)(number >> (16 - 8 * i));
    }
    uLongf got = 1 << 20;
    assert_int_equal(uncompress(bytes, &got, packed, packed_length), Z_OK);
    free(packed);
    *length = got;
    return bytes;
}

TEST(the_title_cannot_leave_its_element)
{
    struct report_payload payload;
    struct str html = {0};
    assert_int_equal(report_payload_init(&payload, "/tmp", NULL), GPUT_OK);
    fill(&payload, "</title><script>&\n\xff <!--gput-data-->", &html);
    static const char head[] = "<title>&lt;/title&gt;&lt;script&gt;&amp; \xef\xbf\xbd "
                               "&lt;!--gput-data--&gt;</title><body>";
    assert_memory_equal(html.data, head, sizeof head - 1);
    str_finish(&html);
    report_payload_finish(&payload);
}

TEST(data_is_json_and_then_columns)
{
    struct report_payload payload;
    struct report_column column;
    struct str html = {0};
    size_t length;
    assert_int_equal(report_payload_init(&payload, "/tmp", NULL), GPUT_OK);
    for (int number = 0; number < 2; number++) {
        report_column_init(&column, &payload.spool, 1);
        for (int i = 0; i < 3; i++)
            assert_int_equal(report_column_add(&column, i == 1 ? NAN : i + number, NULL), GPUT_OK);
        assert_int_equal(
            report_payload_add_column(&payload, payload.root, number ? "b" : "a", &column, NULL),
            GPUT_OK);
    }
    fill(&payload, "", &html);
    unsigned char *bytes = unpack(&html, &length);
    static const char json[] =
        "{\"a\": {\"count\": 3, \"encoding\": \"delta\", \"offset\": 0, "
        "\"bytes\": 3, \"missing\": {\"offset\": 8, \"bytes\": 1}}, "
        "\"b\": {\"count\": 3, \"encoding\": \"delta\", \"offset\": 16, "
        "\"bytes\": 3, \"missing\": {\"offset\": 8, \"bytes\": 1}}}"; /* the same ones */
    size_t json_length = (size_t)bytes[0] | (size_t)bytes[1] << 8;
    assert_int_equal((4 + json_length) % 8, 0);
    assert_memory_equal(bytes + 4, json, strlen(json));
    static const unsigned char columns[24] = {[2] = 4, [8] = 2, [16] = 2, [18] = 4};
    assert_int_equal(length, 4 + json_length + sizeof columns);
    assert_memory_equal(bytes + 4 + json_length, columns, sizeof columns);
    free(bytes);
    str_finish(&html);
    report_payload_finish(&payload);
}

TEST(a_page_without_a_place_for_data_is_refused)
{
    struct report_payload payload;
    struct gput_error error;
    struct str html = {0};
    assert_int_equal(report_payload_init(&payload, "/tmp", NULL), GPUT_OK);
    assert_int_equal(
        report_html_fill(&payload, "<title></title>", "", take, &html, &error), GPUT_ERROR_FORMAT);
    assert_string_equal(error.message, "The page of reports has no <!--gput-data-->.");
    str_finish(&html);
    report_payload_finish(&payload);
}

RUN_TESTS(NULL, NULL)
