/*
 * Sends metrics of a session to a receiver. Samples wait in a bounded queue until they are
 * accepted. If the receiver is busy, they are sent again at growing intervals; those that it
 * refuses are lost, and counted. All functions except push_end_soon() are called by one thread at a
 * time.
 */
#pragma once

#include "base/str.h"
#include "services/push/push_settings.h"
#include "views/output/metric.h"

#include <stdatomic.h>

/* Maximum number of waiting samples; beyond it the oldest are lost. */
#define PUSH_MAX_WAITING 512
/* Maximum number of samples in one request. */
#define PUSH_MAX_BATCH 64

/* The metrics of one moment. */
struct push_sample {
    int64_t time_ns; /* since the epoch */
    uint32_t n_gpus;
    double values[]; /* values of the series, followed by those of each GPU */
};

/* A metric under the name by which it is sent. */
struct push_series {
    const struct metric *metric;
    char name[96];
    const char *unit;
};

#define PUSH_MAX_SERIES 128

struct push;

/* A protocol: the form of requests and answers. */
struct push_protocol {
    const char *content_type;
    const char *fields; /* further header fields */
    const struct metric_table *(*first)(void);
    const struct metric_table *(*others)(void); /* metrics whose figures `first` does not have;
                                                   NULL: none */
    void (*name)(const struct metric *metric, bool is_first, struct push_series *series);
    /* Appends the first `count` waiting samples. */
    void (*encode)(const struct push *push, size_t count, struct str *body);
    int (*compress)(const struct push *push, struct str *body, struct gput_error *error);
    bool (*is_busy)(int status); /* Whether a status means "try again later" rather than a
                                    refusal. */
    /* Reads the body of a successful answer. Returns how many figures were refused, and writes the
     * reason. NULL: none are. */
    uint64_t (*refused)(const struct str *body, char *why, size_t size);
};

extern const struct push_protocol push_otlp, push_remote_write;

struct push {
    const struct push_protocol *protocol;
    struct push_settings settings;
    struct push_series series[PUSH_MAX_SERIES], gpu_series[PUSH_MAX_SERIES];
    size_t n_series, n_gpu_series;
    int64_t start_ns;            /* start of the session, when counters were 0 */
    bool without_constants;      /* true: constants are not sent */
    struct gput_results results; /* the latest results, with the identity of the session and its
                                    GPUs */

    struct push_sample *waiting[PUSH_MAX_WAITING]; /* owned; a ring buffer */
    size_t first, n_waiting;

    int64_t created_ns; /* monotonic clock, as are the times below */
    int64_t next_try_ns;
    unsigned failures;             /* failed attempts in a row */
    bool has_answered;             /* it has sent any answer */
    _Atomic int64_t unanswered_ns; /* time of the first attempt to send the waiting samples; 0: all
                                      were accepted */
    _Atomic int64_t abort_ns;

    uint64_t sent, lost; /* numbers of samples */
    uint64_t refused;    /* number of figures refused in samples that were sent */
    char problem[512];   /* the latest problem; "": none so far */
};

/* Takes ownership of the settings. The caller calls push_destroy(). Returns NULL without memory;
 * the settings then still belong to the caller. */
struct push *push_create(const struct push_protocol *protocol, struct push_settings *settings);

/* Adds a sample. Without memory it is lost. */
void push_add(struct push *push, int64_t time_ns, const struct gput_results *results);

/* Sends the waiting samples, unless it is too early for the next attempt. */
void push_send(struct push *push);

/* Sends the waiting samples at once. Those that are not accepted are lost. */
void push_finish(struct push *push);

/* Sends all waiting samples, and waits for a busy receiver, up to five times in a row. Errors:
 * GPUT_ERROR_IO: some are lost; GPUT_ERROR_GONE: they still wait, with EBUSY as errno_value if the
 * receiver has answered. */
int push_deliver(struct push *push, struct gput_error *error);

/* Returns how long to wait for a receiver at the end of a command that took `elapsed_ns`: a
 * twentieth of it, at least half a second and at most three; or as the settings say, at most
 * ten. */
int64_t push_end_ns(const struct push_settings *settings, int64_t elapsed_ns);

/* Limits the rest of all requests: the receiver gets push_end_ns() from its first unanswered
 * request, but at least a tenth of a second from now. May be called from any thread. `now_ns`:
 * monotonic clock. */
void push_end_soon(struct push *push, int64_t now_ns);

/* Describes what happened to the samples, for people. */
void push_describe(const struct push *push, char *text, size_t size);

/* NULL is fine. */
void push_destroy(struct push *push);

/* ---- For protocols ---- */

/* Returns the waiting sample at that index. */
const struct push_sample *push_at(const struct push *push, size_t index);

/* Return the value of a series in a sample; NaN: not known. */
double push_value(const struct push *push, const struct push_sample *sample, size_t series);
double push_gpu_value(
    const struct push *push, const struct push_sample *sample, uint32_t gpu, size_t series);
