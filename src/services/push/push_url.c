#include "services/push/push_url.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Fails with the reason why a text is no address of a receiver. */
static int refuse(const char *text, const char *why, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_INVALID,
        "\"%.200s\" is not an address of a receiver: %s. It is http://HOST:PORT/PATH or "
        "https://...",
        text, why);
}

/* Whether a text has only characters that are allowed in a request line and a field. */
static bool is_plain(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f || *text == '"')
            return false;
    }
    return true;
}

/* Moves "user:password@" from the address to `url->user`, so that no message shows it. */
static bool parse_user(const char **rest, struct push_url *url)
{
    size_t length = strcspn(*rest, "/?#");
    const char *at = memrchr(*rest, '@', length);
    if (!at)
        return true;
    length = (size_t)(at - *rest);
    if (length >= sizeof url->user)
        return false;
    memcpy(url->user, *rest, length);
    url->user[length] = '\0';
    *rest = at + 1;
    return true;
}

/* Reads the host of an address, and moves `rest` after it. */
static bool parse_host(const char **rest, struct push_url *url)
{
    const char *begin = *rest, *end = begin + strcspn(begin, "/?#:");
    bool is_ipv6 = *begin == '[';
    if (is_ipv6) {
        begin++;
        end = strchr(begin, ']');
    }
    size_t length = end ? (size_t)(end - begin) : 0;
    if (length == 0 || length >= sizeof url->host)
        return false;
    memcpy(url->host, begin, length);
    url->host[length] = '\0';
    *rest = end + is_ipv6;
    return true;
}

/* Reads the port of an address, or sets the default of its scheme. */
static bool parse_port(const char **rest, struct push_url *url)
{
    uint64_t port = url->is_https ? 443 : 80;
    if (**rest == ':') {
        const char *end = *rest + strlen(*rest);
        *rest = number_parse_uint64(*rest + 1, end, &port);
    }
    if (!*rest || port == 0 || port > 65535 || (**rest && !strchr("/?#", **rest)))
        return false;
    snprintf(url->port, sizeof url->port, "%u", (unsigned)port);
    return true;
}

int push_url_parse(const char *text, struct push_url *url, struct gput_error *error)
{
    *url = (struct push_url){.is_https = strncasecmp(text, "https://", 8) == 0};
    const char *rest = text + (url->is_https ? 8 : 7);
    if (!url->is_https && strncasecmp(text, "http://", 7) != 0)
        return refuse(text, "it does not begin with http:// or https://", error);
    if (!is_plain(text))
        return refuse(text, "it has characters that no address has", error);
    if (!parse_user(&rest, url))
        return refuse("...", "user and password are too long", error);
    const char *host = rest;
    if (!parse_host(&rest, url))
        return refuse(host, "there is no host", error);
    if (!parse_port(&rest, url))
        return refuse(host, "the port is not a number from 1 to 65535", error);
    int length =
        snprintf(url->text, sizeof url->text, "http%s://%s", url->is_https ? "s" : "", host);
    if (length < 0 || (size_t)length >= sizeof url->text || strchr(rest, '#'))
        return refuse(host, "it is too long, or has a #", error);
    url->path = (size_t)length - strlen(rest);
    return GPUT_OK;
}

bool push_url_lacks_path(const struct push_url *url)
{
    const char *path = url->text + url->path;
    return path[0] == '\0' || strcmp(path, "/") == 0;
}

int push_url_append(struct push_url *url, const char *path, struct gput_error *error)
{
    size_t length = strlen(url->text);
    while (length > url->path && url->text[length - 1] == '/')
        url->text[--length] = '\0';
    if (length + strlen(path) >= sizeof url->text)
        return refuse(url->text, "it is too long", error);
    memcpy(url->text + length, path, strlen(path) + 1);
    return GPUT_OK;
}
