#include "analysis/training/row_sorter.h"

#include "testing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint64_t key;
    uint64_t order; /* in which it was added */
};

static int compare(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

static struct row_sorter *create(size_t bytes, bool once)
{
    const struct row_memory memory = {bytes, "."};
    const struct row_order order = {sizeof(struct row), compare, once};
    struct row_sorter *sorter;
    assert_int_equal(row_sorter_create(&memory, &order, &sorter, NULL), GPUT_OK);
    return sorter;
}

/* Keys that come again now and then. */
static void add(struct row_sorter *sorter, size_t count, uint64_t keys)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct row row = {i * UINT64_C(2654435761) % keys, i};
        assert_int_equal(row_sorter_add(sorter, &row, NULL), GPUT_OK);
    }
}

/* Walks through all rows: how many there are. */
static size_t walk(struct row_sorter *sorter, bool once)
{
    const void *at;
    size_t count = 0;
    uint64_t last = 0;
    assert_int_equal(row_sorter_first(sorter, &at, NULL), GPUT_OK);
    while (at) {
        const struct row *row = at;
        assert_true(count == 0 || (once ? row->key > last : row->key >= last));
        last = row->key;
        count++;
        assert_int_equal(row_sorter_next(sorter, &at, NULL), GPUT_OK);
    }
    return count;
}

TEST(gives_all_rows_in_order_as_often_as_asked)
{
    /* All in memory; in two runs; in runs of two rows. */
    const size_t sizes[] = {1 << 20, 600 * sizeof(struct row), 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int once = 0; once < 2; once++) {
            struct row_sorter *sorter = create(sizes[i], once);
            add(sorter, 1000, 700);
            for (int walks = 0; walks < 3; walks++)
                assert_int_equal(walk(sorter, once), once ? 700 : 1000);
            row_sorter_destroy(sorter);
        }
}

TEST(begins_again_in_the_middle_of_a_walk)
{
    const void *at;
    struct row_sorter *sorter = create(64 * sizeof(struct row), false);
    add(sorter, 1000, 1000);
    assert_int_equal(row_sorter_first(sorter, &at, NULL), GPUT_OK);
    for (int i = 0; i < 500; i++)
        assert_int_equal(row_sorter_next(sorter, &at, NULL), GPUT_OK);
    assert_int_equal(((const struct row *)at)->key, 500);
    assert_int_equal(walk(sorter, false), 1000);
    row_sorter_destroy(sorter);
}

TEST(of_no_rows_there_is_none)
{
    struct row_sorter *sorter = create(1, true);
    assert_int_equal(walk(sorter, true), 0);
    row_sorter_destroy(sorter);
    row_sorter_destroy(NULL);
}

TEST(a_folder_that_cannot_be_written_is_named)
{
    const struct row_memory memory = {1, "/nowhere"};
    const struct row_order order = {sizeof(struct row), compare, false};
    const struct row row = {0, 0};
    struct row_sorter *sorter;
    struct gput_error error;
    assert_int_equal(row_sorter_create(&memory, &order, &sorter, NULL), GPUT_OK);
    assert_int_equal(row_sorter_add(sorter, &row, NULL), GPUT_OK);
    assert_int_equal(row_sorter_add(sorter, &row, NULL), GPUT_OK);
    assert_int_equal(row_sorter_add(sorter, &row, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "a temporary file in /nowhere"));
    row_sorter_destroy(sorter);
}

RUN_TESTS(NULL, NULL)
