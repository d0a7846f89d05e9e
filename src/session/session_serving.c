/*
 * The page of metrics that a session serves while it runs. All but its start and end happens in the
 * server's thread, on copies of results: neither the sampler nor the tracked command waits.
 */
#include "session/session_state.h"

#include "base/error.h"
#include "serve/http_server.h"

#include <stdlib.h>
#include <string.h>

static const struct page_form {
    enum gput_format format;
    const char *content_type;
} forms[SESSION_PAGES] = {
    {GPUT_PROMETHEUS, "text/plain; version=0.0.4; charset=utf-8"},
    {GPUT_OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8"},
};

static void forget_pages(struct session_serving *serving)
{
    for (int i = 0; i < SESSION_PAGES; i++) {
        free(serving->pages[i]);
        serving->pages[i] = NULL;
    }
}

/* The page, made once for each of the latest results. NULL without memory. */
static const char *page(struct gput_session *session, int form)
{
    struct session_serving *serving = &session->serving;
    uint64_t number = latest_results(&session->latest, serving->number, &serving->results);
    if (number != serving->number)
        forget_pages(serving);
    serving->number = number;
    if (!serving->pages[form])
        gput_results_render(
            &serving->results, forms[form].format, &serving->pages[form], NULL, NULL);
    return serving->pages[form];
}

static bool is_path(const struct http_request *request, const char *path)
{
    return request->path_length == strlen(path) &&
           memcmp(request->path, path, request->path_length) == 0;
}

static void answer(struct gput_session *session, const struct http_request *request,
    struct http_response *response)
{
    int form = request->wants_openmetrics;
    if (!is_path(request, "/metrics")) {
        response->status = 404;
        str_append(&response->body, "Not found. The metrics are at /metrics.\n");
        return;
    }
    const char *text = page(session, form);
    if (!text)
        return;
    response->status = 200;
    response->content_type = forms[form].content_type;
    str_append(&response->body, text);
}

static void handle(void *user, const struct http_request *request, struct http_response *response)
{
    struct gput_session *session = user;
    answer(session, request, response);
    if (session->settings.mode == SESSION_SELF)
        session->serving.counts = session_counts_of_thread();
}

int session_open_serving(struct gput_session *session, struct gput_error *error)
{
    const char *address = session->settings.options.listen;
    return address ? http_server_open(address, &session->serving.server, error) : GPUT_OK;
}

int session_start_serving(struct gput_session *session, struct gput_error *error)
{
    struct http_server *server = session->serving.server;
    if (!server)
        return GPUT_OK;
    TRY(http_server_start(server, handle, session, error));
    pthread_mutex_lock(&session->lock);
    session->serving.has_thread = true;
    pthread_mutex_unlock(&session->lock);
    return GPUT_OK;
}

void session_end_serving(struct gput_session *session)
{
    struct session_serving *serving = &session->serving;
    if (!serving->server)
        return;
    serving->cpu_ns = http_server_cpu_ns(serving->server);
    http_server_close(serving->server);
    serving->server = NULL;
    forget_pages(serving);
}

int64_t session_helpers_cpu_ns(const struct gput_session *session)
{
    const struct session_serving *serving = &session->serving;
    int64_t serving_ns = serving->server ? http_server_cpu_ns(serving->server) : serving->cpu_ns;
    return session->events.cpu_ns + serving_ns;
}

const char *gput_session_address(const struct gput_session *session)
{
    return session->serving.server ? http_server_address(session->serving.server) : NULL;
}
