/*
 * Sends metrics of a session to a receiver: samples wait in a queue of bounded length until they
 * are taken. What the receiver is too busy for is tried again, later and later; what it refuses is
 * lost, and counted. One thread at a time calls all of it, but push_end_soon().
 */
#pragma once

#include "base/str.h"
#include "services/push/push_settings.h"
#include "views/output/metric.h"

#include <stdatomic.h>

/* More samples than these do not wait: the oldest are lost. */
#define PUSH_MAX_WAITING 512
/* So many go into one request. */
#define PUSH_MAX_BATCH 64

/* The metrics of one moment. */
struct push_sample {
    int64_t time_ns; /* since the epoch */
    uint32_t n_gpus;
    double values[]; /* of the series, then those of each GPU in turn */
};

/* A metric as it is sent: one of the tables. */
struct push_series {
    const struct metric *metric;
    char name[96];
    const char *unit;
};

#define PUSH_MAX_SERIES 128

struct push;

/* A form of requests. */
struct push_protocol {
    const char *content_type;
    const char *fields; /* more of the head */
    const struct metric_table *(*first)(void);
    const struct metric_table *(*others)(void); /* those of its figures that `first` does not have;
                                                   NULL: none */
    void (*name)(const struct metric *metric, bool is_first, struct push_series *series);
    /* Appends the samples that wait, from the first. */
    void (*encode)(const struct push *push, size_t count, struct str *body);
    int (*compress)(const struct push *push, struct str *body, struct gput_error *error);
    bool (*is_busy)(int status); /* rather than a refusal */
    /* Reads the body of a good answer: how many figures it refuses, and why. NULL: none. */
    uint64_t (*refused)(const struct str *body, char *why, size_t size);
};

extern const struct push_protocol push_otlp, push_remote_write;

struct push {
    const struct push_protocol *protocol;
    struct push_settings settings;
    struct push_series series[PUSH_MAX_SERIES], gpu_series[PUSH_MAX_SERIES];
    size_t n_series, n_gpu_series;
    int64_t start_ns;            /* where counters were 0 */
    bool without_constants;      /* samples are of what changes alone */
    struct gput_results results; /* the latest: whose figures these are, and of which GPUs */

    struct push_sample *waiting[PUSH_MAX_WAITING]; /* owned; a ring */
    size_t first, n_waiting;

    int64_t created_ns; /* monotonic clock, as the other ones below */
    int64_t next_try_ns;
    unsigned failures;             /* one after the other */
    bool has_answered;             /* whatever it said */
    _Atomic int64_t unanswered_ns; /* when what is not taken was sent first; 0: all was taken */
    _Atomic int64_t abort_ns;

    uint64_t sent, lost; /* samples */
    uint64_t refused;    /* figures of samples that were sent */
    char problem[512];   /* the latest; "": none so far */
};

/* Takes over the settings. The caller calls push_destroy(). NULL without memory; the settings are
 * then the caller's. */
struct push *push_create(const struct push_protocol *protocol, struct push_settings *settings);

/* Adds the figures of a moment. Without memory they are lost. */
void push_add(struct push *push, int64_t time_ns, const struct gput_results *results);

/* Sends what waits, unless it is to be tried later. */
void push_send(struct push *push);

/* Sends what waits, once and now, and gives up what is not taken. */
void push_finish(struct push *push);

/* Sends all that waits, for those who have nothing else to do: a busy receiver is waited for, until
 * it was so five times running. Errors: GPUT_ERROR_IO: some of it is lost; GPUT_ERROR_GONE: it
 * still waits, with EBUSY where the receiver has answered. */
int push_deliver(struct push *push, struct gput_error *error);

/* How long a receiver is waited for at the end of a command that took that time: a twentieth of it,
 * but half a second at least and three at most; or as the settings say, ten at most. */
int64_t push_end_ns(const struct push_settings *settings, int64_t elapsed_ns);

/* From any thread: a receiver is waited for until it had push_end_ns() to answer, or a tenth of a
 * second more where it did not use them. `now_ns`: monotonic clock. */
void push_end_soon(struct push *push, int64_t now_ns);

/* What became of the samples, for people. */
void push_describe(const struct push *push, char *text, size_t size);

/* NULL is fine. */
void push_destroy(struct push *push);

/* ---- For protocols ---- */

/* The sample at that place of the queue. */
const struct push_sample *push_at(const struct push *push, size_t index);

/* The figure of a series in a sample; NaN: not known. */
double push_value(const struct push *push, const struct push_sample *sample, size_t series);
double push_gpu_value(
    const struct push *push, const struct push_sample *sample, uint32_t gpu, size_t series);
