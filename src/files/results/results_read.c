#include "files/results/results_read.h"

#include "base/cleanup.h"
#include "base/doc.h"
#include "base/file.h"
#include "files/results/results_codec.h"
#include "files/results/results_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A report that another program wrote again, its members in another order, is at most as large. Of
 * other documents, such as traces, no more is read: each value takes 100 bytes of memory. */
#define REORDERED_MAX_BYTES ((size_t)1 << 20)

/* A file of another form is read up to this size, to say what it is. */
#define OTHER_MAX_BYTES ((size_t)16 << 20)

/* Reports have their sections up to "files" within this. */
#define IDENTITY_BYTES 8192

/* A pickle of protocol 2 and later begins with this byte. */
#define PICKLE_START '\x80'

/* Returns the form that a file has by its first bytes. */
static enum results_form form_of(const char *bytes, size_t length)
{
    size_t at;
    if (results_is_kept(bytes, length, &at))
        return RESULTS_KEPT;
    while (length > 0 && isspace((unsigned char)*bytes)) {
        bytes++;
        length--;
    }
    return length > 0 && *bytes == '{' ? RESULTS_REPORT : RESULTS_NONE;
}

/* True where a text begins like a report in JSON. */
static bool begins_as_report(const char *bytes, size_t length)
{
    static const char first[] = "{\"max_ram\":";
    size_t matched = 0;
    for (size_t i = 0; i < length && first[matched] != '\0'; i++) {
        if (bytes[i] == first[matched])
            matched++;
        else if (!isspace((unsigned char)bytes[i]))
            return false;
    }
    return first[matched] == '\0';
}

bool results_is_report(const char *path)
{
    char begin[64];
    return begins_as_report(begin, file_read_beginning(path, begin, sizeof begin));
}

static int refuse(const char *path, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_UNSUPPORTED, "%.400s is not a report of gpu-tracker.", path);
}

int results_reader_init(struct results_reader *reader, struct gput_error *error)
{
    *reader = (struct results_reader){.content = {0}};
    return results_line_table_init(&reader->table, error);
}

void results_reader_finish(struct results_reader *reader)
{
    str_finish(&reader->content);
    results_line_table_finish(&reader->table);
}

/* Explains why a text is no JSON. */
static int refuse_json(const char *path, const struct str *content, struct gput_error *error)
{
    CLEANUP(doc_destroy_pointer) struct doc *doc = NULL;
    int code = doc_read_json(str_text(content), content->length, path, &doc, error);
    /* A log may have one document a line, as recordings of power do. */
    if (code == GPUT_ERROR_FORMAT && !begins_as_report(str_text(content), content->length))
        return refuse(path, error);
    TRY(code);
    return error_set(error, GPUT_ERROR_FORMAT, "%.400s is nested too deeply for a report.", path);
}

/* Reads a report in JSON, and explains what is wrong with it. */
static int parse_report(struct results_reader *reader, const char *path,
    struct gput_results *results, struct gput_error *error)
{
    struct gput_error reason;
    struct str *content = &reader->content;
    size_t length = content->length;
    str_append_repeated(content, '\0', JSON_PADDING);
    if (content->failed)
        return error_memory(error);
    content->length = length;
    int code = results_read_json(&reader->table, content->data, length, false, results, &reason);
    if (code == GPUT_ERROR_FORMAT)
        return refuse_json(path, content, error);
    if (code == GPUT_ERROR_UNSUPPORTED)
        return refuse(path, error);
    if (code == GPUT_OK || code == GPUT_ERROR_MEMORY)
        return code == GPUT_OK ? code : error_memory(error);
    return error_set(error, GPUT_ERROR_FORMAT, "%.400s: %s", path, reason.message);
}

int results_reader_read(struct results_reader *reader, const char *path,
    struct gput_results *results, enum results_form *form, struct gput_error *error)
{
    char begin[64];
    struct str *content = &reader->content;
    size_t length = file_read_beginning(path, begin, sizeof begin);
    if (length > 0 && form_of(begin, length) == RESULTS_NONE) /* it may be large */
        return refuse(path, error);
    bool is_ours = form_of(begin, length) == RESULTS_KEPT || begins_as_report(begin, length);
    str_restart(content);
    int code =
        file_read_bounded(path, is_ours ? RESULTS_MAX_BYTES : REORDERED_MAX_BYTES, content, error);
    if (code == GPUT_ERROR_INVALID && !is_ours)
        code = refuse(path, error);
    enum results_form found = form_of(str_text(content), content->length);
    if (form)
        *form = found;
    TRY(code);
    return found == RESULTS_KEPT     ? results_file_parse(path, content, results, error)
           : found == RESULTS_REPORT ? parse_report(reader, path, results, error)
                                     : refuse(path, error);
}

int results_read(const char *path, struct gput_results *results, enum results_form *form,
    struct gput_error *error)
{
    CLEANUP(results_reader_finish) struct results_reader reader;
    TRY(results_reader_init(&reader, error));
    return results_reader_read(&reader, path, results, form, error);
}

int results_reader_read_identity(struct results_reader *reader, const char *path,
    struct gput_results *results, struct gput_error *error)
{
    char begin[IDENTITY_BYTES + JSON_PADDING];
    size_t length = file_read_beginning(path, begin, IDENTITY_BYTES);
    memset(begin + length, 0, JSON_PADDING);
    if (begins_as_report(begin, length)) {
        if (results_read_json(&reader->table, begin, length, true, results, NULL) == GPUT_OK)
            return GPUT_OK;
        results_finish(results);
        *results = (struct gput_results){0};
    }
    return results_reader_read(reader, path, results, NULL, error);
}

/* Says of a file in neither form what it is: too large, a pickle or anything else. */
static int refuse_other(const char *path, struct gput_error *error)
{
    CLEANUP_STR struct str content = {0};
    TRY(file_read_bounded(path, OTHER_MAX_BYTES, &content, error));
    if (content.length > 0 && content.data[0] == PICKLE_START)
        return error_set(error, GPUT_ERROR_FORMAT,
            "%.400s is a pickle, which the Python package reads: "
            "gpu_tracker.load_resource_usage().",
            path);
    return error_set(error, GPUT_ERROR_FORMAT,
        "%.400s is not a resource usage file or report of gpu-tracker.", path);
}

int gput_results_load(const char *path, struct gput_results **results, struct gput_error *error)
{
    *results = calloc(1, sizeof **results);
    int code = *results ? results_read(path, *results, NULL, error) : error_memory(error);
    if (code == GPUT_OK)
        return code;
    gput_results_destroy(*results);
    *results = NULL;
    return code == GPUT_ERROR_UNSUPPORTED ? refuse_other(path, error) : code;
}
