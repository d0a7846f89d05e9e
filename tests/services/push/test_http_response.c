#include "services/push/http_response.h"

#include "testing.h"

#include <locale.h>
#include <string.h>

#define DATE 1792567680 /* Wed, 21 Oct 2026 07:28:00 GMT */

static struct http_answer parse(const char *text)
{
    struct http_answer answer;
    assert_true(http_answer_parse(text, strlen(text), DATE - 90, &answer));
    return answer;
}

TEST(reads_status_and_fields)
{
    struct http_answer answer = parse("HTTP/1.1 503 Service Unavailable\r\ncontent-length:  12 \r\n"
                                      "retry-after: 7\r\nX: y\r\n\r\nbody");
    assert_int_equal(answer.status, 503);
    assert_string_equal(answer.reason, "Service Unavailable");
    assert_true(answer.retry_after == 7);
    assert_int_equal(answer.content_length, 12);
    answer = parse("HTTP/1.0 302\nLocation: http://x/\x1b[0m\n\n");
    assert_int_equal(answer.status, 302);
    assert_string_equal(answer.location, "http://x/?[0m");
    assert_true(answer.retry_after == -1);
    assert_true(
        parse("HTTP/1.1 429 x\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n\r\n").retry_after ==
        90);
    assert_true(parse("HTTP/1.1 429 x\r\nRetry-After: later\r\n\r\n").retry_after == -1);
}

TEST(dates_are_read_in_any_locale)
{
    if (!setlocale(LC_TIME, "de_DE.UTF-8") && !setlocale(LC_TIME, "fr_FR.UTF-8"))
        SKIP("no locale with names of its own is installed");
    assert_true(
        parse("HTTP/1.1 429 x\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n\r\n").retry_after ==
        90);
    setlocale(LC_TIME, "C");
}

TEST(what_announces_an_answer_is_left_out)
{
    const char *text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "
                       "x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
    struct http_answer answer = parse(text);
    assert_int_equal(answer.status, 200);
    assert_string_equal(text + answer.head_length, "ab");
    assert_true(http_answer_is_complete(&answer, text, strlen(text)));
    assert_false(http_answer_parse(text, strlen("HTTP/1.1 100 Continue\r\n\r\n"), 0, &answer));
    assert_false(http_answer_parse(text, strlen(text) - 4, 0, &answer));
}

TEST(what_is_no_http_has_no_status)
{
    assert_int_equal(parse("SSH-2.0-x\r\n").status, 0);
    assert_int_equal(parse("HTTP/1.1 99 x\r\n\r\n").status, 0);
    assert_int_equal(parse("HTTP/2.0 200 x\r\n\r\n").status, 0);
    struct http_answer answer;
    const char *part = "HTTP/1.1 200 OK\r\nA: b\r\n";
    assert_false(http_answer_parse(part, strlen(part), 0, &answer));
}

static bool is_complete(const char *text)
{
    struct http_answer answer = parse(text);
    return http_answer_is_complete(&answer, text, strlen(text));
}

TEST(knows_where_a_body_ends)
{
    assert_true(is_complete("HTTP/1.1 204 x\r\n\r\n"));
    assert_true(is_complete("HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\nab"));
    assert_false(is_complete("HTTP/1.1 200 x\r\nContent-Length: 3\r\n\r\nab"));
    assert_false(is_complete("HTTP/1.1 200 x\r\n\r\nab"));
#define CHUNKED "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert_false(is_complete(CHUNKED));
    assert_false(is_complete(CHUNKED "3\r\nab"));
    assert_false(is_complete(CHUNKED "2\r\nab\r\n"));
    assert_true(is_complete(CHUNKED "2\r\nab\r\n0\r\n"));
}

TEST(chunks_are_joined)
{
    char whole[] = "2;x=y\r\nab\r\nA\r\n0123456789\r\n0\r\n\r\n", cut[] = "5\r\nab";
    size_t length = http_answer_join_chunks(whole, strlen(whole));
    assert_int_equal(length, 12);
    assert_memory_equal(whole, "ab0123456789", 12);
    assert_int_equal(http_answer_join_chunks(cut, strlen(cut)), 2);
    assert_memory_equal(cut, "ab", 2);
}

RUN_TESTS(NULL, NULL)
