/*
 * The sink that serves the results so far as a page of metrics. All but its start and end happens
 * in the server's thread, on copies of results: neither the sampler nor the tracked command waits.
 */
#include "services/serve/http_server.h"
#include "session/sinks/owners.h"
#include "session/sinks/sink.h"
#include "views/output/prometheus.h"

#include <stdlib.h>
#include <string.h>

#define PAGES 2

static const struct page_form {
    enum gput_format format;
    const char *content_type;
} forms[PAGES] = {
    {GPUT_FORMAT_PROMETHEUS, "text/plain; version=0.0.4; charset=utf-8"},
    {GPUT_FORMAT_OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8"},
};

struct metrics_sink {
    struct sink sink;
    struct owners *owners;      /* NULL: not wanted */
    struct http_server *server; /* NULL: nothing is served any more */

    /* Used by its thread alone: */
    uint64_t number;    /* of the results from which the pages were made */
    char *pages[PAGES]; /* NULL: not made yet; owned */
    struct gput_results results;
};

/* ---- the server's thread ---- */

/* Frees the pages, so that the next request makes them from newer results. */
static void forget_pages(struct metrics_sink *metrics)
{
    for (int i = 0; i < PAGES; i++) {
        free(metrics->pages[i]);
        metrics->pages[i] = NULL;
    }
}

/* Writes the metrics in one form. The caller frees the text; NULL without memory. */
static char *make_page(struct metrics_sink *metrics, int form)
{
    struct owner_figures figures[2 * OWNERS_MAX];
    struct str text = {0};
    size_t count = metrics->owners ? owners_read(metrics->owners, figures) : 0;
    prometheus_write_owners(&metrics->results, metrics->sink.settings->options.labels,
        forms[form].format, figures, count, &text);
    char *page = text.failed ? NULL : str_steal(&text);
    str_finish(&text);
    return page;
}

/* The page, made once for each of the latest results. NULL without memory. */
static const char *page(struct metrics_sink *metrics, int form)
{
    uint64_t number = latest_results(metrics->sink.latest, metrics->number, &metrics->results);
    if (number != metrics->number)
        forget_pages(metrics);
    metrics->number = number;
    if (!metrics->pages[form] && number > 0)
        metrics->pages[form] = make_page(metrics, form);
    return metrics->pages[form];
}

static bool is_path(const struct http_request *request, const char *path)
{
    return request->path_length == strlen(path) &&
           memcmp(request->path, path, request->path_length) == 0;
}

/* Answers a request with the page of metrics, or with status 404. */
static void answer(struct metrics_sink *metrics, const struct http_request *request,
    struct http_response *response)
{
    int form = request->wants_openmetrics;
    if (!is_path(request, "/metrics")) {
        response->status = 404;
        str_append(&response->body, "Not found. The metrics are at /metrics.\n");
        return;
    }
    const char *text = page(metrics, form);
    if (!text)
        return;
    response->status = 200;
    response->content_type = forms[form].content_type;
    str_append(&response->body, text);
}

/* Answers a request, and notes what the server's thread used, which is not the program's. */
static void handle(void *user, const struct http_request *request, struct http_response *response)
{
    struct metrics_sink *metrics = user;
    answer(metrics, request, response);
    if (metrics->sink.settings->mode == SESSION_SELF)
        metrics->sink.thread_counts = session_counts_of_thread();
}

/* ---- the sink ---- */

/* Opens the server at the address of the option. */
static int open_server(struct sink *sink, struct gput_error *error)
{
    struct metrics_sink *metrics = (struct metrics_sink *)sink;
    TRY(http_server_open(sink->option, &metrics->server, error));
    const struct gput_session_options *options = &sink->settings->options;
    if (options->owners &&
        !(metrics->owners = owners_create(options->procfs_root, sink->settings->calls)))
        return error_memory(error);
    return GPUT_OK;
}

static void add_owners(struct sink *sink, const struct snapshot *snapshot)
{
    struct metrics_sink *metrics = (struct metrics_sink *)sink;
    if (metrics->owners && sink->settings->mode == SESSION_MACHINE)
        owners_add(metrics->owners, snapshot);
}

/* The first results are what it can begin to answer with. */
static void start_server(struct sink *sink, const struct gput_results *results)
{
    struct metrics_sink *metrics = (struct metrics_sink *)sink;
    struct gput_error error;
    (void)results;
    if (sink->has_thread || !metrics->server)
        return;
    sink->has_thread = http_server_start(metrics->server, handle, metrics, &sink->thread_cpu_ns,
                           &error) == GPUT_OK;
    if (sink->has_thread)
        return;
    session_warn(sink->settings, "%s. Metrics are not served; tracking goes on.", error.message);
    http_server_close(metrics->server);
    metrics->server = NULL;
}

/* Ends the server and its thread. */
static void stop_server(struct sink *sink)
{
    struct metrics_sink *metrics = (struct metrics_sink *)sink;
    if (!metrics->server)
        return;
    http_server_close(metrics->server);
    metrics->server = NULL;
    forget_pages(metrics);
    results_finish(&metrics->results);
}

static void finish(struct sink *sink)
{
    owners_destroy(((struct metrics_sink *)sink)->owners);
}

static const char *address(const struct sink *sink)
{
    const struct metrics_sink *metrics = (const struct metrics_sink *)sink;
    return metrics->server ? http_server_address(metrics->server) : NULL;
}

const struct sink_class sink_metrics = {
    .name = "page of metrics",
    .size = sizeof(struct metrics_sink),
    .option = offsetof(struct gput_session_options, listen),
    .open = open_server,
    .sample = add_owners,
    .results = start_server,
    .stop = stop_server,
    .address = address,
    .close = stop_server,
    .finish = finish,
};
