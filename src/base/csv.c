#include "base/csv.h"

#include "base/array.h"
#include "base/number.h"
#include "base/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_CAPACITY (256u << 10)

struct csv_reader {
    int fd;
    char *path;
    char *buffer; /* bytes from `start` to `fill` are read and not returned yet */
    size_t capacity;
    size_t start;
    size_t fill;
    bool at_end; /* the end of the file was reached */
    bool ends_at_lines;
    uint64_t line;    /* line number of `start` */
    uint64_t skipped; /* bytes before the buffer */
    uint64_t size;
};

/* The state of the parser at a byte; a line end ends the record except inside quotes. */
enum place { CELL_START, PLAIN, QUOTED, AFTER_QUOTE };

int csv_reader_open(const char *path, struct csv_reader **reader, struct gput_error *error)
{
    *reader = NULL;
    struct csv_reader *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (made->fd < 0) {
        int code = error_set_errno(error, errno, "Cannot open %s", path);
        free(made);
        return code;
    }
    made->capacity = FIRST_CAPACITY;
    made->buffer = malloc(made->capacity);
    made->path = strdup(path);
    made->line = 1;
    struct stat status;
    if (fstat(made->fd, &status) == 0 && S_ISREG(status.st_mode))
        made->size = (uint64_t)status.st_size;
    if (!made->buffer || !made->path) {
        csv_reader_close(made);
        return error_memory(error);
    }
    *reader = made;
    return GPUT_OK;
}

void csv_reader_close(struct csv_reader *reader)
{
    if (!reader)
        return;
    close(reader->fd);
    free(reader->path);
    free(reader->buffer);
    free(reader);
}

void csv_reader_end_at_lines(struct csv_reader *reader)
{
    reader->ends_at_lines = true;
}

void csv_reader_progress(const struct csv_reader *reader, uint64_t *done, uint64_t *total)
{
    *done = reader->skipped + reader->start;
    *total = reader->size;
}

uint64_t csv_reader_place(const struct csv_reader *reader)
{
    return reader->skipped + reader->start;
}

int csv_reader_fd(const struct csv_reader *reader)
{
    return reader->fd;
}

int csv_reader_move(
    struct csv_reader *reader, uint64_t place, uint64_t lines, struct gput_error *error)
{
    reader->line += lines;
    if (place <= reader->skipped + reader->fill) {
        reader->start = (size_t)(place - reader->skipped);
        return GPUT_OK;
    }
    if (lseek(reader->fd, (off_t)place, SEEK_SET) < 0)
        return error_set_errno(error, errno, "Cannot read %s", reader->path);
    reader->start = reader->fill = 0;
    reader->skipped = place;
    reader->at_end = false;
    return GPUT_OK;
}

/* Moves the unread bytes to the front, and enlarges a full buffer. False: out of memory. */
static bool reserve_space(struct csv_reader *reader)
{
    if (reader->start > 0) {
        reader->fill -= reader->start;
        memmove(reader->buffer, reader->buffer + reader->start, reader->fill);
        reader->skipped += reader->start;
        reader->start = 0;
    }
    if (reader->fill < reader->capacity)
        return true;
    if (!ARRAY_RESIZE(reader->buffer, reader->capacity * 2))
        return false;
    reader->capacity *= 2;
    return true;
}

/* Returns where a byte leads: into quotes, out of them or to the next cell. */
static enum place place_after(enum place place, char byte)
{
    if (place == QUOTED)
        return byte == '"' ? AFTER_QUOTE : QUOTED;
    if (byte == '"' && place != PLAIN)
        return QUOTED;
    return byte == ',' ? CELL_START : PLAIN;
}

/* Finds the line end of the record, from `from` on; NULL when it is not in the buffer. `*place` is
 * the state at `from`, and afterwards that at the end of the buffer. */
static char *find_record_end(
    const struct csv_reader *reader, char *from, enum place *place, uint64_t *lines)
{
    char *fill = reader->buffer + reader->fill;
    while (from < fill) {
        char *line_end = memchr(from, '\n', (size_t)(fill - from));
        char *stop = line_end ? line_end : fill;
        if (*place == QUOTED || memchr(from, '"', (size_t)(stop - from))) {
            for (; from < stop; from++)
                *place = place_after(*place, *from);
        } else if (stop > from)
            *place = stop[-1] == ',' ? CELL_START : PLAIN;
        if (!line_end)
            return NULL;
        *lines += 1;
        if (*place != QUOTED || reader->ends_at_lines)
            return line_end;
        from = line_end + 1;
    }
    return NULL;
}

/* Finds the end of the next record, which may be empty. */
static int next_record(
    struct csv_reader *reader, struct csv_record *record, bool *end, struct gput_error *error)
{
    enum place place = CELL_START;
    uint64_t lines = 0;
    size_t scanned = 0; /* bytes after `start` that were scanned */
    char *line_end = NULL;

    while (!(line_end = find_record_end(
                 reader, reader->buffer + reader->start + scanned, &place, &lines))) {
        scanned = reader->fill - reader->start;
        if (reader->at_end)
            break;

        /* Read more after what is in the buffer, which may move to its front. */
        if (reader->fill - reader->start > CSV_RECORD_MAX)
            return error_set(error, GPUT_ERROR_FORMAT,
                "%s is not a CSV file: line %llu is longer than %u MB", reader->path,
                (unsigned long long)reader->line, CSV_RECORD_MAX >> 20);
        if (!reserve_space(reader))
            return error_memory(error);
        ssize_t got;
        do
            got = read(reader->fd, reader->buffer + reader->fill, reader->capacity - reader->fill);
        while (got < 0 && errno == EINTR);
        if (got < 0)
            return error_set_errno(error, errno, "Cannot read %s", reader->path);

        bool first = reader->skipped == 0 && reader->fill == 0;
        reader->fill += (size_t)got;
        reader->at_end = got == 0;
        if (first && got >= 3 && memcmp(reader->buffer, "\xef\xbb\xbf", 3) == 0)
            reader->start = 3;

        if (reader->start > 0) /* a byte order mark was skipped; nothing was scanned yet */
            scanned = 0;
    }
    char *start = reader->buffer + reader->start;
    char *stop = line_end ? line_end : reader->buffer + reader->fill;
    *end = !line_end && start == stop;
    record->text = start;
    record->end = line_end && stop > start && stop[-1] == '\r' ? stop - 1 : stop;
    record->terminated = line_end != NULL;
    record->line = reader->line;
    reader->line += lines;
    reader->start = (size_t)(stop - reader->buffer) + (line_end != NULL);
    return GPUT_OK;
}

int csv_reader_next(
    struct csv_reader *reader, struct csv_record *record, bool *end, struct gput_error *error)
{
    do
        TRY(next_record(reader, record, end, error));
    while (!*end && record->text == record->end);
    if (*end)
        *record = (struct csv_record){0};
    return GPUT_OK;
}

bool csv_reader_unread_lines(struct csv_reader *reader, const struct csv_record *record)
{
    const char *line_end = memchr(record->text, '\n', (size_t)(record->end - record->text));
    if (!line_end)
        return false;
    reader->start = (size_t)(line_end + 1 - reader->buffer);
    reader->line = record->line + 1;
    return true;
}

size_t csv_count_cells(const struct csv_record *record)
{
    enum place place = CELL_START;
    size_t count = 1;
    for (const char *at = record->text; at < record->end; at++) {
        count += *at == ',' && place != QUOTED;
        place = place_after(place, *at);
    }
    return count;
}

/* Removes the quotes of the cell at `at`; returns the comma or the end after it. */
static char *unquote(char *at, char *end, struct csv_cell *cell)
{
    enum place place = CELL_START;
    char *out = at;
    cell->text = at;
    for (; at < end && (*at != ',' || place == QUOTED); at++) {
        bool opens = *at == '"' && place == CELL_START;
        bool closes = *at == '"' && place == QUOTED;
        place = place_after(place, *at);
        if (!opens && !closes)
            *out++ = *at;
    }
    cell->length = (size_t)(out - cell->text);
    return at;
}

size_t csv_split(struct csv_record *record, struct csv_cell *cells, size_t capacity)
{
    char *at = record->text;
    for (size_t count = 0;; count++) {
        struct csv_cell ignored;
        struct csv_cell *cell = count < capacity ? &cells[count] : &ignored;
        if (at < record->end && *at == '"') {
            at = unquote(at, record->end, cell);
        } else {
            char *comma = memchr(at, ',', (size_t)(record->end - at));
            char *stop = comma ? comma : record->end;
            *cell = (struct csv_cell){at, (size_t)(stop - at)};
            at = stop;
        }
        if (at == record->end)
            return count + 1;
        at++;
    }
}

void csv_append_cell(struct str *text, const char *content, size_t length)
{
    bool plain = true;
    for (size_t i = 0; i < length && plain; i++)
        plain = content[i] != ',' && content[i] != '"' && content[i] != '\n' && content[i] != '\r';
    if (plain) {
        str_append_bytes(text, content, length);
        return;
    }
    str_append_char(text, '"');
    for (size_t i = 0; i < length; i++) {
        if (content[i] == '"')
            str_append_char(text, '"');
        str_append_char(text, content[i]);
    }
    str_append_char(text, '"');
}

void csv_append_shown(struct str *text, const char *content)
{
    double number;
    size_t length = strlen(content);
    const char *end = number_parse_double(content, content + length, &number);
    bool is_formula = strchr("=+-@\t", content[0]) && content[0] && end != content + length;
    struct str shown = {0};
    str_append(&shown, is_formula ? "'" : "");
    str_append_bytes(&shown, content, length);
    screen_sanitize(&shown, 0);
    csv_append_cell(text, str_text(&shown), shown.length);
    text->failed |= shown.failed;
    str_finish(&shown);
}

void csv_append_number(struct str *text, double value)
{
    if (!isnan(value))
        str_append_double(text, value);
}
