#include "services/serve/http_server.h"

#include "base/clock.h"
#include "base/thread.h"

#include "services/serve/listen_socket.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 32
/* Connections use at most this fraction of the permitted descriptors: one in 8. */
#define DESCRIPTOR_SHARE 8
#define MAX_HEAD_BYTES 8192
/* Maximum number of bytes of a file that are sent at once. */
#define FILE_BYTES ((size_t)1 << 20)
/* Maximum duration of each stage; while a file is sent, of each part. */
#define READING_NS (5 * NS_PER_SECOND)
#define WRITING_NS (10 * NS_PER_SECOND)
#define ENDING_NS (1 * NS_PER_SECOND)
/* Pause after accept() or poll() failed for lack of descriptors or memory. */
#define PAUSE_NS (NS_PER_SECOND / 10)

enum stage {
    FREE,
    READING, /* the head of the request */
    WRITING, /* the answer */
    ENDING,  /* all is sent; waits until the client closes */
};

struct connection {
    enum stage stage;
    int fd;
    int64_t since_ns; /* time at which it was accepted */
    int64_t deadline_ns;
    char head[MAX_HEAD_BYTES];
    size_t head_length;
    struct str answer;
    size_t sent;
    int file_fd; /* file to send after `answer`; -1: none */
    uint64_t file_left;
    void (*was_sent)(void *user);
};

struct http_server {
    int listen_fd;
    int stop_fd; /* an eventfd */
    char address[LISTEN_ADDRESS_SIZE];
    char *names; /* host names that requests may ask for */
    http_handler *handler;
    void *user;
    pthread_t thread;
    bool has_thread;
    int64_t accept_after_ns;
    _Atomic int64_t *cpu_ns; /* owned by the caller; may be NULL */
    size_t max_connections;
    struct connection connections[MAX_CONNECTIONS];
};

/* The descriptors to wait for. They are only those that are open, since poll() refuses lists longer
 * than RLIMIT_NOFILE, even if entries are unused. */
struct waiting {
    struct pollfd events[2 + MAX_CONNECTIONS];
    struct connection *connections[2 + MAX_CONNECTIONS]; /* NULL: one of the server's own
                                                            descriptors */
    nfds_t count;
    int64_t until_ns;
};

/* ---- connections ---- */

static void set_stage(struct connection *connection, enum stage stage, int64_t lasts_ns)
{
    connection->stage = stage;
    connection->deadline_ns = clock_monotonic_ns() + lasts_ns;
}

/* Closes a connection, and frees its slot. */
static void hang_up(struct connection *connection)
{
    close(connection->fd);
    if (connection->file_fd >= 0)
        close(connection->file_fd);
    str_finish(&connection->answer);
    connection->stage = FREE;
}

/* Returns a free slot. If there is none, closes the oldest connection. */
static struct connection *make_space(struct http_server *server)
{
    struct connection *first = NULL;
    for (size_t i = 0; i < server->max_connections; i++) {
        struct connection *connection = &server->connections[i];
        if (connection->stage == FREE)
            return connection;
        if (!first || connection->since_ns < first->since_ns)
            first = connection;
    }
    hang_up(first);
    return first;
}

/* Accepts a connection. If that fails for lack of descriptors, pauses accepting. */
static void accept_one(struct http_server *server)
{
    int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            server->accept_after_ns = clock_monotonic_ns() + PAUSE_NS;
        return;
    }
    struct connection *connection = make_space(server);
    connection->fd = fd;
    connection->since_ns = clock_monotonic_ns();
    connection->head_length = 0;
    connection->sent = 0;
    connection->answer = (struct str){0};
    connection->file_fd = -1;
    connection->was_sent = NULL;
    set_stage(connection, READING, READING_NS);
}

/* ---- answers ---- */

/* Returns the reason phrase of a status. */
static const char *reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case HTTP_MISDIRECTED:
        return "Misdirected Request";
    case 431:
        return "Request Header Fields Too Large";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Service Unavailable";
    }
}

/* Writes the head of an answer and, except for HEAD, its body. */
static void begin_answer(
    struct connection *connection, const struct http_response *response, bool is_head)
{
    struct str *answer = &connection->answer;
    uint64_t length = response->body.length;
    if (response->file_fd >= 0) {
        struct stat info;
        length = fstat(response->file_fd, &info) == 0 ? (uint64_t)info.st_size : 0;
    }

    answer->failed = response->body.failed;
    str_printf(answer, "HTTP/1.1 %d %s\r\n", response->status, reason_of(response->status));

    /* Write the date in English, as HTTP requires, whatever the locale: "Sun, 06 Nov 1994 08:49:37
     * GMT". */
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t now = (time_t)(clock_realtime_ns() / NS_PER_SECOND);
    struct tm date;
    if (gmtime_r(&now, &date))
        str_printf(answer, "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", days[date.tm_wday],
            date.tm_mday, months[date.tm_mon], date.tm_year + 1900, date.tm_hour, date.tm_min,
            date.tm_sec);

    str_printf(answer,
        "Content-Type: %s\r\nContent-Length: %" PRIu64 "\r\nConnection: close\r\n%s%s\r\n",
        response->content_type, length, response->fields ? response->fields : "",
        response->status == HTTP_METHOD_NOT_ALLOWED ? "Allow: GET, HEAD\r\n" : "");
    if (!is_head && response->file_fd < 0)
        str_append_bytes(answer, response->body.data, response->body.length);
    connection->file_fd = response->file_fd;
    connection->file_left = !is_head && response->file_fd >= 0 ? length : 0;
    connection->was_sent = is_head ? NULL : response->sent;
    set_stage(connection, WRITING, WRITING_NS);
}

/* Answers with a status and its reason phrase. */
static void refuse(struct connection *connection, int status)
{
    struct http_response response = {
        .status = status, .content_type = "text/plain; charset=utf-8", .file_fd = -1};
    str_printf(&response.body, "%s\n", reason_of(status));
    begin_answer(connection, &response, false);
    str_finish(&response.body);
}

/* Lets the handler answer a request. */
static void answer(
    struct http_server *server, struct connection *connection, const struct http_request *request)
{
    struct http_response response = {
        .status = 503, .content_type = "text/plain; charset=utf-8", .file_fd = -1};
    server->handler(server->user, request, &response);
    begin_answer(connection, &response, request->is_head);
    str_finish(&response.body);
}

/* ---- stages ---- */

static bool would_block(ssize_t done)
{
    return done < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Sends a part of the file. Returns true when all of it was sent. If the file became shorter,
 * closes the connection, and the client notices by the length. */
static bool write_file(struct connection *connection)
{
    size_t most = connection->file_left < FILE_BYTES ? (size_t)connection->file_left : FILE_BYTES;
    ssize_t done = sendfile(connection->fd, connection->file_fd, NULL, most);
    if (would_block(done))
        return false;
    if (done <= 0) {
        hang_up(connection);
        return false;
    }
    connection->file_left -= (uint64_t)done;
    set_stage(connection, WRITING, WRITING_NS);
    return connection->file_left == 0;
}

/* Sends as much of an answer as the socket accepts. When all is sent, begins to end the
 * connection. */
static void write_answer(struct http_server *server, struct connection *connection)
{
    const struct str *text = &connection->answer;
    if (text->failed) {
        hang_up(connection);
        return;
    }
    ssize_t done = send(connection->fd, text->data + connection->sent,
        text->length - connection->sent, MSG_NOSIGNAL);
    if (would_block(done))
        return;
    if (done < 0) {
        hang_up(connection);
        return;
    }
    connection->sent += (size_t)done;
    if (connection->sent == text->length &&
        (connection->file_left == 0 || write_file(connection))) {
        /* Shut down only the sending direction: closing with unread bytes would reset the
         * connection, and the answer could be lost. */
        shutdown(connection->fd, SHUT_WR);
        set_stage(connection, ENDING, ENDING_NS);
        if (connection->was_sent)
            connection->was_sent(server->user);
    }
}

/* Reads more of a request, and answers once its head is complete. */
static void read_head(struct http_server *server, struct connection *connection)
{
    struct http_request request;
    ssize_t got = recv(connection->fd, connection->head + connection->head_length,
        sizeof connection->head - connection->head_length, 0);
    if (would_block(got))
        return;
    if (got <= 0) {
        hang_up(connection);
        return;
    }
    connection->head_length += (size_t)got;
    int status = http_request_parse(connection->head, connection->head_length, &request);
    if (status == HTTP_MORE && connection->head_length < sizeof connection->head)
        return;
    if (status == HTTP_OK &&
        !host_name_is_served(request.host, request.host_length, server->names)) {
        struct http_response response = {
            .status = HTTP_MISDIRECTED, .content_type = "text/plain; charset=utf-8", .file_fd = -1};
        str_append(&response.body,
            "This host name is not served, so that no web page can point its own name here. Use "
            "the "
            "address in numbers, or add the name to the address to listen at: HOST:PORT,NAME\n");
        begin_answer(connection, &response, false);
        str_finish(&response.body);
    } else if (status == HTTP_OK)
        answer(server, connection, &request);
    else
        refuse(connection, status == HTTP_MORE ? 431 : status);
    write_answer(server, connection);
}

/* ---- the thread ---- */

/* Adds a descriptor to wait for. */
static void wait_also_for(
    struct waiting *waiting, int fd, short events, struct connection *connection)
{
    waiting->events[waiting->count] = (struct pollfd){.fd = fd, .events = events};
    waiting->connections[waiting->count++] = connection;
}

/* Serves each connection that is ready, and closes those whose deadline has passed. */
static void handle_events(struct http_server *server, const struct waiting *waiting)
{
    int64_t now_ns = clock_monotonic_ns();
    bool can_accept = false;
    for (nfds_t i = 0; i < waiting->count; i++) {
        struct connection *connection = waiting->connections[i];
        if (waiting->events[i].revents && connection) {
            if (connection->stage == READING)
                read_head(server, connection);
            else if (connection->stage == WRITING)
                write_answer(server, connection);
            else if (connection->stage == ENDING) {
                ssize_t got = recv(connection->fd, connection->head, sizeof connection->head, 0);
                if (got == 0 || (got < 0 && !would_block(got)))
                    hang_up(connection);
            }
        } else if (waiting->events[i].revents)
            can_accept |= waiting->events[i].fd == server->listen_fd;
        if (connection && connection->stage != FREE && connection->deadline_ns <= now_ns)
            hang_up(connection);
    }
    if (can_accept)
        accept_one(server);
}

/* Runs the server: waits for connections and serves them until it has to stop. */
static void *serve(void *user)
{
    struct http_server *server = user;
    struct waiting waiting;
    prctl(PR_SET_NAME, "gpu-tracker-web");
    for (;;) {
        waiting.count = 0;
        waiting.until_ns = INT64_MAX;
        wait_also_for(&waiting, server->stop_fd, POLLIN, NULL);
        if (clock_monotonic_ns() < server->accept_after_ns)
            waiting.until_ns = server->accept_after_ns;
        else
            wait_also_for(&waiting, server->listen_fd, POLLIN, NULL);
        for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
            struct connection *connection = &server->connections[i];
            if (connection->stage == FREE)
                continue;
            wait_also_for(&waiting, connection->fd, connection->stage == WRITING ? POLLOUT : POLLIN,
                connection);
            if (connection->deadline_ns < waiting.until_ns)
                waiting.until_ns = connection->deadline_ns;
        }

        struct timespec left = {0};
        int64_t left_ns = waiting.until_ns - clock_monotonic_ns();
        if (left_ns > 0)
            left = clock_timespec_of_ns(left_ns);
        bool is_bounded = waiting.until_ns != INT64_MAX;
        if (!(ppoll(waiting.events, waiting.count, is_bounded ? &left : NULL, NULL) >= 0)) {
            /* Pause after an error, so that the loop never spins. Then try every descriptor, as
             * none of them blocks. */
            struct timespec pause = clock_timespec_of_ns(PAUSE_NS);
            if (errno != EINTR)
                nanosleep(&pause, NULL);
            for (nfds_t i = 0; i < waiting.count; i++)
                waiting.events[i].revents = waiting.events[i].events;
        }

        uint64_t count;
        if (read(server->stop_fd, &count, sizeof count) == sizeof count)
            return NULL;

        handle_events(server, &waiting);
        if (server->cpu_ns)
            atomic_store(server->cpu_ns, clock_thread_cpu_ns());
    }
}

/* ---- beginning and end ---- */

/* Returns the maximum number of connections, which leaves enough descriptors for the rest of the
 * program. */
static size_t max_connections(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= MAX_CONNECTIONS * DESCRIPTOR_SHARE)
        return MAX_CONNECTIONS;
    size_t max = (size_t)limit.rlim_cur / DESCRIPTOR_SHARE;
    return max > 0 ? max : 1;
}

/* Opens the socket, and keeps the names under which the server may be reached. */
static int listen_at(struct http_server *server, const char *address, struct gput_error *error)
{
    char *place = strndup(address, strcspn(address, ","));

    /* Collect the host names that are served: those in "HOST:PORT,NAME,NAME" and this machine's
     * own. */
    struct str names = {0};
    char own[256] = "";
    size_t length = strcspn(address, ",");
    const char *colon = memrchr(address, ':', length);
    if (gethostname(own, sizeof own - 1) != 0)
        own[0] = '\0';
    str_append_bytes(&names, address, colon ? (size_t)(colon - address) : 0);
    str_printf(&names, ",%s%s", own, address + length);
    server->names = str_steal(&names);

    int code = place && server->names
                   ? listen_socket_open(place, &server->listen_fd, server->address, error)
                   : error_memory(error);
    free(place);
    return code;
}

int http_server_open(const char *address, struct http_server **result, struct gput_error *error)
{
    *result = NULL;
    struct http_server *server = calloc(1, sizeof *server);
    if (!server)
        return error_memory(error);
    server->stop_fd = server->listen_fd = -1;
    server->max_connections = max_connections();
    int code = listen_at(server, address, error);
    if (code == GPUT_OK) {
        server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (server->stop_fd < 0)
            code = error_set_errno(error, errno, "Cannot listen at %s", address);
    }
    if (code == GPUT_OK)
        *result = server;
    else
        http_server_close(server);
    return code;
}

int http_server_start(struct http_server *server, http_handler *handler, void *user,
    _Atomic int64_t *cpu_ns, struct gput_error *error)
{
    server->cpu_ns = cpu_ns;
    server->handler = handler;
    server->user = user;
    int failure = thread_start(&server->thread, THREAD_STACK_BYTES, serve, server);
    if (failure)
        return error_set_errno(error, failure, "Cannot start the thread that serves metrics");
    server->has_thread = true;
    return GPUT_OK;
}

const char *http_server_address(const struct http_server *server)
{
    return server->address;
}

void http_server_close(struct http_server *server)
{
    uint64_t one = 1;
    if (!server)
        return;
    if (server->has_thread) {
        (void)!write(server->stop_fd, &one, sizeof one);
        pthread_join(server->thread, NULL);
    }
    for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
        if (server->connections[i].stage != FREE)
            hang_up(&server->connections[i]);
    }
    if (server->stop_fd >= 0)
        close(server->stop_fd);
    if (server->listen_fd >= 0) {
        /* A fork of this process may have inherited it: this ends it for all. */
        shutdown(server->listen_fd, SHUT_RDWR);
        close(server->listen_fd);
    }
    free(server->names);
    free(server);
}
