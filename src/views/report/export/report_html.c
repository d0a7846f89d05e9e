#include "views/report/export/report_html.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/utf8.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* `report_page`, the page compressed by zlib; `report_page_length`, its length; REPORT_PAGE_BYTES,
 * that of the page itself. Made by tools/embed-report.py when the build has a page. */
#if __has_include("report-page.h")
#include "report-page.h"
#else
static const unsigned char report_page[1];
static const size_t report_page_length;
#define REPORT_PAGE_BYTES 0
#endif

#define TITLE_MARK "<!--gput-title-->"
#define DATA_MARK "<!--gput-data-->"
#define DATA_BEGIN "<script type=\"application/octet-stream\" id=\"gput-data\">"
#define DATA_END "</script>"

#define MAX_PAGE_BYTES ((size_t)16 << 20)
#define DEFLATED_BYTES 16384

bool report_html_is_built_in(void)
{
    return report_page_length > 0;
}

/* ---- deflate, as text ---- */

struct deflating {
    z_stream stream;
    report_receiver *receive;
    void *user;
    unsigned char packed[DEFLATED_BYTES];
    size_t rest; /* of `packed` at its beginning: bytes that are not yet three */
    char text[BASE64_LENGTH(DEFLATED_BYTES)];
};

/* Packs what the stream has, and passes it on as text. */
static int deflate_some(struct deflating *deflating, int flush, struct gput_error *error)
{
    z_stream *stream = &deflating->stream;
    int state;
    do {
        stream->next_out = deflating->packed + deflating->rest;
        stream->avail_out = (uInt)(sizeof deflating->packed - deflating->rest);
        state = deflate(stream, flush);

        /* Pass on `length` bytes of `packed`, three by three; all of them at the end. */
        size_t length = sizeof deflating->packed - stream->avail_out;
        size_t passed = (state == Z_STREAM_END) ? length : length - length % 3;
        deflating->rest = length - passed;
        if (passed != 0) {
            base64_encode(deflating->packed, passed, deflating->text);
            memmove(deflating->packed, deflating->packed + passed, deflating->rest);
            TRY(deflating->receive(deflating->user, deflating->text, BASE64_LENGTH(passed), error));
        }
    } while (stream->avail_out == 0 || (flush == Z_FINISH && state == Z_OK));
    return GPUT_OK;
}

/* Packs bytes of any number. */
static int deflate_bytes(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    struct deflating *deflating = user;
    deflating->stream.next_in = (Bytef *)bytes;
    while (length > 0) {
        deflating->stream.avail_in = length < UINT32_MAX ? (uInt)length : UINT32_MAX;
        length -= deflating->stream.avail_in;
        TRY(deflate_some(deflating, Z_NO_FLUSH, error));
    }
    return GPUT_OK;
}

/* ---- The page ---- */

static int pass_text(
    report_receiver *receive, void *user, const char *text, struct gput_error *error)
{
    return receive(user, text, strlen(text), error);
}

int report_html_fill(const struct report_payload *payload, const char *page, const char *title,
    report_receiver *receive, void *user, struct gput_error *error)
{
    const char *title_at = strstr(page, TITLE_MARK), *data_at = strstr(page, DATA_MARK);
    if (!data_at)
        return error_set(error, GPUT_ERROR_FORMAT, "The page of reports has no %s.", DATA_MARK);
    if (title_at && title_at < data_at) {
        TRY(receive(user, page, (size_t)(title_at - page), error));

        /* Pass on the title with what HTML gives a meaning to replaced. */
        CLEANUP_STR struct str valid = {0};
        CLEANUP_STR struct str escaped = {0};
        utf8_append(title, strlen(title), &valid);
        for (const char *at = str_text(&valid); *at; at++) {
            if (*at == '&')
                str_append(&escaped, "&amp;");
            else if (*at == '<')
                str_append(&escaped, "&lt;");
            else if (*at == '>')
                str_append(&escaped, "&gt;");
            else
                str_append_char(&escaped, (unsigned char)*at < ' ' ? ' ' : *at);
        }
        TRY(valid.failed || escaped.failed
                ? error_memory(error)
                : receive(user, str_text(&escaped), escaped.length, error));

        page = title_at + strlen(TITLE_MARK);
    }
    TRY(receive(user, page, (size_t)(data_at - page), error));
    TRY(pass_text(receive, user, DATA_BEGIN, error));

    /* Pass on the whole payload, packed and as text. */
    struct deflating *deflating = calloc(1, sizeof *deflating);
    if (!deflating || deflateInit(&deflating->stream, Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(deflating);
        return error_memory(error);
    }
    deflating->receive = receive;
    deflating->user = user;
    int code = report_payload_pass(payload, deflate_bytes, deflating, error);
    if (code == GPUT_OK)
        code = deflate_some(deflating, Z_FINISH, error);
    deflateEnd(&deflating->stream);
    free(deflating);
    TRY(code);

    TRY(pass_text(receive, user, DATA_END, error));
    return pass_text(receive, user, data_at + strlen(DATA_MARK), error);
}

int report_html_check(const char *page, struct gput_error *error)
{
    if (page && access(page, R_OK) != 0)
        return error_set_errno(error, errno, "Cannot open %s", page);
    if (page || report_html_is_built_in())
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_UNSUPPORTED, REPORT_HTML_REMEDY);
}

/* The page that is built in, as text. */
static int unpack_page(struct str *page, struct gput_error *error)
{
    uLongf length = REPORT_PAGE_BYTES;
    if (!str_reserve(page, length))
        return error_memory(error);
    if (uncompress((Bytef *)page->data, &length, report_page, report_page_length) != Z_OK)
        return error_memory(error);
    page->length = length;
    page->data[length] = '\0';
    return GPUT_OK;
}

static int write_part(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    return file_writing_add(user, bytes, length, error);
}

/* Until `*user`, a descriptor, is readable. A pipe that has space takes as much as this at once. */
static int write_to_stdout(void *user, const void *bytes, size_t length, struct gput_error *error)
{
    static const char name[] = "to the standard output";
    const int *stop_fd = user;
    struct pollfd events[] = {
        {.fd = STDOUT_FILENO, .events = POLLOUT}, {.fd = *stop_fd, .events = POLLIN}};
    for (size_t done = 0, part; done < length;) {
        int ready = poll(events, 2, -1);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready > 0 && !events[0].revents)
            return error_set(error, GPUT_ERROR_IO, "Cannot write %s: it has no reader.", name);
        part = length - done < PIPE_BUF ? length - done : PIPE_BUF;
        TRY(file_write_fd(STDOUT_FILENO, name, (const char *)bytes + done, part, error));
        done += part;
    }
    return GPUT_OK;
}

/* Writes the page to a file, or to the standard output. */
static int write_page(const struct report_payload *payload, const char *page, const char *title,
    const char *path, int stop_fd, struct gput_error *error)
{
    struct file_writing writing;
    if (strcmp(path, REPORT_STDOUT) == 0)
        return report_html_fill(payload, page, title, write_to_stdout, &stop_fd, error);
    TRY(file_writing_begin_until(path, stop_fd, &writing, error));
    int code = report_html_fill(payload, page, title, write_part, &writing, error);
    if (code == GPUT_OK)
        return file_writing_end(&writing, error);
    file_writing_discard(&writing);
    return code;
}

int report_html_write(const struct report_payload *payload, const char *title, const char *page,
    const char *path, int stop_fd, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    TRY(report_html_check(page, error));
    int code =
        page ? file_read_bounded(page, MAX_PAGE_BYTES, &text, error) : unpack_page(&text, error);
    if (code == GPUT_OK)
        code = write_page(payload, str_text(&text), title, path, stop_fd, error);
    return code;
}
