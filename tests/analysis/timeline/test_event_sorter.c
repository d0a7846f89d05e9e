#include "analysis/timeline/event_sorter.h"
#include "testing.h"

#include <string.h>

struct item {
    int64_t start_ns;
    int64_t duration_ns;
    uint32_t number;
    bool is_pair;
};

static int by_order(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->duration_ns != b->duration_ns)
        return a->duration_ns > b->duration_ns ? -1 : 1;
    if (a->is_pair != b->is_pair)
        return a->is_pair ? -1 : 1;
    return (a->number < b->number) != a->is_pair ? -1 : 1;
}

/* Sorts `count` records of differing lengths and compares with qsort(). */
static void check(size_t count, int64_t spread)
{
    struct event_sorter *sorter;
    struct item *items = calloc(count + 1, sizeof *items);
    uint64_t random = 42;
    assert_int_equal(event_sorter_create("/tmp", 1 << 20, &sorter, NULL), GPUT_OK);
    for (uint32_t i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        items[i] = (struct item){(int64_t)(random >> 20) % spread - spread / 2,
            (int64_t)(random >> 60), i, random % 5 < 2};
        size_t length = sizeof i + (random >> 40) % 50;
        char *bytes = (items[i].is_pair ? event_sorter_add_pair : event_sorter_add)(
            sorter, items[i].start_ns, items[i].duration_ns, length, NULL);
        assert_non_null(bytes);
        memset(bytes, 'x', length);
        memcpy(bytes, &i, sizeof i);
    }
    qsort(items, count, sizeof *items, by_order);
    struct sorted_record record;
    bool there;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(event_sorter_next(sorter, &record, &there, NULL), GPUT_OK);
        assert_true(there);
        assert_memory_equal(record.bytes, &items[i].number, sizeof(uint32_t));
        assert_int_equal(record.start_ns, items[i].start_ns);
        assert_int_equal((uintptr_t)record.bytes % 8, 0);
        if (record.length > 4)
            assert_int_equal(((const char *)record.bytes)[record.length - 1], 'x');
    }
    assert_int_equal(event_sorter_next(sorter, &record, &there, NULL), GPUT_OK);
    assert_false(there);
    assert_null(event_sorter_add(sorter, 0, 0, 8, NULL));
    event_sorter_destroy(sorter);
    free(items);
}

TEST(sorts_in_memory)
{
    check(0, 1);
    check(1, 10);
    check(1000, 50);
    check(1000, INT64_C(1) << 42);
}

TEST(sorts_more_than_its_memory)
{
    check(60000, 500);
    check(60000, INT64_C(1) << 42);
}

TEST(takes_records_larger_than_its_memory)
{
    struct event_sorter *sorter;
    struct sorted_record record;
    bool there;
    assert_int_equal(event_sorter_create("/tmp", 1 << 20, &sorter, NULL), GPUT_OK);
    for (int64_t start = 3; start > 0; start--)
        memset(event_sorter_add(sorter, start, 0, 3 << 20, NULL), (int)start, 3 << 20);
    for (int64_t start = 1; start <= 3; start++) {
        assert_int_equal(event_sorter_next(sorter, &record, &there, NULL), GPUT_OK);
        assert_true(there);
        assert_int_equal(record.length, 3 << 20);
        assert_int_equal(((const char *)record.bytes)[(3 << 20) - 1], start);
    }
    event_sorter_destroy(sorter);
}

TEST(says_where_it_cannot_write)
{
    struct event_sorter *sorter;
    struct gput_error error = {0};
    assert_int_equal(event_sorter_create("/nowhere", 1 << 20, &sorter, NULL), GPUT_OK);
    void *place = event_sorter_add(sorter, 0, 0, 800000, NULL);
    assert_non_null(place);
    memset(place, 0, 800000);
    assert_null(event_sorter_add(sorter, 0, 0, 800000, &error));
    assert_non_null(strstr(error.message, "/nowhere"));
    event_sorter_destroy(sorter);
}

RUN_TESTS(NULL, NULL)
