/*
 * https through libcurl, which is loaded when the first such address is used: it brings some ten
 * libraries, which no other session needs. The build needs nothing of it.
 */
#pragma once

#include "services/push/http_post.h"

/* GPUT_ERROR_UNSUPPORTED: it is not installed, or this is the static command. */
int curl_library_check(struct gput_error *error);

/* As http_post_send(). */
int curl_post_send(const struct http_post *post, struct http_answer *answer, struct str *body,
    size_t max_bytes, struct gput_error *error);
