/*
 * Where metrics of a session are sent, and how: by options, and by OpenTelemetry's variables.
 */
#pragma once

#include "services/push/http_post.h"
#include "services/push/push_url.h"
#include "views/output/labels.h"

#include <stdbool.h>
#include <stdint.h>

/* One of each variable that can be wrong. */
#define PUSH_MAX_REMARKS 10

struct push_settings {
    struct push_url url;
    struct labels labels; /* of all that is sent */
    struct labels fields; /* of the heads of requests */
    struct http_files files;
    int64_t interval_ns;                 /* between two samples that are sent */
    int64_t timeout_ns;                  /* of a request */
    int64_t end_ns;                      /* so long the last ones may take; 0: not said */
    bool is_compressed;                  /* by gzip */
    bool pids_are_inner;                 /* see session_labels_name() */
    bool is_off;                         /* OTEL_SDK_DISABLED */
    char remarks[PUSH_MAX_REMARKS][256]; /* what of the variables is not followed */
    size_t n_remarks;
};

/* The value of a variable of the environment; NULL: it is not set. */
typedef const char *push_variable(const char *name);

/*
 * For OTLP. `url` "" is what OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT or
 * the conventions say; one without a path gets /v1/metrics. `labels` (NULL: none) go before
 * OTEL_RESOURCE_ATTRIBUTES, and `interval_seconds` (0: not given) before
 * OTEL_METRIC_EXPORT_INTERVAL. A variable that cannot be read counts as not set, with a remark.
 * The caller calls push_settings_finish(), also after an error. Errors: GPUT_ERROR_INVALID,
 * GPUT_ERROR_UNSUPPORTED (https without libcurl), GPUT_ERROR_MEMORY.
 */
int push_settings_of_otlp(struct push_settings *settings, const char *url, const char *labels,
    double interval_seconds, push_variable *variable, struct gput_error *error);

/* For Prometheus' remote write; likewise. Its variables begin with GPUT_REMOTE_WRITE_: there is no
 * convention of others. */
int push_settings_of_remote_write(struct push_settings *settings, const char *url,
    const char *labels, double interval_seconds, push_variable *variable, struct gput_error *error);

/* So long a request may take, and the last ones at the end. 0: as it was. */
void push_settings_set_timeout(struct push_settings *settings, double seconds);

void push_settings_finish(struct push_settings *settings);
