#include "services/push/http_post.h"

#include "base/clock.h"
#include "services/push/curl_library.h"
#include "services/push/host_lookup.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_ANSWER_BYTES ((size_t)64 << 10)
/* How soon it is noticed that it has to end earlier. */
#define LOOK_MS 50

static int fail_late(const struct http_post *post, const char *what, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO, "%s did not %s in time", post->url->text, what);
}

static int fail_errno(const struct http_post *post, int failure, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO, "%s: %s", post->url->text, strerror(failure));
}

/* Waits for the socket; false: its time is over. */
static bool await(const struct http_post *post, int fd, short events)
{
    struct pollfd polled = {.fd = fd, .events = events};
    for (int ms; (ms = http_post_remaining_ms(post)) > 0;) {
        if (poll(&polled, 1, ms < LOOK_MS ? ms : LOOK_MS) > 0)
            return true;
    }
    return false;
}

/* ---- connecting ---- */

/* Connects to one address, waiting no longer than the request may take. */
static int connect_to(
    const struct http_post *post, const struct addrinfo *at, int *fd, struct gput_error *error)
{
    int failure = 0;
    socklen_t size = sizeof failure;
    *fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return fail_errno(post, errno, error);
    if (connect(*fd, at->ai_addr, at->ai_addrlen) == 0)
        return GPUT_OK;
    if (errno != EINPROGRESS)
        failure = errno;
    else if (!await(post, *fd, POLLOUT))
        return fail_late(post, "accept the connection", error);
    else
        getsockopt(*fd, SOL_SOCKET, SO_ERROR, &failure, &size);
    return failure ? fail_errno(post, failure, error) : GPUT_OK;
}

/* Each address of the host, until one accepts. */
static int connect_host(const struct http_post *post, int *fd, struct gput_error *error)
{
    struct addrinfo *found;
    TRY(host_lookup(post, &found, error));
    int code = GPUT_ERROR_IO;
    for (const struct addrinfo *at = found; at && code != GPUT_OK; at = at->ai_next) {
        code = connect_to(post, at, fd, error);
        if (code != GPUT_OK && *fd >= 0) {
            close(*fd);
            *fd = -1;
        }
    }
    freeaddrinfo(found);
    return code;
}

/* ---- request and answer ---- */

/* Sends bytes, waiting for space in the socket until the deadline. */
static int send_bytes(const struct http_post *post, int fd, const char *bytes, size_t length,
    struct gput_error *error)
{
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            length -= (size_t)sent;
        } else if (sent < 0 && errno == EAGAIN) {
            if (!await(post, fd, POLLOUT))
                return fail_late(post, "take the request", error);
        } else if (sent < 0 && errno != EINTR) {
            return fail_errno(post, errno, error);
        }
    }
    return GPUT_OK;
}

/* Sends the head and the body of a request. */
static int send_request(const struct http_post *post, int fd, struct gput_error *error)
{
    struct str head = {0};
    const struct push_url *url = post->url;
    const char *path = url->text + url->path;
    bool is_ipv6 = strchr(url->host, ':') != NULL;
    str_printf(&head,
        "POST %s%s HTTP/1.1\r\nHost: %s%s%s:%s\r\nConnection: close\r\nContent-Length: %zu\r\n"
        "%s\r\n",
        path[0] == '/' ? "" : "/", path, is_ipv6 ? "[" : "", url->host, is_ipv6 ? "]" : "",
        url->port, post->length, post->fields);
    int code =
        head.failed ? error_memory(error) : send_bytes(post, fd, head.data, head.length, error);
    str_finish(&head);
    return code == GPUT_OK ? send_bytes(post, fd, post->body, post->length, error) : code;
}

/* Reads what there is. 0: the connection has ended. */
static ssize_t receive_some(int fd, struct str *bytes)
{
    char piece[4096];
    ssize_t received = recv(fd, piece, sizeof piece, 0);
    if (received > 0)
        str_append_bytes(bytes, piece, (size_t)received);
    return received;
}

/* Once there is a head, that is the answer, whatever becomes of the body: the receiver may have
 * taken what would be sent twice otherwise. */
static int receive_answer(const struct http_post *post, int fd, struct str *bytes,
    struct http_answer *answer, struct gput_error *error)
{
    bool has_head = false;
    while (bytes->length < MAX_ANSWER_BYTES && !bytes->failed) {
        if (!await(post, fd, POLLIN)) {
            if (has_head)
                break;
            return fail_late(post, "answer", error);
        }
        ssize_t received = receive_some(fd, bytes);
        if (received < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (received < 0 && !has_head)
            return fail_errno(post, errno, error);
        has_head =
            has_head || (bytes->length > 0 && http_answer_parse(bytes->data, bytes->length,
                                                  clock_realtime_ns() / NS_PER_SECOND, answer));
        if (received <= 0 ||
            (has_head && http_answer_is_complete(answer, bytes->data, bytes->length)))
            break;
    }
    if (bytes->failed)
        return error_memory(error);
    return has_head && answer->status > 0
               ? GPUT_OK
               : error_set(error, GPUT_ERROR_IO, "%s does not answer as HTTP", post->url->text);
}

int http_post_send(const struct http_post *post, struct http_answer *answer, struct str *body,
    struct gput_error *error)
{
    struct str bytes = {0};
    int fd = -1;
    str_clear(body);
    if (post->url->is_https)
        return curl_post_send(post, answer, body, MAX_ANSWER_BYTES, error);
    int code = connect_host(post, &fd, error);
    if (code == GPUT_OK)
        code = send_request(post, fd, error);
    if (code == GPUT_OK)
        code = receive_answer(post, fd, &bytes, answer, error);
    if (code == GPUT_OK) {
        str_append_bytes(
            body, bytes.data + answer->head_length, bytes.length - answer->head_length);
        if (answer->is_chunked && body->length > 0)
            body->length = http_answer_join_chunks(body->data, body->length);
    }

    if (fd >= 0)
        close(fd);
    str_finish(&bytes);
    return code;
}
