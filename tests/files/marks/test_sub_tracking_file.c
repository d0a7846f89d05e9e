#include "content.h"

FOLDER_TEST(other_extensions_and_missing_files_are_refused)
{
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

FOLDER_TEST(lost_calls_are_no_rows_and_are_copied)
{
    static const char *const names[] = {"x.csv", "x.sqlite", "x.gputblocks"};
    for (unsigned i = 0; i < 6; i++) {
        const struct sub_tracking_lost lost = {.calls = 12,
            .at_least = i >= 3,
            .process_id = 7,
            .since_ns = 1000000001,
            .until_ns = 3000000003};
        struct content written;
        struct content content;
        struct sub_tracking_writer *writer;
        fill_rows(&written);
        assert_int_equal(sub_tracking_writer_create(temporary(names[i % 3]), 0, &writer, NULL), 0);
        assert_int_equal(sub_tracking_writer_add_lost(writer, &lost, NULL), GPUT_OK);
        sub_tracking_writer_add(writer, written.rows, written.count, written.names, NULL);
        assert_int_equal(sub_tracking_writer_add_lost(writer, &lost, NULL), GPUT_OK);
        assert_int_equal(sub_tracking_writer_finish(writer, NULL), GPUT_OK);
        assert_int_equal(read_file(temporary(names[i % 3]), &content), GPUT_OK);
        assert_int_equal(content.count, written.count);
        assert_int_equal(content.lost.calls, 24);
        assert_int_equal(content.lost.at_least, lost.at_least);
        assert_int_equal(content.lost.since_ns, lost.since_ns);
        assert_int_equal(content.lost.until_ns, lost.until_ns);
        assert_non_null(strstr(content.warning,
            lost.at_least ? ": at least 24 calls are not in it" : ": 24 calls are not in it"));
        assert_non_null(strstr(content.warning, "4 rows were kept"));
        forget(&content);
        forget(&written);
    }
}

FOLDER_TEST(every_format_reads_back_what_it_wrote)
{
    static const char *const files[] = {"x.csv", "x.sqlite", "x.gputblocks"};
    for (unsigned i = 0; i < 3; i++) {
        struct content written;
        struct content read;
        fill_rows(&written);
        write_rows(temporary(files[i]),
            SUB_TRACKING_COLUMN_THREAD_ID | SUB_TRACKING_COLUMNS_COUNTED, &written);
        assert_int_equal(read_file(temporary(files[i]), &read), GPUT_OK);
        assert_int_equal(
            read.columns, SUB_TRACKING_COLUMN_THREAD_ID | SUB_TRACKING_COLUMNS_COUNTED);
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

FOLDER_TEST(an_abandoned_file_is_removed)
{
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

RUN_TESTS(temporary_create, temporary_remove)
