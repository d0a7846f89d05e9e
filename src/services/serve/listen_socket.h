/*
 * Opens a socket that listens at the address that the user gave.
 */
#pragma once

#include "base/error.h"

/* Enough for "[IPv6 address%interface]:65535". */
#define LISTEN_ADDRESS_SIZE 96

/*
 * Listens at "HOST:PORT", "[IPv6]:PORT" or "PORT", which is only for this machine (127.0.0.1). Port
 * 0 picks a free one; `bound` is set to the resulting numeric address. The socket is close-on-exec
 * and non-blocking. The caller closes it. Errors: GPUT_ERROR_INVALID (no such form),
 * GPUT_ERROR_NOT_FOUND (no such host), GPUT_ERROR_PERMISSION, GPUT_ERROR_IO (in use).
 */
int listen_socket_open(
    const char *address, int *fd, char bound[LISTEN_ADDRESS_SIZE], struct gput_error *error);
