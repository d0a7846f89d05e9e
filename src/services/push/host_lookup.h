/*
 * The addresses of a host. A name server that does not answer is waited for as long as a request
 * may take: it is asked in a thread of its own, which is left alone after that.
 */
#pragma once

#include "services/push/http_post.h"

#include <netdb.h>

/* The caller calls freeaddrinfo(). Errors: GPUT_ERROR_NOT_FOUND (no such host, or not known in
 * time), GPUT_ERROR_MEMORY. */
int host_lookup(const struct http_post *post, struct addrinfo **found, struct gput_error *error);
