/*
 * The address of a receiver: http://HOST[:PORT][/PATH] or https://...
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define PUSH_URL_SIZE 2048
#define PUSH_HOST_SIZE 256

struct push_url {
    char text[PUSH_URL_SIZE];  /* as given, without user and password */
    char host[PUSH_HOST_SIZE]; /* IPv6 addresses are without brackets */
    char port[6];
    size_t path; /* offset of the path in `text`: of its '/', or the end if there is none */
    bool is_https;
    char user[256]; /* "user:password"; "" when not given */
};

/* Parses an address. Errors: GPUT_ERROR_INVALID, with the reason. */
int push_url_parse(const char *text, struct push_url *url, struct gput_error *error);

/* Whether the path is missing or "/". */
bool push_url_lacks_path(const struct push_url *url);

/* Appends a path such as "/v1/metrics". GPUT_ERROR_INVALID when it does not fit. */
int push_url_append(struct push_url *url, const char *path, struct gput_error *error);
