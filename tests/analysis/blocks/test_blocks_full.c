/*
 * Disks that fill and are freed again, played by the limit of a file's size: what could not be kept
 * is counted, calls are in the file as a whole or not at all, and marking goes on.
 */
#include "analysis/blocks/marks.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
    count(outcome, gput_blocks_start(blocks, "outer, \"quoted\""));
    count(outcome, gput_blocks_mark(blocks, "single", GPUT_BLOCK_START));
    count(outcome, gput_blocks_start_call(blocks, "named", &call));
    count(outcome, gput_blocks_start(blocks, "inner"));
    count(outcome, gput_blocks_stop(blocks));
    count(outcome, gput_blocks_stop_call(blocks, "named", &call));
    count(outcome, gput_blocks_mark(blocks, "single", GPUT_BLOCK_STOP));
    count(outcome, gput_blocks_stop(blocks));
    return outcome->failed == failed;
}

static void make_calls_until(struct gput_blocks *blocks, struct outcome *outcome, bool is_kept)
{
    while (make_calls(blocks, outcome) != is_kept)
        ;
}

/* Marks while there is space, in a full file, and when there is space again. */
static struct outcome mark_through(const char *path, bool thread_ids, rlim_t space)
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
        limit_files_to((rlim_t)info.st_size + space);
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
static struct outcome mark_in_child(const char *path, bool thread_ids, rlim_t space)
{
    struct outcome *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_DFL);
        *shared = mark_through(path, thread_ids, space);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status != 0)
        fail_msg("%s, %lu bytes: the marking process ended with wait status %d", path,
            (unsigned long)space, status);
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

FOLDER_TEST(what_a_full_disk_could_not_take_is_counted_and_the_rest_is_whole)
{
    for (unsigned i = 0; i < 3; i++) {
        for (rlim_t space = 0; space < 400; space += 57) {
            const char *path = temporary(files[i]);
            struct outcome outcome = mark_in_child(path, space % 2, space);
            assert_true(outcome.failed > 0);
            assert_true(outcome.lost > 0);
            assert_true(outcome.lost <= outcome.failed);
            struct content content = read_file(path);
            if (content.count + outcome.lost != outcome.made)
                fail_msg("%s, %lu bytes: %zu rows and %lu lost of %lu marks", path,
                    (unsigned long)space, content.count, (unsigned long)outcome.lost,
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

/* How many of so many calls of two blocks, one of a new name, are reported as kept. */
static int count_kept(struct gput_blocks *blocks, int calls)
{
    int kept = 0;
    for (int i = 0; i < calls; i++) {
        bool starts = gput_blocks_start(blocks, i % 2 ? "before" : "a new name") == GPUT_OK;
        kept += gput_blocks_stop(blocks) == GPUT_OK && starts;
    }
    return kept;
}

/* Another program cuts a log that is written: the program goes on, and each mark returns an error
 * as soon as a page of the log is gone, also when the file is made longer again. */
static void mark_while_it_is_cut(const char *path, off_t size)
{
    struct gput_blocks *blocks;
    struct gput_error error;
    int in_a_page = size % sysconf(_SC_PAGESIZE) ? (int)sysconf(_SC_PAGESIZE) / 16 : 0;
    if (gput_blocks_open(path, NULL, &blocks, NULL) != GPUT_OK)
        _exit(2);
    for (int i = 0; i < 100; i++)
        gput_blocks_start(blocks, "before"), gput_blocks_stop(blocks);
    if (truncate(path, size) != 0)
        _exit(3);
    int kept = count_kept(blocks, 2000);
    if (kept > in_a_page)
        _exit(4);
    if (truncate(path, 1 << 20) != 0 || count_kept(blocks, 20000) > 0)
        _exit(6);
    struct gput_blocks_status now;
    gput_blocks_status_init(&now, sizeof now);
    gput_blocks_read_status(blocks, &now);
    if (now.marks_lost < (uint64_t)(22000 - kept)) /* at least the start of each call */
        _exit(7);
    if (gput_blocks_close(blocks, &error) != GPUT_ERROR_IO || !strstr(error.message, "truncated"))
        _exit(5);
    _exit(0);
}

FOLDER_TEST(a_truncated_log_loses_marks_and_the_program_goes_on)
{
    /* nothing is left; all but the marks; the file ends in the page of the latest mark */
    const off_t sizes[] = {0, 2 * 65536, 2 * 65536 + 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unlink(temporary("x.gputblocks"));
        pid_t child = fork();
        if (child == 0) {
            signal(SIGBUS, SIG_DFL);
            mark_while_it_is_cut(temporary("x.gputblocks"), sizes[i]);
        }
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
    }
}

/* The file that another program truncates just before the next write, and to which size. */
static const char *cut_before_write;
static off_t cut_size;

ssize_t write(int fd, const void *bytes, size_t length)
{
    if (cut_before_write && truncate(cut_before_write, cut_size) != 0)
        return -1;
    cut_before_write = NULL;
    return syscall(SYS_write, fd, bytes, length);
}

/* A line that was appended to what was left of another is written again. */
FOLDER_TEST(a_csv_file_that_is_truncated_before_a_write_stays_whole)
{
    const char *path = temporary("x.csv");
    /* nothing; in the header; in a process id; in a time. The last mark is that before the write,
     * or that after it. */
    const off_t sizes[] = {0, 1, 50, 60, 777};
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
        struct gput_blocks *blocks;
        assert_int_equal(gput_blocks_open(path, NULL, &blocks, NULL), GPUT_OK);
        for (int call = 0; call < 100; call++)
            gput_blocks_start(blocks, "before"), gput_blocks_stop(blocks);
        cut_size = sizes[i / 2];
        cut_before_write = path;
        gput_blocks_start(blocks, "cut");
        assert_null(cut_before_write);
        if (i % 2)
            gput_blocks_stop(blocks);
        assert_int_equal(gput_blocks_close(blocks, NULL), GPUT_OK);
        struct content content = read_file(path);
        for (size_t row = 0; row < content.count; row++)
            assert_int_equal(content.rows[row].process_id, getpid());
        uint32_t cut = sub_tracking_names_add(content.names, "cut", 3);
        size_t found = 0;
        while (found < content.count && content.rows[found].name != cut)
            found++;
        assert_row(&content, found, "cut", SUB_TRACKING_START);
        assert_int_equal(content.lost.calls, 1);
        assert_non_null(strstr(content.warning, "at least 1 call is not in it"));
        free_content(&content);
        unlink(path);
    }
}

/* What is not a fault of ours ends the program as it would without us. */
FOLDER_TEST(other_faults_end_the_program)
{
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGBUS, SIG_DFL);
        struct gput_blocks *blocks;
        gput_blocks_open(temporary("x.gputblocks"), NULL, &blocks, NULL);
        gput_blocks_start(blocks, "x");
        FILE *file = fopen(temporary("short"), "w+");
        char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
        bytes[0] = 1;
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

RUN_TESTS(temporary_create, temporary_remove)
