#include "services/serve/http_server.h"

#include "descriptors.h"
#include "services/serve/listen_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Only ever waited for when a test fails. */
#define PATIENCE_SECONDS 60
#define LARGE_BYTES (8 << 20)

/* "/large" is more than socket buffers hold. */
static void handle(void *user, const struct http_request *request, struct http_response *response)
{
    (void)user;
    response->status = 200;
    if (request->path_length == 6 && memcmp(request->path, "/large", 6) == 0)
        str_append_repeated(&response->body, 'x', LARGE_BYTES);
    else
        str_append(&response->body, "hello\n");
}

static struct http_server *start(const char *address)
{
    static _Atomic int64_t cpu_ns;
    struct http_server *server;
    struct gput_error error;
    if (http_server_open(address, &server, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(http_server_start(server, handle, NULL, &cpu_ns, &error), GPUT_OK);
    return server;
}

static int connect_to(const struct http_server *server)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    at.sin_port = htons((uint16_t)atoi(strrchr(http_server_address(server), ':') + 1));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* All that comes until the server hangs up; the last `size - 1` bytes are kept. */
static size_t receive(int fd, char *text, size_t size)
{
    char bytes[4096];
    size_t total = 0, kept = 0;
    for (ssize_t got; (got = recv(fd, bytes, sizeof bytes, 0)) != 0;) {
        if (got < 0 && errno == EINTR)
            continue; /* this process was stopped for a while */
        if (got < 0 && errno != ECONNRESET)
            fail_msg("waited in vain: %s", strerror(errno));
        if (got < 0)
            break;
        total += (size_t)got;
        for (ssize_t i = 0; i < got && kept < size - 1; i++)
            text[kept++] = bytes[i];
    }
    text[kept] = '\0';
    close(fd);
    return total;
}

static void assert_answers(const struct http_server *server)
{
    char text[1024];
    int fd = connect_to(server);
    say(fd, "GET / HTTP/1.0\r\n\r\n");
    receive(fd, text, sizeof text);
    static const char start[] = "HTTP/1.1 200 OK\r\nDate: ";
    assert_memory_equal(text, start, sizeof start - 1);
    struct tm date;
    const char *rest = strptime(text + sizeof start - 1, "%a, %d %b %Y %H:%M:%S GMT", &date);
    assert_non_null(rest);
    assert_true(labs(timegm(&date) - time(NULL)) < PATIENCE_SECONDS);
    assert_string_equal(rest, "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 6\r\n"
                              "Connection: close\r\n\r\nhello\n");
}

TEST(answers)
{
    struct http_server *server = start("127.0.0.1:0");
    assert_answers(server);
    assert_answers(server);
    http_server_close(server);
}

TEST(a_head_has_no_body)
{
    char text[1024];
    struct http_server *server = start("127.0.0.1:0");
    int fd = connect_to(server);
    say(fd, "HEAD / HTTP/1.0\r\n\r\n");
    receive(fd, text, sizeof text);
    assert_non_null(strstr(text, "Content-Length: 6\r\n"));
    assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
    http_server_close(server);
}

static void assert_refused(const struct http_server *server, const char *request, const char *start)
{
    char text[1024];
    int fd = connect_to(server);
    say(fd, request);
    receive(fd, text, sizeof text);
    assert_memory_equal(text, start, strlen(start));
}

TEST(refuses_in_words)
{
    struct http_server *server = start("127.0.0.1:0");
    assert_refused(server, "PUT / HTTP/1.0\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n");
    assert_refused(server, "nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n");
    assert_refused(server, "GET / HTTP/3.0\r\n\r\n", "HTTP/1.1 505 ");
    static char endless[16384];
    memset(endless, 'a', sizeof endless - 1);
    assert_refused(server, endless, "HTTP/1.1 431 ");
    http_server_close(server);
}

TEST(a_request_may_come_in_pieces)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    char text[1024];
    struct http_server *server = start("127.0.0.1:0");
    int fd = connect_to(server);
    for (size_t i = 0; i < sizeof request - 1; i++) {
        assert_int_equal(send(fd, request + i, 1, MSG_NOSIGNAL), 1);
        usleep(1000);
    }
    receive(fd, text, sizeof text);
    assert_non_null(strstr(text, "hello"));
    http_server_close(server);
}

TEST(a_large_answer_arrives_whole)
{
    char text[256];
    struct http_server *server = start("127.0.0.1:0");
    int slow = connect_to(server);
    say(slow, "GET /large HTTP/1.0\r\n\r\n");
    assert_answers(server); /* while the other takes nothing */
    size_t total = receive(slow, text, sizeof text);
    assert_int_equal(total, (size_t)(strstr(text, "\r\n\r\n") + 4 - text) + LARGE_BYTES);
    http_server_close(server);
}

TEST(silent_connections_are_closed_for_others)
{
    enum { SILENT = 100 };
    int silent[SILENT];
    struct http_server *server = start("127.0.0.1:0");
    for (int i = 0; i < SILENT; i++) {
        silent[i] = connect_to(server);
        say(silent[i], "GET /");
    }
    assert_answers(server);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    assert_answers(server);
    http_server_close(server);
}

/* poll() refuses more entries than descriptors may be open. */
TEST(serves_with_few_descriptors)
{
    rlim_t before = descriptors_limit(32);
    struct http_server *server = start("127.0.0.1:0");
    assert_answers(server);
    http_server_close(server);
    descriptors_limit(before);
}

TEST(serves_on_when_the_limit_of_descriptors_falls)
{
    struct http_server *server = start("127.0.0.1:0");
    int asking = connect_to(server);
    char text[1024];
    say(asking, "GET / ");
    assert_answers(server); /* so it was accepted, too */
    rlim_t before = descriptors_limit(1);
    say(asking, "HTTP/1.0\r\n\r\n");
    assert_true(receive(asking, text, sizeof text) > 0);
    descriptors_limit(before);
    assert_answers(server);
    descriptors_limit(1);
    http_server_close(server);
    descriptors_limit(before);
}

TEST(connections_leave_descriptors_to_others)
{
    enum { FILES = 48, SILENT = 24 };
    int silent[SILENT];
    rlim_t before = descriptors_limit(FILES);
    struct http_server *server = start("127.0.0.1:0");
    for (int i = 0; i < SILENT; i++) {
        silent[i] = connect_to(server);
        say(silent[i], "GET /");
    }
    assert_answers(server);
    int other = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    assert_true(other >= 0);
    close(other);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    http_server_close(server);
    descriptors_limit(before);
}

TEST(who_hangs_up_in_the_middle_costs_nothing)
{
    struct http_server *server = start("127.0.0.1:0");
    for (int i = 0; i < 50; i++) {
        int fd = connect_to(server);
        struct linger reset = {.l_onoff = 1};
        say(fd, i % 2 ? "GET /large HTTP/1.0\r\n\r\n" : "GET /la");
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(fd);
    }
    assert_answers(server);
    http_server_close(server);
}

TEST(closing_ends_the_socket_for_forks_too)
{
    char address[LISTEN_ADDRESS_SIZE];
    struct http_server *server = start("127.0.0.1:0"), *again;
    snprintf(address, sizeof address, "%s", http_server_address(server));
    int left = connect_to(server); /* hangs on */
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t fork_pid = fork();
    if (fork_pid == 0) {
        char byte;
        close(pipe_fds[1]);
        (void)!read(pipe_fds[0], &byte, 1);
        _exit(0);
    }
    close(pipe_fds[0]);
    http_server_close(server);
    struct gput_error error;
    if (http_server_open(address, &again, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    http_server_close(again);
    close(pipe_fds[1]);
    close(left);
}

TEST(no_program_inherits_the_socket)
{
    int fd;
    char bound[LISTEN_ADDRESS_SIZE];
    assert_int_equal(listen_socket_open("0", &fd, bound, NULL), GPUT_OK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

TEST(reads_addresses)
{
    int fd, again;
    char bound[LISTEN_ADDRESS_SIZE];
    struct gput_error error;
    static const char *const local[] = {"0", ":0", "127.0.0.1:0"};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
        if (listen_socket_open(local[i], &fd, bound, &error) != GPUT_OK)
            fail_msg("%s", error.message);
        assert_memory_equal(bound, "127.0.0.1:", 10);
        assert_string_not_equal(strrchr(bound, ':'), ":0");
        close(fd);
    }
    static const char *const wrong[] = {"", ":", "host", "127.0.0.1:", "127.0.0.1:65536",
        "127.0.0.1:-1", "127.0.0.1:http", "::1", "::1:5001", "[::1]", "[::1]5001", "[]:5001",
        "1:2:3", "127.0.0.1:5001 "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(listen_socket_open(wrong[i], &fd, bound, &error), GPUT_ERROR_INVALID);
        assert_int_equal(fd, -1);
        assert_non_null(strstr(error.message, "is not an address to listen at"));
    }
    assert_int_equal(listen_socket_open("127.0.0.1:0", &fd, bound, &error), GPUT_OK);
    assert_int_equal(listen_socket_open(bound, &again, bound, &error), GPUT_ERROR_IO);
    assert_non_null(strstr(error.message, "in use"));
    close(fd);
    /* An address of no machine: what the kernel says is passed on. */
    assert_true(listen_socket_open("192.0.2.1:0", &fd, bound, &error) != GPUT_OK);
    assert_memory_equal(error.message, "Cannot listen at 192.0.2.1:0: ", 30);
    assert_int_equal(fd, -1);
}

TEST(listens_over_ipv6)
{
    int fd;
    char bound[LISTEN_ADDRESS_SIZE];
    struct gput_error error;
    int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bool has_ipv6 = probe >= 0 && bind(probe, (struct sockaddr *)&at, sizeof at) == 0;
    if (probe >= 0)
        close(probe);
    if (!has_ipv6)
        SKIP("this machine has no IPv6");
    if (listen_socket_open("[::1]:0", &fd, bound, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    assert_memory_equal(bound, "[::1]:", 6);
    close(fd);
}

RUN_TESTS(NULL, NULL)
