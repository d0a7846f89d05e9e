#include "trace/source_texts.h"

#include "testing.h"

#include <fcntl.h>
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

static int length_of_filler(int number)
{
    return number % 1000 == 7 ? 300000 : number % 50;
}

static void write_events(struct fixture *fixture)
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

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    strcpy(fixture->path, "/tmp/source-texts-XXXXXX");
    close(mkstemp(fixture->path));
    write_events(fixture);
    fixture->fd = open(fixture->path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(source_texts_create(&fixture->texts, NULL), GPUT_OK);
    fixture->file = source_texts_add(fixture->texts, fixture->fd, fixture->path);
    assert_int_not_equal(fixture->file, SOURCE_NONE);
    close(fixture->fd); /* it was the caller's */
    *state = fixture;
    return 0;
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

static void fetches_in_any_order(void **state)
{
    for (int i = 0; i < EVENTS; i++)
        assert_event(*state, i);
    for (int i = EVENTS; i-- > 0;)
        assert_event(*state, i);
    for (int i = 0; i < EVENTS; i++)
        assert_event(*state, (int)(i * INT64_C(7919) % EVENTS));
}

/* More places at which reading goes on than stretches are kept. */
static void fetches_from_many_places_in_turn(void **state)
{
    for (int i = 0; i < EVENTS / 100; i++)
        for (int place = 0; place < 100; place++)
            assert_event(*state, place * (EVENTS / 100) + i);
}

static void says_so_when_the_file_was_cut(void **state)
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

static void says_so_when_another_text_stands_there(void **state)
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

static void takes_plain_files_only(void **state)
{
    struct fixture *fixture = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(source_texts_add(fixture->texts, ends[0], "pipe"), SOURCE_NONE);
    assert_int_equal(source_texts_add(fixture->texts, -1, "packed"), SOURCE_NONE);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fetches_in_any_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fetches_from_many_places_in_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_so_when_the_file_was_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_so_when_another_text_stands_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_plain_files_only, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("trace/source_texts", tests, NULL, NULL);
}
