#include "files/marks/sub_tracking_names.h"
#include "testing.h"

#include <pthread.h>
#include <string.h>

TEST(gives_each_name_one_number)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            char name[32];
            int length = snprintf(name, sizeof name, "file.py:%u", i);
            assert_int_equal(sub_tracking_names_add(names, name, (size_t)length), i);
        }
    assert_int_equal(sub_tracking_names_count(names), 5000);
    assert_string_equal(sub_tracking_names_text(names, 4321), "file.py:4321");
    assert_int_equal(sub_tracking_names_length(names, 4321), 12);
    sub_tracking_names_destroy(names);
}

TEST(distinguishes_names_by_length_and_ends_them_at_a_nul)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    assert_int_equal(sub_tracking_names_add(names, "", 0), 0);
    assert_int_equal(sub_tracking_names_add(names, "abc", 2), 1);
    assert_int_equal(sub_tracking_names_add(names, "abc", 3), 2);
    assert_int_equal(sub_tracking_names_add(names, "ab\0c", 4), 1);
    assert_string_equal(sub_tracking_names_text(names, 1), "ab");
    sub_tracking_names_destroy(names);
}

static void *add_many(void *argument)
{
    struct sub_tracking_names *names = argument;
    for (int i = 0; i < 2000; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "%d", i);
        uint32_t number = sub_tracking_names_add(names, name, (size_t)length);
        if (strcmp(sub_tracking_names_text(names, number), name) != 0)
            return names;
    }
    return NULL;
}

TEST(threads_agree_on_the_numbers)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, names), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(sub_tracking_names_count(names), 2000);
    sub_tracking_names_destroy(names);
}

RUN_TESTS(NULL, NULL)
