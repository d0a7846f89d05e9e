/*
 * A small HTTP server for pages that are asked for now and then. It answers GET and HEAD, one
 * request a connection, from one thread that sleeps until somebody comes.
 *
 * Whoever connects can be slow, broken or hostile: heads are bounded, every stage has a deadline,
 * and when there are too many at once, the one that has been there longest is closed. Our own
 * rather than a library: what a scrape needs of HTTP is a request line, two fields and a length,
 * and no build needs one more dependency for that.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "services/serve/http_request.h"

#include <stdint.h>

struct http_response {
    int status;               /* 200, 404, 503 */
    const char *content_type; /* static text */
    const char *fields;       /* further lines of the head, each with its end; static; or NULL */
    struct str body;          /* the server frees it */
    int file_fd;              /* -1, or the body is this file; the server closes it */
    /* Called in the server's thread when all of the answer has been sent; NULL: nothing is. */
    void (*sent)(void *user);
};

/* Makes the answer, in the server's thread; must be quick. */
typedef void http_handler(
    void *user, const struct http_request *request, struct http_response *response);

struct http_server;

/*
 * Begins to listen at "HOST:PORT" or "HOST:PORT,NAME,NAME" (see listen_socket_open() for the part
 * before the comma, and for errors). Requests are answered that ask for an address in numbers,
 * localhost, HOST, this machine's own name or one of the names; "*" is any. Who connects waits
 * until http_server_start(). On success the caller calls http_server_close().
 */
int http_server_open(const char *address, struct http_server **server, struct gput_error *error);

/* Starts the thread, which keeps in `cpu_ns` what CPU time it has used, as of the last answer;
 * NULL: it does not. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int http_server_start(struct http_server *server, http_handler *handler, void *user,
    _Atomic int64_t *cpu_ns, struct gput_error *error);

/* Where it listens: "127.0.0.1:5001". */
const char *http_server_address(const struct http_server *server);

/* Ends the thread, hangs up, and frees the server. NULL is fine. */
void http_server_close(struct http_server *server);
