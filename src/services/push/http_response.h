/*
 * The answer of an HTTP/1.x server, as far as a sender of metrics needs it: a pure parse.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_answer {
    int status;             /* 200, 503 ...; 0: it is not an answer of HTTP */
    char reason[64];        /* "Service Unavailable"; what cannot be printed is '?' */
    char location[256];     /* of a redirection; likewise */
    double retry_after;     /* seconds; -1: it does not say */
    bool is_chunked;        /* the body */
    int64_t content_length; /* -1: it does not say */
    size_t head_length;     /* all bytes before the body */
};

/* Reads the head; those before it that announce an answer (status 100 to 199) are skipped. False:
 * its end has not come yet. `now` is the time in seconds since the epoch, which a date in
 * Retry-After counts from. */
bool http_answer_parse(const char *bytes, size_t length, int64_t now, struct http_answer *answer);

/* Whether the body that follows the head is complete; one that ends with the connection never is.
 */
bool http_answer_is_complete(const struct http_answer *answer, const char *bytes, size_t length);

/* Makes a body of its chunks, in place; returns its length, as far as it came. */
size_t http_answer_join_chunks(char *body, size_t length);
