#include "content.h"

#include "files/marks/block_log.h"

FOLDER_TEST(other_files_named_as_logs_are_refused)
{
    struct content content;
    temporary_write(temporary("x.gputblocks"), "GPUTBLK");
    assert_int_equal(read_file(temporary("x.gputblocks"), &content), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(content.error.message, "it is not a block log."));
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

FOLDER_TEST(a_log_truncated_anywhere_has_the_rows_before)
{
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
            assert_non_null(strstr(read.warning, "it is truncated"));
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

/* The version in the header of a file. */
static uint32_t version_of(const char *path)
{
    struct str file = {0};
    struct block_log_header header;
    assert_int_equal(file_read(path, &file, NULL), GPUT_OK);
    memcpy(&header, file.data, sizeof header);
    str_finish(&file);
    return header.version;
}

FOLDER_TEST(only_figures_that_are_new_make_a_file_new)
{
    static const struct {
        unsigned columns;
        uint32_t version;
    } cases[] = {{0, 1}, {SUB_TRACKING_COLUMNS_EXACT, 1}, {SUB_TRACKING_COLUMN_BLOCK_PEAK, 2},
        {SUB_TRACKING_COLUMNS_COUNTED & ~(unsigned)SUB_TRACKING_COLUMN_GPU, 2},
        {SUB_TRACKING_COLUMNS_COUNTED, 3}};
    const char *path = temporary("x.gputblocks");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct content written, read;
        fill_rows(&written);
        write_rows(path, cases[i].columns, &written);
        assert_int_equal(version_of(path), cases[i].version);
        assert_int_equal(read_file(path, &read), GPUT_OK);
        assert_int_equal(read.count, 4);
        assert_int_equal(read.columns & SUB_TRACKING_COLUMNS_COUNTED, cases[i].columns);
        bool counted = cases[i].version >= 2, has_gpu = cases[i].version == 3;
        assert_int_equal(read.rows[0].exact.cache_misses, counted ? 10 : SUB_TRACKING_UNKNOWN);
        assert_int_equal(read.rows[0].exact.gpu_ns, has_gpu ? 11 : SUB_TRACKING_UNKNOWN);
        assert_int_equal(read.rows[0].exact.energy_uj, cases[i].columns ? 6 : SUB_TRACKING_UNKNOWN);
        forget(&read);
        forget(&written);
    }
}

FOLDER_TEST(a_file_of_a_later_version_is_refused_by_that)
{
    struct content content;
    struct str file = {0};
    const char *path = temporary("x.gputblocks");
    fill_rows(&content);
    write_rows(path, 0, &content);
    forget(&content);
    assert_int_equal(file_read(path, &file, NULL), GPUT_OK);
    ((struct block_log_header *)(void *)file.data)->version = 4;
    FILE *stream = fopen(path, "w");
    assert_int_equal(fwrite(file.data, 1, file.length, stream), file.length);
    fclose(stream);
    str_finish(&file);
    assert_int_equal(read_file(path, &content), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(content.error.message,
        "it is of version 4, and this program reads versions up to 3: read it with the gpu-tracker "
        "that wrote it."));
    forget(&content);
}

RUN_TESTS(temporary_create, temporary_remove)
