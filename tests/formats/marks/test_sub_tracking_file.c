#include "formats/marks/sub_tracking_file.h"
#include "formats/temporary.h"

#include "formats/marks/block_log.h"

#include <sqlite3.h>
#include <sys/stat.h>

#define HEADER "process_id,code_block_name,position,timestamp\n"
#define THREADS "process_id,code_block_name,position,timestamp,thread_id\n"

/* All rows of a file, read two at a time so that every reader has to stop and go on. */
struct content {
    struct sub_tracking_names *names;
    struct sub_tracking_mark rows[64];
    size_t count;
    unsigned columns;
    char warning[512];
    struct sub_tracking_lost lost;
    struct gput_error error;
};

static int read_file(const char *path, struct content *content)
{
    memset(content, 0, sizeof *content);
    content->names = sub_tracking_names_create();
    struct sub_tracking_reader *reader;
    int code = sub_tracking_reader_open(path, content->names, &reader, &content->error);
    if (code != GPUT_OK)
        return code;
    content->columns = sub_tracking_reader_columns(reader);
    size_t got;
    do {
        assert_true(content->count + 2 <= 64);
        code = sub_tracking_reader_next(
            reader, content->rows + content->count, 2, &got, &content->error);
        content->count += got;
    } while (code == GPUT_OK && got > 0);
    content->lost = *sub_tracking_reader_lost(reader);
    const char *warning = sub_tracking_reader_warning(reader);
    snprintf(content->warning, sizeof content->warning, "%s", warning ? warning : "");
    sub_tracking_reader_close(reader);
    return code;
}

static int read_text(const char *text, struct content *content)
{
    const char *path = temporary("x.csv");
    temporary_write(path, text);
    return read_file(path, content);
}

static void forget(struct content *content)
{
    sub_tracking_names_destroy(content->names);
}

static const char *name_of(const struct content *content, size_t row)
{
    return sub_tracking_names_text(content->names, content->rows[row].name);
}

static void csv_rows_come_with_both_forms_of_their_time(void **state)
{
    (void)state;
    struct content content;
    assert_int_equal(read_text(HEADER "1723811,X,0,1745449609.7528222\n"
                                      "1723811,X,1,1745449613.5\n"
                                      "7,Y,0,12\n",
                         &content),
        GPUT_OK);
    assert_int_equal(content.count, 3);
    assert_int_equal(content.rows[0].process_id, 1723811);
    assert_int_equal(content.rows[0].position, SUB_TRACKING_START);
    assert_true(content.rows[0].timestamp == 1745449609.7528222);
    assert_int_equal(content.rows[0].timestamp_ns, INT64_C(1745449609752822200));
    assert_int_equal(content.rows[0].thread_id, SUB_TRACKING_UNKNOWN);
    assert_int_equal(content.rows[0].exact.energy_uj, SUB_TRACKING_UNKNOWN);
    assert_int_equal(content.rows[1].position, SUB_TRACKING_STOP);
    assert_int_equal(content.rows[0].name, content.rows[1].name);
    assert_string_equal(name_of(&content, 0), "X");
    assert_string_equal(name_of(&content, 2), "Y");
    assert_int_equal(content.rows[2].timestamp_ns, INT64_C(12000000000));
    assert_int_equal(content.columns, 0);
    assert_string_equal(content.warning, "");
    forget(&content);
}

static void csv_columns_may_be_in_any_order_with_others(void **state)
{
    (void)state;
    struct content content;
    assert_int_equal(read_text("\xef\xbb\xbf"
                               "note, timestamp,position,\"code_block_name\",x,process_id\r\n"
                               "\"a,\"\"b\",2.5,1,\"train, \"\"big\"\"\nset\",,3.0\r\n",
                         &content),
        GPUT_OK);
    assert_int_equal(content.count, 1);
    assert_int_equal(content.rows[0].process_id, 3);
    assert_string_equal(name_of(&content, 0), "train, \"big\"\nset");
    assert_int_equal(content.rows[0].timestamp_ns, INT64_C(2500000000));
    forget(&content);
}

static void a_quote_within_a_name_is_part_of_it(void **state)
{
    (void)state;
    struct content content;
    assert_int_equal(read_text(HEADER "1,5\" disk,0,1.5\n1,5\" disk,1,2.5\n", &content), GPUT_OK);
    assert_int_equal(content.count, 2);
    assert_string_equal(name_of(&content, 1), "5\" disk");
    forget(&content);
}

static void csv_fields_may_all_be_quoted(void **state)
{
    (void)state;
    struct content content;
    assert_int_equal(
        read_text("process_id,code_block_name,position,timestamp,thread_id\n"
                  "\"12\",\"X\",\"1\",\"2.5\",\"\"\n\"12\",\"X\",\"1\",\"3.5\",\"7\"\n",
            &content),
        GPUT_OK);
    assert_int_equal(content.count, 2);
    assert_int_equal(content.rows[0].process_id, 12);
    assert_int_equal(content.rows[0].position, SUB_TRACKING_STOP);
    assert_int_equal(content.rows[0].timestamp_ns, INT64_C(2500000000));
    assert_int_equal(content.rows[0].thread_id, SUB_TRACKING_UNKNOWN);
    assert_int_equal(content.rows[1].thread_id, 7);
    forget(&content);
    static const char *const wrong[] = {"\"1\"2,X,0,1.5\n", "\"1 2\",X,0,1.5\n", "\"\",X,0,1.5\n",
        "\"1,X\",0,1.5\n", "1,X,\"0,1.5\"\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, HEADER "%s", wrong[i]);
        assert_int_equal(read_text(text, &content), GPUT_ERROR_FORMAT);
        forget(&content);
    }
}

static void csv_reads_optional_exact_figures(void **state)
{
    (void)state;
    struct content content;
    assert_int_equal(
        read_text(
            "process_id,code_block_name,position,timestamp,thread_id,thread_cpu_ns,energy_uj\n"
            "1,a,0,1.0,4,500,\n",
            &content),
        GPUT_OK);
    assert_int_equal(content.columns, SUB_TRACKING_COLUMN_THREAD_ID | SUB_TRACKING_COLUMNS_EXACT);
    assert_int_equal(content.rows[0].thread_id, 4);
    assert_int_equal(content.rows[0].exact.thread_cpu_ns, 500);
    assert_int_equal(content.rows[0].exact.energy_uj, SUB_TRACKING_UNKNOWN);
    forget(&content);
}

static void a_truncated_last_line_is_skipped_with_a_warning(void **state)
{
    (void)state;
    static const char *const torn[] = {"1", "1,", "1,X", "1,X,", "1,X,1", "1,X,1,", "1,\"X",
        "1,X,1,17454", "1,X,1,1745449609.8", "1,X,1,1745449610.75", "1,X,1,1745449610.75\r", NULL};
    for (unsigned i = 0; torn[i]; i++) {
        char text[256];
        struct content content;
        snprintf(text, sizeof text, HEADER "1,X,0,1745449609.75\n%s", torn[i]);
        assert_int_equal(read_text(text, &content), GPUT_OK);
        assert_int_equal(content.count, 1);
        assert_non_null(strstr(content.warning,
            "the last line is cut off (it has no line end) and was left out; 1 rows were kept."));
        forget(&content);
    }
}

static void a_file_without_its_beginning_has_no_marks_yet(void **state)
{
    (void)state;
    static const char *const names[] = {"x.csv", "x.sqlite", "x.gputblocks"};
    struct content content;
    for (unsigned i = 0; i < 3; i++) {
        temporary_write(temporary(names[i]), "");
        assert_int_equal(read_file(temporary(names[i]), &content), GPUT_OK);
        assert_int_equal(content.count, 0);
        assert_non_null(strstr(content.warning, "it has no marks yet"));
        forget(&content);
    }
    assert_int_equal(read_text("process_id,code_bl", &content), GPUT_OK);
    assert_non_null(strstr(content.warning, "it has no marks yet"));
    forget(&content);
}

static void errors_in_a_csv_file_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"a,b\n", "it has no column process_id."},
        {"process_id,code_block_name,timestamp\n", "it has no column position."},
        {HEADER "x,X,0,1.0\n", "line 2: its field 1 is not a process id."},
        {HEADER "1,X,2,1.0\n", "line 2: its field 3 is not 0 (start) or 1 (stop)."},
        {HEADER "1,X,0,1.0\n1,X,1,soon\n",
            "line 3: its field 4 is not a time in seconds since the epoch."},
        {HEADER "1,X,0,nan\n", "line 2: its field 4"},
        {HEADER "1,X,0,1e300\n", "line 2: its field 4"},
        {HEADER "1,X,0\n", "line 2: its field 4"},
        {HEADER "1,X,0,1.0,9\n", "line 2 has more fields than the header."},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct content content;
        assert_int_equal(read_text(cases[i].text, &content), GPUT_ERROR_FORMAT);
        assert_non_null(strstr(content.error.message, "/x.csv is invalid: "));
        if (!strstr(content.error.message, cases[i].message))
            fail_msg("%s", content.error.message);
        forget(&content);
    }
}

static void other_extensions_and_missing_files_are_refused(void **state)
{
    (void)state;
    struct content content;
    assert_int_equal(read_file("marks.txt", &content), GPUT_ERROR_INVALID);
    assert_string_equal(content.error.message, "Invalid file name: \"marks.txt\". Valid file "
                                               "extensions are \".csv\" and \".sqlite\". Marks "
                                               "may also be in a \".gputblocks\" log.");
    forget(&content);
    static const char *const missing[] = {"none.csv", "none.sqlite", "none.gputblocks"};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(read_file(temporary(missing[i]), &content), GPUT_ERROR_NOT_FOUND);
        assert_non_null(strstr(content.error.message, missing[i]));
        forget(&content);
    }
}

/* ---- Writing ---- */

static const struct sub_tracking_exact unknown = {-1, -1, -1, -1, -1, -1};

static void fill_rows(struct content *content)
{
    memset(content, 0, sizeof *content);
    content->names = sub_tracking_names_create();
    uint32_t a = sub_tracking_names_add(content->names, "a,\"b\"", 5);
    uint32_t b = sub_tracking_names_add(content->names, "b.py:12", 7);
    content->count = 4;
    content->rows[0] = (struct sub_tracking_mark){.process_id = 10,
        .thread_id = 11,
        .timestamp_ns = INT64_C(1745449609752822200),
        .timestamp = 1745449609.7528222,
        .name = a,
        .exact = {1, 2, 3, 4, 5, 6}};
    content->rows[1] = (struct sub_tracking_mark){.process_id = 10,
        .thread_id = INT64_C(140000000000000),
        .timestamp_ns = INT64_C(1745449610000000000),
        .timestamp = 1745449610.0,
        .name = b,
        .exact = unknown};
    content->rows[2] = content->rows[0];
    content->rows[2].process_id = 12;
    content->rows[2].position = SUB_TRACKING_STOP;
    content->rows[3] = content->rows[1];
    content->rows[3].thread_id = SUB_TRACKING_UNKNOWN;
    content->rows[3].position = SUB_TRACKING_STOP;
}

static void write_rows(const char *path, unsigned columns, const struct content *content)
{
    struct sub_tracking_writer *writer;
    assert_int_equal(sub_tracking_writer_create(path, columns, &writer, NULL), GPUT_OK);
    assert_int_equal(
        sub_tracking_writer_add(writer, content->rows, content->count, content->names, NULL),
        GPUT_OK);
    assert_int_equal(sub_tracking_writer_finish(writer, NULL), GPUT_OK);
}

static void lost_calls_are_no_rows_and_are_copied(void **state)
{
    (void)state;
    static const char *const names[] = {"x.csv", "x.sqlite", "x.gputblocks"};
    const struct sub_tracking_lost lost = {
        .calls = 12, .process_id = 7, .since_ns = 1000000001, .until_ns = 3000000003};
    for (unsigned i = 0; i < 3; i++) {
        struct content written;
        struct content content;
        struct sub_tracking_writer *writer;
        fill_rows(&written);
        assert_int_equal(sub_tracking_writer_create(temporary(names[i]), 0, &writer, NULL), 0);
        assert_int_equal(sub_tracking_writer_add_lost(writer, &lost, NULL), GPUT_OK);
        sub_tracking_writer_add(writer, written.rows, written.count, written.names, NULL);
        assert_int_equal(sub_tracking_writer_add_lost(writer, &lost, NULL), GPUT_OK);
        assert_int_equal(sub_tracking_writer_finish(writer, NULL), GPUT_OK);
        assert_int_equal(read_file(temporary(names[i]), &content), GPUT_OK);
        assert_int_equal(content.count, written.count);
        assert_int_equal(content.lost.calls, 24);
        assert_int_equal(content.lost.since_ns, lost.since_ns);
        assert_int_equal(content.lost.until_ns, lost.until_ns);
        assert_non_null(strstr(content.warning, ": 24 calls are not in it"));
        assert_non_null(strstr(content.warning, "4 rows were kept"));
        forget(&content);
        forget(&written);
    }
}

static void every_format_reads_back_what_it_wrote(void **state)
{
    (void)state;
    static const char *const files[] = {"x.csv", "x.sqlite", "x.gputblocks"};
    for (unsigned i = 0; i < 3; i++) {
        struct content written;
        struct content read;
        fill_rows(&written);
        write_rows(temporary(files[i]), SUB_TRACKING_COLUMN_THREAD_ID | SUB_TRACKING_COLUMNS_EXACT,
            &written);
        assert_int_equal(read_file(temporary(files[i]), &read), GPUT_OK);
        assert_int_equal(read.columns, SUB_TRACKING_COLUMN_THREAD_ID | SUB_TRACKING_COLUMNS_EXACT);
        assert_int_equal(read.count, written.count);
        for (size_t row = 0; row < read.count; row++) {
            const struct sub_tracking_mark *a = &read.rows[row];
            const struct sub_tracking_mark *b = &written.rows[row];
            assert_string_equal(name_of(&read, row), name_of(&written, row));
            assert_int_equal(a->process_id, b->process_id);
            assert_int_equal(a->thread_id, b->thread_id);
            assert_int_equal(a->timestamp_ns, b->timestamp_ns);
            assert_true(a->timestamp == b->timestamp);
            assert_int_equal(a->position, b->position);
            assert_memory_equal(&a->exact, &b->exact, sizeof a->exact);
        }
        forget(&read);
        forget(&written);
    }
    assert_int_equal(temporary_count(), 3);
}

static void csv_is_written_as_the_old_tool_writes_it(void **state)
{
    (void)state;
    struct content written;
    fill_rows(&written);
    write_rows(temporary("x.csv"), 0, &written);
    char *text = temporary_read(temporary("x.csv"));
    assert_string_equal(text, HEADER "10,\"a,\"\"b\"\"\",0,1745449609.7528222\n"
                                     "10,b.py:12,0,1745449610.0\n"
                                     "12,\"a,\"\"b\"\"\",1,1745449609.7528222\n"
                                     "10,b.py:12,1,1745449610.0\n");
    free(text);
    forget(&written);
    struct stat status;
    assert_int_equal(stat(temporary("x.csv"), &status), 0);
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(status.st_mode & 0777, 0666 & ~mask);
}

static void a_double_with_more_digits_than_nanoseconds_is_kept(void **state)
{
    (void)state;
    struct content content;
    assert_int_equal(read_text(HEADER "1,a,0,0.1234567890123\n", &content), GPUT_OK);
    assert_int_equal(content.rows[0].timestamp_ns, 123456789);
    write_rows(temporary("y.csv"), 0, &content);
    forget(&content);
    assert_int_equal(read_file(temporary("y.csv"), &content), GPUT_OK);
    assert_true(content.rows[0].timestamp == 0.1234567890123);
    forget(&content);
}

static void an_abandoned_file_is_removed(void **state)
{
    (void)state;
    static const char *const files[] = {"x.csv", "x.sqlite", "x.gputblocks"};
    for (unsigned i = 0; i < 3; i++) {
        struct sub_tracking_writer *writer;
        struct content written;
        fill_rows(&written);
        assert_int_equal(
            sub_tracking_writer_create(temporary(files[i]), 0, &writer, NULL), GPUT_OK);
        sub_tracking_writer_add(writer, written.rows, written.count, written.names, NULL);
        sub_tracking_writer_abandon(writer);
        assert_int_equal(temporary_count(), 0);
        forget(&written);
    }
}

/* ---- Databases ---- */

static void make_database(const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(temporary("x.sqlite"), &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void databases_of_the_old_tool_are_read(void **state)
{
    (void)state;
    make_database(
        "CREATE TABLE data (process_id BIGINT, code_block_name TEXT, position BIGINT, "
        "timestamp FLOAT);"
        "INSERT INTO data VALUES (5, 'X', 0, 1745449609.7528222), (5, 'X', 1, 1745449610)");
    struct content content;
    assert_int_equal(read_file(temporary("x.sqlite"), &content), GPUT_OK);
    assert_int_equal(content.count, 2);
    assert_int_equal(content.rows[0].timestamp_ns, INT64_C(1745449609752822200));
    assert_true(content.rows[1].timestamp == 1745449610.0);
    forget(&content);
}

static void errors_in_a_database_are_named(void **state)
{
    (void)state;
    struct content content;
    make_database("CREATE TABLE other (a)");
    assert_int_equal(read_file(temporary("x.sqlite"), &content), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(content.error.message, "it has no table \"data\"."));
    forget(&content);
    make_database("CREATE TABLE data (process_id, code_block_name, position, timestamp);"
                  "INSERT INTO data VALUES (5, 'X', 0, 1.0), (5, 'X', 7, 1.0)");
    assert_int_equal(read_file(temporary("x.sqlite"), &content), GPUT_ERROR_FORMAT);
    assert_int_equal(content.count, 0);
    assert_non_null(strstr(content.error.message, "row 2: its position is neither"));
    forget(&content);
    temporary_write(temporary("x.sqlite"), "no database at all, only a text that says so");
    assert_int_equal(read_file(temporary("x.sqlite"), &content), GPUT_ERROR_FORMAT);
    forget(&content);
}

/* Reads a file to its end or to an error, and counts its rows. */
static int count_rows(const char *path, size_t *count, struct gput_error *error)
{
    struct sub_tracking_reader *reader;
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_mark rows[64];
    size_t got = 1;
    *count = 0;
    int code = sub_tracking_reader_open(path, names, &reader, error);
    while (code == GPUT_OK && got > 0) {
        code = sub_tracking_reader_next(reader, rows, 64, &got, error);
        *count += got;
    }
    sub_tracking_reader_close(reader);
    sub_tracking_names_destroy(names);
    return code;
}

static void a_database_truncated_at_any_page_is_refused_by_name(void **state)
{
    (void)state;
    enum { TIMES = 500 };
    struct content written;
    struct sub_tracking_writer *writer;
    struct stat status;
    const char *path = temporary("x.sqlite");
    size_t count;
    fill_rows(&written);
    assert_int_equal(sub_tracking_writer_create(path, 0, &writer, NULL), GPUT_OK);
    for (int i = 0; i < TIMES; i++)
        assert_int_equal(
            sub_tracking_writer_add(writer, written.rows, written.count, written.names, NULL),
            GPUT_OK);
    assert_int_equal(sub_tracking_writer_finish(writer, NULL), GPUT_OK);
    assert_int_equal(count_rows(path, &count, NULL), GPUT_OK);
    assert_int_equal(count, TIMES * written.count);
    assert_int_equal(stat(path, &status), 0);
    for (off_t size = status.st_size - 2048; size > 0; size -= 2048) { /* within pages, too */
        struct gput_error error = {0};
        assert_int_equal(truncate(path, size), 0);
        assert_int_not_equal(count_rows(path, &count, &error), GPUT_OK);
        assert_non_null(strstr(error.message, path));
    }
    forget(&written);
}

/* ---- Salvage ---- */

static struct sub_tracking_reader *salvage(
    const char *path, struct sub_tracking_names *names, size_t *count)
{
    struct sub_tracking_reader *reader;
    struct sub_tracking_mark rows[3];
    size_t got;
    *count = 0;
    if (sub_tracking_reader_salvage(path, names, &reader, NULL) != GPUT_OK)
        return NULL;
    do {
        assert_int_equal(sub_tracking_reader_next(reader, rows, 3, &got, NULL), GPUT_OK);
        *count += got;
    } while (got > 0);
    return reader;
}

static void assert_salvaged(const char *lines, size_t kept, uint64_t left_out, const char *warning)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    size_t count;
    temporary_write(temporary("x.csv"), lines);
    struct sub_tracking_reader *reader = salvage(temporary("x.csv"), names, &count);
    assert_int_equal(count, kept);
    assert_int_equal(sub_tracking_reader_rows_skipped(reader), left_out);
    assert_non_null(strstr(sub_tracking_reader_warning(reader), warning));
    sub_tracking_reader_close(reader);
    sub_tracking_names_destroy(names);
}

static void undamaged_rows_can_be_salvaged(void **state)
{
    (void)state;
    assert_salvaged(HEADER "1,a,0,1.5\nx,a,1,2\n1,a,2,2\n1,a,1,2.5\n2,a", 2, 3,
        "line 3: its field 1 is not a process id. 3 rows were left out, 2 were kept.");
}

static void a_damaged_quote_loses_only_its_line(void **state)
{
    (void)state;
    assert_salvaged(HEADER
        "1,a,0,1\n1,\"a,0,1\n1,a,1,2\n1,\"b\nc\",0,3\n1,\"b\nc\",1,4\n1,\"d,0,5\n"
        "1,a,1,6\n",
        5, 2, "line 3 has a quote that is not closed. 2 rows were left out, 5 were kept.");
}

static void rows_of_a_truncated_database_can_be_salvaged(void **state)
{
    (void)state;
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct content written;
    struct sub_tracking_writer *writer;
    struct stat status;
    const char *path = temporary("x.sqlite");
    size_t count;
    fill_rows(&written);
    assert_int_equal(sub_tracking_writer_create(path, 0, &writer, NULL), GPUT_OK);
    for (int i = 0; i < 500; i++)
        assert_int_equal(
            sub_tracking_writer_add(writer, written.rows, written.count, written.names, NULL),
            GPUT_OK);
    assert_int_equal(sub_tracking_writer_finish(writer, NULL), GPUT_OK);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - 4096), 0);
    struct sub_tracking_reader *reader = salvage(path, names, &count);
    assert_true(count > 1000 && count < 2000);
    assert_non_null(
        strstr(sub_tracking_reader_warning(reader), "malformed. What follows is left out"));
    sub_tracking_reader_close(reader);
    sub_tracking_names_destroy(names);
    forget(&written);
}

/* ---- Logs ---- */

static void other_files_named_as_logs_are_refused(void **state)
{
    (void)state;
    struct content content;
    temporary_write(temporary("x.gputblocks"), "GPUTBLK");
    assert_int_equal(read_file(temporary("x.gputblocks"), &content), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(content.error.message, "it is no block log."));
    forget(&content);
}

/* The next smaller size to truncate a file to: byte by byte in used parts, in larger steps in
 * zeroes. */
static off_t next_cut(const struct str *file, off_t size)
{
    off_t least = size > 4093 ? size - 4093 : 0;
    for (size--; size > least && file->data[size] == 0 && file->data[size - 1] == 0;)
        size--;
    return size;
}

static void a_log_truncated_anywhere_has_the_rows_before(void **state)
{
    (void)state;
    struct content written;
    struct str file = {0};
    const char *path = temporary("x.gputblocks");
    fill_rows(&written);
    write_rows(path, SUB_TRACKING_COLUMN_THREAD_ID | SUB_TRACKING_COLUMNS_EXACT, &written);
    assert_int_equal(file_read(path, &file, NULL), GPUT_OK);
    size_t most = written.count;
    bool readable = true;
    for (off_t size = next_cut(&file, (off_t)file.length); size > 0; size = next_cut(&file, size)) {
        struct content read;
        assert_int_equal(truncate(path, size), 0);
        int code = read_file(path, &read);
        assert_true(code == GPUT_OK || code == GPUT_ERROR_FORMAT);
        assert_true(readable || code != GPUT_OK); /* refused only when the header is incomplete */
        readable = code == GPUT_OK;
        if (readable && size < (off_t)file.length)
            assert_non_null(strstr(read.warning, "it is cut off"));
        assert_true(
            read.count <= most && read.count + 1 >= most); /* a byte less loses one row at most */
        most = read.count;
        for (size_t row = 0; row < read.count; row++) {
            assert_int_equal(read.rows[row].timestamp_ns, written.rows[row].timestamp_ns);
            assert_int_equal(read.rows[row].process_id, written.rows[row].process_id);
            assert_string_equal(name_of(&read, row), name_of(&written, row));
        }
        forget(&read);
    }
    assert_false(readable);
    str_finish(&file);
    forget(&written);
}

static void a_database_without_commits_has_no_marks(void **state)
{
    (void)state;
    struct content content;
    sqlite3 *database;
    assert_int_equal(sqlite3_open(temporary("log.sqlite"), &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(database, "PRAGMA journal_mode=WAL", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    assert_int_equal(read_file(temporary("log.sqlite"), &content), GPUT_OK);
    assert_int_equal(content.count, 0);
    assert_non_null(strstr(content.warning, "it has no marks"));
    forget(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        temporary_test(a_database_without_commits_has_no_marks),
        temporary_test(csv_rows_come_with_both_forms_of_their_time),
        temporary_test(csv_columns_may_be_in_any_order_with_others),
        temporary_test(a_quote_within_a_name_is_part_of_it),
        temporary_test(csv_fields_may_all_be_quoted),
        temporary_test(csv_reads_optional_exact_figures),
        temporary_test(a_truncated_last_line_is_skipped_with_a_warning),
        temporary_test(a_file_without_its_beginning_has_no_marks_yet),
        temporary_test(lost_calls_are_no_rows_and_are_copied),
        temporary_test(errors_in_a_csv_file_are_named),
        temporary_test(other_extensions_and_missing_files_are_refused),
        temporary_test(every_format_reads_back_what_it_wrote),
        temporary_test(csv_is_written_as_the_old_tool_writes_it),
        temporary_test(a_double_with_more_digits_than_nanoseconds_is_kept),
        temporary_test(an_abandoned_file_is_removed),
        temporary_test(databases_of_the_old_tool_are_read),
        temporary_test(errors_in_a_database_are_named),
        temporary_test(a_database_truncated_at_any_page_is_refused_by_name),
        temporary_test(undamaged_rows_can_be_salvaged),
        temporary_test(a_damaged_quote_loses_only_its_line),
        temporary_test(rows_of_a_truncated_database_can_be_salvaged),
        temporary_test(other_files_named_as_logs_are_refused),
        temporary_test(a_log_truncated_anywhere_has_the_rows_before),
    };
    return cmocka_run_group_tests_name(
        "store/sub_tracking_file", tests, temporary_create, temporary_remove);
}
