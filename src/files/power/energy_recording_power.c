/*
 * power_metrics.json: a JSON object a line, {"date": …, "metrics": {"cpu": {…}, "gpu": {…}}}.
 */
#include "base/file.h"
#include "base/text.h"
#include "files/power/energy_recording.h"
#include "files/power/recording_date.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value as a number: itself, or the sum of the numbers in it; NaN when there is none. */
static double value_of(const struct doc *value)
{
    double sum = NAN;
    switch (value->kind) {
    case DOC_OBJECT:
    case DOC_ARRAY:
        for (const struct doc *child = value->first; child; child = child->next) {
            double part = doc_number(child);
            if (!isnan(part))
                sum = (isnan(sum) ? 0 : sum) + part;
        }
        /* without processes the sum is 0 */
        return value->count == 0 && value->kind == DOC_OBJECT ? 0 : sum;
    default:
        return doc_number(value);
    }
}

static const struct doc *values_of(const struct doc *metrics, const char *group)
{
    const struct doc *values = metrics ? doc_get(metrics, group) : NULL;
    return values && values->kind == DOC_OBJECT ? values->first : NULL;
}

static int add_cpu(
    struct recorded_series *series, const struct doc *metrics, struct gput_error *error)
{
    for (const struct doc *value = values_of(metrics, "cpu"); value; value = value->next) {
        double number = value_of(value);
        if (!isnan(number))
            TRY(recorded_series_set(series, "cpu", value->key, NULL, number, error));
    }
    return GPUT_OK;
}

/* An object has a value for each GPU. AIPowerMeter, whose lines have temperatures, too, writes how
 * busy GPUs are in percent; here it is 0 to 1. */
static int add_gpus(
    struct recorded_series *series, const struct doc *metrics, struct gput_error *error)
{
    bool has_percents = metrics && doc_get(metrics, "temperature");
    for (const struct doc *value = values_of(metrics, "gpu"); value; value = value->next) {
        double unit = has_percents && text_ends_with(value->key, "nvidia_use_rate") ? 0.01 : 1;
        if (value->kind != DOC_OBJECT)
            TRY(energy_recording_add_gpu(series, value->key, NULL, unit * value_of(value), error));
        for (const struct doc *gpu = value->first; gpu; gpu = gpu->next) {
            if (value->kind == DOC_OBJECT)
                TRY(energy_recording_add_gpu(
                    series, value->key, gpu->key, unit * value_of(gpu), error));
        }
    }
    return GPUT_OK;
}

/* Parses lines. */
struct line_reader {
    struct energy_record *record;
    const char *path;
    uint64_t number;
    uint32_t segment;
    bool segment_has_lines;
};

static int parse_line(struct line_reader *reader, const struct doc *line, struct gput_error *error)
{
    struct recorded_series *series = &reader->record->series[RECORDED_POWER];
    int64_t time_us;
    if (line->kind == DOC_STRING && strcmp(line->string, ENERGY_RECORDING_SEGMENT_END) == 0) {
        reader->segment += reader->segment_has_lines;
        reader->segment_has_lines = false;
        return GPUT_OK;
    }
    const struct doc *date = line->kind == DOC_OBJECT ? doc_get(line, "date") : NULL;
    if (!date || date->kind != DOC_STRING || !recording_date_parse(date->string, &time_us))
        return error_set(error, GPUT_ERROR_FORMAT, "%s: line %llu has no date.", reader->path,
            (unsigned long long)reader->number);
    const struct doc *metrics = doc_get(line, "metrics");
    TRY(recorded_series_add(series, time_us, reader->segment, error));
    reader->segment_has_lines = true;
    TRY(add_cpu(series, metrics, error));
    return add_gpus(series, metrics, error);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* Whether it begins like a line of a recording: an object, or the end of a segment. */
static bool begins_as_line(const char *text)
{
    static const char segment_end[] = "\"" ENERGY_RECORDING_SEGMENT_END "\"";
    return text[0] == '{' || strncmp(text, segment_end, strcspn(text, "\r\n")) == 0;
}

/* A line that is not JSON: a truncated last line; or one truncated by a kill before recording
 * started again, which ends the segment. */
static int parse_text(
    struct line_reader *reader, const char *text, size_t length, struct gput_error *error)
{
    struct doc *line;
    char name[64];
    if (is_blank(text))
        return GPUT_OK;
    snprintf(name, sizeof name, "line %llu", (unsigned long long)reader->number);
    int code = doc_read_python_json(text, length, name, &line, error);
    if (code == GPUT_ERROR_FORMAT && begins_as_line(text)) {
        bool is_whole = length >= 2 && text[length - 2] == '}';
        energy_record_warn(reader->record, "%.120s: line %llu is %s and was skipped.", reader->path,
            (unsigned long long)reader->number, is_whole ? "not JSON" : "truncated");
        reader->segment += reader->segment_has_lines;
        reader->segment_has_lines = false;
        return GPUT_OK;
    }
    if (code == GPUT_ERROR_FORMAT)
        return error_set(error, GPUT_ERROR_FORMAT, "%s: line %llu is not JSON.", reader->path,
            (unsigned long long)reader->number);
    TRY(code);
    code = parse_line(reader, line, error);
    doc_destroy(line);
    return code;
}

int energy_recording_read_power(struct energy_record *record, bool *found, struct gput_error *error)
{
    struct str path = {0};
    str_printf(&path, "%s/power_metrics.json", record->folder);
    int fd = -1,
        code = path.failed ? error_memory(error) : file_open_regular(path.data, &fd, error);
    FILE *file = code == GPUT_OK ? fdopen(fd, "r") : NULL;
    *found = file != NULL;
    if (!file) {
        if (code == GPUT_OK)
            code = error_set_errno(error, errno, "Cannot read %s", path.data);
        file_close_fd(&fd);
        str_finish(&path);
        return code == GPUT_ERROR_NOT_FOUND ? GPUT_OK : code;
    }
    struct line_reader reader = {.record = record, .path = path.data};
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length;
    while (code == GPUT_OK && (length = getline(&text, &capacity, file)) >= 0) {
        reader.number++;
        code = parse_text(&reader, text, (size_t)length, error);
    }
    if (code == GPUT_OK && !feof(file)) /* where memory ran out, ferror() is not set */
        code = error_set_errno(error, errno, "Cannot read %s", path.data);
    free(text);
    fclose(file);
    str_finish(&path);
    return code;
}
