#include "services/push/http_post.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "services/push/curl_library.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Looking a host up ---- */

/* A name server that does not answer is waited for as long as the request may take: a separate
 * thread asks it, which is abandoned after that. */

/* How often to check whether the request was aborted. */
#define STEP_NS (NS_PER_SECOND / 20)

static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};

/* Shared with the thread. Whichever of the two finishes last frees it. */
struct lookup {
    struct push_url url;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t done;
    bool has_ended, is_left;
    int failure, failure_errno;
    struct addrinfo *found; /* owned */
};

/* Frees a lookup. The caller or the thread calls it, whichever finishes last. */
static void free_lookup(struct lookup *lookup)
{
    if (lookup->found)
        freeaddrinfo(lookup->found);
    pthread_cond_destroy(&lookup->done);
    pthread_mutex_destroy(&lookup->lock);
    free(lookup);
}

/* Looks a host up, in a thread of its own because getaddrinfo() may hang. */
static void *look_up(void *user)
{
    struct lookup *lookup = user;
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(lookup->url.host, lookup->url.port, &hints, &found);
    int failure_errno = errno;
    pthread_mutex_lock(&lookup->lock);
    lookup->failure = failure;
    lookup->failure_errno = failure_errno;
    lookup->found = failure ? NULL : found;
    lookup->has_ended = true;
    bool is_left = lookup->is_left;
    pthread_cond_signal(&lookup->done);
    pthread_mutex_unlock(&lookup->lock);
    if (is_left)
        free_lookup(lookup);
    return NULL;
}

/* Makes a lookup for the host of an address. NULL: out of memory. */
static struct lookup *create_lookup(const struct push_url *url)
{
    struct lookup *lookup = calloc(1, sizeof *lookup);
    if (!lookup)
        return NULL;
    lookup->url = *url;
    pthread_mutex_init(&lookup->lock, NULL);
    if (thread_condition_init(&lookup->done) == 0)
        return lookup;
    pthread_mutex_destroy(&lookup->lock);
    free(lookup);
    return NULL;
}

#define MAX_ANSWER_BYTES ((size_t)64 << 10)
/* How often to check whether the request was aborted. */
#define LOOK_MS 50

/* Fails because the receiver did not do something in time. */
static int fail_late(const struct http_post *post, const char *what, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO, "%s did not %s in time", post->url->text, what);
}

/* Fails with the message of an errno. */
static int fail_errno(const struct http_post *post, int failure, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO, "%s: %s", post->url->text, strerror(failure));
}

/* Waits until the socket is ready. Returns false when the time of the request is over. */
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

/* Connects to one address, before the deadline of the request. */
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

/* Tries the addresses of the host in turn until one accepts the connection. */
static int connect_host(const struct http_post *post, int *fd, struct gput_error *error)
{
    struct addrinfo *found;

    /* Look the host up in a separate thread, unless it is a numeric address. */
    struct addrinfo is_address = hints;
    is_address.ai_flags = AI_NUMERICHOST;
    if (getaddrinfo(post->url->host, post->url->port, &is_address, &found) != 0) {
        struct lookup *lookup = create_lookup(post->url);
        if (!lookup)
            return error_memory(error);
        /* Without a thread, look it up here, which may take longer than the timeout. */
        if (thread_start(NULL, THREAD_STACK_BYTES, look_up, lookup) != 0)
            look_up(lookup);

        /* Wait for the lookup. If the time is over, the thread frees it. */
        pthread_mutex_lock(&lookup->lock);
        while (!lookup->has_ended && http_post_remaining_ms(post) > 0) {
            struct timespec until = clock_timespec_of_ns(clock_monotonic_ns() + STEP_NS);
            pthread_cond_timedwait(&lookup->done, &lookup->lock, &until);
        }
        lookup->is_left = !lookup->has_ended;
        bool is_left = lookup->is_left;
        pthread_mutex_unlock(&lookup->lock);
        if (is_left)
            return error_set(error, GPUT_ERROR_NOT_FOUND, "%s: name servers did not answer in time",
                post->url->host);

        int failure = lookup->failure, failure_errno = lookup->failure_errno;
        found = lookup->found;
        lookup->found = NULL;
        free_lookup(lookup);
        TRY(failure ? error_set(error, GPUT_ERROR_NOT_FOUND, "%s: %s", post->url->host,
                          failure == EAI_SYSTEM ? strerror(failure_errno) : gai_strerror(failure))
                    : GPUT_OK);
    }

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
    CLEANUP_STR struct str head = {0};
    const struct push_url *url = post->url;
    const char *path = url->text + url->path;
    bool is_ipv6 = strchr(url->host, ':') != NULL;
    str_printf(&head,
        "POST %s%s HTTP/1.1\r\nHost: %s%s%s:%s\r\nConnection: close\r\nContent-Length: %zu\r\n"
        "%s\r\n",
        path[0] == '/' ? "" : "/", path, is_ipv6 ? "[" : "", url->host, is_ipv6 ? "]" : "",
        url->port, post->length, post->fields);
    if (head.failed)
        return error_memory(error);
    TRY(send_bytes(post, fd, head.data, head.length, error));
    return send_bytes(post, fd, post->body, post->length, error);
}

/* Receives the answer. A complete head is enough: if it counted as a failure, figures that the
 * receiver has accepted would be sent twice. */
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
        char piece[4096];
        ssize_t received = recv(fd, piece, sizeof piece, 0); /* 0: the connection has ended */
        if (received > 0)
            str_append_bytes(bytes, piece, (size_t)received);
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
    CLEANUP_STR struct str bytes = {0};
    CLEANUP_FD int fd = -1;
    str_clear(body);
    if (post->url->is_https)
        return curl_post_send(post, answer, body, MAX_ANSWER_BYTES, error);
    TRY(connect_host(post, &fd, error));
    TRY(send_request(post, fd, error));
    TRY(receive_answer(post, fd, &bytes, answer, error));
    str_append_bytes(body, bytes.data + answer->head_length, bytes.length - answer->head_length);
    if (answer->is_chunked && body->length > 0)
        body->length = http_answer_join_chunks(body->data, body->length);
    return GPUT_OK;
}
