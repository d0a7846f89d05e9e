/*
 * SQLite files of every kind that is read: tracking files, marks, recordings of power. The first
 * byte says which; the rest are changes of a sound file, so that most are databases that SQLite
 * still opens, or (when that byte is odd) SQL that makes the database, so that tables and columns
 * are not as they should be.
 */
#include "base/clock.h"
#include "files/sqlite_file.h"
#include "files/tracking/tracking_file.h"
#include "files/tracking/tracking_reader.h"
#include "fuzz_folder.h"
#include "fuzz_marks.h"

#include <gputracker/energy_recording.h>
#include <gputracker/recorded.h>

#include "fuzz_text.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { TRACKING, MARKS, RECORDING, KINDS };

static char folder[64];
static char paths[KINDS][128];
static char *sound[KINDS]; /* the bytes of a file that is right */
static size_t sound_length[KINDS];

static void remove_files(void)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
            char name[512];
            snprintf(name, sizeof name, "%s%s", paths[kind], endings[i]);
            unlink(name);
        }
    }
}

static void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, length, file) != length)
        abort();
    fclose(file);
}

static void run(const char *path, const char *sql)
{
    sqlite3 *database;
    if (sqlite_file_open_shared(path, &database, NULL) == GPUT_OK) {
        sqlite3_exec(database, "PRAGMA hard_heap_limit=268435456", NULL, NULL, NULL);
        sqlite3_exec(database, sql, NULL, NULL, NULL);
    }
    sqlite3_close(database);
}

static void make_tracking(void)
{
    struct gput_static_data data = {.system_core_count = 2, .n_expected_cores = 2};
    struct tracking_file *file;
    if (tracking_file_create(paths[TRACKING], &data, true, &file, NULL) != GPUT_OK)
        abort();
    for (int i = 0; i < 5; i++) {
        struct gput_sample sample = {.time_ns = (INT64_C(1700000000) + i) * NS_PER_SECOND};
        if (tracking_file_write_row(file, &sample, i * NS_PER_SECOND, NULL) != GPUT_OK)
            abort();
    }
    if (tracking_file_finish(file, NULL, NULL) != GPUT_OK)
        abort();
}

static void make_sound_files(void)
{
    snprintf(folder, sizeof folder, "%s/fuzz-sqlite-XXXXXX", fuzz_folder());
    if (!mkdtemp(folder))
        abort();
    snprintf(paths[TRACKING], sizeof paths[0], "%s/t.sqlite", folder);
    snprintf(paths[MARKS], sizeof paths[0], "%s/m.sqlite", folder);
    snprintf(paths[RECORDING], sizeof paths[0], "%s/power_metrics.sqlite", folder);
    make_tracking();
    run(paths[MARKS], "CREATE TABLE data (process_id INTEGER, code_block_name TEXT, position "
                      "INTEGER, timestamp REAL, thread_id INTEGER, started_ns INTEGER);"
                      "INSERT INTO data VALUES (1, 'a', 0, 1700000000.5, 1, NULL), "
                      "(1, 'a', 1, 1700000001.5, 1, 1700000000500000000)");
    run(paths[RECORDING],
        "CREATE TABLE power_metrics (date TEXT, segment INTEGER, device TEXT, name TEXT, key TEXT, "
        "value REAL); INSERT INTO power_metrics VALUES ('2023-06-30 16:32:14', 0, 'cpu', "
        "'psys_power', NULL, 12.5), ('2023-06-30 16:32:16', 0, 'cpu', 'psys_power', NULL, 13)");
    for (int kind = 0; kind < KINDS; kind++) {
        FILE *file = fopen(paths[kind], "r");
        struct stat info;
        if (!file || fstat(fileno(file), &info) != 0)
            abort();
        sound_length[kind] = (size_t)info.st_size;
        sound[kind] = malloc(sound_length[kind]);
        if (!sound[kind] || fread(sound[kind], 1, sound_length[kind], file) != sound_length[kind])
            abort();
        fclose(file);
    }
}

/* Changes of up to 16 bytes, each after its place and length; the file may also end early. */
static void write_changed(enum kind kind, const uint8_t *data, size_t size)
{
    char *bytes = malloc(sound_length[kind]);
    size_t total = sound_length[kind];
    if (!bytes)
        abort();
    memcpy(bytes, sound[kind], total);
    while (size > 4) {
        size_t at = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % total;
        size_t length = (size_t)(data[3] % 16) + 1;
        if (data[3] == 0xff && at > 0)
            total = at;
        data += 4, size -= 4;
        if (length > size)
            length = size;
        if (length > total - (at < total ? at : total))
            length = total - (at < total ? at : total);
        memcpy(bytes + at, data, length);
        data += length, size -= length;
    }
    write_file(paths[kind], bytes, total);
    free(bytes);
}

static void read_tracking(
    int open_reader(const char *path, struct tracking_reader **reader, struct gput_error *error))
{
    struct tracking_reader *reader;
    struct tracking_row rows[3];
    size_t count;
    if (open_reader(paths[TRACKING], &reader, NULL) != GPUT_OK)
        return;
    while (tracking_reader_next(reader, rows, 3, &count, NULL) == GPUT_OK && count > 0)
        ;
    tracking_reader_warning(reader);
    tracking_reader_close(reader);
}

static void read_recording(void)
{
    struct gput_energy_recording *recording;
    char *text;
    if (gput_energy_recording_load(folder, &recording, NULL) == GPUT_OK &&
        gput_energy_recording_render(recording, NULL, GPUT_FORMAT_TEXT, &text, NULL, NULL) ==
            GPUT_OK)
        free(text);
    gput_energy_recording_destroy(recording);
}

static void read_file(enum kind kind)
{
    if (kind == TRACKING) {
        read_tracking(tracking_reader_open);
        read_tracking(tracking_reader_salvage);
    } else if (kind == MARKS) {
        fuzz_read_marks(paths[MARKS], sub_tracking_reader_open);
        fuzz_read_marks(paths[MARKS], sub_tracking_reader_salvage);
    } else {
        read_recording();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0])
        make_sound_files();
    if (size < 2)
        return 0;
    remove_files();
    enum kind kind = (enum kind)(data[0] / 2 % KINDS);
    if (data[0] % 2) {
        char *sql = fuzz_text(data + 1, size - 1);
        write_file(paths[kind], sound[kind], sound_length[kind]);
        if (!strcasestr(sql, "attach") && !strcasestr(sql, "vacuum") &&
            !strcasestr(sql, "recursive"))
            run(paths[kind], sql);
        free(sql);
    } else {
        write_changed(kind, data + 1, size - 1);
    }
    read_file(kind);
    return 0;
}
