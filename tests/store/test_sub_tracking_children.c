#include "store/sub_tracking_children.h"
#include "store/temporary.h"

#include <fcntl.h>
#include <sys/stat.h>

#define LONG_AGO_SECONDS 1000000
#define SECOND INT64_C(1000000000)

static void age(const char *path)
{
    struct timespec times[2] = {{.tv_sec = LONG_AGO_SECONDS}, {.tv_sec = LONG_AGO_SECONDS}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void files_of_children_are_named(void **state)
{
    (void)state;
    static const char *const names[] = {"marks.csv", "marks-12.csv", "marks-7-2.csv",
        "marks-13.csv", "marks-.csv", "marks-12x.csv", "marks-12.sqlite", "marks-1-2-3.csv",
        "other-12.csv"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        temporary_write(temporary(names[i]), "");
    age(temporary("marks-13.csv"));
    char path[4096], expected[20000];
    snprintf(path, sizeof path, "%s", temporary("marks.csv"));
    char *warning = sub_tracking_children_warning(path, (LONG_AGO_SECONDS + 60) * SECOND);
    int stem = (int)strlen(path) - 4;
    snprintf(expected, sizeof expected,
        "Sub-tracking file %s: child processes wrote files of their own, which are not taken in: "
        "marks-12.csv and 1 more. Combine all of them first: gpu-tracker sub-track combine --stf "
        "all.csv -p %s %.*s-*.csv",
        path, path, stem, path);
    assert_string_equal(warning, expected);
    free(warning);
}

static void files_of_an_earlier_run_and_none_are_no_warning(void **state)
{
    (void)state;
    assert_null(sub_tracking_children_warning(temporary("nowhere/marks.csv"), 0));
    temporary_write(temporary("marks-12.csv"), "");
    age(temporary("marks-12.csv"));
    assert_null(
        sub_tracking_children_warning(temporary("marks.csv"), (LONG_AGO_SECONDS + 60) * SECOND));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        temporary_test(files_of_children_are_named),
        temporary_test(files_of_an_earlier_run_and_none_are_no_warning),
    };
    return cmocka_run_group_tests_name(
        "store/sub_tracking_children", tests, temporary_create, temporary_remove);
}
