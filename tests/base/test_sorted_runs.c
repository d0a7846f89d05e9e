#include "base/sorted_runs.h"
#include "testing.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A record of this head and `length` bytes. */
struct head {
    uint32_t key, run;
    uint64_t length;
};

static size_t length_of(const void *head)
{
    struct head copy; /* records lie at any address */
    memcpy(&copy, head, sizeof copy);
    return sizeof copy + copy.length;
}

static int compare(const void *left, const void *right)
{
    struct head a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return (a.key > b.key) - (a.key < b.key);
}

static const struct record_order order = {sizeof(struct head), length_of, compare};

static struct sorted_runs *create(void)
{
    struct sorted_runs *runs;
    assert_int_equal(sorted_runs_create("/tmp", &order, &runs, NULL), GPUT_OK);
    return runs;
}

/* Keys 0, step, 2 * step …, each with as many bytes as its key. */
static void add_run(struct sorted_runs *runs, uint32_t run, uint32_t count, uint32_t step)
{
    static const char bytes[1u << 20];
    for (uint32_t i = 0; i < count; i++) {
        struct head head = {i * step, run, i * step};
        assert_int_equal(sorted_runs_write(runs, &head, sizeof head, NULL), GPUT_OK);
        assert_int_equal(sorted_runs_write(runs, bytes, head.length, NULL), GPUT_OK);
    }
    assert_int_equal(sorted_runs_end_run(runs, NULL), GPUT_OK);
}

static size_t walk(struct sorted_runs *runs, size_t memory)
{
    struct head last = {0};
    const void *record;
    size_t count = 0;
    assert_int_equal(sorted_runs_first(runs, memory, &record, NULL), GPUT_OK);
    while (record) {
        struct head head;
        memcpy(&head, record, sizeof head);
        assert_true(head.key >= last.key);
        assert_true(head.key > last.key || head.run >= last.run);
        last = head;
        count++;
        assert_int_equal(sorted_runs_next(runs, &record, NULL), GPUT_OK);
    }
    return count;
}

TEST(gives_all_records_in_order_as_often_as_asked)
{
    struct sorted_runs *runs = create();
    add_run(runs, 0, 1000, 3);
    add_run(runs, 1, 0, 1);
    add_run(runs, 2, 2000, 2);
    add_run(runs, 3, 500, 5);
    assert_int_equal(sorted_runs_count(runs), 4);
    assert_int_equal(walk(runs, 1 << 20), 3500);
    assert_int_equal(walk(runs, 0), 3500); /* a record at a time */
    sorted_runs_destroy(runs);
}

TEST(a_record_may_be_larger_than_the_memory)
{
    struct sorted_runs *runs = create();
    add_run(runs, 0, 3, 400000);
    add_run(runs, 1, 2, 900000);
    assert_int_equal(walk(runs, 1000), 5);
    sorted_runs_destroy(runs);
}

TEST(of_no_runs_there_is_no_record)
{
    struct sorted_runs *runs = create();
    assert_int_equal(walk(runs, 1 << 20), 0);
    sorted_runs_destroy(runs);
}

TEST(a_folder_that_is_not_there_is_named)
{
    struct sorted_runs *runs;
    struct gput_error error;
    assert_int_equal(sorted_runs_create("/nowhere", &order, &runs, NULL), GPUT_OK);
    assert_int_equal(sorted_runs_write(runs, "x", 1, NULL), GPUT_OK); /* gathered */
    assert_int_not_equal(sorted_runs_end_run(runs, &error), GPUT_OK);
    assert_non_null(strstr(error.message, "/nowhere"));
    sorted_runs_destroy(runs);
}

RUN_TESTS(NULL, NULL)
