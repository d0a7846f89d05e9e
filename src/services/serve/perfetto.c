#include <gputracker/perfetto.h>

#include "base/error.h"
#include "base/str.h"
#include "base/text.h"
#include "services/serve/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PAGE "https://ui.perfetto.dev"
/* The only address that the content security policy of the page allows. */
#define ADDRESS "127.0.0.1:9001"

/* The name tells whether the file is compressed. The file's own name might not be valid in a
 * URL. */
#define NAME "/timeline.json"
#define PACKED_NAME "/timeline.json.gz"

struct gput_perfetto {
    char *path; /* path of the file */
    const char *name;
    char *url;
    int sent_fd; /* an eventfd that is readable when the file was fetched */
    struct http_server *server;
};

/* ---- In the server's thread ---- */

/* Wakes the waiting command when the timeline was sent. */
static void note_sent(void *user)
{
    const struct gput_perfetto *perfetto = user;
    const uint64_t one = 1;
    (void)!write(perfetto->sent_fd, &one, sizeof one);
}

/* Serves the timeline to Perfetto's page, and nothing else. */
static void handle(void *user, const struct http_request *request, struct http_response *response)
{
    const struct gput_perfetto *perfetto = user;
    response->fields = "Access-Control-Allow-Origin: " PAGE "\r\nCache-Control: no-cache\r\n";
    if (request->path_length != strlen(perfetto->name) ||
        memcmp(request->path, perfetto->name, request->path_length) != 0) {
        response->status = 404;
        str_printf(&response->body, "Not found. The timeline is at %s.\n", perfetto->name);
        return;
    }
    response->file_fd = open(perfetto->path, O_RDONLY | O_CLOEXEC);
    if (response->file_fd < 0)
        return;
    response->status = 200;
    response->content_type = "application/octet-stream";
    response->sent = note_sent;
}

/* ---- Public ---- */

/* Opens the server, and makes the link that opens the timeline in Perfetto. */
static int serve(struct gput_perfetto *perfetto, const char *address, struct gput_error *error)
{
    if (access(perfetto->path, R_OK) != 0)
        return error_set_errno(error, errno, "Cannot open %s", perfetto->path);
    perfetto->sent_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (perfetto->sent_fd < 0)
        return error_set_errno(error, errno, "Cannot serve %s", perfetto->path);
    TRY(http_server_open(address ? address : ADDRESS, &perfetto->server, error));
    struct str url = {0};
    str_printf(
        &url, PAGE "/#!/?url=http://%s%s", http_server_address(perfetto->server), perfetto->name);
    perfetto->url = str_steal(&url);
    TRY(perfetto->url ? GPUT_OK : error_memory(error));

    return http_server_start(perfetto->server, handle, perfetto, NULL, error);
}

int gput_perfetto_create(
    const char *path, const char *address, struct gput_perfetto **result, struct gput_error *error)
{
    *result = NULL;
    struct gput_perfetto *perfetto = calloc(1, sizeof *perfetto);
    if (!perfetto)
        return error_memory(error);
    perfetto->sent_fd = -1;
    perfetto->path = strdup(path);
    perfetto->name = text_ends_with(path, ".gz") ? PACKED_NAME : NAME;
    int code = perfetto->path ? serve(perfetto, address, error) : error_memory(error);
    if (code == GPUT_OK)
        *result = perfetto;
    else
        gput_perfetto_destroy(perfetto);
    return code;
}

const char *gput_perfetto_url(const struct gput_perfetto *perfetto)
{
    return perfetto->url;
}

int gput_perfetto_wait(struct gput_perfetto *perfetto, int stop_fd, struct gput_error *error)
{
    struct pollfd events[] = {
        {.fd = perfetto->sent_fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    while (poll(events, 2, -1) < 0) {
        if (errno != EINTR)
            return error_set_errno(error, errno, "Cannot wait for the browser");
    }
    if (events[0].revents)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_STATE, "The timeline was not fetched.");
}

void gput_perfetto_destroy(struct gput_perfetto *perfetto)
{
    if (!perfetto)
        return;
    http_server_close(perfetto->server);
    if (perfetto->sent_fd >= 0)
        close(perfetto->sent_fd);
    free(perfetto->path);
    free(perfetto->url);
    free(perfetto);
}
