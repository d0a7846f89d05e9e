#include "base/csv.h"
#include "files/temporary.h"

#include <sys/stat.h>

static struct csv_reader *open_text(const char *text)
{
    struct csv_reader *reader;
    const char *path = temporary("x.csv");
    temporary_write(path, text);
    assert_int_equal(csv_reader_open(path, &reader, NULL), GPUT_OK);
    return reader;
}

static void assert_record(struct csv_reader *reader, const char *expected, uint64_t line)
{
    struct csv_record record;
    bool end;
    assert_int_equal(csv_reader_next(reader, &record, &end, NULL), GPUT_OK);
    assert_false(end);
    assert_int_equal(record.end - record.text, strlen(expected));
    assert_memory_equal(record.text, expected, strlen(expected));
    assert_int_equal(record.line, line);
}

static void assert_end(struct csv_reader *reader)
{
    struct csv_record record;
    bool end = false;
    assert_int_equal(csv_reader_next(reader, &record, &end, NULL), GPUT_OK);
    assert_true(end);
    csv_reader_close(reader);
}

FOLDER_TEST(records_end_with_lines)
{
    struct csv_reader *reader = open_text("a,b\n\n1,2\r\n\r\n3,4");
    assert_record(reader, "a,b", 1);
    assert_record(reader, "1,2", 3);
    assert_record(reader, "3,4", 5);
    assert_end(reader);
    assert_end(open_text(""));
    assert_end(open_text("\n\n\r\n"));
}

FOLDER_TEST(a_last_line_without_its_end_is_seen)
{
    struct csv_reader *reader = open_text("a\nb");
    struct csv_record record;
    bool end;
    csv_reader_next(reader, &record, &end, NULL);
    assert_true(record.terminated);
    csv_reader_next(reader, &record, &end, NULL);
    assert_false(record.terminated);
    assert_end(reader);
}

FOLDER_TEST(quoted_cells_may_hold_line_ends_and_commas)
{
    struct csv_reader *reader = open_text("\"a\nb\",\"c,\"\"d\"\"\"\r\nx\"y\nz");
    assert_record(reader, "\"a\nb\",\"c,\"\"d\"\"\"", 1);
    assert_record(reader, "x\"y", 3); /* a quote inside an unquoted cell has no meaning */
    assert_record(reader, "z", 4);
    assert_end(reader);
}

FOLDER_TEST(a_byte_order_mark_is_skipped)
{
    struct csv_reader *reader = open_text("\xef\xbb\xbfname\n");
    assert_record(reader, "name", 1);
    assert_end(reader);
}

FOLDER_TEST(records_longer_than_the_buffer_are_read)
{
    struct str text = {0};
    str_append(&text, "first\n\"");
    for (int i = 0; i < 100000; i++)
        str_append(&text, "0123456789\n");
    size_t length = text.length - strlen("first\n");
    str_append(&text, "\"\nlast\n");
    struct csv_reader *reader = open_text(str_text(&text));
    assert_record(reader, "first", 1);
    struct csv_record record;
    bool end;
    assert_int_equal(csv_reader_next(reader, &record, &end, NULL), GPUT_OK);
    assert_int_equal(record.end - record.text, length + 1);
    assert_record(reader, "last", 100003);
    uint64_t done, total;
    csv_reader_progress(reader, &done, &total);
    assert_int_equal(done, text.length);
    assert_int_equal(total, text.length);
    assert_end(reader);
    str_finish(&text);
}

FOLDER_TEST(an_endless_line_is_an_error)
{
    struct str text = {0};
    struct gput_error error = {0};
    str_append(&text, "ok\n");
    str_append_repeated(&text, 'x', CSV_RECORD_MAX + (2u << 20));
    struct csv_reader *reader = open_text(str_text(&text));
    assert_record(reader, "ok", 1);
    struct csv_record record;
    bool end;
    assert_int_equal(csv_reader_next(reader, &record, &end, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "line 2"));
    csv_reader_close(reader);
    str_finish(&text);
}

static void assert_cells(const char *text, const char *const expected[], size_t count)
{
    char bytes[256];
    size_t length = strlen(text);
    memcpy(bytes, text, length);
    struct csv_record record = {.text = bytes, .end = bytes + length};
    struct csv_cell cells[8];
    assert_int_equal(csv_count_cells(&record), count);
    assert_int_equal(csv_split(&record, cells, 8), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cells[i].length, strlen(expected[i]));
        assert_memory_equal(cells[i].text, expected[i], cells[i].length);
    }
}

FOLDER_TEST(records_are_split_into_cells)
{
    assert_cells("a,b", (const char *const[]){"a", "b"}, 2);
    assert_cells("", (const char *const[]){""}, 1);
    assert_cells(",,", (const char *const[]){"", "", ""}, 3);
    assert_cells("\"a,\"\"b\"\"\",c", (const char *const[]){"a,\"b\"", "c"}, 2);
    assert_cells("\"\",\"x\"y,", (const char *const[]){"", "xy", ""}, 3);
    assert_cells("\"open, for ever", (const char *const[]){"open, for ever"}, 1);

    char bytes[] = "1,2,3";
    struct csv_record record = {.text = bytes, .end = bytes + 5};
    struct csv_cell cells[2];
    assert_int_equal(csv_split(&record, cells, 2), 3);
    assert_memory_equal(cells[1].text, "2", 1);
}

FOLDER_TEST(cells_are_quoted_when_they_must_be)
{
    struct str text = {0};
    csv_append_cell(&text, "plain text", 10);
    csv_append_cell(&text, "a,b", 3);
    csv_append_cell(&text, "say \"x\"", 7);
    csv_append_cell(&text, "a\nb", 3);
    assert_string_equal(str_text(&text), "plain text\"a,b\"\"say \"\"x\"\"\"\"a\nb\"");
    str_finish(&text);
}

static void assert_shown(const char *content, const char *expected)
{
    struct str text = {0};
    csv_append_shown(&text, content);
    assert_string_equal(str_text(&text), expected);
    str_finish(&text);
}

TEST(what_people_open_in_spreadsheets_is_no_formula)
{
    assert_shown("=HYPERLINK(\"http://x\",1)", "\"'=HYPERLINK(\"\"http://x\"\",1)\"");
    assert_shown("@SUM(A1)", "'@SUM(A1)");
    assert_shown("+1+2", "'+1+2");
    assert_shown("-bash", "'-bash");
    assert_shown("\t=1", "'\t=1");
    assert_shown("-1.5e3", "-1.5e3");
    assert_shown("x\33]0;title\7y", "x?]0;title?y");
    assert_shown("a,b", "\"a,b\"");
    assert_shown("", "");
}

FOLDER_TEST(a_missing_file_is_named)
{
    struct csv_reader *reader;
    struct gput_error error = {0};
    assert_int_equal(csv_reader_open(temporary("none.csv"), &reader, &error), GPUT_ERROR_NOT_FOUND);
    assert_null(reader);
    assert_non_null(strstr(error.message, "none.csv"));
    csv_reader_close(NULL);
}

RUN_TESTS(temporary_create, temporary_remove)
