/*
 * Parses the head of an HTTP/1.x request, as far as a server of metrics needs it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http_request {
    bool is_head;     /* HEAD: the answer has no body */
    const char *path; /* without the query, not terminated; points into the parsed bytes */
    size_t path_length;
    const char *host; /* value of the field Host; points into the parsed bytes; NULL: missing */
    size_t host_length;
    bool wants_openmetrics; /* by Accept: prefers OpenMetrics to Prometheus' own text format */
};

enum {
    HTTP_MORE = 0, /* the head is not complete yet */
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_METHOD_NOT_ALLOWED = 405,
    HTTP_MISDIRECTED = 421, /* for a host name that is not served; see below */
    HTTP_BAD_VERSION = 505,
};

/*
 * Parses a head, which ends with an empty line. Returns HTTP_MORE, HTTP_OK, or the status to refuse
 * it with. `request` is only set with HTTP_OK. Bytes after the head are ignored.
 */
int http_request_parse(const char *bytes, size_t length, struct http_request *request);

/*
 * The names that a request may ask for are restricted because a foreign web page can make its own
 * name lead to this machine (DNS rebinding). A browser would then let that page read what is served
 * here, but its request has the foreign name.
 */

/*
 * Whether a request with this Host field ("localhost:5001", "[::1]:5001", "trainer") is answered:
 * it must be a numeric address, "localhost" or one of `names`. These are separated by commas; "*"
 * is any name. Case and port are ignored. An empty value is accepted, as browsers always send one.
 */
bool host_name_is_served(const char *host, size_t length, const char *names);
