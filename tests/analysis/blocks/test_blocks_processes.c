#include "analysis/blocks/marks.h"

#include <signal.h>
#include <sys/wait.h>

/* ---- Processes ---- */

FOLDER_TEST(a_forked_child_writes_a_file_of_its_own)
{
    for (unsigned i = 0; i < 3; i++) {
        struct gput_blocks *blocks =
            open_blocks(temporary(files[i]), gput_blocks_options_default());
        gput_blocks_start(blocks, "parent");
        pid_t child = fork();
        if (child == 0) {
            if (chdir("/") != 0)
                _exit(9);
            gput_blocks_start(blocks, "child");
            gput_blocks_stop(blocks);
            gput_blocks_stop(blocks); /* the parent's: no concern of this file */
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        gput_blocks_stop(blocks);
        assert_int_equal(gput_blocks_close(blocks, NULL), GPUT_OK);

        struct content content = read_file(temporary(files[i]));
        assert_int_equal(content.count, 2);
        assert_row(&content, 0, "parent", 0);
        assert_row(&content, 1, "parent", 1);
        free_content(&content);
        char name[64];
        const char *dot = strchr(files[i], '.');
        snprintf(name, sizeof name, "marks-%d%s", child, dot);
        content = read_file(temporary(name));
        assert_int_equal(content.count, 2);
        assert_row(&content, 0, "child", 0);
        assert_row(&content, 1, "child", 1);
        assert_int_equal(content.rows[0].process_id, child);
        free_content(&content);
    }
}

FOLDER_TEST(children_add_to_a_file_that_is_shared)
{
    for (unsigned i = 0; i < 2; i++) {
        struct gput_blocks *blocks =
            open_blocks(temporary(files[i]), gput_blocks_options_default());
        gput_blocks_start(blocks, "parent");
        gput_blocks_share(blocks);
        pid_t children[2];
        for (int c = 0; c < 2; c++) {
            children[c] = fork();
            if (children[c] == 0) {
                mark_many(blocks);
                _exit(gput_blocks_close(blocks, NULL));
            }
        }
        mark_many(blocks);
        for (int c = 0; c < 2; c++) {
            int status;
            assert_int_equal(waitpid(children[c], &status, 0), children[c]);
            assert_int_equal(status, 0);
        }
        gput_blocks_stop(blocks);
        assert_int_equal(gput_blocks_close(blocks, NULL), GPUT_OK);
        struct content content = read_file(temporary(files[i]));
        size_t of_parent = 0;
        for (size_t row = 0; row < content.count; row++)
            of_parent += content.rows[row].process_id == getpid();
        assert_int_equal(of_parent, 2 * PAIRS_EACH + 2);
        assert_int_equal(content.count, 6 * PAIRS_EACH + 2);
        assert_string_equal(content.warning, "");
        free_content(&content);
    }
    assert_int_equal(temporary_count(), 2);
}

FOLDER_TEST(another_log_joins_a_file_that_is_shared_and_no_other)
{
    struct gput_blocks_options joining = gput_blocks_options_default();
    joining.join = true;
    for (unsigned i = 0; i < 3; i++) {
        const char *path = temporary(files[i]);
        struct gput_blocks *first = open_blocks(path, gput_blocks_options_default());
        struct gput_blocks_status status = gput_blocks_status_default();
        for (int shared = 0; shared < 2; shared++) {
            if (shared)
                gput_blocks_share(first);
            struct gput_blocks *second = open_blocks(path, joining);
            gput_blocks_read_status(second, &status);
            assert_int_equal(strcmp(status.path, path) == 0, shared && i < 2);
            gput_blocks_start(second, "second");
            assert_int_equal(gput_blocks_close(second, NULL), GPUT_OK);
        }
        gput_blocks_start(first, "first");
        assert_int_equal(gput_blocks_close(first, NULL), GPUT_OK);
        struct content content = read_file(path);
        assert_int_equal(content.count, i < 2 ? 2 : 1);
        free_content(&content);
    }
}

FOLDER_TEST(each_process_has_its_path_where_the_pattern_says_so)
{
    struct gput_blocks *blocks =
        open_blocks(temporary("%p-100%%.csv"), gput_blocks_options_default());
    gput_blocks_start(blocks, "x");
    pid_t child = fork();
    if (child == 0) {
        gput_blocks_start(blocks, "y");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    gput_blocks_close(blocks, NULL);
    char name[64];
    snprintf(name, sizeof name, "%d-100%%.csv", child);
    struct content content = read_file(temporary(name));
    assert_row(&content, 0, "y", 0);
    free_content(&content);
    snprintf(name, sizeof name, "%d-100%%.csv", getpid());
    assert_int_equal(access(temporary(name), R_OK), 0);
    assert_int_equal(temporary_count(), 2);
}

FOLDER_TEST(a_child_closes_its_own_file)
{
    struct gput_blocks *blocks =
        open_blocks(temporary("x.gputblocks"), gput_blocks_options_default());
    gput_blocks_start(blocks, "x");
    for (int marks = 0; marks < 2; marks++) { /* also one that never marked */
        pid_t child = fork();
        if (child == 0) {
            if (marks)
                gput_blocks_start(blocks, "y");
            _exit(gput_blocks_close(blocks, NULL));
        }
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        assert_int_equal(temporary_count(), 1 + marks);
    }
    gput_blocks_stop(blocks);
    gput_blocks_close(blocks, NULL);
    struct content content = read_file(temporary("x.gputblocks"));
    assert_int_equal(content.count, 2);
    free_content(&content);
}

FOLDER_TEST(a_child_of_threads_marks_on_while_they_do)
{
    struct gput_blocks *blocks =
        open_blocks(temporary("x.gputblocks"), gput_blocks_options_default());
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, mark_many, blocks), 0);
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            mark_from_threads(blocks);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        char name[64];
        snprintf(name, sizeof name, "x-%d.gputblocks", child);
        struct content content = read_file(temporary(name));
        assert_paired(&content, THREADS * PAIRS_EACH);
        free_content(&content);
    }
    pthread_join(thread, NULL);
    gput_blocks_close(blocks, NULL);
    struct content content = read_file(temporary("x.gputblocks"));
    assert_paired(&content, PAIRS_EACH);
    free_content(&content);
}

/* What a program leaves that is killed a while after it said, by a byte to `ready_fd`, that it may
 * be.
 */
static struct content mark_and_be_killed(
    const char *path, void (*mark)(struct gput_blocks *blocks, int ready_fd), unsigned after_us)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct gput_blocks *blocks;
        if (gput_blocks_open(path, NULL, &blocks, NULL) == GPUT_OK)
            mark(blocks, ends[1]);
        _exit(1);
    }
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    usleep(after_us);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    return read_file(path);
}

static void mark_then_report(struct gput_blocks *blocks, int ready_fd)
{
    mark_from_threads(blocks);
    if (write(ready_fd, "x", 1) == 1)
        pause();
}

FOLDER_TEST(a_killed_program_keeps_every_mark)
{
    for (unsigned i = 0; i < 3; i++) {
        struct content content = mark_and_be_killed(temporary(files[i]), mark_then_report, 0);
        assert_int_equal(content.count, 2 * THREADS * PAIRS_EACH);
        assert_string_equal(content.warning, "");
        free_content(&content);
    }
}

/* The kernel may end a killed program's write at the end of a page: then the last row of a CSV is
 * cut off. */
static void assert_nothing_wrong_but_the_last_line(const char *warning)
{
    if (warning[0] != '\0' && !strstr(warning, "the last line is truncated"))
        fail_msg("%s", warning);
}

static void report_and_mark_on(struct gput_blocks *blocks, int ready_fd)
{
    gput_blocks_start(blocks, "first");
    gput_blocks_stop(blocks);
    if (write(ready_fd, "x", 1) == 1)
        for (;;)
            mark_from_threads(blocks);
}

FOLDER_TEST(a_program_killed_amid_marks_leaves_every_whole_mark)
{
    for (unsigned i = 0; i < 3; i++) {
        struct content content = mark_and_be_killed(temporary(files[i]), report_and_mark_on, 20000);
        assert_true(content.count >= 2);
        assert_row(&content, 0, "first", 0);
        assert_nothing_wrong_but_the_last_line(content.warning);
        free_content(&content);
    }
}

RUN_TESTS(temporary_create, temporary_remove)
