#include "machine/process/fake_procfs.h"
#include "machine/process/live.h"
#include "machine/process/memory.h"

#include <sys/prctl.h>

#define KB UINT64_C(1024)
#define LAG (256 * KB)

static struct fake_procfs fake;
static struct memory memory;

static int set_up(void **state)
{
    (void)state;
    memory = (struct memory){0};
    fake_procfs_init(&fake);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    memory_finish(&memory);
    fake_procfs_finish(&fake);
    return 0;
}

/* A mapping as smaps shows it; sizes in kB. */
struct mapping {
    unsigned start_kb, length_kb, offset_kb;
    const char *flags, *object; /* "rw-p", "08:01 77 /lib/x.so" */
    unsigned pss, shared, private, anonymous;
};

/* A line as the kernel aligns it. */
static int print_field(char *text, const char *name, unsigned kb)
{
    return sprintf(text, "%-16s%8u kB\n", name, kb);
}

static void put_smaps(const struct mapping *mappings, size_t count)
{
    char text[8192], *end = text;
    for (const struct mapping *m = mappings; m < mappings + count; m++) {
        end += sprintf(end, "%08x-%08x %s %08x %s\n", m->start_kb * 1024,
            (m->start_kb + m->length_kb) * 1024, m->flags, m->offset_kb * 1024, m->object);
        end += print_field(end, "Size:", m->length_kb);
        end += print_field(end, "Rss:", m->shared + m->private);
        end += print_field(end, "Pss:", m->pss);
        end += print_field(end, "Shared_Clean:", m->shared);
        end += print_field(end, "Private_Dirty:", m->private);
        end += print_field(end, "Anonymous:", m->anonymous);
        end += sprintf(end, "VmFlags: rd wr mr mw me ac sd\n");
    }
    fake_write(&fake, text, "10/smaps");
}

static void put_rollup(
    unsigned pss_anonymous, unsigned shared, unsigned private, unsigned anonymous)
{
    char text[1024], *end = text;
    end += sprintf(end, "00400000-7fff00000000 ---p 00000000 00:00 0 [rollup]\n");
    end += print_field(end, "Rss:", shared + private);
    end += print_field(end, "Pss:", pss_anonymous);
    end += print_field(end, "Pss_Anon:", pss_anonymous);
    end += print_field(end, "Pss_File:", 0);
    end += print_field(end, "Pss_Shmem:", 0);
    end += print_field(end, "Shared_Clean:", shared);
    end += print_field(end, "Private_Dirty:", private);
    print_field(end, "Anonymous:", anonymous);
    fake_write(&fake, text, "10/smaps_rollup");
}

#define ON_PROCESS(name) TEST_WITH(name, set_up, tear_down)

ON_PROCESS(before_an_exact_reading_statm_gives_private_and_shared)
{
    memory_set_fast(&memory, 100 * KB, 30 * KB);
    struct rss rss = memory_rss(&memory);
    assert_int_equal(rss.total, 100 * KB);
    assert_int_equal(rss.private, 70 * KB);
    assert_int_equal(rss.shared, 30 * KB);
    assert_true(memory_has_changed(&memory));
}

ON_PROCESS(file_pages_are_never_more_than_resident_pages)
{
    /* The kernel's counters are per CPU and need not be consistent. */
    memory_set_fast(&memory, 100 * KB, 130 * KB);
    assert_int_equal(memory_anonymous_bytes(&memory), 0);
    assert_int_equal(memory_rss(&memory).private, 0);
}

static const struct mapping a_program[] = {
    /* text, data with copies, heap, shared memory; 8 + 6 + 50 + 20 = 84 kB */
    {1000, 40, 0, "r-xp", "08:01 77                         /bin/x", 4, 8, 0, 0},
    {1040, 10, 40, "rw-p", "08:01 77                         /bin/x", 5, 2, 4, 4},
    {5000, 100, 0, "rw-p", "00:00 0                          [heap]", 50, 0, 50, 50},
    {9000, 20, 0, "rw-s", "00:01 99                         /dev/zero (deleted)", 10, 20, 0, 0},
};

ON_PROCESS(smaps_gives_private_and_shared)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 84 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    struct rss rss = memory_rss(&memory);
    assert_int_equal(rss.total, 84 * KB);
    assert_int_equal(rss.private, 54 * KB);
    assert_int_equal(rss.shared, 30 * KB);
    assert_int_equal(memory.anonymous_bytes, 54 * KB);
    assert_int_equal(memory.anonymous_private_bytes, 54 * KB);
    assert_int_equal(memory_anonymous_share_bytes(&memory), 54 * KB);
    assert_int_equal(memory_anonymous_shared_bytes(&memory), 0);
    assert_false(memory_has_changed(&memory));
}

ON_PROCESS(adjacent_mappings_of_one_object_are_one_range)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 84 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    assert_int_equal(memory.range_count, 2);
    const struct shared_range *file = &memory.ranges[0], *segment = &memory.ranges[1];
    assert_int_equal(file->inode, 77);
    assert_int_equal(file->start, 0);
    assert_int_equal(file->end, 50 * KB);
    /* The copies in the data are the process's own, not the file's. */
    assert_int_equal(file->private_bytes, 0);
    assert_int_equal(file->shared_bytes, 10 * KB);
    assert_int_equal(file->pss_bytes, 5 * KB);
    assert_int_equal(segment->inode, 99);
    assert_int_equal(segment->shared_bytes, 20 * KB);
}

/* 40 kB of a file with three mappers. 16 kB are copies shared since a fork, 4 kB were copied after
 * it. */
ON_PROCESS(shared_copies_are_not_in_the_pss_of_their_file)
{
    const struct mapping mapping = {
        1000, 40, 0, "rw-p", "08:01 77                         /bin/x", 16, 36, 4, 20};
    put_smaps(&mapping, 1);
    memory_set_fast(&memory, 40 * KB, 20 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    assert_int_equal(memory.range_count, 1);
    assert_int_equal(memory.ranges[0].private_bytes, 0);
    assert_int_equal(memory.ranges[0].shared_bytes, 20 * KB);
    /* Of 36 shared kB the Pss is 12: 16 / 36 of that are copies. */
    uint64_t copies = memory_anonymous_share_bytes(&memory);
    assert_in_range(copies, 9 * KB, 10 * KB);
    assert_int_equal(memory.ranges[0].pss_bytes, 16 * KB - copies);
}

ON_PROCESS(copies_shared_since_a_fork_count_by_their_pss)
{
    /* 60 kB of heap, 40 of them shared by two; file data with 8 kB of copies shared by two. */
    const struct mapping mappings[] = {
        {5000, 60, 0, "rw-p", "00:00 0                          [heap]", 40, 40, 20, 60},
        {1000, 10, 0, "rw-p", "08:01 77                         /bin/x", 4, 8, 0, 8},
    };
    put_smaps(mappings, 2);
    memory_set_fast(&memory, 68 * KB, 0);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    assert_int_equal(memory_anonymous_share_bytes(&memory), 44 * KB);
    assert_int_equal(memory_anonymous_shared_bytes(&memory), 48 * KB);
}

ON_PROCESS(a_rollup_gives_the_same_sums)
{
    put_rollup(54, 30, 54, 54);
    memory_set_fast(&memory, 84 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, true), GPUT_OK);
    struct rss rss = memory_rss(&memory);
    assert_int_equal(rss.total, 84 * KB);
    assert_int_equal(rss.private, 54 * KB);
    assert_int_equal(rss.shared, 30 * KB);
    assert_int_equal(memory_anonymous_share_bytes(&memory), 54 * KB);
}

/* They are in no other line of smaps, nor in statm. */
ON_PROCESS(pages_of_hugetlbfs_are_ram)
{
    const char *text = "00400000-00800000 rw-s 00000000 00:0f 77   /anon_hugepage (deleted)\n"
                       "Rss:                   0 kB\nPss:                   0 kB\n"
                       "Shared_Hugetlb:     2048 kB\nPrivate_Hugetlb:    4096 kB\n";
    fake_write(&fake, text, "10/smaps");
    fake_write(&fake, text, "10/smaps_rollup");
    memory_set_fast(&memory, 0, 0);
    for (int rollup = 0; rollup < 2; rollup++) {
        memory.hugetlb_bytes = 0;
        assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, rollup), GPUT_OK);
        assert_int_equal(memory.hugetlb_bytes, 6144 * KB);
        assert_int_equal(memory_rss(&memory).total, 6144 * KB);
        assert_int_equal(memory_rss(&memory).private, 4096 * KB);
        assert_int_equal(memory_rss(&memory).shared, 2048 * KB);
        assert_false(memory_has_changed(&memory));
        /* Others may map it: it counts with the ranges. */
        assert_int_equal(memory_hugetlb_alone_bytes(&memory), 0);
        assert_int_equal(memory.ranges[0].private_bytes, 4096 * KB);
        assert_int_equal(memory.ranges[0].shared_bytes, 2048 * KB);
    }
    /* What status says since then counts before the next reading, which it makes necessary. */
    memory.hugetlb_bytes = 8192 * KB;
    assert_true(memory_has_changed(&memory) && memory_ranges_have_changed(&memory));
    assert_int_equal(memory_rss(&memory).total, 8192 * KB);
    assert_int_equal(memory_rss(&memory).private, 6144 * KB);
    assert_int_equal(memory_hugetlb_alone_bytes(&memory), 2048 * KB);
    memory.hugetlb_bytes = 0;
    assert_int_equal(memory_rss(&memory).total, 0);
}

ON_PROCESS(copies_of_hugetlb_pages_are_of_one_process)
{
    const char *text = "00400000-00c00000 rw-p 00000000 00:0f 77   /anon_hugepage (deleted)\n"
                       "Rss:                   0 kB\nPss:                   0 kB\n"
                       "Shared_Hugetlb:     2048 kB\nPrivate_Hugetlb:    4096 kB\n";
    fake_write(&fake, text, "10/smaps");
    memory_set_fast(&memory, 0, 0);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    assert_int_equal(memory_hugetlb_alone_bytes(&memory), 4096 * KB);
    assert_int_equal(memory.range_count, 1);
    assert_int_equal(memory.ranges[0].private_bytes, 0);
    assert_int_equal(memory.ranges[0].shared_bytes, 2048 * KB);
}

ON_PROCESS(a_kernel_without_rollup_reads_smaps)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 84 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, true), GPUT_OK);
    assert_int_equal(memory_rss(&memory).private, 54 * KB);
}

ON_PROCESS(between_exact_readings_statm_gives_the_change)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 84 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);

    /* 1000 kB more of heap. */
    memory_set_fast(&memory, 1084 * KB, 30 * KB);
    struct rss rss = memory_rss(&memory);
    assert_int_equal(rss.total, 1084 * KB);
    assert_int_equal(rss.private, 1054 * KB);
    assert_int_equal(rss.shared, 30 * KB);
    assert_int_equal(memory_anonymous_share_bytes(&memory), 1054 * KB);
    assert_true(memory_has_changed(&memory));
    assert_false(memory_ranges_have_changed(&memory));

    /* And 300 kB of files: all shared, as those that it had. */
    memory_set_fast(&memory, 1384 * KB, 330 * KB);
    rss = memory_rss(&memory);
    assert_int_equal(rss.total, 1384 * KB);
    assert_int_equal(rss.private, 1054 * KB);
    assert_true(memory_ranges_have_changed(&memory));

    /* All freed, and more than there was. */
    memory_set_fast(&memory, 4 * KB, 0);
    rss = memory_rss(&memory);
    assert_int_equal(rss.total, 4 * KB);
    assert_true(rss.private <= rss.total);
}

ON_PROCESS(a_change_of_one_percent_is_ignored)
{
    put_rollup(10000, 0, 10000, 10000);
    memory_set_fast(&memory, 10000 * KB, 0);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, true), GPUT_OK);
    memory_set_fast(&memory, 10090 * KB, 0);
    assert_false(memory_has_changed(&memory));
    memory_set_fast(&memory, 10110 * KB, 0);
    assert_true(memory_has_changed(&memory));
}

/* It grew by 900 kB while its 84 kB were being counted. */
ON_PROCESS(growth_during_an_exact_reading_is_not_added_twice)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 14 * KB, 10 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    memory_reconcile(&memory, 984 * KB, 30 * KB, LAG);
    struct rss rss = memory_rss(&memory);
    assert_int_equal(rss.total, 984 * KB);
    assert_int_equal(rss.private, 954 * KB);
    assert_int_equal(memory_anonymous_share_bytes(&memory), 954 * KB);
    assert_true(memory_has_changed(&memory));
}

/* The kernel's RSS counters lag by some pages for each CPU. */
ON_PROCESS(the_lag_of_the_kernels_counters_stays_corrected)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 70 * KB, 25 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    memory_reconcile(&memory, 70 * KB, 25 * KB, LAG);
    assert_int_equal(memory_rss(&memory).total, 84 * KB);
    assert_int_equal(memory_rss(&memory).private, 54 * KB);
    assert_false(memory_has_changed(&memory));
}

/* munmap() removes a mapping from smaps first, and its pages from the counters step by step. */
ON_PROCESS(memory_unmapped_during_an_exact_reading_does_not_count)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 40000 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    memory_reconcile(&memory, 37000 * KB, 30 * KB, LAG);
    assert_int_equal(memory_rss(&memory).total, 84 * KB);
    assert_int_equal(memory_rss(&memory).private, 54 * KB);
    assert_true(memory_has_changed(&memory));
    memory_set_fast(&memory, 20000 * KB, 30 * KB);
    assert_int_equal(memory_rss(&memory).total, 84 * KB);
    memory_set_fast(&memory, 84 * KB, 30 * KB);
    assert_int_equal(memory_rss(&memory).total, 84 * KB);
    assert_int_equal(memory_rss(&memory).private, 54 * KB);
    assert_false(memory_has_changed(&memory));
    /* What comes after that is new. */
    memory_set_fast(&memory, 1084 * KB, 30 * KB);
    assert_int_equal(memory_rss(&memory).total, 1084 * KB);
}

ON_PROCESS(an_exact_reading_counts_what_was_unmapped_before_and_is_mapped_again)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 40000 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    memory_reconcile(&memory, 37000 * KB, 30 * KB, LAG);
    put_rollup(36054, 30, 36054, 36054);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, true), GPUT_OK);
    memory_reconcile(&memory, 36084 * KB, 30 * KB, LAG);
    assert_int_equal(memory_rss(&memory).total, 36084 * KB);
    assert_false(memory_has_changed(&memory));
}

ON_PROCESS(an_execve_resets_it)
{
    put_smaps(a_program, 4);
    memory_set_fast(&memory, 84 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, false), GPUT_OK);
    memory_reset(&memory);
    assert_false(memory.has_exact);
    assert_false(memory.has_ranges);
    assert_int_equal(memory.range_count, 0);
}

ON_PROCESS(a_failed_reading_leaves_the_old_figures)
{
    put_rollup(54, 30, 54, 54);
    memory_set_fast(&memory, 84 * KB, 30 * KB);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, true), GPUT_OK);
    fake_end(&fake, 10);
    assert_int_equal(memory_read_exact(&memory, NULL, fake.root, 10, true), GPUT_ERROR_GONE);
    assert_true(memory.has_exact);
    assert_int_equal(memory_rss(&memory).private, 54 * KB);
    assert_false(memory.refused);
}

/* ---- live ---- */

TEST(smaps_and_rollup_of_a_real_process_agree)
{
    struct actors actors;
    struct memory maps = {0}, rollup = {0};
    actors_start(&actors, "alloc 30 shared 20 child [ ready await 3 ] ready await 3");
    actors_await(&actors, 2);
    memory_set_fast(&maps, 1 << 20, 0);
    memory_set_fast(&rollup, 1 << 20, 0);
    assert_int_equal(memory_read_exact(&maps, NULL, "/proc", actors.pid, false), GPUT_OK);
    assert_int_equal(memory_read_exact(&rollup, NULL, "/proc", actors.pid, true), GPUT_OK);
    assert_int_equal(maps.exact.private, rollup.exact.private);
    assert_int_equal(maps.exact.shared, rollup.exact.shared);
    assert_int_equal(maps.anonymous_bytes, rollup.anonymous_bytes);
    /* 30 MB of copy-on-write memory, half its share; the 20 MB are shared. */
    assert_in_range(memory_anonymous_shared_bytes(&maps), 29900000, 31000000);
    assert_in_range(maps.anonymous_pss_bytes, 15000000, 16000000);
    assert_in_range(rollup.anonymous_pss_bytes, 15000000, 16000000);
    memory_finish(&maps);
    memory_finish(&rollup);
    actors_end(&actors);
}

ON_PROCESS(a_process_that_may_not_be_read_is_marked)
{
    /* Only root may read a process that is not dumpable. */
    prctl(PR_SET_DUMPABLE, 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(1);
        memory_set_fast(&memory, 100 * KB, 40 * KB);
        int code = memory_read_exact(&memory, NULL, "/proc", getppid(), true);
        bool right = code == GPUT_ERROR_PERMISSION && memory.refused && !memory.has_exact &&
                     memory_rss(&memory).private == 60 * KB;
        _exit(right ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    prctl(PR_SET_DUMPABLE, 1);
    assert_int_equal(status, 0);
}

RUN_TESTS(NULL, NULL)
