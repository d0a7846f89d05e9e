/*
 * The head of an HTTP/1.x request, as far as a server of metrics needs it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct http_request {
    bool is_head;     /* HEAD: the answer has no body */
    const char *path; /* in the bytes that were parsed, without query; not terminated */
    size_t path_length;
    const char *host; /* of the field Host, in the bytes too; NULL: there was none */
    size_t host_length;
    bool wants_openmetrics; /* by Accept: rather than Prometheus' own text format */
};

enum {
    HTTP_MORE = 0, /* its end has not come yet */
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_METHOD_NOT_ALLOWED = 405,
    HTTP_MISDIRECTED = 421, /* for a name that is not served: see below */
    HTTP_BAD_VERSION = 505,
};

/*
 * Reads a head, which ends with an empty line. Returns HTTP_MORE, HTTP_OK, or the status to refuse
 * it with; the request is filled in with HTTP_OK alone. What follows the head is ignored.
 */
int http_request_parse(const char *bytes, size_t length, struct http_request *request);

/*
 * Which names a request may ask for. Somebody else's web page can have its own name lead to this
 * machine (DNS rebinding). A browser would then let it read what is served here, but its request
 * has that name.
 */

/*
 * Whether a request with this Host field ("localhost:5001", "[::1]:5001", "trainer") is answered:
 * where that is an address in numbers, "localhost" or one of `names`. These have commas between
 * them; "*" is any name. Case and the port do not matter. An empty value is fine: browsers always
 * send one.
 */
bool host_name_is_served(const char *host, size_t length, const char *names);
