#include "services/serve/host_name.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

/* Returns whether a host is an IP address, in either form: "[::1]:5001" or "::1". */
static bool is_address(const char *host, size_t length)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    const char *zone = memchr(host, '%', length); /* "fe80::1%eth0" */
    size_t used = zone ? (size_t)(zone - host) : length;
    if (used >= sizeof text)
        return false;
    memcpy(text, host, used);
    text[used] = '\0';
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static bool is_name(const char *host, size_t length, const char *name, size_t name_length)
{
    return length == name_length && strncasecmp(host, name, length) == 0;
}

/* Returns whether a host is in a list of names; "*" stands for every host. */
static bool is_listed(const char *host, size_t length, const char *names)
{
    while (*names) {
        size_t name_length = strcspn(names, ",");
        if (is_name(host, length, names, name_length) || is_name("*", 1, names, name_length))
            return true;
        names += name_length + (names[name_length] == ',');
    }
    return false;
}

/* Cuts port, brackets and the final dot off a host. */
static void cut_to_name(const char **host, size_t *length)
{
    const char *end = *length > 0 && **host == '[' ? memchr(*host, ']', *length) : NULL;
    if (end) {
        ++*host;
        *length = (size_t)(end - *host);
        return;
    }
    const char *colon = memchr(*host, ':', *length);
    size_t used = colon ? (size_t)(colon - *host) : *length;
    /* More than one is an address without brackets. */
    if (!colon || !memchr(colon + 1, ':', *length - used - 1))
        *length = used;
    if (*length > 1 && (*host)[*length - 1] == '.')
        --*length;
}

bool host_name_is_served(const char *host, size_t length, const char *names)
{
    if (length == 0) /* NULL, too */
        return true;
    cut_to_name(&host, &length);
    return is_address(host, length) || is_name(host, length, "localhost", 9) ||
           is_listed(host, length, names);
}
