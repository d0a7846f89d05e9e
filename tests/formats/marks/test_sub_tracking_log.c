#include "content.h"

#include "formats/marks/block_log.h"

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
    off_t limit = size > 4093 ? size - 4093 : 0;
    for (size--; size > limit && file->data[size] == 0 && file->data[size - 1] == 0;)
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
    size_t before = written.count;
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
        assert_true(read.count <= before &&
                    read.count + 1 >= before); /* a byte less loses one row at most */
        before = read.count;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        temporary_test(other_files_named_as_logs_are_refused),
        temporary_test(a_log_truncated_anywhere_has_the_rows_before),
    };
    return cmocka_run_group_tests_name(
        "formats/marks/sub_tracking_log", tests, temporary_create, temporary_remove);
}
