#include "services/serve/listen_socket.h"

#include "base/number.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64
#define MAX_PORT 65535

static const char only_this_machine[] = "127.0.0.1";

struct place {
    char host[256];
    char port[8];
};

/* Splits an address into its port and its host without brackets. Returns false if it has neither
 * form. */
static bool split(const char *address, const char **port, const char **host, size_t *host_length)
{
    const char *colon = strrchr(address, ':');
    *host = address;
    *port = colon ? colon + 1 : address;
    *host_length = colon ? (size_t)(colon - address) : 0;
    if (*host_length > 0 && address[0] == '[') {
        *host = address + 1;
        *host_length -= 2;
        return colon - address > 2 && colon[-1] == ']';
    }
    /* An IPv6 address needs brackets, otherwise its last part looks like a port. */
    return !memchr(address, ':', *host_length);
}

/* Opens a socket that listens at an address. Returns it, or -1 with errno set. */
static int listen_at(const struct addrinfo *at)
{
    int on = 1;
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    if (fd < 0)
        return -1;
    /* Allow the address although connections of an earlier server are in TIME_WAIT. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}

/* Writes the address and the port that a socket is bound to. */
static void name_socket(int fd, char bound[LISTEN_ADDRESS_SIZE])
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[72] = "?", port[8] = "?";
    if (getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
            NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(bound, LISTEN_ADDRESS_SIZE, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

int listen_socket_open(
    const char *address, int *fd, char bound[LISTEN_ADDRESS_SIZE], struct gput_error *error)
{
    struct place place;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    *fd = -1;
    const char *port, *host;
    size_t length;
    uint64_t number;
    bool is_valid = split(address, &port, &host, &length) && length < sizeof place.host;
    const char *end = port + strlen(port);
    if (!is_valid || number_parse_uint64(port, end, &number) != end || number > MAX_PORT)
        return error_set(error, GPUT_ERROR_INVALID,
            "\"%.200s\" is not an address to listen at. It is HOST:PORT, such as 127.0.0.1:5001 or "
            "[::1]:5001, or only a port (for this machine only); port 0 picks a free one.",
            address);
    snprintf(place.port, sizeof place.port, "%u", (unsigned)number);
    snprintf(place.host, sizeof place.host, "%.*s", (int)length, host);
    if (length == 0)
        snprintf(place.host, sizeof place.host, "%s", only_this_machine);

    int failure = getaddrinfo(place.host, place.port, &hints, &found);
    if (failure)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Cannot listen at %s: %s", address,
            failure == EAI_SYSTEM ? strerror(errno) : gai_strerror(failure));
    /* A name may stand for several addresses; use the first that works. */
    for (const struct addrinfo *at = found; at && *fd < 0; at = at->ai_next)
        *fd = listen_at(at);
    int problem = errno;
    freeaddrinfo(found);
    if (*fd < 0 && problem == EADDRINUSE)
        return error_set(error, GPUT_ERROR_IO,
            "Cannot listen at %s: the port is in use. Give another one, or 0 to pick a free one.",
            address);
    if (*fd < 0)
        return error_set_errno(error, problem, "Cannot listen at %s", address);
    name_socket(*fd, bound);
    return GPUT_OK;
}
