#include "files/marks/sub_tracking_file.h"

#include "base/text.h"
#include "files/marks/sub_tracking_columns.h"
#include "files/marks/sub_tracking_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct sub_tracking_format_methods *const formats[] = {
    [SUB_TRACKING_CSV] = &sub_tracking_csv,
    [SUB_TRACKING_SQLITE] = &sub_tracking_sqlite,
    [SUB_TRACKING_LOG] = &sub_tracking_log,
};

int sub_tracking_format_of(
    const char *path, enum sub_tracking_format *format, struct gput_error *error)
{
    for (unsigned i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (text_ends_with(path, formats[i]->extension)) {
            *format = i;
            return GPUT_OK;
        }
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "Invalid file name: \"%s\". Valid file extensions are \".csv\" and \".sqlite\". Marks "
        "may also be in a \".gputblocks\" log.",
        path);
}

/* ---- Reading ---- */

/* Opens a file by the reader of its format. */
static int open_reader(const char *path, struct sub_tracking_names *names, bool salvage,
    struct sub_tracking_reader **reader, struct gput_error *error)
{
    *reader = NULL;
    enum sub_tracking_format format = SUB_TRACKING_CSV;
    TRY(sub_tracking_format_of(path, &format, error));
    struct sub_tracking_reader *opened = calloc(1, formats[format]->reader_bytes);
    if (!opened)
        return error_memory(error);
    opened->methods = formats[format];
    opened->names = names;
    opened->checked_name = SUB_TRACKING_NO_NAME;
    opened->salvage.wanted = salvage;
    opened->path = strdup(path);
    int code = opened->path ? opened->methods->open(opened, error) : error_memory(error);
    if (code != GPUT_OK) {
        sub_tracking_reader_close(opened);
        return code;
    }
    *reader = opened;
    return GPUT_OK;
}

int sub_tracking_reader_open(const char *path, struct sub_tracking_names *names,
    struct sub_tracking_reader **reader, struct gput_error *error)
{
    return open_reader(path, names, false, reader, error);
}

int sub_tracking_reader_salvage(const char *path, struct sub_tracking_names *names,
    struct sub_tracking_reader **reader, struct gput_error *error)
{
    return open_reader(path, names, true, reader, error);
}

uint64_t sub_tracking_reader_rows_skipped(const struct sub_tracking_reader *reader)
{
    return reader->salvage.rows_skipped;
}

void sub_tracking_reader_close(struct sub_tracking_reader *reader)
{
    if (!reader)
        return;
    reader->methods->close(reader);
    sub_tracking_labels_finish(&reader->labels);
    free(reader->path);
    free(reader->warning);
    free(reader);
}

/* Whether the name of a mark is not a block's: it is one of lost calls, which are then in
 * reader->checked, or a label. */
static bool is_apart(struct sub_tracking_reader *reader, uint32_t name)
{
    if (name != reader->checked_name) {
        const char *text = sub_tracking_names_text(reader->names, name);
        size_t length = sub_tracking_names_length(reader->names, name);
        reader->checked_name = name;
        reader->checked = (struct sub_tracking_lost){0};
        sub_tracking_lost_parse(text, length, &reader->checked);
        struct sub_tracking_label label;
        reader->is_label = sub_tracking_label_parse(text, length, &label);
    }
    return reader->checked.calls > 0 || reader->is_label;
}

/* Takes a row that is not a block's: of two rows with one number or label the first counts. False
 * without memory. */
static bool take_row(struct sub_tracking_reader *reader, const struct sub_tracking_mark *row)
{
    bool is_start = row->position == SUB_TRACKING_START;
    if (reader->is_label) {
        struct sub_tracking_label label;
        sub_tracking_label_parse(sub_tracking_names_text(reader->names, row->name),
            sub_tracking_names_length(reader->names, row->name), &label);
        label.process_id = row->process_id;
        label.timestamp_ns = row->timestamp_ns;
        return !is_start || sub_tracking_labels_add(&reader->labels, &label);
    }
    struct sub_tracking_lost lost = reader->checked;
    lost.process_id = row->process_id;
    lost.since_ns = lost.until_ns = row->timestamp_ns;
    if (is_start)
        sub_tracking_lost_add(&reader->lost, &lost);
    if (row->timestamp_ns > reader->lost.until_ns)
        reader->lost.until_ns = row->timestamp_ns;
    return true;
}

/* Warns at the end of the file of calls that are not in it. */
static int warn_of_lost(struct sub_tracking_reader *reader, struct gput_error *error)
{
    struct str text = {0};
    const struct sub_tracking_lost *lost = &reader->lost;
    if (reader->has_ended || lost->calls == 0)
        return GPUT_OK;
    if (reader->warning)
        str_printf(&text, "%s ", reader->warning);
    str_printf(&text, "Sub-tracking file %s: ", reader->path);
    str_printf(&text,
        "%s%" PRIu64 " %s not in it, because it had reached a limit or the disk was full; %" PRIu64
        " %s kept.",
        lost->at_least ? "at least " : "", lost->calls, lost->calls == 1 ? "call is" : "calls are",
        reader->rows, reader->rows == 1 ? "row was" : "rows were");
    free(reader->warning);
    reader->warning = str_steal(&text);
    return reader->warning ? GPUT_OK : error_memory(error);
}

/* Reads the next rows of blocks. */
static int read_rows(struct sub_tracking_reader *reader, struct sub_tracking_mark *rows,
    size_t capacity, size_t *count, struct gput_error *error)
{
    for (;;) {
        *count = 0;
        TRY(reader->methods->next(reader, rows, capacity, count, error));
        bool is_end = *count == 0;
        /* Take out the rows that are not marks of a block; `*count` becomes the number of the
         * others. */
        size_t kept = 0;
        for (size_t i = 0; i < *count; i++) {
            if (!is_apart(reader, rows[i].name)) {
                if (kept != i)
                    rows[kept] = rows[i];
                kept++;
            } else if (!take_row(reader, &rows[i])) {
                return error_memory(error);
            }
        }
        *count = kept;
        if (is_end || *count > 0)
            return GPUT_OK;
    }
}

int sub_tracking_reader_next(struct sub_tracking_reader *reader, struct sub_tracking_mark *rows,
    size_t capacity, size_t *count, struct gput_error *error)
{
    struct gput_error damage;
    struct str text = {0};
    *count = 0;
    if (reader->salvage.cut_short)
        return GPUT_OK;
    int code = read_rows(reader, rows, capacity, count, &damage);
    if (salvage_rest(&reader->salvage, code, &damage) != GPUT_OK) {
        *count = 0;
        return error_copy(error, &damage);
    }
    reader->rows += *count;
    if (salvage_lost(&reader->salvage)) {
        reader->lost.at_least = true;
        salvage_describe(&reader->salvage, reader->rows, &text);
        free(reader->warning);
        reader->warning = str_steal(&text);
        if (!reader->warning)
            return error_memory(error);
    }
    if (*count > 0)
        return GPUT_OK;
    code = warn_of_lost(reader, error);
    reader->has_ended = true;
    return code;
}

const struct sub_tracking_lost *sub_tracking_reader_lost(const struct sub_tracking_reader *reader)
{
    return &reader->lost;
}

struct sub_tracking_labels *sub_tracking_reader_labels(struct sub_tracking_reader *reader)
{
    return &reader->labels;
}

unsigned sub_tracking_reader_columns(const struct sub_tracking_reader *reader)
{
    return reader->columns;
}

void sub_tracking_reader_progress(
    const struct sub_tracking_reader *reader, uint64_t *done, uint64_t *total)
{
    reader->methods->progress(reader, done, total);
}

const char *sub_tracking_reader_warning(const struct sub_tracking_reader *reader)
{
    return reader->warning;
}
