/*
 * Sends the metrics of a session that has ended to a receiver, with the times of its samples.
 *
 *     struct gput_push_options options = gput_push_options_default();
 *     struct gput_push_counts counts = gput_push_counts_default();
 *     options.remote_write = "http://prometheus:9090";
 *     if (gput_push_session("samples.sqlite", "usage.json", &options, &counts, &error) == GPUT_OK)
 *         printf("%llu samples sent\n", (unsigned long long)counts.sent);
 *
 * A session that is tracked sends its metrics itself: gput_session_options.otlp and .remote_write.
 */
#ifndef GPUTRACKER_PUSH_H
#define GPUTRACKER_PUSH_H

#include <gputracker/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Receivers, and the samples for them. Sized: see gputracker/sized.h. */
struct gput_push_options {
    size_t size;              /**< set by gput_push_options_default() */
    const char *otlp;         /**< address, as in struct gput_session_options; NULL: not by OTLP */
    const char *remote_write; /**< likewise */
    const char *labels;       /**< labels of all metrics: "job=train,team=vision"; NULL: none */
    double interval_seconds; /**< minimum time between two samples that are sent; 0: all are sent */
    /** Called with one line (no newline) for each warning: skipped rows, figures that the receiver
     * refused. NULL: none. */
    void (*warn)(void *user, const char *message);
    void *user;
    double timeout_seconds; /**< response timeout; 0: OTEL_EXPORTER_OTLP_TIMEOUT, else 10, by OTLP;
                               30 by remote write */
};

/** Sets the defaults in a struct of that size; for gput_push_options_default(). */
GPUT_API void gput_push_options_init(struct gput_push_options *options, size_t size);

/** No receiver, all samples. */
static inline struct gput_push_options gput_push_options_default(void)
{
    struct gput_push_options options;
    gput_push_options_init(&options, sizeof options);
    return options;
}

/** Counts of sent and lost samples. Sized: see gputracker/sized.h. */
struct gput_push_counts {
    size_t size;      /**< set by gput_push_counts_default() */
    uint64_t sent;    /**< samples accepted, per receiver */
    uint64_t lost;    /**< samples not accepted, per receiver */
    uint64_t refused; /**< figures refused in accepted samples */
};

/** Sets the defaults in a struct of that size; for gput_push_counts_default(). */
GPUT_API void gput_push_counts_init(struct gput_push_counts *counts, size_t size);

/** All are 0. */
static inline struct gput_push_counts gput_push_counts_default(void)
{
    struct gput_push_counts counts;
    gput_push_counts_init(&counts, sizeof counts);
    return counts;
}

/**
 * Sends the samples of a tracking file (.csv or .sqlite), and the figures of its end from
 * `results`: a report in JSON, or the resource usage file of a killed session. Either may be NULL.
 * Counters of CPU time are computed from the percents of the samples. GPUs, energy and bytes are in
 * .sqlite files alone. Samples are read as a stream. Returns when the receiver has taken all of
 * them. A busy receiver is tried again after 1, 2, 4 and 8 seconds, or after the time that it asks
 * for.
 *
 * `counts` may be NULL; it is set on failure, too. Errors: GPUT_ERROR_GONE (the receiver cannot be
 * reached, or, with EBUSY as errno_value, stays busy) and GPUT_ERROR_IO (it refuses): the rest is
 * not sent; GPUT_ERROR_INVALID (an address, a label, nothing to send or nowhere to),
 * GPUT_ERROR_UNSUPPORTED (https without libcurl), GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION,
 * GPUT_ERROR_FORMAT (a file), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_push_session(const char *samples, const char *results,
    const struct gput_push_options *options, struct gput_push_counts *counts,
    struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
