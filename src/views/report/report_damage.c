#include "views/report/report_damage.h"

#include "base/file.h"
#include "base/text.h"
#include "files/marks/block_log.h"
#include "files/results/results_read.h"
#include "model/results_columns.h"
#include "views/report/loaders/report_loader.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* Fewer bytes may be the beginning of anything. */
#define MIN_BEGINNING 8
#define BEGINNING 64

/* Of a database: where its header, which begins with a magic string, has the size of its pages, and
 * how many these are. https://www.sqlite.org/fileformat.html */
#define DATABASE_MAGIC "SQLite format 3"
#define PAGE_SIZE_AT 16
#define PAGE_COUNT_AT 28
#define HEADER_READ 32

/* Whether a file begins as a tracking file, also where it is cut within these lines. */
static bool begins_as_tracking_file(const char *bytes, size_t length)
{
    static const char *const begins[] = {"ram_unit,gpu_ram_unit,", "main_ram,descendants_ram,"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t compared = length < strlen(begins[i]) ? length : strlen(begins[i]);
        if (compared >= MIN_BEGINNING && memcmp(bytes, begins[i], compared) == 0)
            return true;
    }
    return false;
}

/* The number that so many bytes are, the highest first. */
static uint32_t big_endian(const char *bytes, size_t count)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

/* How many bytes a database says that it has; 0: not known. */
static uint64_t database_size(const char *bytes)
{
    uint32_t page = big_endian(bytes + PAGE_SIZE_AT, 2);
    return (uint64_t)(page == 1 ? 65536 : page) * big_endian(bytes + PAGE_COUNT_AT, 4);
}

/* Whether a database is shorter than its header says. */
static bool is_cut_database(
    const char *path, const char *bytes, size_t length, struct gput_error *reason)
{
    struct stat info;
    if (length < HEADER_READ || memcmp(bytes, DATABASE_MAGIC, sizeof DATABASE_MAGIC) != 0 ||
        !text_ends_with(path, ".sqlite") || stat(path, &info) != 0 ||
        (uint64_t)info.st_size >= database_size(bytes))
        return false;
    error_set(reason, GPUT_ERROR_FORMAT,
        "the database is truncated: it should have %" PRIu64 " bytes and has %" PRIu64 ".",
        database_size(bytes), (uint64_t)info.st_size);
    return true;
}

/* Whether a file lacks what its name promises. One with the name of a database and not its header
 * was truncated or overwritten, whoever wrote it. A CSV that begins with zero bytes is of a machine
 * that went down. */
static bool is_no_content(
    const char *path, const char *bytes, size_t length, struct gput_error *reason)
{
    bool is_database =
        length >= HEADER_READ && memcmp(bytes, DATABASE_MAGIC, sizeof DATABASE_MAGIC) == 0;
    if (text_ends_with(path, ".sqlite") && !is_database)
        error_set(reason, GPUT_ERROR_FORMAT, "it does not have the header of a database.");
    else if (text_ends_with(path, ".csv") && bytes[0] == '\0')
        error_set(reason, GPUT_ERROR_FORMAT, "it begins with zero bytes.");
    else
        return false;
    return true;
}

/* Whether a file is a report of ours, by the first key that these have, and cannot be read. */
static bool is_damaged_report(
    const char *path, const char *bytes, size_t length, struct gput_error *reason)
{
    struct gput_error damage;
    struct gput_results results = {0};
    if (bytes[0] != '{' || !memmem(bytes, length, "\"max_ram\"", strlen("\"max_ram\"")))
        return false;
    bool is_damaged = results_read(path, &results, NULL, &damage) == GPUT_ERROR_FORMAT;
    results_finish(&results);
    if (is_damaged)
        error_copy(reason, &damage);
    return is_damaged;
}

/* Whether a file has a name that only we give to logs of marks, and cannot be read. */
static bool is_damaged_log(const char *path, struct gput_error *reason)
{
    return text_ends_with(path, BLOCK_LOG_EXTENSION) &&
           report_marks_loader.probe(path, false, reason) == GPUT_ERROR_FORMAT;
}

bool report_damage_is(const char *path, struct gput_error *reason)
{
    char bytes[BEGINNING];
    size_t length = file_read_beginning(path, bytes, sizeof bytes);
    return length > 0 &&
           (begins_as_tracking_file(bytes, length) || is_no_content(path, bytes, length, reason) ||
               is_cut_database(path, bytes, length, reason) || is_damaged_log(path, reason) ||
               is_damaged_report(path, bytes, length, reason));
}
