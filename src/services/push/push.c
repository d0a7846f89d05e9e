#include "services/push/push.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "services/push/http_post.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* After a failure the next attempt is one second later, then two, four … */
#define MAX_BACKOFF_SECONDS 64
#define MAX_RETRY_AFTER_SECONDS 3600
/* Maximum number of attempts in a row, for callers that only wait. */
#define MAX_TRIES 5
/* The maximum time of the last attempts at the end: this share of the tracked time, within bounds.
 * Time that the receiver has already left unanswered is subtracted, but MIN_REST_NS always
 * remains. */
#define END_SHARE 20
#define MIN_END_NS (NS_PER_SECOND / 2)
#define MAX_END_NS (3 * NS_PER_SECOND)
#define MIN_REST_NS (NS_PER_SECOND / 10)
/* Maximum of the user's timeout at the end, as it may be meant for the requests of a server that
 * runs for months. */
#define MAX_ASKED_END_NS (10 * NS_PER_SECOND)

/* ---- which metrics ---- */

/* Whether one of the metrics has that column. */
static bool has_column(const struct metric *rows, size_t count, const char *column)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].column, column) == 0)
            return true;
    }
    return false;
}

/* Adds a series if the protocol has a name for its metric, and there is space. */
static void add_series(const struct push_protocol *protocol, const struct metric *metric,
    bool is_first, struct push_series *series, size_t *count)
{
    if (*count == PUSH_MAX_SERIES)
        return;
    series[*count].metric = metric;
    protocol->name(metric, is_first, &series[*count]);
    *count += series[*count].name[0] != '\0';
}

/* Chooses the metrics to send: those of the first table, then those that only the other one has. */
static void choose_series(struct push *push)
{
    const struct push_protocol *protocol = push->protocol;
    const struct metric_table *first = protocol->first();
    for (size_t i = 0; i < first->count; i++)
        add_series(protocol, &first->rows[i], true, push->series, &push->n_series);
    for (size_t i = 0; i < first->gpu_count; i++)
        add_series(protocol, &first->gpu_rows[i], true, push->gpu_series, &push->n_gpu_series);
    const struct metric_table *others = protocol->others ? protocol->others() : NULL;
    for (size_t i = 0; others && i < others->count; i++) {
        if (!has_column(first->rows, first->count, others->rows[i].column))
            add_series(protocol, &others->rows[i], false, push->series, &push->n_series);
    }
    for (size_t i = 0; others && i < others->gpu_count; i++) {
        if (!has_column(first->gpu_rows, first->gpu_count, others->gpu_rows[i].column))
            add_series(
                protocol, &others->gpu_rows[i], false, push->gpu_series, &push->n_gpu_series);
    }
}

struct push *push_create(const struct push_protocol *protocol, struct push_settings *settings)
{
    struct push *push = calloc(1, sizeof *push);
    if (!push)
        return NULL;
    push->protocol = protocol;
    push->settings = *settings;
    *settings = (struct push_settings){0};
    push->created_ns = clock_monotonic_ns();
    atomic_init(&push->abort_ns, INT64_MAX);
    choose_series(push);
    return push;
}

/* ---- the queue ---- */

const struct push_sample *push_at(const struct push *push, size_t index)
{
    return push->waiting[(push->first + index) % PUSH_MAX_WAITING];
}

double push_value(const struct push *push, const struct push_sample *sample, size_t series)
{
    (void)push;
    return sample->values[series];
}

double push_gpu_value(
    const struct push *push, const struct push_sample *sample, uint32_t gpu, size_t series)
{
    return gpu < sample->n_gpus ? sample->values[push->n_series + gpu * push->n_gpu_series + series]
                                : NAN;
}

/* Removes the oldest waiting samples, which were sent or refused. */
static void drop_first(struct push *push, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(push->waiting[push->first]);
        push->waiting[push->first] = NULL;
        push->first = (push->first + 1) % PUSH_MAX_WAITING;
        push->n_waiting--;
    }
}

/* Returns the value of a metric; NAN for a constant that is not to be sent again. */
static double series_value(
    const struct push *push, const struct metric *metric, const struct gput_results *results)
{
    bool is_constant = text_begins_with(metric->column, "static_data.");
    return push->without_constants && is_constant ? NAN : metric_value(metric, results);
}

/* Makes a sample of the values of all series. NULL: out of memory. */
static struct push_sample *make_sample(
    const struct push *push, int64_t time_ns, const struct gput_results *results)
{
    size_t count = push->n_series + results->n_gpus * push->n_gpu_series, at = 0;
    struct push_sample *sample = malloc(sizeof *sample + count * sizeof(double));
    if (!sample)
        return NULL;
    *sample = (struct push_sample){.time_ns = time_ns, .n_gpus = results->n_gpus};
    for (size_t i = 0; i < push->n_series; i++)
        sample->values[at++] = series_value(push, push->series[i].metric, results);
    for (uint32_t gpu = 0; gpu < results->n_gpus; gpu++) {
        for (size_t i = 0; i < push->n_gpu_series; i++)
            sample->values[at++] =
                metric_gpu_value(push->gpu_series[i].metric, &results->gpus[gpu]);
    }
    return sample;
}

void push_add(struct push *push, int64_t time_ns, const struct gput_results *results)
{
    struct push_sample *sample = make_sample(push, time_ns, results);
    if (!sample || results_copy(&push->results, results) != GPUT_OK) {
        free(sample);
        push->lost++;
        return;
    }
    if (push->start_ns == 0 && !isnan(results->elapsed_seconds))
        push->start_ns = time_ns - clock_ns_of_seconds(results->elapsed_seconds);
    if (push->n_waiting == PUSH_MAX_WAITING) {
        drop_first(push, 1);
        push->lost++;
    }
    push->waiting[(push->first + push->n_waiting++) % PUSH_MAX_WAITING] = sample;
}

/* ---- requests ---- */

/* Encodes the oldest samples, and sends them in one request. */
static int post(struct push *push, size_t count, struct http_answer *answer, struct str *got,
    struct gput_error *error)
{
    struct str body = {0}, head = {0};
    const struct push_settings *settings = &push->settings;
    str_printf(&head, "Content-Type: %s\r\nUser-Agent: gpu-tracker/" GPUT_VERSION "\r\n%s",
        push->protocol->content_type, push->protocol->fields);
    if (settings->url.user[0]) {
        char encoded[BASE64_LENGTH(sizeof settings->url.user)];
        size_t length = strlen(settings->url.user);
        base64_encode(settings->url.user, length, encoded);
        str_printf(&head, "Authorization: Basic %.*s\r\n", (int)BASE64_LENGTH(length), encoded);
    }
    for (size_t i = 0; i < settings->fields.count; i++)
        str_printf(
            &head, "%s: %s\r\n", settings->fields.items[i].name, settings->fields.items[i].value);
    if (settings->is_compressed)
        str_append(&head, "Content-Encoding: gzip\r\n");

    push->protocol->encode(push, count, &body);
    int code = body.failed || head.failed ? error_memory(error) : GPUT_OK;
    if (code == GPUT_OK)
        code = push->protocol->compress(push, &body, error);
    struct http_post request = {.url = &push->settings.url,
        .fields = str_text(&head),
        .files = &push->settings.files,
        .body = str_text(&body),
        .length = body.length,
        .deadline_ns = clock_monotonic_ns() + push->settings.timeout_ns,
        .abort_ns = &push->abort_ns};
    if (code == GPUT_OK)
        code = http_post_send(&request, answer, got, error);
    str_finish(&body);
    str_finish(&head);
    return code;
}

/* Returns a random number from 0 to 1, which keeps senders from sending at the same moment. */
static double jitter(void)
{
    unsigned char byte;
    random_fill(&byte, 1);
    return byte / 255.0;
}

/* Sends the oldest waiting samples. Returns false when nothing more should be sent now. */
static bool send_batch(struct push *push)
{
    struct http_answer answer;
    struct str body = {0};
    struct gput_error error;
    size_t count = push->n_waiting < PUSH_MAX_BATCH ? push->n_waiting : PUSH_MAX_BATCH;
    if (atomic_load(&push->unanswered_ns) == 0)
        atomic_store(&push->unanswered_ns, clock_monotonic_ns());
    int code = post(push, count, &answer, &body, &error);
    bool is_taken = code == GPUT_OK && answer.status >= 200 && answer.status < 300;
    bool is_busy = code != GPUT_OK || push->protocol->is_busy(answer.status);
    push->has_answered |= code == GPUT_OK;
    if (is_taken) {
        push->failures = 0;
        push->sent += count;
        /* Count the figures that the receiver refused, and keep its reason. */
        char why[200] = "";
        uint64_t refused =
            push->protocol->refused ? push->protocol->refused(&body, why, sizeof why) : 0;
        push->refused += refused;
        if (refused > 0)
            text_fit(push->problem, sizeof push->problem, "%s refused some figures: %s",
                push->settings.url.text, why[0] ? why : "it gives no reason");
        drop_first(push, count);
    } else if (code != GPUT_OK) {
        text_fit(push->problem, sizeof push->problem, "%s", error.message);
    } else {
        char said[120] = "";
        bool is_moved = answer.status >= 300 && answer.status < 400 && answer.location[0];
        size_t length = body.length < sizeof said ? body.length : sizeof said - 1;
        for (size_t i = 0; i < length && body.data[i] != '\n'; i++)
            said[i] = body.data[i] >= ' ' && body.data[i] <= '~' ? body.data[i] : '?';
        text_fit(push->problem, sizeof push->problem, "%s answered %d %s%s%s",
            push->settings.url.text, answer.status, answer.reason,
            is_moved  ? ": give the new address, "
            : said[0] ? ": "
                      : "",
            is_moved ? answer.location : said);
    }
    if (is_taken || !is_busy)
        atomic_store(&push->unanswered_ns, 0);
    else {
        /* Wait as long as Retry-After says, but at least a second; without it, the backoff. */
        double retry_after = code == GPUT_OK ? answer.retry_after : -1;
        double seconds = push->failures < 6 ? (double)(1 << push->failures) : MAX_BACKOFF_SECONDS;
        push->failures++;
        if (retry_after >= 0)
            seconds = fmin(fmax(retry_after, 1), MAX_RETRY_AFTER_SECONDS) + 0.2 * jitter();
        else
            seconds *= 0.8 + 0.4 * jitter();
        push->next_try_ns = clock_monotonic_ns() + clock_ns_of_seconds(seconds);
    }

    if (!is_taken && !is_busy) {
        push->lost += count;
        drop_first(push, count);
    }
    str_finish(&body);
    return is_taken || !is_busy;
}

void push_send(struct push *push)
{
    while (push->n_waiting > 0 && clock_monotonic_ns() >= push->next_try_ns && send_batch(push))
        ;
}

/* Whether the time for requests is over. */
static bool is_overdue(const struct push *push)
{
    return clock_monotonic_ns() >= atomic_load(&push->abort_ns);
}

void push_finish(struct push *push)
{
    /* Without time left, another attempt would only replace the reason of the failure. */
    while (push->n_waiting > 0 && !(push->problem[0] && is_overdue(push)) && send_batch(push))
        ;
    push->lost += push->n_waiting;
    drop_first(push, push->n_waiting);
}

/* Delivers all samples. Gives up on a receiver that has never answered: its address is probably
 * wrong. */
int push_deliver(struct push *push, struct gput_error *error)
{
    while (push->n_waiting > 0 && push->lost == 0) {
        int64_t at_ns = push->next_try_ns;
        struct timespec at = {at_ns / NS_PER_SECOND, at_ns % NS_PER_SECOND};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
            ;

        if (!send_batch(push) && (push->failures == MAX_TRIES || !push->has_answered))
            break;
    }
    if (push->n_waiting == 0 && push->lost == 0)
        return GPUT_OK;
    int code = error_set(error, push->lost > 0 ? GPUT_ERROR_IO : GPUT_ERROR_GONE, "%s",
        push->problem[0] ? push->problem : "There was no memory for samples.");
    if (error && code == GPUT_ERROR_GONE && push->has_answered)
        error->errno_value = EBUSY;
    return code;
}

int64_t push_end_ns(const struct push_settings *settings, int64_t elapsed_ns)
{
    int64_t share_ns = elapsed_ns / END_SHARE;
    if (settings->end_ns > 0)
        return settings->end_ns > MAX_ASKED_END_NS ? MAX_ASKED_END_NS : settings->end_ns;
    return share_ns > MAX_END_NS ? MAX_END_NS : share_ns < MIN_END_NS ? MIN_END_NS : share_ns;
}

void push_end_soon(struct push *push, int64_t now_ns)
{
    int64_t unanswered_ns = atomic_load(&push->unanswered_ns);
    int64_t share_ns = push_end_ns(&push->settings, now_ns - push->created_ns);
    int64_t until_ns = (unanswered_ns ? unanswered_ns : now_ns) + share_ns;
    int64_t min_ns = now_ns + MIN_REST_NS;
    atomic_store(&push->abort_ns, until_ns > min_ns ? until_ns : min_ns);
}

void push_describe(const struct push *push, char *text, size_t size)
{
    const char *url = push->settings.url.text;
    unsigned long long lost = push->lost, sent = push->sent, refused = push->refused;
    if (lost > 0)
        text_fit(text, size, "%llu of %llu samples did not reach %.200s: %s", lost, lost + sent,
            url, push->problem[0] ? push->problem : "there was no memory");
    else if (refused > 0)
        text_fit(text, size, "%llu sample%s sent; %llu of their figures refused: %s", sent,
            sent == 1 ? "" : "s", refused, push->problem);
    else if (push->n_waiting > 0 && push->failures > 0)
        text_fit(text, size, "%llu samples sent to %.200s, %zu wait: %s", sent, url,
            push->n_waiting, push->problem);
    else
        text_fit(text, size, "%llu sample%s sent to %.200s", sent, sent == 1 ? "" : "s", url);
}

void push_destroy(struct push *push)
{
    if (!push)
        return;
    drop_first(push, push->n_waiting);
    push_settings_finish(&push->settings);
    results_finish(&push->results);
    free(push);
}
