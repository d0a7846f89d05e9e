/*
 * Sends one request to a receiver, a POST, and reads its answer. http:// only needs sockets, also
 * in the static command; https:// uses libcurl, which is loaded when it is needed.
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

/* Files for https; "": the system's authorities, and no certificate of our own. */
struct http_files {
    char authority[PATH_MAX];   /* certificates of authorities */
    char certificate[PATH_MAX]; /* our own, for receivers that ask for one */
    char key[PATH_MAX];         /* key of the certificate; "": it is in the certificate's file */
};

struct http_post {
    const struct push_url *url;
    const char *fields; /* header fields, each ending with \r
                         *
                         * : "Content-Type: x\r
                         *
                         * " */
    const struct http_files *files;
    const void *body;
    size_t length;
    /* Time at which it is aborted, by the monotonic clock; another thread may set an earlier one in
     * `abort_ns`. */
    int64_t deadline_ns;
    const _Atomic int64_t *abort_ns;
};

/* Returns the time until it is aborted; 0: it is over. */
static inline int http_post_remaining_ms(const struct http_post *post)
{
    int64_t abort_ns = atomic_load(post->abort_ns);
    int64_t until_ns = post->deadline_ns < abort_ns ? post->deadline_ns : abort_ns;
    int64_t ms = (until_ns - clock_monotonic_ns() + 999999) / 1000000;
    return ms < 0 ? 0 : ms > 3600000 ? 3600000 : (int)ms;
}

/*
 * Sends it and waits for the answer, of any status. `body` is set to the body of the answer, up to
 * 64 KiB. Errors: GPUT_ERROR_IO (no connection, no answer, not in time), GPUT_ERROR_NOT_FOUND (no
 * such host), GPUT_ERROR_UNSUPPORTED (https without libcurl).
 */
int http_post_send(const struct http_post *post, struct http_answer *answer, struct str *body,
    struct gput_error *error);
