#include "machine/process/ram_stage.h"

TEST(one_process_is_its_rss)
{
    struct stage stage;
    set_up(&stage, "alloc 50 ready await 3", 1);
    measure(&stage);
    const struct process *main = process_tree_main(&stage.tree);
    const struct ram_figures *figures = &stage.adaptive.figures;
    /* It may touch a page right after it said that it is ready. */
    assert_true(near(figures->main.total, main->polled->memory.exact.total));
    assert_int_equal(figures->main.total, figures->main.private + figures->main.shared);
    assert_int_equal(figures->combined.total, figures->main.total);
    assert_int_equal(figures->descendants.total, 0);
    assert_megabytes(figures->main.private, 50, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

TEST(a_shared_mapping_counts_once_and_completely)
{
    struct stage stage;
    set_up(&stage,
        "shared 80 child [ touch ready await 3 ] child [ touch ready await 3 ] touch ready await 3",
        3);
    measure(&stage);
    const struct ram_figures *figures = &stage.adaptive.figures;
    assert_megabytes(figures->main.total, 80, PROGRAM);
    assert_megabytes(figures->descendants.total, 80, PROGRAM);
    assert_megabytes(figures->combined.total, 80, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

TEST(memory_from_before_a_fork_counts_once)
{
    struct stage stage;
    set_up(&stage,
        "alloc 25 alloc 25 alloc 25 alloc 25 child [ ready await 3 ] child [ ready await 3 ] "
        "ready await "
        "3",
        3);
    measure(&stage);
    const struct ram_figures *figures = &stage.adaptive.figures;
    assert_megabytes(figures->main.total, 100, PROGRAM);
    assert_megabytes(figures->descendants.total, 100, PROGRAM);
    assert_megabytes(figures->combined.total, 100, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

TEST(a_child_that_writes_has_its_own_copy)
{
    struct stage stage;
    set_up(&stage, "alloc 60 child [ ready await 3 touch ready await 4 ] ready await 4", 2);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.combined.total, 60, PROGRAM);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.main.total, 60, PROGRAM);
    assert_megabytes(stage.adaptive.figures.descendants.total, 60, PROGRAM);
    assert_megabytes(stage.adaptive.figures.combined.total, 120, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

TEST(after_the_childs_end_shared_copies_are_private_to_main)
{
    struct stage stage;
    set_up(&stage, "alloc 60 child [ ready await 3 ] ready await 4 wait ready await 5", 2);
    measure(&stage);
    assert_true(stage.adaptive.figures.main.shared > 60 * MB);
    actors_release(&stage.actors, 3, 1);
    actors_release(&stage.actors, 4, 1);
    actors_await(&stage.actors, 1);
    measure(&stage);
    assert_int_equal(stage.tree.count, 1);
    assert_megabytes(stage.adaptive.figures.main.private, 60, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

TEST(growing_and_shrinking_is_followed)
{
    struct stage stage;
    set_up(
        &stage, "ready await 3 alloc 40 ready await 3 huge 64 ready await 3 free ready await 3", 1);
    measure(&stage);
    assert_agree(&stage);
    static const double after[] = {40, 104, 0};
    for (int i = 0; i < 3; i++) {
        actors_release(&stage.actors, 3, 1);
        actors_await(&stage.actors, 1);
        measure(&stage);
        assert_megabytes(stage.adaptive.figures.main.total, after[i], PROGRAM);
        assert_agree(&stage);
    }
    tear_down(&stage);
}

TEST(private_memory_of_children_adds_up)
{
    struct stage stage;
    set_up(&stage,
        "child [ alloc 20 ready await 3 ] child [ alloc 30 ready await 3 ] alloc 10 ready await 3",
        3);
    measure(&stage);
    const struct ram_figures *figures = &stage.adaptive.figures;
    assert_megabytes(figures->descendants.private, 50, PROGRAM);
    assert_megabytes(figures->combined.private, 60, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

static void make_file(char *path, int megabytes)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(posix_fallocate(fd, 0, megabytes * 1000000), 0);
    close(fd);
}

/* Main does not run while its private memory becomes shared. */
TEST(private_file_memory_that_another_begins_to_map_counts_once)
{
    char path[] = "/tmp/gput-ram-XXXXXX", words[256];
    make_file(path, 30);
    struct stage stage;
    snprintf(words, sizeof words,
        "child [ ready await 3 file %s ready await 4 ] child [ ready await 4 ] shared 20 "
        "child [ ready await 3 touch ready await 4 ] file %s ready await 4",
        path, path);
    set_up(&stage, words, 4);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.combined.total, 50, PROGRAM);
    assert_agree(&stage);
    actors_release(&stage.actors, 3, 2);
    actors_await(&stage.actors, 2);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.combined.total, 50, PROGRAM);
    assert_megabytes(stage.adaptive.figures.descendants.total, 50, PROGRAM);
    assert_true(stage.adaptive.figures.combined.private < PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
    unlink(path);
}

/* What main had between two scans, and its forks still have, none of them has alone. */
TEST(what_forks_have_of_an_unseen_peak_does_not_count_twice)
{
    struct stage stage;
    set_up(&stage,
        "alloc 20 ready await 3 alloc 80 child [ ready await 4 ] child [ ready await 4 ] free "
        "ready await 4",
        1);
    measure(&stage);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 3);
    stage.adaptive.skip_exact = true;
    measure(&stage);
    assert_megabytes(stage.exact.figures.combined.total, 100, PROGRAM);
    assert_true(
        stage.adaptive.figures.combined.total <= stage.exact.figures.combined.total + MB / 2);
    assert_true(stage.adaptive.figures.at_least_bytes <= stage.exact.figures.combined.total);
    stage.adaptive.skip_exact = false;
    measure(&stage);
    assert_agree(&stage);
    tear_down(&stage);
}

/* The number of processes is the same, but main's private memory is now shared. */
TEST(a_fork_that_replaces_an_ended_one_counts_once)
{
    struct stage stage;
    set_up(&stage,
        "alloc 60 child [ touch ready await 3 ] ready await 4 wait child [ ready await 5 ] ready "
        "await 5",
        2);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.combined.total, 120, PROGRAM);
    actors_release(&stage.actors, 3, 1);
    actors_release(&stage.actors, 4, 1);
    actors_await(&stage.actors, 2);
    measure(&stage);
    assert_int_equal(stage.tree.count, 2);
    assert_megabytes(stage.adaptive.figures.combined.total, 60, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

/* Its parent does not collect it, so that it stays in the tree. */
TEST(files_of_a_zombie_do_not_count)
{
    char path[] = "/tmp/gput-ram-XXXXXX", words[256];
    make_file(path, 40);
    struct stage stage;
    snprintf(words, sizeof words,
        "child [ file %s ready await 3 ] child [ ready await 5 ] ready await 4 alloc 80 ready "
        "await 5",
        path);
    set_up(&stage, words, 3);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.combined.total, 40, PROGRAM);
    actors_release(&stage.actors, 3, 1);
    EVENTUALLY(process_is_zombie(stage.tree.processes[1]))
    {
        assert_int_equal(process_tree_scan(&stage.tree, false, ++stage.now_ns), GPUT_OK);
    }
    actors_release(&stage.actors, 4, 1);
    actors_await(&stage.actors, 1);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.combined.total, 80, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
    unlink(path);
}

/* Each of them less than 1 % of its memory. */
TEST(small_copies_of_many_processes_add_up)
{
    struct stage stage;
    char words[512] = "alloc 60 ";
    for (int i = 0; i < 10; i++)
        strcat(words, "child [ ready await 3 again 0.5 ready await 4 ] ");
    strcat(words, "ready await 4");
    set_up(&stage, words, 11);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.combined.total, 60, PROGRAM);
    actors_release(&stage.actors, 3, 10);
    actors_await(&stage.actors, 10);
    measure(&stage);
    const struct ram_figures *adaptive = &stage.adaptive.figures, *exact = &stage.exact.figures;
    assert_megabytes(exact->combined.total, 65, PROGRAM);
    assert_same(&adaptive->descendants, &exact->descendants, "descendants");
    /* What main now has alone of that is 1 % of it, and not worth a reading. */
    assert_true(near(adaptive->combined.total, exact->combined.total));
    tear_down(&stage);
}

/* File data that was relocated or written to before a fork. */
TEST(copies_of_a_files_pages_count_once)
{
    char path[] = "/tmp/gput-ram-XXXXXX", words[256];
    make_file(path, 40);
    struct stage stage;
    snprintf(words, sizeof words,
        "copy %s child [ ready await 3 ] child [ ready await 3 ] child [ ready await 3 ] ready "
        "await 3",
        path);
    set_up(&stage, words, 4);
    measure(&stage);
    assert_megabytes(stage.exact.figures.main.total, 40, PROGRAM);
    assert_megabytes(stage.exact.figures.descendants.total, 40, PROGRAM);
    assert_megabytes(stage.exact.figures.combined.total, 40, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
    unlink(path);
}

TEST(a_file_that_all_read_counts_once)
{
    char path[] = "/tmp/gput-ram-XXXXXX", words[256];
    make_file(path, 40);
    struct stage stage;
    snprintf(words, sizeof words,
        "child [ file %s ready await 3 ] child [ file %s ready await 3 ] ready await 3", path,
        path);
    set_up(&stage, words, 3);
    measure(&stage);
    assert_megabytes(stage.adaptive.figures.descendants.total, 40, PROGRAM);
    assert_megabytes(stage.adaptive.figures.combined.total, 40, PROGRAM);
    assert_true(stage.adaptive.figures.main.total < 5 * MB);
    assert_agree(&stage);
    tear_down(&stage);
    unlink(path);
}

/* Two processes share the memory of a child, which then ends. */
TEST(memory_that_outlives_its_owner_counts_once)
{
    struct stage stage;
    set_up(&stage,
        "child [ alloc 40 clone-vm [ ready await 3 ] clone-vm [ ready await 3 ] ready await 4 ] "
        "ready await 3 "
        "await 5",
        4);
    measure(&stage);
    if (stage.tree.count != 4 || !process_is_vfork_child(stage.tree.processes[3])) {
        tear_down(&stage);
        SKIP("kcmp() is not permitted here: shared address spaces cannot be found");
    }
    assert_megabytes(stage.exact.figures.descendants.total, 40, PROGRAM);
    assert_agree(&stage);
    actors_release(&stage.actors, 4, 1);
    /* Main does not collect it. */
    EVENTUALLY(process_is_zombie(stage.tree.processes[1]))
    {
        measure(&stage);
    }
    measure(&stage);
    assert_megabytes(stage.exact.figures.descendants.total, 40, PROGRAM);
    assert_megabytes(stage.adaptive.figures.descendants.total, 40, PROGRAM);
    tear_down(&stage);
}

RUN_TESTS(NULL, NULL)
