#include "files/marks/sub_tracking_children.h"
#include "files/temporary.h"

#include <fcntl.h>
#include <sys/stat.h>

#define LONG_AGO_SECONDS 1000000
#define SECOND INT64_C(1000000000)

static void age(const char *path)
{
    struct timespec times[2] = {{.tv_sec = LONG_AGO_SECONDS}, {.tv_sec = LONG_AGO_SECONDS}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void write_marks(const char *name, const char *process_id)
{
    char text[200];
    snprintf(text, sizeof text,
        "process_id,code_block_name,position,timestamp\n%s,a,0,2000000\n3,a,0,2000001\n",
        process_id);
    temporary_write(temporary(name), text);
}

/* `format` has %1$s for the folder. */
static void assert_warning(const char *name, const char *format)
{
    char expected[20000];
    char *warning =
        sub_tracking_children_warning(temporary(name), (LONG_AGO_SECONDS + 60) * SECOND);
    snprintf(expected, sizeof expected, format, temporary_folder);
    assert_string_equal(warning, expected);
    free(warning);
}

static void assert_no_warning(const char *name)
{
    assert_null(sub_tracking_children_warning(temporary(name), (LONG_AGO_SECONDS + 60) * SECOND));
}

FOLDER_TEST(files_of_children_are_named)
{
    write_marks("marks-7-2.csv", "7");
    write_marks("marks-12.csv", "12");
    write_marks("marks-12.sqlite", "12");
    write_marks("other-12.csv", "12");
    assert_warning("marks.csv",
        "Sub-tracking file %1$s/marks.csv: child processes wrote files of their own, which are not "
        "included: marks-12.csv and 1 more. Combine all of them first: gpu-tracker sub-track "
        "combine --stf all.csv -p %1$s/marks.csv %1$s/marks-*.csv");
}

FOLDER_TEST(a_pattern_matches_no_other_file)
{
    static const char *const others[] = {
        "marks-.csv", "marks-12x.csv", "marks-1-2-3.csv", "marks-99999999999999999999.csv"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        write_marks(others[i], "12");
    assert_no_warning("marks.csv");
    write_marks("marks-7.csv", "7");
    write_marks("marks-12.csv", "12");
    assert_warning("marks.csv",
        "Sub-tracking file %1$s/marks.csv: child processes wrote files of their own, which are not "
        "included: marks-12.csv and 1 more. Combine all of them first: gpu-tracker sub-track "
        "combine --stf all.csv -p %1$s/marks.csv %1$s/marks-12.csv %1$s/marks-7.csv");
}

FOLDER_TEST(the_command_is_one_for_a_shell)
{
    write_marks("Bob's run-12.csv", "12");
    assert_warning("Bob's run.csv",
        "Sub-tracking file %1$s/Bob's run.csv: child processes wrote files of their own, which are "
        "not included: Bob's run-12.csv. Combine all of them first: gpu-tracker sub-track combine "
        "--stf all.csv -p '%1$s/Bob'\\''s run.csv' '%1$s/Bob'\\''s run'-*.csv");
}

FOLDER_TEST(without_files_of_this_run_there_is_no_warning)
{
    assert_null(sub_tracking_children_warning(temporary("nowhere/marks.csv"), 0));
    write_marks("marks-12.csv", "12");
    age(temporary("marks-12.csv"));
    write_marks("marks-2.csv", "12"); /* a repeated run */
    temporary_write(temporary("marks-3.csv"), "");
    assert_no_warning("marks.csv");
}

RUN_TESTS(temporary_create, temporary_remove)
