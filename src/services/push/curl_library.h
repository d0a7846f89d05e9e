/*
 * Sends by https through libcurl. It is loaded when the first such address is used, as it brings
 * some ten libraries that no other session needs. The build does not need it.
 */
#pragma once

#include "services/push/http_post.h"

/* Checks that libcurl can be loaded. GPUT_ERROR_UNSUPPORTED: it is not installed, or this is the
 * static command. */
int curl_library_check(struct gput_error *error);

/* As http_post_send(). */
int curl_post_send(const struct http_post *post, struct http_answer *answer, struct str *body,
    size_t max_bytes, struct gput_error *error);
