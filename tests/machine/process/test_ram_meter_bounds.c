/* Bounds of RAM, on a procfs made of files. */
#include "machine/process/fake_procfs.h"
#include "machine/process/ram_meter.h"

#include "base/clock.h"

static void open_fake_tree(struct process_tree *tree, const struct fake_procfs *fake, pid_t main)
{
    struct process_tree_options options = {.procfs_root = fake->root, .main = main};
    assert_int_equal(process_tree_init(tree, &options, NULL), GPUT_OK);
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
TEST(what_unreadable_processes_may_share_counts_once)
{
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
    ram_meter_init(&meter, EXACT_READINGS_ADAPTIVE, 1);
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

/* What statm says of a process with private memory and a part of a file; sizes in kB. */
static void put_statm(const struct fake_procfs *fake, int pid, unsigned anonymous, unsigned file)
{
    fake_put(fake, (struct fake_process){.pid = pid,
                       .parent = pid == 10 ? 1 : 10,
                       .start_stack = 4096 * (uint64_t)pid,
                       .start_time = 100,
                       .resident_pages = (anonymous + file) / 4,
                       .shared_pages = file / 4});
}

/* A process with private memory and a part of a file of 8 MB; sizes in kB. */
static void put_mapper(const struct fake_procfs *fake, int pid, int inode, unsigned anonymous,
    unsigned private, unsigned shared, unsigned pss)
{
    char text[1024], header[80], *end = text;
    snprintf(header, sizeof header, "40000000-40800000 r--s 00000000 08:01 %d /lib/x.so", inode);
    end += print_mapping(
        end, "10000000-30000000 rw-p 00000000 00:00 0", anonymous, anonymous, 0, anonymous);
    print_mapping(end, header, 0, private, shared, pss);
    fake_write(fake, text, "%d/smaps", pid);
    put_statm(fake, pid, anonymous, private + shared);
    fake_children(fake, pid, pid, "");
}

static void put_sharer(const struct fake_procfs *fake, int pid, unsigned anonymous,
    unsigned private, unsigned shared, unsigned pss)
{
    put_mapper(fake, pid, 77, anonymous, private, shared, pss);
}

TEST(maps_are_read_for_totals_alone_once_there_are_several)
{
    struct fake_procfs fake;
    struct process_tree tree;
    struct ram_meter totals;
    fake_procfs_init(&fake);
    put_sharer(&fake, 10, 400000, 3000, 900, 3450);
    open_fake_tree(&tree, &fake, 10);
    ram_meter_init(&totals, EXACT_READINGS_OF_SEVERAL, 1);
    check_fake(&tree, &totals, 2);
    assert_int_equal(totals.readings.count, 0);
    assert_int_equal(totals.figures.combined.total, (uint64_t)403900 * 1024);

    put_sharer(&fake, 11, 400, 0, 900, 450);
    fake_children(&fake, 10, 10, "11 ");
    check_fake(&tree, &totals, 60 * NS_PER_SECOND);
    assert_int_equal(totals.readings.count, 2);
    ram_meter_finish(&totals);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

/* A child maps what was private to main: too little to read main again. */
TEST(a_lower_bound_of_different_scans_is_not_above_the_truth)
{
    struct fake_procfs fake;
    struct process_tree tree;
    struct ram_meter meter;
    const uint64_t truth = (uint64_t)(400000 + 400000 + 3900 + 400) * 1024;
    fake_procfs_init(&fake);
    put_sharer(&fake, 10, 400000, 3900, 0, 3900);
    put_sharer(&fake, 12, 400, 0, 0, 0);
    fake_children(&fake, 10, 10, "12 ");
    open_fake_tree(&tree, &fake, 10);
    ram_meter_init(&meter, EXACT_READINGS_ADAPTIVE, 1);
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
TEST(a_page_that_is_mapped_during_the_scan_is_not_in_the_lower_bound_twice)
{
    struct fake_procfs fake;
    struct process_tree tree;
    struct ram_meter meter;
    const uint64_t truth = (uint64_t)(400000 + 400000 + 7000) * 1024;
    fake_procfs_init(&fake);
    put_sharer(&fake, 10, 400000, 7000, 0, 7000);
    put_sharer(&fake, 11, 400000, 0, 0, 0);
    fake_children(&fake, 10, 10, "11 ");
    open_fake_tree(&tree, &fake, 10);
    ram_meter_init(&meter, EXACT_READINGS_ALWAYS, 1);
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

/* Two processes that have a third of a file each when they are read, and then have it all. */
static void check_growth(const int *inodes, uint64_t truth, uint64_t certain)
{
    struct fake_procfs fake;
    struct process_tree tree;
    struct ram_meter meter;
    fake_procfs_init(&fake);
    put_mapper(&fake, 10, inodes[0], 400, 3000, 0, 3000);
    put_mapper(&fake, 11, inodes[1], 400, 3000, 0, 3000);
    fake_children(&fake, 10, 10, "11 ");
    open_fake_tree(&tree, &fake, 10);
    ram_meter_init(&meter, EXACT_READINGS_ADAPTIVE, 1);
    check_fake(&tree, &meter, 2);
    assert_int_equal(meter.figures.combined.total, (400 + 400 + 6000) * 1024);

    put_statm(&fake, 10, 400, 8192);
    put_statm(&fake, 11, 400, 8192);
    meter.skip_exact = true;
    check_fake(&tree, &meter, 60 * NS_PER_SECOND);
    assert_int_equal(meter.figures.main.total, (400 + 8192) * 1024);
    assert_int_equal(meter.figures.combined.total, truth);
    assert_true(meter.figures.combined.private <= truth);
    assert_true(meter.figures.at_least_bytes <= certain);
    assert_true(meter.figures.at_least_bytes > certain / 1000 * 900);

    /* They have given it back. */
    put_statm(&fake, 10, 400, 3000);
    put_statm(&fake, 11, 400, 3000);
    check_fake(&tree, &meter, 120 * NS_PER_SECOND);
    assert_int_equal(meter.figures.combined.total, (400 + 400 + 6000) * 1024);
    ram_meter_finish(&meter);
    process_tree_finish(&tree);
    fake_procfs_finish(&fake);
}

TEST(a_file_that_processes_map_since_they_were_read_counts_once)
{
    check_growth((const int[]){77, 77}, (400 + 400 + 8192) * 1024, (400 + 8192) * 1024);
}

TEST(what_processes_map_of_files_of_their_own_since_they_were_read_adds_up)
{
    check_growth((const int[]){77, 78}, (400 + 400 + 2 * 8192) * 1024, (400 + 8192) * 1024);
}

RUN_TESTS(NULL, NULL)
