#include "process/fake_procfs.h"
#include "process/live.h"
#include "process/ram_meter.h"

#include "base/clock.h"

#define MB 1000000.0

/* What a consumer has besides what it was asked to allocate. */
#define PROGRAM (3 * MB)

/* A family of real processes and two meters that measure it at the same moments. */
struct stage {
    struct actors actors;
    struct process_tree tree, other_tree;
    struct ram_meter adaptive, exact;
    int64_t now_ns;
};

static void open_tree(struct process_tree *tree, pid_t main)
{
    struct process_tree_options options = {
        .procfs_root = "/proc", .main = main, .is_subreaper = true, .kept_files = 64};
    assert_int_equal(process_tree_init(tree, &options, NULL), GPUT_OK);
}

static void open_fake_tree(struct process_tree *tree, const struct fake_procfs *fake, pid_t main)
{
    struct process_tree_options options = {.procfs_root = fake->root, .main = main};
    assert_int_equal(process_tree_init(tree, &options, NULL), GPUT_OK);
}

static void set_up(struct stage *stage, const char *words, int ready_came)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    actors_start(&stage->actors, words);
    actors_await(&stage->actors, ready_came);
    open_tree(&stage->tree, stage->actors.pid);
    open_tree(&stage->other_tree, stage->actors.pid);
    stage->now_ns = clock_monotonic_ns();
    ram_meter_init(&stage->adaptive, false, stage->now_ns);
    ram_meter_init(&stage->exact, true, stage->now_ns);
}

static void tear_down(struct stage *stage)
{
    ram_meter_finish(&stage->adaptive);
    ram_meter_finish(&stage->exact);
    process_tree_finish(&stage->tree);
    process_tree_finish(&stage->other_tree);
    actors_end(&stage->actors);
    collect_orphans();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* One measurement by both. */
static void measure_at_once(struct stage *stage)
{
    stage->now_ns++;
    assert_int_equal(process_tree_scan(&stage->tree, false, stage->now_ns), GPUT_OK);
    assert_int_equal(process_tree_scan(&stage->other_tree, false, stage->now_ns), GPUT_OK);
    assert_int_equal(ram_meter_measure(&stage->adaptive, &stage->tree, stage->now_ns), GPUT_OK);
    assert_int_equal(ram_meter_measure(&stage->exact, &stage->other_tree, stage->now_ns), GPUT_OK);
}

/* A minute after the last one: the pause between exact readings is over. */
static void measure(struct stage *stage)
{
    stage->now_ns += 60 * NS_PER_SECOND;
    measure_at_once(stage);
}

static bool near(uint64_t a, uint64_t b)
{
    double difference = a > b ? (double)(a - b) : (double)(b - a);
    /* Within 1 %, or a few pages. */
    return difference <= 0.01 * (double)(a > b ? a : b) || difference < 0.3 * MB;
}

static void assert_same(const struct rss *a, const struct rss *b, const char *scope)
{
    if (!near(a->total, b->total) || !near(a->private, b->private) || !near(a->shared, b->shared))
        fail_msg("%s: adaptive %.2f = %.2f + %.2f, exact %.2f = %.2f + %.2f MB", scope,
            (double)a->total / MB, (double)a->private / MB, (double)a->shared / MB,
            (double)b->total / MB, (double)b->private / MB, (double)b->shared / MB);
}

static void assert_agree(const struct stage *stage)
{
    const struct ram_figures *a = &stage->adaptive.figures, *b = &stage->exact.figures;
    assert_same(&a->main, &b->main, "main");
    assert_same(&a->descendants, &b->descendants, "descendants");
    assert_same(&a->combined, &b->combined, "combined");
}

static void assert_megabytes(uint64_t bytes, double megabytes, double more)
{
    if ((double)bytes < megabytes * MB || (double)bytes > megabytes * MB * 1.01 + more)
        fail_msg("%.2f MB, not %.2f to %.2f", (double)bytes / MB, megabytes,
            megabytes * 1.01 + more / MB);
}

static void one_process_is_its_rss(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, "alloc 50 ready await 3", 1);
    measure(&stage);
    const struct process *main = process_tree_main(&stage.tree);
    const struct ram_figures *figures = &stage.adaptive.figures;
    assert_int_equal(figures->main.total, main->polled->memory.exact.total);
    assert_int_equal(figures->main.total, figures->main.private + figures->main.shared);
    assert_int_equal(figures->combined.total, figures->main.total);
    assert_int_equal(figures->descendants.total, 0);
    assert_megabytes(figures->main.private, 50, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

static void a_shared_mapping_counts_once_and_completely(void **state)
{
    (void)state;
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

static void memory_from_before_a_fork_counts_once(void **state)
{
    (void)state;
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

static void a_child_that_writes_has_its_own_copy(void **state)
{
    (void)state;
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

static void after_the_childs_end_shared_copies_are_private_to_main(void **state)
{
    (void)state;
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

static void growing_and_shrinking_is_followed(void **state)
{
    (void)state;
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

static void private_memory_of_children_adds_up(void **state)
{
    (void)state;
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
static void private_file_memory_that_another_begins_to_map_counts_once(void **state)
{
    (void)state;
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

static void a_process_that_did_not_run_is_read_once(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, "alloc 20 child [ ready await 3 ] child [ ready await 3 ] ready await 3", 3);
    for (int i = 0; i < 10; i++)
        measure(&stage);
    uint64_t readings = stage.adaptive.readings.count;
    for (int i = 0; i < 10; i++)
        measure(&stage);
    assert_int_equal(stage.adaptive.readings.count, readings);
    assert_true(stage.exact.readings.count >= 60);
    tear_down(&stage);
}

/* The adaptive meter measures main a moment later, where it has run or not. */
static void measure_adaptive(struct stage *stage, int64_t later_ns, bool has_run)
{
    process_tree_main(&stage->tree)->polled->has_run = has_run;
    stage->now_ns += later_ns;
    assert_int_equal(ram_meter_measure(&stage->adaptive, &stage->tree, stage->now_ns), GPUT_OK);
}

static void exact_readings_are_bounded_by_their_cost(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, "alloc 100 ready await 3", 1);
    measure(&stage);
    struct process *main = process_tree_main(&stage.tree);
    uint64_t readings = stage.adaptive.readings.count;
    int64_t rest_ns = main->polled->metered.exact_not_before_ns - stage.now_ns;
    assert_true(rest_ns > 0);

    /* It grows all the time: measurements during the pause do not read exactly. */
    for (int i = 0; i < 50; i++) {
        memory_set_fast(&main->polled->memory, main->polled->memory.resident_bytes + (10 << 20), 0);
        measure_adaptive(&stage, rest_ns / 100, true);
    }
    assert_int_equal(stage.adaptive.readings.count, readings);
    assert_true(stage.adaptive.readings.has_deferred);
    measure_adaptive(&stage, rest_ns, true);
    assert_int_equal(stage.adaptive.readings.count, readings + 1);
    tear_down(&stage);
}

static void a_sleeping_process_is_read_without_a_pause(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, "alloc 100 ready await 3", 1);
    measure(&stage);
    struct process *main = process_tree_main(&stage.tree);
    uint64_t readings = stage.adaptive.readings.count;
    memory_set_fast(&main->polled->memory, main->polled->memory.resident_bytes * 2, 0);
    measure_adaptive(&stage, 1, true);
    assert_int_equal(stage.adaptive.readings.count, readings);
    measure_adaptive(&stage, 1, false);
    assert_int_equal(stage.adaptive.readings.count, readings + 1);
    tear_down(&stage);
}

static void a_process_that_copied_much_is_read_without_a_pause(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, "alloc 60 child [ ready await 3 touch ready await 4 ] ready await 4", 2);
    measure(&stage);
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    measure_at_once(&stage);
    assert_true(stage.now_ns < process_tree_main(&stage.tree)->polled->metered.exact_not_before_ns);
    assert_megabytes(stage.adaptive.figures.combined.total, 120, PROGRAM);
    assert_agree(&stage);
    tear_down(&stage);
}

static void delayed_readings_are_reported(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, "alloc 60 child [ ready await 3 again 20 ready await 4 ] ready await 4", 2);
    measure(&stage);
    assert_int_equal(stage.adaptive.unread_bytes, 0);
    stage.adaptive.readings.credit_ns = -NS_PER_SECOND;
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    measure_at_once(&stage);
    uint64_t adaptive = stage.adaptive.figures.combined.total;
    uint64_t exact = stage.exact.figures.combined.total;
    assert_megabytes(exact, 80, PROGRAM);
    assert_true(adaptive < exact - (uint64_t)(19 * MB));
    assert_true(adaptive + stage.adaptive.unread_bytes >= exact);
    assert_megabytes(stage.adaptive.unread_bytes, 20, PROGRAM);
    /* Exact figures later do not reset it. */
    measure(&stage);
    assert_agree(&stage);
    assert_megabytes(stage.adaptive.unread_bytes, 20, PROGRAM);
    assert_int_equal(stage.exact.unread_bytes, 0);
    tear_down(&stage);
}

static void a_delayed_reading_of_a_fork_is_reported(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage, "alloc 30 ready await 3 child [ alloc 20 ready await 4 ] await 4", 1);
    measure(&stage);
    stage.adaptive.readings.credit_ns = -NS_PER_SECOND;
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 1);
    measure_at_once(&stage);
    assert_megabytes(stage.exact.figures.combined.total, 50, PROGRAM);
    assert_true(stage.adaptive.figures.combined.total + stage.adaptive.unread_bytes >=
                stage.exact.figures.combined.total);
    tear_down(&stage);
}

/* Between two samples nothing is read exactly: what is certainly there counts anyway. */
static void growth_of_a_fork_counts_before_its_first_exact_reading(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage,
        "alloc 20 ready await 3 child [ alloc 40 ready await 4 ] child [ alloc 60 ready await 4 ] "
        "ready await 4",
        1);
    measure(&stage);
    uint64_t before = stage.adaptive.readings.count;
    actors_release(&stage.actors, 3, 1);
    actors_await(&stage.actors, 3);
    stage.adaptive.skip_exact = true;
    measure(&stage);
    const struct ram_figures *ram = &stage.adaptive.figures;
    assert_int_equal(stage.adaptive.readings.count, before);
    assert_true((double)ram->combined.total > 0.98 * 120 * MB);
    assert_true(ram->combined.total <= stage.exact.figures.combined.total);
    /* The next sample takes the delayed readings. */
    stage.adaptive.skip_exact = false;
    measure(&stage);
    assert_true(stage.adaptive.readings.count >= before + 3);
    assert_agree(&stage);
    tear_down(&stage);
}

/* What main had between two scans, and its forks still have, none of them has alone. */
static void what_forks_have_of_an_unseen_peak_does_not_count_twice(void **state)
{
    (void)state;
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
static void a_fork_that_replaces_an_ended_one_counts_once(void **state)
{
    (void)state;
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
static void files_of_a_zombie_do_not_count(void **state)
{
    (void)state;
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
static void small_copies_of_many_processes_add_up(void **state)
{
    (void)state;
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
static void copies_of_a_files_pages_count_once(void **state)
{
    (void)state;
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

static void a_file_that_all_read_counts_once(void **state)
{
    (void)state;
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
static void memory_that_outlives_its_owner_counts_once(void **state)
{
    (void)state;
    struct stage stage;
    set_up(&stage,
        "child [ alloc 40 clone-vm [ ready await 3 ] clone-vm [ ready await 3 ] ready await 4 ] "
        "ready await 3 "
        "await 5",
        4);
    measure(&stage);
    if (stage.tree.count != 4 || !stage.tree.processes[3]->polled->is_vfork_child) {
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

static void assert_pages(
    const struct process_tree *tree, const struct rss *rss, unsigned private, unsigned shared)
{
    assert_int_equal(rss->private, private * tree->view.page_bytes);
    assert_int_equal(rss->shared, shared * tree->view.page_bytes);
    assert_int_equal(rss->total, (private + shared) * tree->view.page_bytes);
}

static void check_fake(struct process_tree *tree, struct ram_meter *meter, int64_t now_ns)
{
    assert_int_equal(process_tree_scan(tree, false, now_ns), GPUT_OK);
    assert_int_equal(ram_meter_measure(meter, tree, now_ns), GPUT_OK);
}

/* Only their stat and statm may be read. */
static void what_unreadable_processes_may_share_counts_once(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    struct ram_meter meter;
    fake_procfs_init(&fake);
    fake_put(&fake, (struct fake_process){.pid = 10, .resident_pages = 100, .shared_pages = 20});
    fake_put(&fake,
        (struct fake_process){
            .pid = 11, .parent = 10, .is_fork = true, .resident_pages = 110, .shared_pages = 40});
    fake_put(&fake,
        (struct fake_process){.pid = 12, .parent = 10, .resident_pages = 50, .shared_pages = 10});
    fake_put(&fake,
        (struct fake_process){
            .pid = 13, .parent = 12, .is_fork = true, .resident_pages = 70, .shared_pages = 10});
    fake_children(&fake, 10, 10, "11 12 ");
    fake_children(&fake, 12, 12, "13 ");
    fake_children(&fake, 11, 11, "");
    fake_children(&fake, 13, 13, "");
    open_fake_tree(&tree, &fake, 10);
    ram_meter_init(&meter, false, 1);
    check_fake(&tree, &meter, 2);
    assert_pages(&tree, &meter.figures.main, 80, 20);
    assert_pages(&tree, &meter.figures.descendants, 70 + 60, 40);
    assert_pages(&tree, &meter.figures.combined, 80 + 60, 40);

    /* Its parent has ended: it may share memory with any of them. */
    fake_end(&fake, 12);
    fake_put(&fake,
        (struct fake_process){
            .pid = 13, .parent = 1, .is_fork = true, .resident_pages = 70, .shared_pages = 10});
    check_fake(&tree, &meter, 3);
    assert_int_equal(tree.count, 3);
    assert_pages(&tree, &meter.figures.descendants, 70, 40);
    assert_pages(&tree, &meter.figures.combined, 80, 40);
    ram_meter_finish(&meter);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

/* A mapping as the kernel prints it; sizes in kB. */
static int print_mapping(char *text, const char *header, unsigned anonymous, unsigned private,
    unsigned shared, unsigned pss)
{
    return sprintf(text,
        "%s\nSize: %15u kB\nRss: %16u kB\nPss: %16u kB\nShared_Clean: %7u kB\n"
        "Private_Dirty: %6u kB\nAnonymous: %10u kB\nVmFlags: rd wr mr mw me ac sd\n",
        header, 8192, private + shared, pss, shared, private, anonymous);
}

/* A process with private memory and a part of a file of 8 MB; sizes in kB. */
static void put_sharer(const struct fake_procfs *fake, int pid, unsigned anonymous,
    unsigned private, unsigned shared, unsigned pss)
{
    char text[1024], *end = text;
    end += print_mapping(
        end, "10000000-30000000 rw-p 00000000 00:00 0", anonymous, anonymous, 0, anonymous);
    print_mapping(
        end, "40000000-40800000 r--s 00000000 08:01 77 /lib/x.so", 0, private, shared, pss);
    fake_write(fake, text, "%d/smaps", pid);
    unsigned pages = (anonymous + private + shared) / 4;
    fake_put(fake, (struct fake_process){.pid = pid,
                       .parent = pid == 10 ? 1 : 10,
                       .start_stack = 4096 * (uint64_t)pid,
                       .start_time = 100,
                       .resident_pages = pages,
                       .shared_pages = (private + shared) / 4});
    fake_children(fake, pid, pid, "");
}

/* A child maps what was private to main: too little to read main again. */
static void a_lower_bound_of_different_scans_is_not_above_the_truth(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    struct ram_meter meter;
    const uint64_t truth = (uint64_t)(400000 + 400000 + 3900 + 400) * 1024;
    fake_procfs_init(&fake);
    put_sharer(&fake, 10, 400000, 3900, 0, 3900);
    put_sharer(&fake, 12, 400, 0, 0, 0);
    fake_children(&fake, 10, 10, "12 ");
    open_fake_tree(&tree, &fake, 10);
    ram_meter_init(&meter, false, 1);
    check_fake(&tree, &meter, 2);

    put_sharer(&fake, 11, 400000, 0, 3900, 1950);
    fake_children(&fake, 10, 10, "11 12 ");
    check_fake(&tree, &meter, 60 * NS_PER_SECOND);
    assert_true(meter.figures.combined.total > truth);
    assert_true(meter.figures.at_least_bytes <= truth);
    assert_true(meter.figures.at_least_bytes > truth / 1000 * 995);

    /* What it unmaps of the file is less than 1 %, too. */
    put_sharer(&fake, 11, 400000, 0, 0, 0);
    check_fake(&tree, &meter, 120 * NS_PER_SECOND);
    put_sharer(&fake, 10, 403900, 0, 0, 0);
    fake_children(&fake, 10, 10, "11 12 ");
    check_fake(&tree, &meter, 180 * NS_PER_SECOND);
    assert_true(meter.figures.at_least_bytes <= truth);
    ram_meter_finish(&meter);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

/* A child maps what is private to main, after main was read and before the child is, in one scan.
 */
static void a_page_that_is_mapped_during_the_scan_is_not_in_the_lower_bound_twice(void **state)
{
    (void)state;
    struct fake_procfs fake;
    struct process_tree tree;
    struct ram_meter meter;
    const uint64_t truth = (uint64_t)(400000 + 400000 + 7000) * 1024;
    fake_procfs_init(&fake);
    put_sharer(&fake, 10, 400000, 7000, 0, 7000);
    put_sharer(&fake, 11, 400000, 0, 0, 0);
    fake_children(&fake, 10, 10, "11 ");
    open_fake_tree(&tree, &fake, 10);
    ram_meter_init(&meter, true, 1);
    assert_int_equal(process_tree_scan(&tree, false, 2), GPUT_OK);
    put_sharer(&fake, 11, 400000, 0, 7000, 3500);
    assert_int_equal(ram_meter_measure(&meter, &tree, 2), GPUT_OK);
    assert_true(meter.figures.combined.total > truth);
    assert_true(meter.figures.at_least_bytes <= truth);
    assert_true(meter.figures.at_least_bytes > truth / 1000 * 990);
    ram_meter_finish(&meter);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_is_its_rss),
        cmocka_unit_test(a_shared_mapping_counts_once_and_completely),
        cmocka_unit_test(memory_from_before_a_fork_counts_once),
        cmocka_unit_test(a_child_that_writes_has_its_own_copy),
        cmocka_unit_test(after_the_childs_end_shared_copies_are_private_to_main),
        cmocka_unit_test(growing_and_shrinking_is_followed),
        cmocka_unit_test(private_memory_of_children_adds_up),
        cmocka_unit_test(private_file_memory_that_another_begins_to_map_counts_once),
        cmocka_unit_test(a_process_that_did_not_run_is_read_once),
        cmocka_unit_test(exact_readings_are_bounded_by_their_cost),
        cmocka_unit_test(a_sleeping_process_is_read_without_a_pause),
        cmocka_unit_test(a_process_that_copied_much_is_read_without_a_pause),
        cmocka_unit_test(delayed_readings_are_reported),
        cmocka_unit_test(a_delayed_reading_of_a_fork_is_reported),
        cmocka_unit_test(growth_of_a_fork_counts_before_its_first_exact_reading),
        cmocka_unit_test(what_forks_have_of_an_unseen_peak_does_not_count_twice),
        cmocka_unit_test(a_fork_that_replaces_an_ended_one_counts_once),
        cmocka_unit_test(files_of_a_zombie_do_not_count),
        cmocka_unit_test(small_copies_of_many_processes_add_up),
        cmocka_unit_test(copies_of_a_files_pages_count_once),
        cmocka_unit_test(a_file_that_all_read_counts_once),
        cmocka_unit_test(memory_that_outlives_its_owner_counts_once),
        cmocka_unit_test(what_unreadable_processes_may_share_counts_once),
        cmocka_unit_test(a_lower_bound_of_different_scans_is_not_above_the_truth),
        cmocka_unit_test(a_page_that_is_mapped_during_the_scan_is_not_in_the_lower_bound_twice),
    };
    return cmocka_run_group_tests_name("track/ram_meter", tests, NULL, NULL);
}
