#include "content.h"

#include "files/marks/sub_tracking_labels.h"

static bool parse(const char *name, struct sub_tracking_label *label)
{
    return sub_tracking_label_parse(name, strlen(name), label);
}

TEST(names_say_what_they_were_made_of)
{
    struct sub_tracking_label label;
    char name[SUB_TRACKING_LABEL_SIZE];
    sub_tracking_label_rank(7, name);
    assert_true(parse(name, &label));
    assert_int_equal(label.rank, 7);
    assert_null(label.thread_name);
    sub_tracking_label_thread(4713, "loader: 2", name);
    assert_true(parse(name, &label));
    assert_int_equal(label.thread_id, 4713);
    assert_string_equal(label.thread_name, "loader: 2");
    sub_tracking_label_category("nvtx:train [phase]", name);
    assert_true(parse(name, &label));
    assert_string_equal(label.category, "nvtx:train [phase]");
    assert_int_equal(label.rank, -1);
    static const char *const others[] = {"",
        "[gpu-tracker] category: ", "[gpu-tracker] rank: ", "[gpu-tracker] rank: -1",
        "[gpu-tracker] rank: 1x", "[gpu-tracker] thread 4: ", "[gpu-tracker] thread x: a",
        "[gpu-tracker] thread 4 a", "[gpu-tracker] lost calls: 0000000001", "rank: 1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(parse(others[i], &label));
}

TEST(the_latest_of_a_thread_counts)
{
    struct sub_tracking_labels labels = {0};
    char first[] = "first", second[] = "second", other[] = "other";
    const struct sub_tracking_label given[] = {{10, 12, -1, 200, second, NULL},
        {10, 12, -1, 100, first, NULL}, {9, 12, -1, 300, other, NULL}, {10, -1, 4, 50, NULL, NULL}};
    assert_int_equal(sub_tracking_labels_rank(&labels, 10), -1);
    for (size_t i = 0; i < 4; i++)
        assert_true(sub_tracking_labels_add(&labels, &given[i]));
    assert_string_equal(sub_tracking_labels_thread(&labels, 10, 12), "second");
    assert_string_equal(sub_tracking_labels_thread(&labels, 9, 12), "other");
    assert_null(sub_tracking_labels_thread(&labels, 10, 13));
    assert_null(sub_tracking_labels_thread(&labels, 10, SUB_TRACKING_UNKNOWN));
    assert_int_equal(sub_tracking_labels_rank(&labels, 10), 4);
    assert_int_equal(sub_tracking_labels_rank(&labels, 9), -1);
    sub_tracking_labels_finish(&labels);
}

TEST(a_category_is_one_of_its_domain)
{
    struct sub_tracking_labels labels = {0};
    const struct sub_tracking_label given[] = {{10, -2, -1, 1, NULL, "nvtx:train [load/s]"},
        {11, -2, -1, 2, NULL, "nvtx:train [load/s]"}, {10, -1, 3, 1, NULL, NULL}};
    assert_null(sub_tracking_labels_category(&labels, "nvtx:train/step [load/s]"));
    for (size_t i = 0; i < 3; i++)
        assert_true(sub_tracking_labels_add(&labels, &given[i]));
    assert_int_equal(labels.count, 2);
    assert_int_equal(sub_tracking_labels_rank(&labels, 10), 3);
    static const char *const names[] = {
        "nvtx:train/step [load/s]", "nvtx:train [load/s]", "nvtx:train/a/b [1] [load/s]"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(sub_tracking_labels_category(&labels, names[i]), "nvtx:train [load/s]");
    static const char *const others[] = {"nvtx:train/step [3]", "nvtx:test/step [load/s]",
        "nvtx:train/step [load/s] ", "nvtx:train/step[load/s]", "nvtx:train/[load/s]", "[load/s]",
        " [load/s]", ""};
    for (size_t i = 0; i < 8; i++)
        assert_null(sub_tracking_labels_category(&labels, others[i]));
    sub_tracking_labels_finish(&labels);
}

FOLDER_TEST(every_format_keeps_them_apart_from_calls)
{
    static const char *const files[] = {"x.csv", "x.sqlite", "x.gputblocks"};
    char loader[] = "loader, \"2\"";
    const struct sub_tracking_label given[] = {{10, 12, -1, 100, loader, NULL},
        {10, -1, 4, 100, NULL, NULL}, {10, -2, -1, 100, NULL, "nvtx:a, \"b\" [c]"},
        {11, -2, -1, 101, NULL, "nvtx:a, \"b\" [c]"}};
    struct sub_tracking_labels labels = {0};
    for (size_t i = 0; i < 4; i++)
        assert_true(sub_tracking_labels_add(&labels, &given[i]));
    for (unsigned i = 0; i < 3; i++) {
        const char *path = temporary(files[i]);
        struct content written;
        struct sub_tracking_writer *writer;
        struct sub_tracking_reader *reader;
        struct sub_tracking_mark rows[16];
        size_t count = 1, total = 0;
        fill_rows(&written);
        assert_int_equal(sub_tracking_writer_create(path, 0, &writer, NULL), GPUT_OK);
        assert_int_equal(
            sub_tracking_writer_add(writer, written.rows, written.count, written.names, NULL),
            GPUT_OK);
        assert_int_equal(sub_tracking_writer_add_labels(writer, &labels, NULL), GPUT_OK);
        assert_int_equal(sub_tracking_writer_finish(writer, NULL), GPUT_OK);
        assert_int_equal(sub_tracking_reader_open(path, written.names, &reader, NULL), GPUT_OK);
        for (; count > 0; total += count)
            assert_int_equal(sub_tracking_reader_next(reader, rows, 16, &count, NULL), GPUT_OK);
        assert_int_equal(total, written.count);
        struct sub_tracking_labels *read = sub_tracking_reader_labels(reader);
        assert_int_equal(read->count, 3);
        assert_non_null(sub_tracking_labels_category(read, "nvtx:a, \"b\"/x [c]"));
        assert_int_equal(sub_tracking_labels_rank(read, 10), 4);
        assert_string_equal(sub_tracking_labels_thread(read, 10, 12), loader);
        sub_tracking_reader_close(reader);
        forget(&written);
    }
    sub_tracking_labels_finish(&labels);
}

RUN_TESTS(temporary_create, temporary_remove)
