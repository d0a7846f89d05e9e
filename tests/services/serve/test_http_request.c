#include "services/serve/http_request.h"

#include "testing.h"

#include <stdlib.h>
#include <string.h>

#define HOST "Host: here\r\n"

static int parse(const char *text, struct http_request *request)
{
    return http_request_parse(text, strlen(text), request);
}

static void assert_path(const char *text, const char *path)
{
    struct http_request request;
    assert_int_equal(parse(text, &request), HTTP_OK);
    assert_int_equal(request.path_length, strlen(path));
    assert_memory_equal(request.path, path, strlen(path));
}

TEST(reads_get_and_head)
{
    struct http_request request;
    assert_int_equal(parse("GET /metrics HTTP/1.1\r\n" HOST "\r\n", &request), HTTP_OK);
    assert_false(request.is_head);
    assert_false(request.wants_openmetrics);
    assert_int_equal(parse("HEAD / HTTP/1.1\r\n" HOST "\r\n", &request), HTTP_OK);
    assert_true(request.is_head);
}

TEST(reads_every_form_of_a_target)
{
    assert_path("GET /metrics?collect[]=x HTTP/1.1\r\n" HOST "\r\n", "/metrics");
    assert_path("GET http://here:5001/metrics?x HTTP/1.1\r\n" HOST "\r\n", "/metrics");
    assert_path("GET /a HTTP/1.0\r\n\r\n", "/a");
    assert_path("\r\nGET /a HTTP/1.0\n\n", "/a");
    assert_path("GET /a HTTP/1.9\r\nhost:x\r\nAccept:\r\n\r\nbody", "/a");
}

TEST(waits_for_the_end_of_the_head)
{
    static const char whole[] = "GET /metrics HTTP/1.1\r\n" HOST "Accept: */*\r\n\r\n";
    struct http_request request;
    for (size_t length = 0; length < sizeof whole - 1; length++)
        assert_int_equal(http_request_parse(whole, length, &request), HTTP_MORE);
    assert_int_equal(http_request_parse(whole, sizeof whole - 1, &request), HTTP_OK);
}

TEST(refuses_what_is_no_request)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"POST /metrics HTTP/1.1\r\n" HOST "\r\n", HTTP_METHOD_NOT_ALLOWED},
        {"OPTIONS * HTTP/1.1\r\n" HOST "\r\n", HTTP_METHOD_NOT_ALLOWED},
        {"get /metrics HTTP/1.1\r\n" HOST "\r\n", HTTP_METHOD_NOT_ALLOWED},
        {"GET /metrics HTTP/2.0\r\n" HOST "\r\n", HTTP_BAD_VERSION},
        {"GET /metrics\r\n\r\n", HTTP_BAD_REQUEST},
        {"GET  /metrics HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD_REQUEST},
        {"GET metrics HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD_REQUEST},
        {"GET http://here HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD_REQUEST},
        {"GET /\x01 HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD_REQUEST},
        {"GET / HTTP/1.1x\r\n" HOST "\r\n", HTTP_BAD_REQUEST},
        {"G@T / HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD_REQUEST},
        {" / HTTP/1.1\r\n" HOST "\r\n", HTTP_BAD_REQUEST},
        {"GET / HTTP/1.1\r\n\r\n", HTTP_BAD_REQUEST}, /* no host */
        {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", HTTP_BAD_REQUEST},
        {"GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n", HTTP_BAD_REQUEST},
        {"GET / HTTP/1.1\r\nHost : here\r\n\r\n", HTTP_BAD_REQUEST},
        {"GET / HTTP/1.1\r\n" HOST " folded: line\r\n\r\n", HTTP_BAD_REQUEST},
        {"\x16\x03\x01\x02\n\n", HTTP_BAD_REQUEST}, /* TLS */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct http_request request;
        if (parse(cases[i].text, &request) != cases[i].status)
            fail_msg("%s", cases[i].text);
    }
}

TEST(a_null_byte_ends_nothing)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
    static const char method[] = "GE\0T / HTTP/1.0\r\n\r\n";
    struct http_request request;
    assert_int_equal(http_request_parse(text, sizeof text - 1, &request), HTTP_BAD_REQUEST);
    assert_int_equal(http_request_parse(method, sizeof method - 1, &request), HTTP_BAD_REQUEST);
}

static bool wants_openmetrics(const char *accept)
{
    char text[1024];
    struct http_request request;
    snprintf(text, sizeof text, "GET / HTTP/1.0\r\n%s\r\n\r\n", accept);
    assert_int_equal(parse(text, &request), HTTP_OK);
    return request.wants_openmetrics;
}

TEST(openmetrics_is_for_those_who_prefer_it)
{
    /* Prometheus 2 and 3 */
    assert_true(wants_openmetrics(
        "Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
        "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
    assert_true(wants_openmetrics(
        "Accept: application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
        "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;"
        "escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"));
    assert_true(wants_openmetrics("accept: text/plain ; q=0.4\r\naccept: "
                                  "Application/OpenMetrics-Text ; q = 0.5"));
    assert_false(wants_openmetrics("Accept: */*"));
    assert_false(wants_openmetrics("Accept: application/*"));
    assert_false(wants_openmetrics("Accept: application/openmetrics-text;version=0.0.1"));
    assert_false(wants_openmetrics("Accept: application/openmetrics-text;q=0"));
    assert_false(wants_openmetrics("Accept: application/openmetrics-text;q=x"));
    assert_false(wants_openmetrics("Accept: application/openmetrics-text;q=0.3, text/plain"));
    assert_false(wants_openmetrics("X-Accept: application/openmetrics-text"));
}

RUN_TESTS(NULL, NULL)
