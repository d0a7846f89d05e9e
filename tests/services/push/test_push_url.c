#include "services/push/push_url.h"

#include "testing.h"

#include <string.h>

static struct push_url parse(const char *text)
{
    struct push_url url;
    assert_int_equal(push_url_parse(text, &url, NULL), GPUT_OK);
    return url;
}

TEST(reads_every_form)
{
    struct push_url url = parse("http://host:4318/v1/metrics?x=1");
    assert_string_equal(url.host, "host");
    assert_string_equal(url.port, "4318");
    assert_string_equal(url.text + url.path, "/v1/metrics?x=1");
    url = parse("HTTPS://[::1]");
    assert_true(url.is_https);
    assert_string_equal(url.host, "::1");
    assert_string_equal(url.port, "443");
    assert_true(push_url_lacks_path(&url));
    assert_string_equal(parse("http://h").port, "80");
}

TEST(passwords_are_kept_apart)
{
    struct push_url url = parse("https://me:p@ss@host/x");
    assert_string_equal(url.user, "me:p@ss");
    assert_string_equal(url.text, "https://host/x");
    assert_string_equal(url.text + url.path, "/x");
    struct gput_error error;
    assert_int_equal(push_url_parse("http://me:secret@:1", &url, &error), GPUT_ERROR_INVALID);
    assert_null(strstr(error.message, "secret"));
}

TEST(paths_are_appended)
{
    struct push_url url = parse("http://host:1//");
    assert_int_equal(push_url_append(&url, "/v1", NULL), GPUT_OK);
    assert_string_equal(url.text, "http://host:1/v1");
    url = parse("http://host:1");
    assert_int_equal(push_url_append(&url, "/v1", NULL), GPUT_OK);
    assert_string_equal(url.text + url.path, "/v1");
}

TEST(others_are_refused)
{
    static const char *const wrong[] = {"", "host:1", "ftp://host", "http://", "http://:1",
        "http://[::1", "http://h:", "http://h:70000", "http://h:1x", "http://h/ x",
        "http://h/\r\nX: y", "http://h/#x", "http://h\"/"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct push_url url;
        assert_int_equal(push_url_parse(wrong[i], &url, NULL), GPUT_ERROR_INVALID);
    }
}

RUN_TESTS(NULL, NULL)
