#include "views/output/missing_ranks.h"

#include "testing.h"

TEST(names_ranges)
{
    struct str list = {0};
    double some[] = {6, 0, 2, 1}, gaps[20];
    missing_ranks_list(some, 4, 10, &list);
    assert_string_equal(str_text(&list), "3-5, 7-9");
    str_finish(&list);
    missing_ranks_list(some, 0, 1, &list);
    assert_string_equal(str_text(&list), "0");
    str_finish(&list);
    missing_ranks_list(some, 4, 2, &list); /* ranks beyond it are not missing */
    assert_string_equal(str_text(&list), "");
    str_finish(&list);
    for (int i = 0; i < 20; i++)
        gaps[i] = 2 * i;
    missing_ranks_list(gaps, 20, 40, &list);
    assert_string_equal(str_text(&list), "1, 3, 5, 7, 9, 11, 13, 15 and more");
    str_finish(&list);
}

RUN_TESTS(NULL, NULL)
