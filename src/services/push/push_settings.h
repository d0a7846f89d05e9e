/*
 * Where and how metrics of a session are sent, by options and by OpenTelemetry's variables.
 */
#pragma once

#include "services/push/http_post.h"
#include "services/push/push_url.h"
#include "views/output/labels.h"

#include <stdbool.h>
#include <stdint.h>

/* One remark for each variable at most. */
#define PUSH_MAX_REMARKS 10

struct push_settings {
    struct push_url url;
    struct labels labels; /* labels of all that is sent */
    struct labels fields; /* header fields of requests */
    struct http_files files;
    int64_t interval_ns;                 /* minimum time between two samples that are sent */
    int64_t timeout_ns;                  /* timeout of a request */
    int64_t end_ns;                      /* timeout of the last requests at the end; 0: not given */
    bool is_compressed;                  /* by gzip */
    bool pids_are_inner;                 /* pids are of an inner namespace; see
                                            session_labels_name() */
    bool is_off;                         /* OTEL_SDK_DISABLED is set */
    char remarks[PUSH_MAX_REMARKS][256]; /* variables that are ignored, and why */
    size_t n_remarks;
};

/* Returns the value of an environment variable; NULL: it is not set. */
typedef const char *push_variable(const char *name);

/*
 * Sets the settings for OTLP. `url` "" stands for OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
 * OTEL_EXPORTER_OTLP_ENDPOINT or the default of the conventions; a `url` without a path gets
 * /v1/metrics. `labels` (NULL: none) override OTEL_RESOURCE_ATTRIBUTES, and `interval_seconds` (0:
 * not given) overrides OTEL_METRIC_EXPORT_INTERVAL. An invalid variable counts as not set, with a
 * remark. The caller calls push_settings_finish(), also after an error. Errors: GPUT_ERROR_INVALID,
 * GPUT_ERROR_UNSUPPORTED (https without libcurl), GPUT_ERROR_MEMORY.
 */
int push_settings_of_otlp(struct push_settings *settings, const char *url, const char *labels,
    double interval_seconds, push_variable *variable, struct gput_error *error);

/* Sets the settings for Prometheus' remote write; likewise. Its variables begin with
 * GPUT_REMOTE_WRITE_, as there is no convention for them. */
int push_settings_of_remote_write(struct push_settings *settings, const char *url,
    const char *labels, double interval_seconds, push_variable *variable, struct gput_error *error);

/* Sets the timeout of requests, and of the last ones at the end. 0: keeps the current ones. */
void push_settings_set_timeout(struct push_settings *settings, double seconds);

void push_settings_finish(struct push_settings *settings);
