#include "services/serve/http_request.h"

#include "base/number.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

/* A piece of the bytes. */
struct span {
    const char *at;
    size_t length;
};

/* Whether a span equals a text. */
static bool is_text(struct span span, const char *text)
{
    return span.length == strlen(text) && memcmp(span.at, text, span.length) == 0;
}

/* Whether a span equals a word, in any case of letters. */
static bool is_word(struct span span, const char *word)
{
    return span.length == strlen(word) && strncasecmp(span.at, word, span.length) == 0;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Removes blanks from both ends of a span. */
static struct span trim(struct span span)
{
    while (span.length > 0 && is_blank(span.at[0])) {
        span.at++;
        span.length--;
    }
    while (span.length > 0 && is_blank(span.at[span.length - 1]))
        span.length--;
    return span;
}

/* Returns the part of `rest` before the first `separator`; `rest` then begins after it. */
static struct span cut(struct span *rest, char separator)
{
    const char *found = memchr(rest->at, separator, rest->length);
    struct span before = {rest->at, found ? (size_t)(found - rest->at) : rest->length};
    size_t used = before.length + (found ? 1 : 0);
    *rest = (struct span){rest->at + used, rest->length - used};
    return before;
}

/* Reads a line without its end. Returns false if it is not complete yet. */
static bool next_line(struct span *rest, struct span *line)
{
    if (!memchr(rest->at, '\n', rest->length))
        return false;
    *line = cut(rest, '\n');
    if (line->length > 0 && line->at[line->length - 1] == '\r')
        line->length--;
    return true;
}

/* ---- the request line ---- */

/* Reads the minor version in "HTTP/1.1". Returns HTTP_OK, or the status to refuse the request
 * with. */
static int read_version(struct span version, int *minor)
{
    if (version.length != 8 || memcmp(version.at, "HTTP/", 5) != 0 || version.at[6] != '.' ||
        version.at[5] < '0' || version.at[5] > '9' || version.at[7] < '0' || version.at[7] > '9')
        return HTTP_BAD_REQUEST;
    *minor = version.at[7] - '0';
    return version.at[5] == '1' ? HTTP_OK : HTTP_BAD_VERSION;
}

/* Reads "/metrics?x" or, as proxies write it, "http://host/metrics". */
static bool read_target(struct span target, struct http_request *request)
{
    static const char scheme[] = "http://";
    for (size_t i = 0; i < target.length; i++) {
        if (target.at[i] <= ' ' || target.at[i] == 0x7f)
            return false;
    }
    if (target.length >= sizeof scheme - 1 &&
        strncasecmp(target.at, scheme, sizeof scheme - 1) == 0) {
        target = (struct span){target.at + sizeof scheme - 1, target.length - (sizeof scheme - 1)};
        const char *path = memchr(target.at, '/', target.length);
        if (!path)
            return false;
        target.length -= (size_t)(path - target.at);
        target.at = path;
    }
    struct span path = cut(&target, '?');
    if (path.length == 0 || path.at[0] != '/')
        return false;
    request->path = path.at;
    request->path_length = path.length;
    return true;
}

/* Whether a span is a token as RFC 9110 defines it. */
static bool is_token(struct span span)
{
    for (size_t i = 0; i < span.length; i++) {
        char byte = span.at[i];
        bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        bool is_digit = byte >= '0' && byte <= '9';
        if (!is_letter && !is_digit && (byte == '\0' || !strchr("!#$%&'*+-.^_`|~", byte)))
            return false;
    }
    return span.length > 0;
}

/* Reads the method, the target and the version of a request. Returns an HTTP status. */
static int read_request_line(struct span line, struct http_request *request, int *minor)
{
    struct span method = cut(&line, ' ');
    struct span target = cut(&line, ' ');
    int status = read_version(line, minor);
    if (!is_token(method))
        return HTTP_BAD_REQUEST;
    if (status != HTTP_OK)
        return status;
    request->is_head = is_text(method, "HEAD");
    if (!request->is_head && !is_text(method, "GET"))
        return HTTP_METHOD_NOT_ALLOWED;
    return read_target(target, request) ? HTTP_OK : HTTP_BAD_REQUEST;
}

/* ---- Accept ---- */

/* The quality that the client gives each format: 0 (not acceptable) to 1. */
struct accepted {
    double openmetrics, text;
};

/* Keeps the higher of two qualities. */
static void max_assign(double *quality_so_far, double quality)
{
    if (quality > *quality_so_far)
        *quality_so_far = quality;
}

/* Reads one range of Accept, such as "application/openmetrics-text;version=1.0.0;q=0.6". */
static void read_media_range(struct span range, struct accepted *accepted)
{
    struct span type = trim(cut(&range, ';'));
    struct span version = {"", 0};
    double quality = 1;
    while (range.length > 0) {
        struct span value = cut(&range, ';');
        struct span name = trim(cut(&value, '='));
        value = trim(value);
        if (is_word(name, "version"))
            version = value;
        else if (is_word(name, "q") &&
                 !number_parse_double(value.at, value.at + value.length, &quality))
            quality = 0;
    }
    if (is_word(type, "application/openmetrics-text")) {
        if (version.length == 0 || is_text(version, "1.0.0"))
            max_assign(&accepted->openmetrics, quality);
    } else if (is_word(type, "text/plain") || is_word(type, "text/*") || is_word(type, "*/*")) {
        if (version.length == 0 || is_text(version, "0.0.4"))
            max_assign(&accepted->text, quality);
    }
}

/* ---- fields ---- */

struct fields {
    int hosts;
    struct span host; /* the last one */
    struct accepted accepted;
};

/* Reads a header field, if it is Host or Accept. Returns an HTTP status. */
static int read_field(struct span line, struct fields *fields)
{
    struct span value = line;
    struct span name = cut(&value, ':');
    if (!is_token(name) || name.length == line.length || memchr(value.at, '\0', value.length))
        return HTTP_BAD_REQUEST;
    if (is_word(name, "host")) {
        fields->hosts++;
        fields->host = trim(value);
    }
    while (is_word(name, "accept") && value.length > 0)
        read_media_range(cut(&value, ','), &fields->accepted);
    return HTTP_OK;
}

int http_request_parse(const char *bytes, size_t length, struct http_request *request)
{
    struct span rest = {bytes, length}, line;
    struct fields fields = {0};
    struct http_request read = {0};
    int minor = 0;
    /* Empty lines before a request are skipped. */
    do {
        if (!next_line(&rest, &line))
            return HTTP_MORE;
    } while (line.length == 0);
    int status = read_request_line(line, &read, &minor);
    while (next_line(&rest, &line)) {
        if (line.length == 0) {
            if (status == HTTP_OK && minor > 0 && fields.hosts != 1)
                status = HTTP_BAD_REQUEST;
            if (status == HTTP_OK && fields.hosts > 1)
                status = HTTP_BAD_REQUEST;
            read.host = fields.host.at;
            read.host_length = fields.host.length;
            read.wants_openmetrics = fields.accepted.openmetrics > 0 &&
                                     fields.accepted.openmetrics >= fields.accepted.text;
            if (status == HTTP_OK)
                *request = read;
            return status;
        }
        int field_status = read_field(line, &fields);
        if (status == HTTP_OK)
            status = field_status;
    }
    return HTTP_MORE;
}

/* ---- Names of hosts ---- */

/* Whether a host is an IP address, in either form: "[::1]:5001" or "::1". */
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

/* Whether a host is in a list of names; "*" stands for every host. */
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

/* Removes port, brackets and the final dot from a host. */
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
    /* More than one colon: an IPv6 address without brackets. */
    if (!colon || !memchr(colon + 1, ':', *length - used - 1))
        *length = used;
    if (*length > 1 && (*host)[*length - 1] == '.')
        --*length;
}

bool host_name_is_served(const char *host, size_t length, const char *names)
{
    if (length == 0) /* also if `host` is NULL */
        return true;
    cut_to_name(&host, &length);
    return is_address(host, length) || is_name(host, length, "localhost", 9) ||
           is_listed(host, length, names);
}
