#include "services/push/push_settings.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "services/push/curl_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>

/* Defaults of OpenTelemetry. */
#define OTLP_URL "http://localhost:4318"
#define OTLP_PATH "/v1/metrics"
#define OTLP_INTERVAL_MS 60000
#define OTLP_TIMEOUT_MS 10000

/* As in Prometheus' own example. */
#define REMOTE_WRITE_INTERVAL_NS (15 * NS_PER_SECOND)
#define REMOTE_WRITE_TIMEOUT_NS (30 * NS_PER_SECOND)

/* Reads a variable; an empty one counts as not set. */
static const char *read(push_variable *variable, const char *name)
{
    const char *text = variable(name);
    return text && text[0] ? text : NULL;
}

/* A variable of the exporter; `value` NULL: it is not set. */
struct setting {
    char name[64];
    const char *value;
};

/* Finds the first set variable whose name is one of `beginnings` followed by `what`. `beginnings`
 * ends with NULL; those for metrics come before those for everything. */
static struct setting read_first(
    push_variable *variable, const char *const *beginnings, const char *what)
{
    struct setting setting = {.value = NULL};
    for (; *beginnings && !setting.value; beginnings++) {
        snprintf(setting.name, sizeof setting.name, "%s%s", *beginnings, what);
        setting.value = read(variable, setting.name);
    }
    return setting;
}

static const char *const of_otlp[] = {"OTEL_EXPORTER_OTLP_METRICS_", "OTEL_EXPORTER_OTLP_", NULL};
static const char *const of_remote_write[] = {"GPUT_REMOTE_WRITE_", NULL};

/* Returns space for another remark; NULL: there is none left. */
static char *next_remark(struct push_settings *settings)
{
    return settings->n_remarks < PUSH_MAX_REMARKS ? settings->remarks[settings->n_remarks++] : NULL;
}

/* Notes that a setting is ignored because its value is invalid. */
static void remark(struct push_settings *settings, const char *what, const char *text)
{
    char *said = next_remark(settings);
    if (said)
        text_fit(said, sizeof *settings->remarks, "%s is \"%s\", which is ignored.", what, text);
}

/* Reads a time in milliseconds; if it is missing or invalid, returns the default. */
static int64_t read_ms(
    struct push_settings *settings, const char *text, const char *what, int default_ms)
{
    uint64_t ms;
    const char *end = text ? text + strlen(text) : NULL;
    if (text && number_parse_uint64(text, end, &ms) == end && ms > 0 && ms <= INT32_MAX)
        return (int64_t)ms * NS_PER_MS;
    if (text)
        remark(settings, what, text);
    return default_ms * NS_PER_MS;
}

/* Reads a list of labels or fields. A remark does not show its value, which may be a password. */
static void read_list(
    struct push_settings *settings, struct labels *labels, const char *what, const char *text)
{
    struct gput_error error;
    bool is_bad = text && labels_add_list(labels, text, LABELS_OF_OTEL, &error) != GPUT_OK;
    char *said = is_bad ? next_remark(settings) : NULL;
    if (said) /* without its value, which may be a password */
        text_fit(said, sizeof *settings->remarks,
            "%s is not a list of NAME=VALUE: the part after the mistake is skipped.", what);
}

/* Removes fields with a line end, which would begin another field, or an invalid name. */
static void check_fields(struct push_settings *settings, const char *what)
{
    struct labels *fields = &settings->fields;
    size_t kept = 0;
    for (size_t i = 0; i < fields->count; i++) {
        struct label *field = &fields->items[i];
        if (!strpbrk(field->name, "\r\n: ") && !strpbrk(field->value, "\r\n")) {
            fields->items[kept++] = *field;
            continue;
        }
        char *said = next_remark(settings);
        if (said)
            text_fit(said, sizeof *settings->remarks,
                "%s has a field that HTTP does not allow, which is skipped.", what);
        free(field->name);
        free(field->value);
    }
    fields->count = kept;
}

/* Reads the path of a file, unless this process has more rights than its user. */
static void read_path(struct push_settings *settings, push_variable *variable,
    const char *const *beginnings, const char *what, char path[PATH_MAX])
{
    struct setting file = read_first(variable, beginnings, what);
    if (!file.value)
        return;
    /* An environment must not make a privileged process read files that its user may not read. */
    if (getauxval(AT_SECURE) || strlen(file.value) >= PATH_MAX)
        remark(settings, file.name, file.value);
    else
        strcpy(path, file.value);
}

/* Reads the header fields, and the files of certificates and keys. */
static void read_credentials(
    struct push_settings *settings, push_variable *variable, const char *const *beginnings)
{
    struct http_files *files = &settings->files;
    struct setting fields = read_first(variable, beginnings, "HEADERS");
    read_list(settings, &settings->fields, fields.name, fields.value);
    check_fields(settings, fields.name);
    read_path(settings, variable, beginnings, "CERTIFICATE", files->authority);
    read_path(settings, variable, beginnings, "CLIENT_CERTIFICATE", files->certificate);
    read_path(settings, variable, beginnings, "CLIENT_KEY", files->key);
    if (files->key[0] && !files->certificate[0])
        remark(settings, "A CLIENT_KEY without CLIENT_CERTIFICATE", files->key);
}

int push_settings_of_otlp(struct push_settings *settings, const char *url, const char *labels,
    double interval_seconds, push_variable *variable, struct gput_error *error)
{
    *settings = (struct push_settings){0};
    const char *disabled = read(variable, "OTEL_SDK_DISABLED");
    const char *service = read(variable, "OTEL_SERVICE_NAME");
    settings->is_off = disabled && strcasecmp(disabled, "true") == 0;
    const char *whole = read(variable, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
    const char *base = read(variable, "OTEL_EXPORTER_OTLP_ENDPOINT");
    bool is_given = url[0] != '\0';
    const char *text = is_given ? url : whole ? whole : base ? base : OTLP_URL;
    TRY(push_url_parse(text, &settings->url, error));
    bool lacks_path = push_url_lacks_path(&settings->url);
    if (is_given ? lacks_path : !whole)
        TRY(push_url_append(&settings->url, OTLP_PATH, error));
    TRY(settings->url.is_https ? curl_library_check(error) : GPUT_OK);

    struct setting protocol = read_first(variable, of_otlp, "PROTOCOL");
    struct setting compression = read_first(variable, of_otlp, "COMPRESSION");
    struct setting timeout = read_first(variable, of_otlp, "TIMEOUT");
    bool is_plain = compression.value && strcmp(compression.value, "none") == 0;
    settings->end_ns = read_ms(settings, timeout.value, timeout.name, 0);
    settings->timeout_ns = settings->end_ns > 0 ? settings->end_ns : OTLP_TIMEOUT_MS * NS_PER_MS;
    settings->is_compressed = !is_plain;
    if (compression.value && !is_plain && strcmp(compression.value, "gzip") != 0)
        remark(settings, compression.name, compression.value);
    if (protocol.value && strcmp(protocol.value, "http/protobuf") != 0)
        remark(settings, protocol.name, protocol.value);

    read_credentials(settings, variable, of_otlp);
    settings->interval_ns = read_ms(settings, read(variable, "OTEL_METRIC_EXPORT_INTERVAL"),
        "OTEL_METRIC_EXPORT_INTERVAL", OTLP_INTERVAL_MS);
    if (interval_seconds > 0)
        settings->interval_ns = clock_ns_of_seconds(interval_seconds);
    read_list(settings, &settings->labels, "OTEL_RESOURCE_ATTRIBUTES",
        read(variable, "OTEL_RESOURCE_ATTRIBUTES"));
    if (service && labels_set(&settings->labels, "service.name", service) != GPUT_OK)
        return error_memory(error);
    return labels_add_list(&settings->labels, labels, LABELS_OF_PROMETHEUS, error);
}

int push_settings_of_remote_write(struct push_settings *settings, const char *url,
    const char *labels, double interval_seconds, push_variable *variable, struct gput_error *error)
{
    *settings = (struct push_settings){
        .interval_ns = REMOTE_WRITE_INTERVAL_NS, .timeout_ns = REMOTE_WRITE_TIMEOUT_NS};
    TRY(push_url_parse(url, &settings->url, error));
    if (push_url_lacks_path(&settings->url))
        TRY(push_url_append(&settings->url, "/api/v1/write", error));
    if (settings->url.is_https)
        TRY(curl_library_check(error));
    read_credentials(settings, variable, of_remote_write);
    if (interval_seconds > 0)
        settings->interval_ns = clock_ns_of_seconds(interval_seconds);
    return labels_add_list(&settings->labels, labels, LABELS_OF_PROMETHEUS, error);
}

void push_settings_set_timeout(struct push_settings *settings, double seconds)
{
    if (seconds > 0)
        settings->timeout_ns = settings->end_ns = clock_ns_of_seconds(seconds);
}

void push_settings_finish(struct push_settings *settings)
{
    labels_finish(&settings->labels);
    labels_finish(&settings->fields);
}
