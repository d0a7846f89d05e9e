#include "services/push/curl_library.h"

#include "base/clock.h"
#include "base/shared_library.h"

#include <stdlib.h>
#include <string.h>

/* Values of libcurl's API, which are stable since version 7. */
enum {
    OK = 0,
    TIMED_OUT = 28,
    ABORTED = 42,
    ERROR_SIZE = 256,
    HTTP_VERSION_1_1 = 2,
    OPTION_WRITE_DATA = 10001,
    OPTION_URL = 10002,
    OPTION_ERROR_BUFFER = 10010,
    OPTION_POST_FIELDS = 10015,
    OPTION_HTTP_HEADER = 10023,
    OPTION_SSL_CERTIFICATE = 10025,
    OPTION_HEADER_DATA = 10029,
    OPTION_NO_PROGRESS = 43,
    OPTION_XFERINFO_DATA = 10057,
    OPTION_CA_INFO = 10065,
    OPTION_SSL_KEY = 10087,
    OPTION_HTTP_VERSION = 84,
    OPTION_NO_SIGNAL = 99,
    OPTION_TIMEOUT_MS = 155,
    OPTION_SUPPRESS_CONNECT_HEADERS = 265,
    OPTION_QUICK_EXIT = 322, /* since 7.87 */
    OPTION_WRITE_FUNCTION = 20011,
    OPTION_HEADER_FUNCTION = 20079,
    OPTION_XFERINFO_FUNCTION = 20219,
    OPTION_POST_FIELD_SIZE = 30120,
};

struct curl_slist;

#define CURL_FUNCTIONS(X)                                                                          \
    X(void *, curl_easy_init, (void))                                                              \
    X(int, curl_easy_setopt, (void *, int, ...))                                                   \
    X(int, curl_easy_perform, (void *))                                                            \
    X(void, curl_easy_cleanup, (void *))                                                           \
    X(struct curl_slist *, curl_slist_append, (struct curl_slist *, const char *))                 \
    X(void, curl_slist_free_all, (struct curl_slist *))

struct curl_library {
#define MEMBER(type, name, arguments) type(*name) arguments;
    CURL_FUNCTIONS(MEMBER)
#undef MEMBER
};

#define REMEDY                                                                                     \
    "An https address needs libcurl (Debian: apt-get install libcurl4); http:// needs nothing. %s"

/* Loads libcurl. If that fails, the error names what is missing. */
static int open_library(struct curl_library *library, struct gput_error *error)
{
#define SYMBOL(type, name, arguments) {#name, &library->name},
    const struct shared_symbol symbols[] = {CURL_FUNCTIONS(SYMBOL){NULL, NULL}};
#undef SYMBOL
    if (!shared_library_can_load())
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "An https address needs libcurl, which this statically linked gpu-tracker cannot load; "
            "http:// needs nothing.");
    const char *missing = shared_library_load("libcurl.so.4", symbols);
    if (missing)
        missing = shared_library_load("libcurl-gnutls.so.4", symbols);
    return missing ? error_set(error, GPUT_ERROR_UNSUPPORTED, REMEDY, missing) : GPUT_OK;
}

int curl_library_check(struct gput_error *error)
{
    struct curl_library library;
    return open_library(&library, error);
}

struct transfer {
    const struct http_post *post;
    struct str head;
    struct str *body;
    size_t max_bytes;
};

/* Appends a part of the head of an answer, up to a limit. */
static size_t on_head(const char *bytes, size_t size, size_t count, void *user)
{
    struct transfer *transfer = user;
    if (transfer->head.length < transfer->max_bytes)
        str_append_bytes(&transfer->head, bytes, size * count);
    return size * count;
}

/* Appends a part of the body of an answer, up to a limit. */
static size_t on_body(const char *bytes, size_t size, size_t count, void *user)
{
    struct transfer *transfer = user;
    if (transfer->body->length < transfer->max_bytes)
        str_append_bytes(transfer->body, bytes, size * count);
    return size * count;
}

/* Tells libcurl whether to give up. It asks at least once a second. */
static int should_abort(void *user, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const struct transfer *transfer = user;
    (void)a, (void)b, (void)c, (void)d;
    return http_post_remaining_ms(transfer->post) == 0;
}

/* Makes a list of the header fields, one for each line. NULL: out of memory. */
static struct curl_slist *list_fields(const struct curl_library *library, const char *fields)
{
    struct curl_slist *list = library->curl_slist_append(NULL, "Expect:"); /* no interim answer "100
                                                                              Continue" */
    struct str line = {0};
    for (const char *end; list && (end = strstr(fields, "\r\n")); fields = end + 2) {
        str_clear(&line);
        str_append_bytes(&line, fields, (size_t)(end - fields));
        struct curl_slist *longer =
            line.failed ? NULL : library->curl_slist_append(list, str_text(&line));
        if (!longer)
            library->curl_slist_free_all(list);
        list = longer;
    }
    str_finish(&line);
    return list;
}

/* Returns the file of certificates that these variables name; NULL: none. The command curl follows
 * them, its library does not. */
static const char *named_authority(void)
{
    const char *bundle = secure_getenv("CURL_CA_BUNDLE"), *file = secure_getenv("SSL_CERT_FILE");
    return bundle && bundle[0] ? bundle : file && file[0] ? file : NULL;
}

/* Sends one request by libcurl, and parses the head of the answer. */
static int perform(const struct curl_library *library, void *curl, struct transfer *transfer,
    struct http_answer *answer, struct gput_error *error)
{
    char why[ERROR_SIZE] = "";
    struct curl_slist *fields = list_fields(library, transfer->post->fields);
    if (!fields)
        return error_memory(error);
    const struct http_post *post = transfer->post;
    library->curl_easy_setopt(curl, OPTION_URL, post->url->text);
    library->curl_easy_setopt(curl, OPTION_POST_FIELDS, post->body);
    library->curl_easy_setopt(curl, OPTION_POST_FIELD_SIZE, (int64_t)post->length);
    library->curl_easy_setopt(curl, OPTION_WRITE_FUNCTION, on_body);
    library->curl_easy_setopt(curl, OPTION_WRITE_DATA, transfer);
    library->curl_easy_setopt(curl, OPTION_HEADER_FUNCTION, on_head);
    library->curl_easy_setopt(curl, OPTION_HEADER_DATA, transfer);
    library->curl_easy_setopt(curl, OPTION_XFERINFO_FUNCTION, should_abort);
    library->curl_easy_setopt(curl, OPTION_XFERINFO_DATA, transfer);
    library->curl_easy_setopt(curl, OPTION_NO_PROGRESS, 0L);
    library->curl_easy_setopt(curl, OPTION_NO_SIGNAL, 1L);
    library->curl_easy_setopt(curl, OPTION_HTTP_VERSION, (long)HTTP_VERSION_1_1);
    library->curl_easy_setopt(curl, OPTION_SUPPRESS_CONNECT_HEADERS, 1L);
    /* Do not wait for libcurl's thread that asks name servers. */
    library->curl_easy_setopt(curl, OPTION_QUICK_EXIT, 1L);
    library->curl_easy_setopt(curl, OPTION_TIMEOUT_MS, (long)http_post_remaining_ms(post));
    const struct http_files *files = post->files;
    const char *authority = files->authority[0] ? files->authority : named_authority();
    if (authority)
        library->curl_easy_setopt(curl, OPTION_CA_INFO, authority);
    if (files->certificate[0])
        library->curl_easy_setopt(curl, OPTION_SSL_CERTIFICATE, files->certificate);
    if (files->key[0])
        library->curl_easy_setopt(curl, OPTION_SSL_KEY, files->key);

    library->curl_easy_setopt(curl, OPTION_HTTP_HEADER, fields);
    library->curl_easy_setopt(curl, OPTION_ERROR_BUFFER, why);
    int failure = library->curl_easy_perform(curl);
    library->curl_slist_free_all(fields);
    if (transfer->head.failed || transfer->body->failed)
        return error_memory(error);
    /* A complete head is an answer, even if the body failed. */
    bool has_head = transfer->head.length > 0 &&
                    http_answer_parse(transfer->head.data, transfer->head.length,
                        clock_realtime_ns() / NS_PER_SECOND, answer) &&
                    answer->status > 0;
    if (!has_head) {
        const char *url = transfer->post->url->text;
        if (failure == TIMED_OUT || failure == ABORTED)
            return error_set(error, GPUT_ERROR_IO, "%s did not answer in time", url);
        if (failure != OK)
            return error_set(error, GPUT_ERROR_IO, "%s: %s", url, why);
        return error_set(error, GPUT_ERROR_IO, "%s does not answer as HTTP", url);
    }

    answer->is_chunked = false; /* libcurl joined the chunks */
    return GPUT_OK;
}

int curl_post_send(const struct http_post *post, struct http_answer *answer, struct str *body,
    size_t max_bytes, struct gput_error *error)
{
    struct curl_library library;
    struct transfer transfer = {.post = post, .body = body, .max_bytes = max_bytes};
    if (http_post_remaining_ms(post) == 0) /* for libcurl, 0 is "no limit" */
        return error_set(error, GPUT_ERROR_IO, "%s did not answer in time", post->url->text);
    TRY(open_library(&library, error));
    void *curl = library.curl_easy_init();
    if (!curl)
        return error_memory(error);
    int code = perform(&library, curl, &transfer, answer, error);
    library.curl_easy_cleanup(curl);
    str_finish(&transfer.head);
    return code;
}
