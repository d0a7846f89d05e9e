/* Which files are of one session, by what they say. */
#include "files/catalogue/catalogue.h"

#include "testing.h"

#include <math.h>
#include <stdio.h>

#define MAX_FILES 8
#define START 1e9

struct files {
    struct catalogue_file list[MAX_FILES];
    size_t count;
};

/* Adds a file of folder 1. `session`: its identity; "": it says none. */
static struct catalogue_file *add(
    struct files *files, enum catalogue_kind kind, const char *path, const char *session)
{
    struct catalogue_file *file = &files->list[files->count++];
    catalogue_file_init(file, path, kind, 1);
    snprintf(file->session, sizeof file->session, "%s", session);
    file->extent = 10;
    return file;
}

/* Adds samples, whose content is known to be of `content`. */
static struct catalogue_file *add_samples(
    struct files *files, const char *path, const char *session, double first, uint64_t content)
{
    struct catalogue_file *file = add(files, CATALOGUE_SAMPLES, path, session);
    file->start = file->end = file->first_sample = first;
    file->first_row = file->hash = content;
    return file;
}

static void unite(struct files *files)
{
    assert_int_equal(catalogue_unite(files->list, files->count, NULL), GPUT_OK);
}

TEST(files_with_one_identity_are_one_session_wherever_they_are)
{
    struct files files = {0};
    add(&files, CATALOGUE_REPORT, "a.json", "one");
    add_samples(&files, "b.csv", "one", START, 1);
    add(&files, CATALOGUE_REPORT, "c.json", "two")->folder = 2;
    add(&files, CATALOGUE_KEPT, "d", "two");
    unite(&files);
    assert_int_equal(files.list[0].of, 1); /* the file with samples stands for it */
    assert_int_equal(files.list[1].of, 1);
    assert_int_equal(files.list[3].of, 2);
    assert_false(files.list[0].is_copy || files.list[3].is_copy); /* each knows something else */
}

TEST(of_two_files_of_a_kind_the_less_complete_is_a_copy)
{
    struct files files = {0};
    add(&files, CATALOGUE_REPORT, "a.json", "one")->extent = 5;
    add(&files, CATALOGUE_REPORT, "b.json", "one")->has_ended = true;
    unite(&files);
    assert_int_equal(files.list[0].of, 1);
    assert_true(files.list[0].is_copy);
    assert_false(files.list[1].is_copy);
}

TEST(a_renamed_tracking_file_is_known_by_its_first_sample)
{
    struct files files = {0};
    add_samples(&files, "x.csv", "", START + 0.123456, 1);
    add_samples(&files, "y.csv", "", START + 0.123457, 2);
    add(&files, CATALOGUE_REPORT, "y.json", "one")->first_sample = START + 0.123456;
    unite(&files);
    assert_int_equal(files.list[2].of, 0); /* not that of its name */
    assert_int_equal(files.list[1].of, 1);
}

TEST(two_sessions_of_one_microsecond_are_not_guessed)
{
    struct files files = {0};
    add_samples(&files, "x.csv", "", START, 1);
    add(&files, CATALOGUE_REPORT, "a.json", "one")->first_sample = START;
    add(&files, CATALOGUE_REPORT, "b.json", "two")->first_sample = START;
    unite(&files);
    for (size_t i = 0; i < files.count; i++)
        assert_int_equal(files.list[i].of, i);

    files = (struct files){0}; /* their ranks tell them apart */
    add_samples(&files, "x.r1.csv", "", START, 1)->rank = 1;
    add_samples(&files, "x.r0.csv", "", START, 2)->rank = 0;
    for (int rank = 0; rank < 2; rank++) {
        struct catalogue_file *results =
            add(&files, CATALOGUE_REPORT, rank ? "b.json" : "a.json", rank ? "two" : "one");
        results->first_sample = START;
        results->rank = rank;
    }
    unite(&files);
    assert_int_equal(files.list[2].of, 1);
    assert_int_equal(files.list[3].of, 0);
}

TEST(a_copy_of_samples_without_a_manifest_is_a_copy)
{
    struct files files = {0};
    add_samples(&files, "a.csv", "", START, 7);
    add_samples(&files, "b.csv", "one", START, 7);
    add_samples(&files, "c.csv", "", START, 8); /* another session that began then */
    add(&files, CATALOGUE_REPORT, "b.json", "one")->first_sample = START;
    unite(&files);
    assert_true(files.list[0].is_copy);
    assert_int_equal(files.list[0].of, 1);
    assert_int_equal(files.list[2].of, 2);
    assert_int_equal(files.list[3].of, 1);
}

TEST(results_whose_tracking_file_is_gone_take_no_other)
{
    struct files files = {0};
    add_samples(&files, "a.csv", "", START, 1);
    add(&files, CATALOGUE_REPORT, "a.json", "one")->first_sample = START + 100;
    unite(&files);
    assert_int_equal(files.list[1].of, 1);
}

TEST(files_that_say_nothing_are_joined_by_name_where_they_can_be_of_one_time)
{
    struct files files = {0};
    add_samples(&files, "a.csv", "", START, 1);
    add_samples(&files, "b.csv", "", START + 1000, 2);
    add(&files, CATALOGUE_REPORT, "a-usage.json", "");
    struct catalogue_file *late = add(&files, CATALOGUE_REPORT, "b-usage.json", "two");
    late->start = START + 5000;
    late->end = START + 6000;
    unite(&files);
    assert_int_equal(files.list[2].of, 0);
    assert_int_equal(files.list[3].of, 3); /* it began long after these samples */
}

TEST(marks_are_of_the_process_that_was_tracked_and_of_its_children)
{
    struct files files = {0};
    add_samples(&files, "a.csv", "one", START, 1)->pid = 10;
    add_samples(&files, "b.csv", "two", START + 1, 2)->pid = 20;
    add(&files, CATALOGUE_MARKS, "m.0.csv", "")->pid = 20;
    add(&files, CATALOGUE_MARKS, "m.0-77.csv", "")->pid = 77;
    add(&files, CATALOGUE_MARKS, "a-blocks.csv", "")->pid = 99;
    add(&files, CATALOGUE_MARKS, "other.csv", "")->pid = 98;
    unite(&files);
    assert_int_equal(files.list[2].of, 1);
    assert_int_equal(files.list[3].of, 1);
    assert_int_equal(files.list[4].of, 0);
    assert_int_equal(files.list[5].of, 5);
}

TEST(a_file_of_one_that_cannot_be_read_is_of_no_other)
{
    struct files files = {0};
    add_samples(&files, "a.csv", "", START, 1);
    add(&files, CATALOGUE_UNREADABLE, "b.csv", "");
    add(&files, CATALOGUE_REPORT, "b.json", "");
    unite(&files);
    assert_int_equal(files.list[2].of, 2);
}

RUN_TESTS(NULL, NULL)
