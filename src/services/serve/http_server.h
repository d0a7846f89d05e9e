/*
 * A small HTTP server for pages that are requested now and then. It answers GET and HEAD, one
 * request a connection, in one thread that sleeps until a client connects.
 *
 * Clients can be slow, broken or hostile. So heads are bounded, every stage has a deadline, and if
 * there are too many connections, the oldest is closed. It is no library's because a scrape only
 * needs a request line, two fields and a length, which is not worth another dependency.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "services/serve/http_request.h"

#include <stdint.h>

struct http_response {
    int status;               /* 200, 404, 503 */
    const char *content_type; /* static text */
    const char *fields;       /* further header fields, each with its line end; static; or NULL */
    struct str body;          /* freed by the server */
    int file_fd;              /* file to send in place of `body`, closed by the server; -1: none */
    /* Called in the server's thread when the whole answer has been sent; NULL: none. */
    void (*sent)(void *user);
};

/* Makes the answer. Called in the server's thread; must be quick. */
typedef void http_handler(
    void *user, const struct http_request *request, struct http_response *response);

struct http_server;

/*
 * Begins to listen at "HOST:PORT" or "HOST:PORT,NAME,NAME" (see listen_socket_open() for the part
 * before the comma, and for errors). Requests are answered if they ask for a numeric address,
 * localhost, HOST, this machine's own name or one of the names; "*" is any. Clients that connect
 * wait until http_server_start(). On success the caller calls http_server_close().
 */
int http_server_open(const char *address, struct http_server **server, struct gput_error *error);

/* Starts the thread. It updates `cpu_ns` (may be NULL) with the CPU time that it has used as of the
 * last answer. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int http_server_start(struct http_server *server, http_handler *handler, void *user,
    _Atomic int64_t *cpu_ns, struct gput_error *error);

/* Returns the address at which it listens: "127.0.0.1:5001". */
const char *http_server_address(const struct http_server *server);

/* Ends the thread, closes all connections, and frees the server. NULL is fine. */
void http_server_close(struct http_server *server);
