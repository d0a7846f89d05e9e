#include "analysis/blocks/marks.h"
#include "decimal_commas.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

FOLDER_TEST(nested_blocks_are_marked_in_every_format)
{
    for (unsigned i = 0; i < 3; i++) {
        const char *path = temporary(files[i]);
        struct gput_blocks *blocks = open_blocks(path, gput_blocks_options_default());
        char changing[] = "outer";
        assert_int_equal(gput_blocks_start(blocks, changing), GPUT_OK);
        memcpy(changing, "INNER", 5); /* the same address, another name */
        assert_int_equal(gput_blocks_start(blocks, changing), GPUT_OK);
        assert_int_equal(gput_blocks_stop(blocks), GPUT_OK);
        assert_int_equal(gput_blocks_mark(blocks, "a, \"b\"", GPUT_BLOCK_START), GPUT_OK);
        assert_int_equal(gput_blocks_stop(blocks), GPUT_OK);
        assert_int_equal(gput_blocks_stop(blocks), GPUT_ERROR_STATE);
        assert_int_equal(gput_blocks_close(blocks, NULL), GPUT_OK);

        struct content content = read_file(path);
        assert_int_equal(content.count, 5);
        assert_row(&content, 0, "outer", 0);
        assert_row(&content, 1, "INNER", 0);
        assert_row(&content, 2, "INNER", 1);
        assert_row(&content, 3, "a, \"b\"", 0);
        assert_row(&content, 4, "outer", 1);
        assert_int_equal(content.rows[0].process_id, getpid());
        assert_string_equal(content.warning, "");
        free_content(&content);
    }
    assert_int_equal(temporary_count(), 3);
}

FOLDER_TEST(times_are_of_the_epoch)
{
    for (unsigned i = 0; i < 3; i++) {
        struct timespec before;
        struct timespec after;
        struct gput_blocks *blocks =
            open_blocks(temporary(files[i]), gput_blocks_options_default());
        clock_gettime(CLOCK_REALTIME, &before);
        gput_blocks_mark(blocks, "x", GPUT_BLOCK_START);
        clock_gettime(CLOCK_REALTIME, &after);
        gput_blocks_close(blocks, NULL);
        struct content content = read_file(temporary(files[i]));
        /* The log's times come from two clocks, read a little apart; SQLite's are doubles. */
        double seconds = content.rows[0].timestamp;
        assert_true(seconds >= (double)before.tv_sec + (double)before.tv_nsec / 1e9 - 1e-3);
        assert_true(seconds <= (double)after.tv_sec + (double)after.tv_nsec / 1e9 + 1e-3);
        free_content(&content);
    }
}

FOLDER_TEST(an_existing_file_is_kept_unless_overwriting_was_asked_for)
{
    for (unsigned i = 0; i < 3; i++) {
        const char *path = temporary(files[i]);
        temporary_write(path, "precious");
        struct gput_blocks *blocks;
        struct gput_error error;
        assert_int_equal(gput_blocks_open(path, NULL, &blocks, &error), GPUT_ERROR_EXISTS);
        assert_null(blocks);
        char expected[5000];
        snprintf(expected, sizeof expected, "File %s already exists.", path);
        assert_string_equal(error.message, expected);
        char *text = temporary_read(path);
        assert_string_equal(text, "precious");
        free(text);

        struct gput_blocks_options options = gput_blocks_options_default();
        options.overwrite = true;
        blocks = open_blocks(path, options);
        gput_blocks_start(blocks, "x");
        gput_blocks_close(blocks, NULL);
        struct content content = read_file(path);
        assert_int_equal(content.count, 1);
        free_content(&content);
    }
}

FOLDER_TEST(a_file_that_was_removed_and_made_anew_is_left_alone_by_the_old_log)
{
    for (unsigned i = 0; i < 3; i++) {
        const char *path = temporary(files[i]);
        struct gput_blocks_options options = {
            .size = sizeof options, .overwrite = true, .limit_bytes = 1 << 20};
        struct gput_blocks *before = open_blocks(path, options);
        assert_int_equal(gput_blocks_mark(before, "before", GPUT_BLOCK_START), GPUT_OK);
        assert_int_equal(unlink(path), 0);
        struct gput_blocks *after = open_blocks(path, options);
        assert_int_equal(gput_blocks_mark(after, "first", GPUT_BLOCK_START), GPUT_OK);
        gput_blocks_close(before, NULL);
        assert_int_equal(gput_blocks_mark(after, "second", GPUT_BLOCK_START), GPUT_OK);
        struct content content = read_file(path);
        assert_int_equal(content.count, 2);
        assert_row(&content, 0, "first", 0);
        assert_row(&content, 1, "second", 0);
        free_content(&content);
        assert_int_equal(gput_blocks_close(after, NULL), GPUT_OK);
    }
    assert_int_equal(temporary_count(), 3);
}

FOLDER_TEST(csv_has_the_four_columns_unless_more_were_asked_for)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    gput_blocks_close(open_blocks(temporary("a.csv"), options), NULL);
    char *text = temporary_read(temporary("a.csv"));
    assert_string_equal(text, "process_id,code_block_name,position,timestamp\n");
    free(text);
    options.thread_ids = true;
    gput_blocks_close(open_blocks(temporary("b.csv"), options), NULL);
    text = temporary_read(temporary("b.csv"));
    assert_string_equal(
        text, "process_id,code_block_name,position,timestamp,thread_id,started_ns\n");
    free(text);
}

FOLDER_TEST(an_invalid_name_is_refused_and_its_end_still_pairs)
{
    struct gput_blocks *blocks =
        open_blocks(temporary("x.gputblocks"), gput_blocks_options_default());
    char *longest = calloc(1, 70000);
    memset(longest, 'n', 65001);
    gput_blocks_start(blocks, "outer");
    assert_int_equal(gput_blocks_start(blocks, longest), GPUT_ERROR_INVALID);
    assert_int_equal(gput_blocks_stop(blocks), GPUT_OK);
    assert_int_equal(gput_blocks_start(blocks, NULL), GPUT_ERROR_INVALID);
    assert_int_equal(gput_blocks_stop(blocks), GPUT_OK);
    longest[65000] = '\0';
    assert_int_equal(gput_blocks_start(blocks, longest), GPUT_OK);
    gput_blocks_stop(blocks);
    gput_blocks_stop(blocks);
    struct gput_blocks_status status = gput_blocks_status_default();
    gput_blocks_read_status(blocks, &status);
    assert_int_equal(status.marks_lost, 2);
    assert_int_equal(status.lost.code, GPUT_ERROR_INVALID);
    assert_string_equal(status.path, temporary("x.gputblocks"));
    gput_blocks_close(blocks, NULL);

    struct content content = read_file(temporary("x.gputblocks"));
    assert_int_equal(content.count, 4);
    assert_row(&content, 0, "outer", 0);
    assert_row(&content, 1, longest, 0);
    assert_row(&content, 2, longest, 1);
    assert_row(&content, 3, "outer", 1);
    free_content(&content);
    free(longest);
}

FOLDER_TEST(a_log_at_its_limit_loses_marks_and_says_so)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    options.limit_bytes = 4 * 65536; /* a header, names, two chunks of marks */
    struct gput_blocks *blocks = open_blocks(temporary("x.gputblocks"), options);
    int code = GPUT_OK;
    uint64_t kept = 0;
    while ((code = gput_blocks_mark(blocks, "x", kept % 2 ? GPUT_BLOCK_STOP : GPUT_BLOCK_START)) ==
           GPUT_OK)
        assert_true(++kept < 100000);
    assert_int_equal(code, GPUT_ERROR_STATE);
    assert_true(kept > 16000);
    struct gput_blocks_status status = gput_blocks_status_default();
    gput_blocks_read_status(blocks, &status);
    assert_int_equal(status.marks_lost, 1);
    assert_non_null(strstr(status.lost.message, "limit"));
    gput_blocks_close(blocks, NULL);
    struct content content = read_file(temporary("x.gputblocks"));
    assert_int_equal(content.count, kept);
    assert_non_null(strstr(content.warning, "1 call is not in it"));
    free_content(&content);
}

enum { LIMITED_BYTES = 200000, LIMITED_CALLS = 8000 };

/* In a child with a limit of file sizes: exits with 0 where calls were lost for that reason. */
static void mark_below_limit(const char *path)
{
    struct rlimit limit = {LIMITED_BYTES, LIMITED_BYTES};
    struct gput_blocks_status status = gput_blocks_status_default();
    struct gput_blocks *blocks;
    decimal_commas_set(); /* where libc can have them */
    setrlimit(RLIMIT_FSIZE, &limit);
    if (gput_blocks_open(path, NULL, &blocks, NULL) != GPUT_OK)
        _exit(1);
    for (int i = 0; i < LIMITED_CALLS; i++) {
        gput_blocks_start(blocks, "x");
        gput_blocks_stop(blocks);
    }
    gput_blocks_read_status(blocks, &status);
    if (status.marks_lost == 0 || !strstr(status.lost.message, "ulimit -f allows 200000 bytes"))
        _exit(2);
    _exit(gput_blocks_close(blocks, NULL) == GPUT_OK ? 0 : 3);
}

FOLDER_TEST(a_file_size_limit_loses_marks_and_the_program_goes_on)
{
    static const char *const names[] = {"limited.csv", "limited.sqlite", "limited.gputblocks"};
    for (size_t i = 0; i < 3; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            mark_below_limit(temporary(names[i]));
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        struct content content = read_file(temporary(names[i]));
        uint64_t calls = 0; /* a start may have fitted where its stop did not */
        for (size_t row = 0; row < content.count; row++)
            calls += content.rows[row].position == SUB_TRACKING_STOP;
        assert_in_range(calls, 2500, LIMITED_CALLS - 1); /* the whole limit was used */
        assert_int_equal(content.lost.calls, LIMITED_CALLS - calls);
        free_content(&content);
    }
}

/* ---- Exact figures ---- */

FOLDER_TEST(exact_marks_have_the_kernels_counters)
{
    for (unsigned i = 0; i < 3; i++) {
        struct gput_blocks_options options = gput_blocks_options_default();
        options.exact = true;
        struct gput_blocks *blocks = open_blocks(temporary(files[i]), options);
        gput_blocks_start(blocks, "work");
        void *memory =
            mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(memory, 1, 16 << 20);
        for (volatile int spin = 0; spin < 2000000; spin++)
            ;
        gput_blocks_stop(blocks);
        munmap(memory, 16 << 20);
        gput_blocks_close(blocks, NULL);
        struct content content = read_file(temporary(files[i]));
        assert_int_equal(content.count, 2);
        struct sub_tracking_exact a = content.rows[0].exact;
        struct sub_tracking_exact b = content.rows[1].exact;
        int64_t cpu = b.thread_cpu_ns - a.thread_cpu_ns;
        assert_true(cpu > 0);
        assert_true(cpu <= content.rows[1].timestamp_ns - content.rows[0].timestamp_ns + 1000000);
        assert_true(b.process_cpu_ns - a.process_cpu_ns >= cpu - 1000000);
        assert_true(b.minor_faults > a.minor_faults);
        assert_true(b.peak_rss_bytes >= 16 << 20);
        assert_int_equal(b.energy_uj, SUB_TRACKING_UNKNOWN);
        free_content(&content);
    }
}

/* ---- Threads ---- */

FOLDER_TEST(threads_mark_at_once_and_no_mark_is_lost)
{
    for (unsigned i = 0; i < 3; i++) {
        struct gput_blocks *blocks =
            open_blocks(temporary(files[i]), gput_blocks_options_default());
        mark_from_threads(blocks);
        assert_int_equal(gput_blocks_close(blocks, NULL), GPUT_OK);
        struct content content = read_file(temporary(files[i]));
        assert_paired(&content, THREADS * PAIRS_EACH);
        free_content(&content);
    }
}

FOLDER_TEST(the_marks_before_a_second_thread_get_the_id_of_the_first)
{
    for (unsigned i = 0; i < 2; i++) { /* a log has thread ids always */
        struct gput_blocks *blocks =
            open_blocks(temporary(files[i]), gput_blocks_options_default());
        gput_blocks_start(blocks, "a, b");
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, mark_many, blocks), 0);
        gput_blocks_start(blocks, "inner");
        gput_blocks_stop(blocks);
        pthread_join(thread, NULL);
        gput_blocks_stop(blocks);
        gput_blocks_close(blocks, NULL);
        struct content content = read_file(temporary(files[i]));
        assert_int_equal(content.count, 2 * (PAIRS_EACH + 2));
        assert_string_equal(sub_tracking_names_text(content.names, content.rows[0].name), "a, b");
        assert_int_equal(content.rows[0].thread_id, gettid());
        assert_int_equal(content.rows[content.count - 1].thread_id, gettid());
        for (size_t row = 0; row < content.count; row++)
            assert_true(content.rows[row].thread_id > 0);
        free_content(&content);
    }
    assert_int_equal(temporary_count(), 2);
}

static void descend(struct gput_blocks *blocks, int depth)
{
    gput_blocks_start(blocks, "outer");
    if (depth > 0)
        descend(blocks, depth - 1);
    gput_blocks_stop(blocks);
}

FOLDER_TEST(a_block_within_itself_brings_thread_ids)
{
    for (unsigned i = 0; i < 2; i++) {
        struct gput_blocks *blocks =
            open_blocks(temporary(files[i]), gput_blocks_options_default());
        gput_blocks_start(blocks, "other");
        descend(blocks, 0);
        struct content before = read_file(temporary(files[i]));
        assert_int_equal(before.count, 3);
        assert_int_equal(before.rows[0].thread_id, SUB_TRACKING_UNKNOWN);
        free_content(&before);
        descend(blocks, 2);
        gput_blocks_stop(blocks);
        gput_blocks_close(blocks, NULL);
        struct content content = read_file(temporary(files[i]));
        assert_int_equal(content.count, 10);
        for (size_t row = 0; row < content.count; row++)
            assert_int_equal(content.rows[row].thread_id, gettid());
        free_content(&content);
    }
    assert_int_equal(temporary_count(), 2);
}

FOLDER_TEST(a_block_that_is_marked_within_itself_brings_thread_ids_too)
{
    static const struct {
        const char *name;
        enum gput_block_position position;
    } marks[] = {
        {"a", GPUT_BLOCK_START},
        {"b", GPUT_BLOCK_START},
        {"a", GPUT_BLOCK_STOP},
        {"a", GPUT_BLOCK_START},
        {"b", GPUT_BLOCK_STOP},
        {"a", GPUT_BLOCK_START}, /* while it runs */
        {"a", GPUT_BLOCK_STOP},
        {"a", GPUT_BLOCK_STOP},
    };
    size_t n_marks = sizeof marks / sizeof marks[0];
    for (unsigned i = 0; i < 2; i++) {
        struct gput_blocks *blocks =
            open_blocks(temporary(files[i]), gput_blocks_options_default());
        for (size_t m = 0; m < n_marks; m++) {
            if (m == 5) {
                struct content before = read_file(temporary(files[i]));
                assert_int_equal(before.rows[4].thread_id, SUB_TRACKING_UNKNOWN);
                free_content(&before);
            }
            assert_int_equal(gput_blocks_mark(blocks, marks[m].name, marks[m].position), GPUT_OK);
        }
        gput_blocks_close(blocks, NULL);
        struct content content = read_file(temporary(files[i]));
        assert_int_equal(content.count, n_marks);
        for (size_t row = 0; row < content.count; row++)
            assert_int_equal(content.rows[row].thread_id, gettid());
        free_content(&content);
    }
}

struct handed_over {
    struct gput_blocks *blocks;
    struct gput_block_call call;
};

static void *stop_there(void *pointer)
{
    struct handed_over *handed = pointer;
    assert_int_equal(gput_blocks_stop_call(handed->blocks, "a", &handed->call), GPUT_OK);
    return NULL;
}

FOLDER_TEST(stops_have_their_start_time_where_calls_overlap)
{
    for (unsigned i = 0; i < 3; i++) {
        struct gput_blocks *blocks =
            open_blocks(temporary(files[i]), gput_blocks_options_default());
        struct gput_block_call calls[3];
        for (int c = 0; c < 3; c++)
            assert_int_equal(gput_blocks_start_call(blocks, "a", &calls[c]), GPUT_OK);
        for (int c = 0; c < 2; c++)
            assert_int_equal(gput_blocks_stop_call(blocks, "a", &calls[c]), GPUT_OK);
        pid_t child = fork();
        if (child == 0)
            _exit(gput_blocks_stop_call(blocks, "a", &calls[2]));
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        struct handed_over handed = {blocks, calls[2]};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, stop_there, &handed), 0);
        pthread_join(thread, NULL);
        gput_blocks_start_call(blocks, "a", &calls[0]);
        gput_blocks_stop_call(blocks, "a", &calls[0]);
        assert_int_equal(gput_blocks_close(blocks, NULL), GPUT_OK);

        struct content content = read_file(temporary(files[i]));
        assert_int_equal(content.count, 8);
        int64_t starts[3];
        size_t n_starts = 0, n_checked = 0;
        for (size_t row = 0; row < content.count; row++) {
            const struct sub_tracking_mark *mark = &content.rows[row];
            if (mark->position == SUB_TRACKING_START && n_starts < 3)
                starts[n_starts++] = mark->timestamp_ns;
            if (mark->started_ns != SUB_TRACKING_UNKNOWN)
                assert_true(sub_tracking_seconds_of_ns(mark->started_ns) ==
                            sub_tracking_seconds_of_ns(starts[n_checked++]));
        }
        assert_int_equal(n_checked, 3); /* the last call is the mark before its stop */
        free_content(&content);
        char name[64];
        snprintf(name, sizeof name, "marks-%d%s", child, strchr(files[i], '.'));
        if (access(temporary(name), F_OK) == 0) {
            content = read_file(temporary(name));
            assert_int_equal(content.count, 0);
            free_content(&content);
        }
    }
}

FOLDER_TEST(a_moved_file_is_still_written)
{
    char moved[4096];
    snprintf(moved, sizeof moved, "%s", temporary("moved.csv"));
    struct gput_blocks *blocks = open_blocks(temporary("marks.csv"), gput_blocks_options_default());
    gput_blocks_start(blocks, "first");
    assert_int_equal(rename(temporary("marks.csv"), moved), 0);
    temporary_write(temporary("marks.csv"), "somebody else's");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, mark_many, blocks), 0);
    pthread_join(thread, NULL);
    gput_blocks_close(blocks, NULL);
    char *text = temporary_read(temporary("marks.csv"));
    assert_string_equal(text, "somebody else's");
    free(text);
    struct content content = read_file(moved);
    assert_int_equal(content.count, 1 + 2 * PAIRS_EACH);
    free_content(&content);
}

static void *mark_once(void *pointer)
{
    gput_blocks_start(pointer, "short");
    gput_blocks_stop(pointer);
    return NULL;
}

FOLDER_TEST(threads_that_follow_one_another_share_a_chunk)
{
    struct gput_blocks *blocks =
        open_blocks(temporary("x.gputblocks"), gput_blocks_options_default());
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, mark_once, blocks), 0);
        pthread_join(thread, NULL);
    }
    gput_blocks_close(blocks, NULL);
    struct content content = read_file(temporary("x.gputblocks"));
    assert_int_equal(content.count, 400);
    free_content(&content);
    FILE *file = fopen(temporary("x.gputblocks"), "r");
    fseek(file, 0, SEEK_END);
    assert_int_equal(ftell(file), 3 * 65536);
    fclose(file);
}

RUN_TESTS(temporary_create, temporary_remove)
