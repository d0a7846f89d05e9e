#include "base/str.h"
#include "files/temporary.h"

#include <gputracker/sub_tracking.h>

#define HEADER "process_id,code_block_name,position,timestamp\n"

/* The warnings and progress of combining. */
struct said {
    char warning[512];
    double last_progress;
    int calls;
};

static void keep_warning(void *user, const char *message)
{
    snprintf(((struct said *)user)->warning, 512, "%s", message);
}

static void keep_progress(void *user, double done)
{
    struct said *said = user;
    assert_true(done >= said->last_progress && done <= 1);
    said->last_progress = done;
    said->calls++;
}

static void assert_text(const char *name, const char *expected)
{
    char *text = temporary_read(temporary(name));
    assert_string_equal(text, expected);
    free(text);
}

static int combine(
    const char *output, const char *first, const char *second, bool mix, struct gput_error *error)
{
    char paths[3][4096];
    snprintf(paths[0], 4096, "%s", temporary(first));
    snprintf(paths[1], 4096, "%s", temporary(second));
    snprintf(paths[2], 4096, "%s", temporary(output));
    const char *const list[] = {paths[0], paths[1]};
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    options.mix = mix;
    return gput_sub_tracking_combine(paths[2], list, 2, &options, error);
}

FOLDER_TEST(rows_follow_in_the_order_of_the_files)
{
    temporary_write(temporary("b.csv"), HEADER "2,X,0,5.5\n2,X,1,6.5\n");
    temporary_write(temporary("a.csv"),
        "timestamp,position,process_id,code_block_name,more\r\n9.0,0,1,Y,?\r\n");
    assert_int_equal(combine("all.csv", "b.csv", "a.csv", false, NULL), GPUT_OK);
    assert_text("all.csv", HEADER "2,X,0,5.5\n2,X,1,6.5\n1,Y,0,9.0\n");
    assert_int_equal(temporary_count(), 3);
}

FOLDER_TEST(optional_columns_of_one_file_are_empty_for_others)
{
    temporary_write(temporary("a.csv"), HEADER "1,X,0,5.5\n");
    temporary_write(temporary("b.csv"),
        "process_id,code_block_name,position,timestamp,thread_id\n1,X,1,6.5,12\n");
    assert_int_equal(combine("all.csv", "a.csv", "b.csv", false, NULL), GPUT_OK);
    assert_text("all.csv",
        "process_id,code_block_name,position,timestamp,thread_id\n1,X,0,5.5,\n1,X,1,6.5,12\n");
}

FOLDER_TEST(start_times_in_stops_are_kept)
{
    const char *text = "process_id,code_block_name,position,timestamp,thread_id,started_ns\n"
                       "1,X,0,5.5,12,\n1,X,0,5.75,12,\n1,X,1,6.5,12,5500000000\n1,X,1,7.5,12,\n";
    temporary_write(temporary("a.csv"), text);
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    options.mix = true;
    static const char *const chain[] = {"a.csv", "b.gputblocks", "c.sqlite", "d.csv"};
    for (size_t i = 0; i + 1 < sizeof chain / sizeof chain[0]; i++) {
        const char *path = temporary(chain[i]);
        assert_int_equal(
            gput_sub_tracking_combine(temporary(chain[i + 1]), &path, 1, &options, NULL), GPUT_OK);
    }
    assert_text("d.csv", text);
}

FOLDER_TEST(formats_mix_when_requested)
{
    temporary_write(temporary("a.csv"), HEADER "1,X,0,1745449609.7528222\n");
    assert_int_equal(
        gput_sub_tracking_mark(temporary("b.sqlite"), 5, "Y", GPUT_BLOCK_STOP, NULL), GPUT_OK);
    struct gput_error error;
    assert_int_equal(
        combine("all.gputblocks", "a.csv", "b.sqlite", false, &error), GPUT_ERROR_INVALID);
    assert_int_equal(combine("all.gputblocks", "a.csv", "b.sqlite", true, &error), GPUT_OK);
    assert_int_equal(combine("all.sqlite", "all.gputblocks", "a.csv", true, &error), GPUT_OK);
    assert_int_equal(combine("all.csv", "all.sqlite", "a.csv", true, &error), GPUT_OK);
    char *text = temporary_read(temporary("all.csv"));
    assert_non_null(strstr(text, HEADER "1,X,0,1745449609.7528222\n5,Y,1,"));
    assert_non_null(strstr(text, "\n1,X,0,1745449609.7528222\n1,X,0,1745449609.7528222\n"));
    free(text);
}

FOLDER_TEST(errors_name_the_existing_or_wrong_file)
{
    struct gput_error error;
    char expected[10000];
    temporary_write(temporary("a.csv"), HEADER "1,X,0,5.5\n");
    temporary_write(temporary("b.sqlite"), "");
    temporary_write(temporary("bad.csv"), HEADER "1,X,0,5.5\n1,X,9,5.5\n1,X,0,5.5\n");

    assert_int_equal(combine("a.csv", "a.csv", "a.csv", false, &error), GPUT_ERROR_EXISTS);
    snprintf(expected, sizeof expected, "Cannot create sub-tracking file %s. File already exists.",
        temporary("a.csv"));
    assert_string_equal(error.message, expected);

    assert_int_equal(combine("all.csv", "a.csv", "b.sqlite", false, &error), GPUT_ERROR_INVALID);
    snprintf(expected, sizeof expected,
        "File %s does not end with the same extension as %s. Must end in \".csv\".",
        temporary("b.sqlite"), temporary("all.csv"));
    assert_string_equal(error.message, expected);

    assert_int_equal(combine("all.txt", "x.txt", "y.txt", false, &error), GPUT_ERROR_INVALID);
    assert_int_equal(combine("all.csv", "a.csv", "none.csv", false, &error), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(combine("all.csv", "a.csv", "bad.csv", false, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "bad.csv is invalid: line 3"));
    assert_int_equal(gput_sub_tracking_combine("all.csv", NULL, 0, NULL, NULL), GPUT_ERROR_INVALID);
    assert_int_equal(temporary_count(), 3); /* nothing half-written */
}

FOLDER_TEST(a_directory_is_combined_in_sorted_order)
{
    static const char *const names[] = {"10.csv", "9.csv", "B.csv", "a.csv"};
    for (unsigned i = 0; i < 4; i++) {
        char text[128];
        snprintf(text, sizeof text, HEADER "%u,X,0,5.5\n1,X", i);
        temporary_write(temporary(names[3 - i]), text);
    }
    struct said said = {0};
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    options.warn = keep_warning;
    options.progress = keep_progress;
    options.user = &said;
    assert_int_equal(
        gput_sub_tracking_combine_directory(temporary("all.csv"), temporary_folder, &options, NULL),
        GPUT_OK);
    assert_text("all.csv", HEADER "3,X,0,5.5\n2,X,0,5.5\n1,X,0,5.5\n0,X,0,5.5\n");
    assert_non_null(strstr(said.warning, "a.csv: the last line is truncated"));
    assert_int_equal(said.calls, 4);
    assert_true(said.last_progress > 0.99);
}

FOLDER_TEST(only_directories_with_files_can_be_combined)
{
    struct gput_error error;
    assert_int_equal(
        gput_sub_tracking_combine_directory(temporary("all.csv"), temporary_folder, NULL, &error),
        GPUT_ERROR_NOT_FOUND);
    temporary_write(temporary("a.csv"), HEADER);
    assert_int_equal(
        gput_sub_tracking_combine_directory(temporary("all.csv"), temporary("a.csv"), NULL, &error),
        GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "is not a directory"));
}

/* ---- Several cores ---- */

#define LARGE_ROWS 60000
#define LARGE_HEADER "note,thread_id,code_block_name,position,timestamp,process_id\n"

/* Between plain lines of a block: what is not a plain line. */
static const char *const unusual[] = {
    ",1,\"a,b\",0,5.5,1\n",
    ",1,\"two\nlines\",0,5.5,1\n",
    ",1,\"as if\n,1,X,0,5.5,7\n,1,X,1,6.5,7\n\",0,5.5,1\n",
    ",1,[gpu-tracker] thread 12: loader,0,5.5,1\n,1,[gpu-tracker] thread 12: loader,1,5.5,1\n",
    ",1,[gpu-tracker] lost calls: 0000000012,0,5.5,1\n"
    ",1,[gpu-tracker] lost calls: 0000000012,1,6.5,1\n",
    "\n\n,1,X,0,5.5,1\r\n",
    "\"a,b\",\"1\",X,0, 5.5 ,1\n",
    ",, 1 2\"3,0,1745449609.75282221234,1.0\n",
    ",-1,,1,-0.5,-1\n",
};

static void write_large(const char *name, const char *end)
{
    struct str text = {0};
    str_append(&text, LARGE_HEADER);
    for (unsigned row = 0; row < LARGE_ROWS; row++) {
        if (row % 1501 == 1500 && row < LARGE_ROWS / 3)
            str_append(&text, unusual[row / 1501 % (sizeof unusual / sizeof *unusual)]);
        str_printf(&text, "a note that nothing reads but that takes its %u bytes,%u,block %u,%u,",
            row, row % 5, row / 2 % 7, row % 2);
        str_printf(&text, "17454496%02u.%u,4711\n", row % 60, row);
    }
    str_append(&text, end);
    assert_false(text.failed);
    temporary_write(temporary(name), text.data);
    str_finish(&text);
}

/* The status; the result is a file of that name. */
static int combine_on(
    unsigned cores, const char *output, struct said *said, struct gput_error *error)
{
    char paths[2][4096];
    snprintf(paths[0], sizeof paths[0], "%s", temporary("large.csv"));
    snprintf(paths[1], sizeof paths[1], "%s", temporary("small.csv"));
    const char *const list[] = {paths[0], paths[1]};
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    *said = (struct said){0};
    options.cores = cores;
    options.warn = keep_warning;
    options.progress = keep_progress;
    options.user = said;
    return gput_sub_tracking_combine(temporary(output), list, 2, &options, error);
}

FOLDER_TEST(several_cores_write_the_same_bytes)
{
    static const char *const outputs[] = {"one.csv", "two.csv", "seven.csv"};
    static const unsigned cores[] = {1, 2, 7};
    struct said said[3];
    char *texts[3];
    write_large("large.csv", ",1,X,0,5.");
    temporary_write(temporary("small.csv"), HEADER "1,X,0,5.5\n");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(combine_on(cores[i], outputs[i], &said[i], NULL), GPUT_OK);
        texts[i] = temporary_read(temporary(outputs[i]));
        assert_true(strcmp(texts[i], texts[0]) == 0);
        assert_string_equal(said[i].warning, said[0].warning);
        assert_true(said[i].last_progress > 0.99);
    }
    assert_non_null(strstr(said[0].warning, "12 calls are not in it"));
    assert_true(said[1].calls < said[0].calls * 3 / 4); /* windows have more rows than batches */
    for (int i = 0; i < 3; i++)
        free(texts[i]);
}

FOLDER_TEST(several_cores_find_the_same_error)
{
    struct said said;
    struct gput_error one, several;
    write_large("large.csv", ",1,X,2,5.5,1\n");
    temporary_write(temporary("small.csv"), HEADER);
    assert_int_equal(combine_on(1, "all.csv", &said, &one), GPUT_ERROR_FORMAT);
    assert_int_equal(combine_on(3, "all.csv", &said, &several), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(one.message, "its field 4 is not 0 (start) or 1 (stop)"));
    assert_string_equal(several.message, one.message);
    assert_int_equal(temporary_count(), 2);
}

/* ---- Marks from outside ---- */

FOLDER_TEST(a_mark_creates_the_file_and_later_ones_use_its_columns)
{
    const char *path = temporary("m.csv");
    assert_int_equal(gput_sub_tracking_mark(path, 7, "a,b", GPUT_BLOCK_START, NULL), GPUT_OK);
    char *text = temporary_read(path);
    assert_memory_equal(text, HEADER "7,\"a,b\",0,", strlen(HEADER "7,\"a,b\",0,"));
    free(text);

    temporary_write(path, "note,position,timestamp,process_id,code_block_name\n,0,5.5,7,X\n");
    assert_int_equal(gput_sub_tracking_mark(path, 7, "X", GPUT_BLOCK_STOP, NULL), GPUT_OK);
    text = temporary_read(path);
    assert_non_null(strstr(text, "code_block_name\n,0,5.5,7,X\n,1,"));
    assert_string_equal(text + strlen(text) - 5, ",7,X\n");
    free(text);

    temporary_write(path, "process_id,code_block_name,position,timestamp"); /* made by hand */
    assert_int_equal(gput_sub_tracking_mark(path, 7, "X", GPUT_BLOCK_STOP, NULL), GPUT_OK);
    text = temporary_read(path);
    assert_non_null(strstr(text, HEADER "7,X,1,"));
    free(text);
}

FOLDER_TEST(a_mark_removes_a_truncated_last_line)
{
    static const char *const cut[] = {"7,X,1", "7,X,0,17", "7,X,0,1745449610.75", "7,\"X\ny", "7"};
    const char *path = temporary("m.csv");
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, HEADER "7,X,0,1745449609.75\n%s", cut[i]);
        temporary_write(path, text);
        assert_int_equal(gput_sub_tracking_mark(path, 7, "X", GPUT_BLOCK_STOP, NULL), GPUT_OK);
        char *now = temporary_read(path);
        assert_non_null(strstr(now, HEADER "7,X,0,1745449609.75\n7,X,1,"));
        assert_int_equal(now[strlen(now) - 1], '\n');
        free(now);
    }
    temporary_write(path, HEADER "7,\"X,0,1\n7,Y,0,2\n7,Y,1,3\n7,Z");
    assert_int_equal(gput_sub_tracking_mark(path, 7, "X", GPUT_BLOCK_STOP, NULL), GPUT_OK);
    char *kept = temporary_read(path); /* a damaged quote joins lines: they stay */
    assert_non_null(strstr(kept, HEADER "7,\"X,0,1\n7,Y,0,2\n7,Y,1,3\n7,X,1,"));
    free(kept);
}

FOLDER_TEST(a_mark_is_not_written_to_other_files)
{
    struct gput_error error;
    temporary_write(temporary("m.csv"), "some,table\n1,2\n");
    assert_int_equal(gput_sub_tracking_mark(temporary("m.csv"), 7, "X", GPUT_BLOCK_STOP, &error),
        GPUT_ERROR_FORMAT);
    assert_text("m.csv", "some,table\n1,2\n");
    assert_int_equal(
        gput_sub_tracking_mark(temporary("m.gputblocks"), 7, "X", GPUT_BLOCK_STOP, &error),
        GPUT_ERROR_INVALID);
    assert_int_equal(gput_sub_tracking_mark(temporary("m.txt"), 7, "X", GPUT_BLOCK_STOP, &error),
        GPUT_ERROR_INVALID);
    assert_int_equal(temporary_count(), 1);
}

RUN_TESTS(temporary_create, temporary_remove)
