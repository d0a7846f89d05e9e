#include <gputracker/perfetto.h>

#include "testing.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* More than socket buffers hold, and no multiple of what is sent at once. */
#define FILE_BYTES ((5 << 20) + 321)

static void make_file(char *path)
{
    int fd = mkstemp(path);
    char *bytes = malloc(FILE_BYTES);
    assert_true(fd >= 0 && bytes);
    for (size_t i = 0; i < FILE_BYTES; i++)
        bytes[i] = (char)(i * 7 % 251);
    assert_int_equal(write(fd, bytes, FILE_BYTES), FILE_BYTES);
    free(bytes);
    close(fd);
}

/* The answer to a request for that path; the caller frees it. */
static char *ask(const struct gput_perfetto *perfetto, const char *path, size_t *length)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *port = strrchr(gput_perfetto_url(perfetto), ':') + 1;
    char request[128], *answer = malloc(FILE_BYTES + 4096);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_port = htons((uint16_t)atoi(port));
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    int size =
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
    assert_int_equal(send(fd, request, (size_t)size, MSG_NOSIGNAL), size);
    *length = 0;
    for (ssize_t got; (got = recv(fd, answer + *length, FILE_BYTES + 4095 - *length, 0)) > 0;)
        *length += (size_t)got;
    answer[*length] = '\0';
    close(fd);
    return answer;
}

TEST(the_file_is_given_to_the_page_once)
{
    char path[] = "/tmp/gput-perfetto-XXXXXX";
    struct gput_perfetto *perfetto;
    size_t length;
    make_file(path);
    assert_int_equal(gput_perfetto_create(path, "127.0.0.1:0", &perfetto, NULL), GPUT_OK);
    assert_memory_equal(gput_perfetto_url(perfetto),
        "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:",
        strlen("https://ui.perfetto.dev/#!/?url=http://127.0.0.1:"));
    char *other = ask(perfetto, "/../etc/passwd", &length);
    assert_memory_equal(other, "HTTP/1.1 404", 12);
    free(other);
    char *answer = ask(perfetto, "/timeline.json", &length);
    assert_non_null(strstr(answer, "\r\nAccess-Control-Allow-Origin: https://ui.perfetto.dev\r\n"));
    const char *body = strstr(answer, "\r\n\r\n") + 4;
    assert_int_equal(length - (size_t)(body - answer), FILE_BYTES);
    for (size_t i = 0; i < FILE_BYTES; i++)
        assert_true(body[i] == (char)(i * 7 % 251));
    free(answer);
    assert_int_equal(gput_perfetto_wait(perfetto, -1, NULL), GPUT_OK);
    gput_perfetto_destroy(perfetto);
    unlink(path);
}

TEST(waiting_ends_when_it_is_asked_to)
{
    char path[] = "/tmp/gput-perfetto-XXXXXX.gz";
    struct gput_perfetto *perfetto;
    struct gput_error error;
    int fd = mkstemps(path, 3), stop_fd = eventfd(1, EFD_CLOEXEC);
    close(fd);
    assert_int_equal(gput_perfetto_create(path, "127.0.0.1:0", &perfetto, NULL), GPUT_OK);
    assert_non_null(strstr(gput_perfetto_url(perfetto), "/timeline.json.gz"));
    assert_int_equal(gput_perfetto_wait(perfetto, stop_fd, &error), GPUT_ERROR_STATE);
    gput_perfetto_destroy(perfetto);
    close(stop_fd);
    unlink(path);
}

TEST(a_file_that_is_not_there_is_refused)
{
    struct gput_perfetto *perfetto;
    struct gput_error error;
    assert_int_equal(gput_perfetto_create("/nonexistent/x", "127.0.0.1:0", &perfetto, &error),
        GPUT_ERROR_NOT_FOUND);
    assert_null(perfetto);
    gput_perfetto_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
