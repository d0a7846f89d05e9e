#include "files/trace/source_texts.h"

#include "testing.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 20000

struct fixture {
    char path[32];
    int fd;
    struct source_texts *texts;
    uint32_t file;
    uint64_t starts[EVENTS + 1];
};

static int uneven(int number)
{
    return number % 1000 == 7 ? 300000 : number % 50;
}

static int even(int number)
{
    (void)number;
    return 1000;
}

static void write_events(struct fixture *fixture, int (*length_of_filler)(int number))
{
    FILE *file = fopen(fixture->path, "w");
    assert_non_null(file);
    for (int i = 0; i < EVENTS; i++) {
        fixture->starts[i] = (uint64_t)ftell(file);
        fprintf(file, "{\"n\":%d,\"%*s\":1}", i, length_of_filler(i), "");
    }
    fixture->starts[EVENTS] = (uint64_t)ftell(file);
    fclose(file);
}

static int set_up_with(void **state, int (*length_of_filler)(int number))
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    strcpy(fixture->path, "/tmp/source-texts-XXXXXX");
    close(mkstemp(fixture->path));
    write_events(fixture, length_of_filler);
    fixture->fd = open(fixture->path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(source_texts_create(&fixture->texts, NULL), GPUT_OK);
    fixture->file = source_texts_add(fixture->texts, fixture->fd, fixture->path);
    assert_int_not_equal(fixture->file, SOURCE_NONE);
    close(fixture->fd); /* it was the caller's */
    *state = fixture;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, uneven);
}

static int set_up_even(void **state)
{
    return set_up_with(state, even);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    source_texts_destroy(fixture->texts);
    unlink(fixture->path);
    free(fixture);
    return 0;
}

static int fetch(struct fixture *fixture, int number, const char **text, struct gput_error *error)
{
    uint64_t at = fixture->starts[number];
    size_t length = (size_t)(fixture->starts[number + 1] - at);
    return source_texts_fetch(fixture->texts, fixture->file, at, length, text, error);
}

static void assert_event(struct fixture *fixture, int number)
{
    const char *text;
    char start[32];
    assert_int_equal(fetch(fixture, number, &text, NULL), GPUT_OK);
    int length = snprintf(start, sizeof start, "{\"n\":%d,\"", number);
    assert_memory_equal(text, start, (size_t)length);
    assert_memory_equal(
        text + fixture->starts[number + 1] - fixture->starts[number] - 4, "\":1}", 4);
}

TEST_WITH(fetches_in_any_order, set_up, tear_down)
{
    for (int i = 0; i < EVENTS; i++)
        assert_event(*state, i);
    for (int i = EVENTS; i-- > 0;)
        assert_event(*state, i);
    for (int i = 0; i < EVENTS; i++)
        assert_event(*state, (int)(i * INT64_C(7919) % EVENTS));
}

static void fetches_in_turn(struct fixture *fixture, int places)
{
    for (int i = 0; i < EVENTS / places; i++)
        for (int place = 0; place < places; place++)
            assert_event(fixture, place * (EVENTS / places) + i);
}

/* How many bytes this process has read, by its calls. */
static uint64_t bytes_read(void)
{
    uint64_t bytes = 0;
    FILE *file = fopen("/proc/self/io", "r");
    if (!file)
        return 0;
    if (fscanf(file, "rchar: %" SCNu64, &bytes) != 1)
        bytes = 0;
    fclose(file);
    return bytes;
}

/* As many places at which reading goes on as small stretches fit into memory, and more. */
TEST_WITH(fetches_from_many_places_in_turn, set_up, tear_down)
{
    fetches_in_turn(*state, 100);
    fetches_in_turn(*state, 5000);
}

TEST_WITH(reads_what_is_fetched_in_turn_about_once, set_up_even, tear_down)
{
    struct fixture *fixture = *state;
    uint64_t before = bytes_read();
    if (before == 0)
        SKIP("there is no /proc/self/io");
    fetches_in_turn(fixture, 100);
    assert_in_range(bytes_read() - before, 1, 2 * fixture->starts[EVENTS]);
}

TEST_WITH(reads_little_where_the_order_is_random, set_up_even, tear_down)
{
    struct fixture *fixture = *state;
    uint64_t before = bytes_read();
    if (before == 0)
        SKIP("there is no /proc/self/io");
    for (int i = 0; i < EVENTS; i++)
        assert_event(fixture, (int)(i * INT64_C(7919) % EVENTS));
    assert_in_range(bytes_read() - before, 1, EVENTS * UINT64_C(4096));
}

TEST_WITH(says_so_when_the_file_was_cut, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct gput_error error;
    const char *text;
    assert_event(fixture, 0);
    assert_int_equal(truncate(fixture->path, (off_t)fixture->starts[EVENTS / 2]), 0);
    assert_event(fixture, EVENTS / 2 - 1);
    assert_int_equal(fetch(fixture, EVENTS / 2, &text, &error), GPUT_ERROR_IO);
    assert_non_null(strstr(error.message, "was changed while it was read"));
}

TEST_WITH(says_so_when_another_text_stands_there, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct gput_error error;
    const char *text;
    int fd = open(fixture->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "oops", 4, (off_t)fixture->starts[100] + 2), 4);
    close(fd);
    assert_event(fixture, 99);
    assert_int_equal(fetch(fixture, 100, &text, &error), GPUT_ERROR_IO);
    assert_non_null(strstr(error.message, fixture->path));
}

TEST_WITH(takes_plain_files_only, set_up, tear_down)
{
    struct fixture *fixture = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(source_texts_add(fixture->texts, ends[0], "pipe"), SOURCE_NONE);
    assert_int_equal(source_texts_add(fixture->texts, -1, "packed"), SOURCE_NONE);
    close(ends[0]);
    close(ends[1]);
}

RUN_TESTS(NULL, NULL)
