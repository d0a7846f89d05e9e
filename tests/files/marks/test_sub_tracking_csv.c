#include "content.h"

#include <sys/stat.h>

#define HEADER "process_id,code_block_name,position,timestamp\n"
#define THREADS "process_id,code_block_name,position,timestamp,thread_id\n"

static int read_text(const char *text, struct content *content)
{
    const char *path = temporary("x.csv");
    temporary_write(path, text);
    return read_file(path, content);
}

FOLDER_TEST(csv_rows_come_with_both_forms_of_their_time)
{
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

FOLDER_TEST(csv_columns_may_be_in_any_order_with_others)
{
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

FOLDER_TEST(a_quote_within_a_name_is_part_of_it)
{
    struct content content;
    assert_int_equal(read_text(HEADER "1,5\" disk,0,1.5\n1,5\" disk,1,2.5\n", &content), GPUT_OK);
    assert_int_equal(content.count, 2);
    assert_string_equal(name_of(&content, 1), "5\" disk");
    forget(&content);
}

FOLDER_TEST(csv_fields_may_all_be_quoted)
{
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

FOLDER_TEST(csv_reads_optional_exact_figures)
{
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

FOLDER_TEST(a_truncated_last_line_is_skipped_with_a_warning)
{
    static const char *const torn[] = {"1", "1,", "1,X", "1,X,", "1,X,1", "1,X,1,", "1,\"X",
        "1,X,1,17454", "1,X,1,1745449609.8", "1,X,1,1745449610.75", "1,X,1,1745449610.75\r", NULL};
    for (unsigned i = 0; torn[i]; i++) {
        char text[256];
        struct content content;
        snprintf(text, sizeof text, HEADER "1,X,0,1745449609.75\n%s", torn[i]);
        assert_int_equal(read_text(text, &content), GPUT_OK);
        assert_int_equal(content.count, 1);
        assert_non_null(strstr(content.warning,
            "the last line is truncated (it has no line end) and was skipped; 1 row was kept."));
        forget(&content);
    }
}

FOLDER_TEST(a_file_without_its_beginning_has_no_marks_yet)
{
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

FOLDER_TEST(errors_in_a_csv_file_are_named)
{
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

FOLDER_TEST(csv_is_written_as_the_old_tool_writes_it)
{
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

FOLDER_TEST(a_double_with_more_digits_than_nanoseconds_is_kept)
{
    struct content content;
    assert_int_equal(read_text(HEADER "1,a,0,0.1234567890123\n", &content), GPUT_OK);
    assert_int_equal(content.rows[0].timestamp_ns, 123456789);
    write_rows(temporary("y.csv"), 0, &content);
    forget(&content);
    assert_int_equal(read_file(temporary("y.csv"), &content), GPUT_OK);
    assert_true(content.rows[0].timestamp == 0.1234567890123);
    forget(&content);
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

FOLDER_TEST(undamaged_rows_can_be_salvaged)
{
    assert_salvaged(HEADER "1,a,0,1.5\nx,a,1,2\n1,a,2,2\n1,a,1,2.5\n2,a", 2, 3,
        "line 3: its field 1 is not a process id. 3 rows were skipped, 2 were kept.");
}

FOLDER_TEST(a_damaged_quote_loses_only_its_line)
{
    assert_salvaged(HEADER
        "1,a,0,1\n1,\"a,0,1\n1,a,1,2\n1,\"b\nc\",0,3\n1,\"b\nc\",1,4\n1,\"d,0,5\n"
        "1,a,1,6\n",
        5, 2, "line 3 has a quote that is not closed. 2 rows were skipped, 5 were kept.");
}

FOLDER_TEST(a_damaged_quote_is_no_truncated_line)
{
    static const char *const texts[] = {HEADER "1,a,0,1\n1,\"a,1,2\n1,b,0,3\n1,b,1,4\n",
        HEADER "1,a,0,1\n1,\"a,1,2\n1,b,0,3\n1,b,1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sub_tracking_names *names = sub_tracking_names_create();
        struct sub_tracking_reader *reader;
        struct sub_tracking_mark rows[8];
        struct gput_error error;
        size_t count;
        temporary_write(temporary("x.csv"), texts[i]);
        assert_int_equal(
            sub_tracking_reader_open(temporary("x.csv"), names, &reader, &error), GPUT_OK);
        assert_int_equal(
            sub_tracking_reader_next(reader, rows, 8, &count, &error), GPUT_ERROR_FORMAT);
        assert_non_null(strstr(error.message, "line 3 has a quote that is not closed."));
        sub_tracking_reader_close(reader);
        sub_tracking_names_destroy(names);
    }
}

RUN_TESTS(temporary_create, temporary_remove)
