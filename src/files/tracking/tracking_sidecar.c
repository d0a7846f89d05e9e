#include "files/tracking/tracking_sidecar.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "files/tracking/tracking_format.h"
#include "files/tracking/tracking_identity.h"
#include "model/results_identity.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)1 << 20)
/* The first key says that it is one of ours, and names the file that it is of. */
#define TRACKING_KEY "tracking_file"
#define REPORT_KEY "report_file"

/* Returns the path of the file next to a tracking file, which is the caller's; NULL: no memory. */
static char *path_of(const char *tracking_file)
{
    struct str path = {0};
    str_printf(&path, "%s" TRACKING_IDENTITY_EXTENSION, tracking_file);
    return str_steal(&path);
}

struct doc *tracking_sidecar_read(const char *tracking_file)
{
    CLEANUP_FREE char *path = path_of(tracking_file);
    CLEANUP_STR struct str text = {0};
    struct doc *doc = NULL;
    if (path && file_read_regular(path, MAX_BYTES, &text, NULL) == GPUT_OK)
        doc_read_json(str_text(&text), text.length, path, &doc, NULL);
    if (doc && (doc->kind != DOC_OBJECT || !(doc_get(doc, TRACKING_KEY) ||
                                               doc_get(doc, REPORT_KEY)))) { /* it is another one */
        doc_destroy(doc);
        doc = NULL;
    }
    return doc;
}

int tracking_sidecar_check(const char *tracking_file, struct gput_error *error)
{
    struct stat info;
    CLEANUP_FREE char *path = path_of(tracking_file);
    if (!path)
        return error_memory(error);
    CLEANUP(doc_destroy_pointer) struct doc *old = tracking_sidecar_read(tracking_file);
    if (old || stat(path, &info) != 0)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_EXISTS,
        "File %s already exists and does not describe a session: the identity of this one is not "
        "saved.",
        path);
}

uint64_t tracking_sidecar_rows_lost(const struct doc *doc)
{
    double lost = doc_number(doc_get(doc, TRACKING_ROWS_LOST));
    return lost > 0 && lost < 0x1p53 ? (uint64_t)lost : 0;
}

void tracking_sidecar_remove(const char *tracking_file)
{
    CLEANUP(doc_destroy_pointer) struct doc *doc = tracking_sidecar_read(tracking_file);
    CLEANUP_FREE char *path = doc ? path_of(tracking_file) : NULL;
    if (path)
        unlink(path);
}

int tracking_sidecar_write(const char *tracking_file, const struct gput_static_data *static_data,
    const struct gput_results *results, bool has_ended, uint64_t rows_lost,
    struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    CLEANUP_FREE char *path = path_of(tracking_file);
    CLEANUP(doc_destroy_pointer) struct doc *doc = doc_create_object();
    if (!path || !doc)
        return error_memory(error);
    bool is_tracking_file = text_ends_with(tracking_file, ".csv");
    doc_add_string(
        doc, is_tracking_file ? TRACKING_KEY : REPORT_KEY, file_base_name(tracking_file));
    struct doc *object = static_data ? doc_add_object(doc, "static_data") : NULL;
    for (size_t i = 0; object && i < TRACKING_STATIC_COLUMNS; i++) {
        struct tracking_value value = tracking_static_value(static_data, i);
        const char *name = tracking_static_columns[i].name;
        if (value.kind == TRACKING_TEXT)
            doc_add_string(object, name, value.text);
        else if (value.kind == TRACKING_INTEGER)
            doc_add_int(object, name, value.integer);
        else
            doc_add_double(object, name, value.real);
    }
    if (results)
        results_identity_add(results, doc);
    if (results && has_ended)
        results_figures_add(results, doc);
    if (rows_lost > 0)
        doc_add_int(doc, TRACKING_ROWS_LOST, (int64_t)rows_lost);
    doc_write_json(doc, 1, &text);
    str_append_char(&text, '\n');
    if (doc_failed(doc) || text.failed)
        return error_memory(error);

    /* How the session ended is what one wants to know of a full disk most. */
    struct gput_error reason;
    if (file_write_atomic(path, text.data, text.length, &reason) == GPUT_OK ||
        file_write_in_place(path, text.data, text.length))
        return GPUT_OK;
    *error = reason;
    return reason.code;
}
