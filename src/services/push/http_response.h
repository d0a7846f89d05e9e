/*
 * Parses the answer of an HTTP/1.x server, as far as a sender of metrics needs it. It reads
 * nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_answer {
    int status;             /* 200, 503 ...; 0: it is no answer of HTTP */
    char reason[64];        /* "Service Unavailable"; '?' for unprintable characters */
    char location[256];     /* target of a redirection; likewise */
    double retry_after;     /* seconds; -1: not given */
    bool is_chunked;        /* the body is sent in chunks */
    int64_t content_length; /* -1: not given */
    size_t head_length;     /* number of bytes before the body */
};

/* Parses the head, skipping interim ones before it (status 100 to 199). Returns false when it is
 * not complete yet. `now` is the time in seconds since the epoch, to which a date in Retry-After is
 * relative. */
bool http_answer_parse(const char *bytes, size_t length, int64_t now, struct http_answer *answer);

/* Whether the body after the head is complete. One that ends with the connection never is. */
bool http_answer_is_complete(const struct http_answer *answer, const char *bytes, size_t length);

/* Joins the chunks of a body in place. Returns its length; chunks that are not complete count as
 * far as they were received. */
size_t http_answer_join_chunks(char *body, size_t length);
