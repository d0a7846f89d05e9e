/*
 * Disks that fill and are freed again, played by the limit of a file's size: what could not be kept
 * is counted, calls are in the file as a whole or not at all, and marking goes on.
 */
#include "blocks/marks.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* What a child reports of its marks. */
struct outcome {
    uint64_t made;
    uint64_t failed; /* that returned an error */
    uint64_t lost;   /* at the end, by the log's own count */
};

static void limit_files_to(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void count(struct outcome *outcome, int code)
{
    outcome->made++;
    outcome->failed += code != GPUT_OK;
}

/* A block within another, by each of the ways to mark. False: one of the marks was lost. */
static bool make_calls(struct gput_blocks *blocks, struct outcome *outcome)
{
    uint64_t failed = outcome->failed;
    struct gput_block_call call;
    count(outcome, gput_blocks_begin(blocks, "outer, \"quoted\""));
    count(outcome, gput_blocks_mark(blocks, "single", GPUT_BLOCK_START));
    count(outcome, gput_blocks_start(blocks, "named", &call));
    count(outcome, gput_blocks_begin(blocks, "inner"));
    count(outcome, gput_blocks_end(blocks));
    count(outcome, gput_blocks_stop(blocks, "named", &call));
    count(outcome, gput_blocks_mark(blocks, "single", GPUT_BLOCK_STOP));
    count(outcome, gput_blocks_end(blocks));
    return outcome->failed == failed;
}

static void make_calls_until(struct gput_blocks *blocks, struct outcome *outcome, bool is_kept)
{
    while (make_calls(blocks, outcome) != is_kept)
        ;
}

/* Marks while there is space, in a full file, and when there is space again. */
static struct outcome mark_through(const char *path, bool thread_ids, rlim_t room)
{
    struct outcome outcome = {0};
    struct gput_blocks *blocks;
    struct gput_blocks_status status = gput_blocks_status_default();
    struct gput_blocks_options options = gput_blocks_options_default();
    struct stat info;
    options.thread_ids = thread_ids;
    if (gput_blocks_open(path, &options, &blocks, NULL) != GPUT_OK)
        _exit(2);
    for (int i = 0; i < 20; i++)
        make_calls(blocks, &outcome);
    for (int times = 0; times < 2; times++) {
        if (stat(path, &info) != 0)
            _exit(3);
        limit_files_to((rlim_t)info.st_size + room);
        make_calls_until(blocks, &outcome, false);
        for (int i = 0; i < 20; i++)
            make_calls(blocks, &outcome);
        limit_files_to(RLIM_INFINITY);
        make_calls_until(blocks, &outcome, true);
        for (int i = 0; i < 20; i++)
            make_calls(blocks, &outcome);
    }
    gput_blocks_read_status(blocks, &status);
    outcome.lost = status.marks_lost;
    if (gput_blocks_close(blocks, NULL) != GPUT_OK)
        _exit(4);
    return outcome;
}

/* In a process of its own, which SIGXFSZ would end. */
static struct outcome mark_in_child(const char *path, bool thread_ids, rlim_t room)
{
    struct outcome *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_DFL);
        *shared = mark_through(path, thread_ids, room);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status != 0)
        fail_msg("%s, %lu bytes: the marking process ended with wait status %d", path,
            (unsigned long)room, status);
    struct outcome outcome = *shared;
    munmap(shared, sizeof *shared);
    return outcome;
}

/* Starts and stops of each name take turns. */
static void assert_calls_are_whole(const struct content *content)
{
    int open[8] = {0};
    for (size_t i = 0; i < content->count; i++) {
        uint32_t name = content->rows[i].name;
        assert_true(name < 8);
        open[name] += content->rows[i].position == SUB_TRACKING_START ? 1 : -1;
        assert_in_range(open[name], 0, 1);
    }
    for (size_t name = 0; name < 8; name++)
        assert_int_equal(open[name], 0);
}

static int by_time(const void *left, const void *right)
{
    const struct sub_tracking_mark *a = left, *b = right;
    return (a->timestamp_ns > b->timestamp_ns) - (a->timestamp_ns < b->timestamp_ns);
}

static void what_a_full_disk_could_not_take_is_counted_and_the_rest_is_whole(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        for (rlim_t room = 0; room < 400; room += 57) {
            const char *path = temporary(files[i]);
            struct outcome outcome = mark_in_child(path, room % 2, room);
            assert_true(outcome.failed > 0);
            assert_true(outcome.lost > 0);
            assert_true(outcome.lost <= outcome.failed);
            struct content content = read_file(path);
            if (content.count + outcome.lost != outcome.made)
                fail_msg("%s, %lu bytes: %zu rows and %lu lost of %lu marks", path,
                    (unsigned long)room, content.count, (unsigned long)outcome.lost,
                    (unsigned long)outcome.made);
            assert_int_equal(content.lost.calls, (outcome.made - content.count) / 2);
            assert_true(content.lost.until_ns >= content.lost.since_ns);
            assert_non_null(
                strstr(content.warning, " are not in it, because it had reached a limit"));
            qsort(content.rows, content.count, sizeof *content.rows, by_time);
            assert_calls_are_whole(&content);
            free_content(&content);
            unlink(path);
        }
    }
}

/* Somebody cuts a log that is written: the program goes on, and gets an error. */
static void mark_while_it_is_cut(const char *path)
{
    struct gput_blocks *blocks;
    struct gput_error error;
    if (gput_blocks_open(path, NULL, &blocks, NULL) != GPUT_OK)
        _exit(2);
    for (int i = 0; i < 100; i++)
        gput_blocks_begin(blocks, "before"), gput_blocks_end(blocks);
    if (truncate(path, 0) != 0)
        _exit(3);
    bool failed = false;
    for (int i = 0; i < 100000; i++) {
        failed |= gput_blocks_begin(blocks, i % 2 ? "after" : "a new name") != GPUT_OK;
        gput_blocks_end(blocks);
    }
    if (!failed)
        _exit(4);
    if (gput_blocks_close(blocks, &error) != GPUT_ERROR_IO || !strstr(error.message, "cut"))
        _exit(5);
    _exit(0);
}

static void a_truncated_log_loses_marks_and_the_program_goes_on(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        mark_while_it_is_cut(temporary("x.gputblocks"));
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* What is no fault of ours ends the program as it would without us. */
static void other_faults_end_the_program(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGBUS, SIG_DFL);
        struct gput_blocks *blocks;
        gput_blocks_open(temporary("x.gputblocks"), NULL, &blocks, NULL);
        gput_blocks_begin(blocks, "x");
        FILE *file = fopen(temporary("short"), "w+");
        char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
        bytes[0] = 1;
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        temporary_test(what_a_full_disk_could_not_take_is_counted_and_the_rest_is_whole),
        temporary_test(a_truncated_log_loses_marks_and_the_program_goes_on),
        temporary_test(other_faults_end_the_program),
    };
    return cmocka_run_group_tests_name(
        "blocks/blocks_full", tests, temporary_create, temporary_remove);
}
