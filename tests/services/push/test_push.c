#include "services/push/push.h"

#include "base/clock.h"
#include "model/results_columns.h"
#include "testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLOSED_PORT "http://127.0.0.1:1"

static const char *not_set(const char *name)
{
    (void)name;
    return NULL;
}

static struct push *make_push(void)
{
    struct push_settings settings;
    assert_int_equal(
        push_settings_of_remote_write(&settings, CLOSED_PORT, NULL, 0, not_set, NULL), GPUT_OK);
    struct push *push = push_create(&push_remote_write, &settings);
    assert_non_null(push);
    push_settings_finish(&settings);
    return push;
}

static void add(struct push *push, int count)
{
    struct gput_results results = {0};
    results_forget(&results);
    results.elapsed_seconds = 1;
    for (int i = 0; i < count; i++)
        push_add(push, i + 1, &results);
    results_finish(&results);
}

TEST(a_full_queue_loses_the_oldest_and_counts_them)
{
    struct push *push = make_push();
    add(push, PUSH_MAX_WAITING + 88);
    assert_int_equal(push->n_waiting, PUSH_MAX_WAITING);
    assert_int_equal(push->lost, 88);
    assert_int_equal(push_at(push, 0)->time_ns, 89);
    assert_int_equal(push_at(push, PUSH_MAX_WAITING - 1)->time_ns, PUSH_MAX_WAITING + 88);
    push_destroy(push);
}

TEST(samples_wait_for_a_receiver_until_the_end)
{
    char text[512];
    struct push *push = make_push();
    add(push, 3);
    int64_t start_ns = clock_monotonic_ns();
    push_send(push);
    assert_int_equal(push->n_waiting, 3);
    assert_int_equal(push->failures, 1);
    assert_true(push->next_try_ns >= start_ns + NS_PER_SECOND * 8 / 10);
    push->next_try_ns = INT64_MAX; /* that time may pass before the next line */
    push_send(push);               /* not yet */
    assert_int_equal(push->failures, 1);
    push_finish(push);
    assert_int_equal(push->lost, 3);
    push_describe(push, text, sizeof text);
    assert_memory_equal(text, "3 of 3 samples did not reach ", 29);
    push_destroy(push);
}

TEST(what_does_not_change_can_be_left_out)
{
    struct push *push = make_push();
    push->without_constants = true;
    add(push, 1);
    for (size_t i = 0; i < push->n_series; i++) {
        if (strcmp(push->series[i].name, "gputracker_system_cores") == 0)
            assert_true(
                push_value(push, push_at(push, 0), i) != push_value(push, push_at(push, 0), i));
    }
    push_destroy(push);
}

/* A short command must not wait long for a receiver that hangs. */
TEST(a_receiver_has_a_small_share_of_the_time_at_the_end)
{
    struct push *push = make_push();
    int64_t begin_ns = push->created_ns = 7 * NS_PER_SECOND;
    push_end_soon(push, begin_ns + NS_PER_SECOND);
    assert_true(push->abort_ns == begin_ns + NS_PER_SECOND + NS_PER_SECOND / 2);
    push_end_soon(push, begin_ns + 20 * NS_PER_SECOND);
    assert_true(push->abort_ns == begin_ns + 21 * NS_PER_SECOND);
    push_end_soon(push, begin_ns + 900 * NS_PER_SECOND);
    assert_true(push->abort_ns == begin_ns + 903 * NS_PER_SECOND);
    push_destroy(push);
}

/* By OTEL_EXPORTER_OTLP_TIMEOUT; a job of many commands must not wait for hours. */
TEST(a_receiver_has_the_time_that_the_user_gives_it)
{
    struct push *push = make_push();
    int64_t begin_ns = push->created_ns = 7 * NS_PER_SECOND;
    push->settings.end_ns = 4 * NS_PER_SECOND;
    push_end_soon(push, begin_ns + NS_PER_SECOND);
    assert_true(push->abort_ns == begin_ns + 5 * NS_PER_SECOND);
    push->settings.end_ns = 600 * NS_PER_SECOND;
    push_end_soon(push, begin_ns + NS_PER_SECOND);
    assert_true(push->abort_ns == begin_ns + 11 * NS_PER_SECOND);
    push_destroy(push);
}

/* A job of many commands must not wait for a receiver that hangs at the end of each. */
TEST(a_receiver_that_had_its_time_gets_little_more_at_the_end)
{
    struct push *push = make_push();
    push->created_ns = -900 * NS_PER_SECOND;
    add(push, 1);
    push_send(push);
    int64_t asked_ns = push->unanswered_ns;
    assert_true(asked_ns > 0);
    push_end_soon(push, asked_ns + NS_PER_SECOND);
    assert_true(push->abort_ns == asked_ns + 3 * NS_PER_SECOND);
    push_end_soon(push, asked_ns + 10 * NS_PER_SECOND);
    assert_true(push->abort_ns == asked_ns + 10 * NS_PER_SECOND + NS_PER_SECOND / 10);
    push_send(push); /* too early to try again: as before */
    assert_true(push->unanswered_ns == asked_ns);
    push_destroy(push);
}

/* Answers one request with that, in a thread. */
struct busy {
    int socket;
    const char *answer;
};

static void *answer_once(void *user)
{
    struct busy *busy = user;
    char bytes[65536];
    int peer = accept(busy->socket, NULL, NULL);
    assert_true(read(peer, bytes, sizeof bytes) > 0);
    assert_true(write(peer, busy->answer, strlen(busy->answer)) > 0);
    shutdown(peer, SHUT_WR);
    while (read(peer, bytes, sizeof bytes) > 0)
        ;
    close(peer);
    return NULL;
}

/* Returns the seconds after which a busy receiver is asked again. */
static double ask_after(const char *answer, unsigned failures)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    struct busy busy = {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), answer};
    struct push_settings settings;
    pthread_t thread;
    char url[64];
    assert_int_equal(bind(busy.socket, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(busy.socket, 1), 0);
    assert_int_equal(getsockname(busy.socket, (struct sockaddr *)&address, &length), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    assert_int_equal(
        push_settings_of_remote_write(&settings, url, NULL, 0, not_set, NULL), GPUT_OK);
    struct push *push = push_create(&push_remote_write, &settings);
    assert_int_equal(pthread_create(&thread, NULL, answer_once, &busy), 0);
    push->failures = failures;
    add(push, 1);
    push_send(push);
    double seconds = (double)(push->next_try_ns - push->unanswered_ns) / NS_PER_SECOND;
    assert_int_equal(push->failures, failures + 1);
    pthread_join(thread, NULL);
    close(busy.socket);
    push_settings_finish(&settings);
    push_destroy(push);
    return seconds;
}

#define BUSY "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n"

/* Counted from the request on, which takes time, too. */
TEST(a_busy_receiver_is_asked_again_when_it_says)
{
    double second = ask_after(BUSY "Retry-After: 1\r\n\r\n", 4);
    double minutes = ask_after(BUSY "Retry-After: 100\r\n\r\n", 0);
    double at_once = ask_after(BUSY "Retry-After: 0\r\n\r\n", 1);
    double unsaid = ask_after(BUSY "\r\n", 5);
    assert_true(second >= 1 && second < 12);
    assert_true(minutes >= 100);
    assert_true(at_once >= 1);
    assert_true(unsaid >= 25);
}

RUN_TESTS(NULL, NULL)
