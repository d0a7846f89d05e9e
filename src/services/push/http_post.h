/*
 * One request to a receiver: POST, and its answer. http:// needs nothing but sockets, also in the
 * static command; https:// is asked of libcurl, which is loaded when it is needed.
 */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "services/push/http_response.h"
#include "services/push/push_url.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

/* Files of https; "": the system's authorities, and no certificate of ours. */
struct http_files {
    char authority[PATH_MAX];   /* certificates of authorities */
    char certificate[PATH_MAX]; /* our own, for a receiver that asks who we are, and its key */
    char key[PATH_MAX];         /* "": it is in the file of the certificate */
};

struct http_post {
    const struct push_url *url;
    const char *fields; /* of the head, each ends with \r\n: "Content-Type: x\r\n" */
    const struct http_files *files;
    const void *body;
    size_t length;
    /* When it is aborted, by the monotonic clock; another thread may bring it forward. */
    int64_t deadline_ns;
    const _Atomic int64_t *abort_ns;
};

/* Until it is aborted; 0: that is now. */
static inline int http_post_remaining_ms(const struct http_post *post)
{
    int64_t abort_ns = atomic_load(post->abort_ns);
    int64_t until_ns = post->deadline_ns < abort_ns ? post->deadline_ns : abort_ns;
    int64_t ms = (until_ns - clock_monotonic_ns() + 999999) / 1000000;
    return ms < 0 ? 0 : ms > 3600000 ? 3600000 : (int)ms;
}

/*
 * Sends it and waits for the answer, which may be any: `answer->status` is not checked. The body of
 * the answer, as far as it came within 64 KiB, replaces `body`.
 * Errors: GPUT_ERROR_IO (no connection, no answer, not in time), GPUT_ERROR_NOT_FOUND (no such
 * host), GPUT_ERROR_UNSUPPORTED (https without libcurl).
 */
int http_post_send(const struct http_post *post, struct http_answer *answer, struct str *body,
    struct gput_error *error);
