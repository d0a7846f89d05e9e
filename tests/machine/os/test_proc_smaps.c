#include "machine/os/proc_smaps.h"

#include "testing.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct sums {
    size_t count;
    struct memory_mapping last;
    struct memory_mapping all[4];
    uint64_t rss, pss, private, shared, anonymous;
};

static void add(void *user, const struct memory_mapping *mapping)
{
    struct sums *sums = user;
    if (sums->count < 4)
        sums->all[sums->count] = *mapping;
    sums->count++;
    sums->last = *mapping;
    sums->rss += mapping->rss_bytes;
    sums->pss += mapping->pss_bytes;
    sums->private += mapping->private_bytes;
    sums->shared += mapping->shared_bytes;
    sums->anonymous += mapping->anonymous_bytes;
}

TEST(reads_the_mappings_of_an_old_kernel)
{
    struct sums sums = {0};
    assert_int_equal(proc_smaps_read(fixture("procfs-old"), 100, add, &sums, NULL), GPUT_OK);
    assert_int_equal(sums.count, 3);

    assert_int_equal(sums.all[0].start, 0x400000);
    assert_int_equal(sums.all[0].end, 0x44b000);
    assert_int_equal(sums.all[0].device, UINT64_C(8) << 32 | 1);
    assert_int_equal(sums.all[0].inode, 5243);
    assert_true(sums.all[0].is_file_or_shared);
    assert_false(sums.all[0].is_shared);
    assert_int_equal(sums.all[0].rss_bytes, 200 * 1024);
    assert_int_equal(sums.all[0].pss_bytes, 100 * 1024);
    assert_int_equal(sums.all[0].shared_bytes, 200 * 1024);
    assert_int_equal(sums.all[0].private_bytes, 0);

    assert_false(sums.all[1].is_file_or_shared);
    assert_int_equal(sums.all[1].private_bytes, 600 * 1024);
    assert_int_equal(sums.all[1].anonymous_bytes, 600 * 1024);
}

TEST(system_v_memory_of_inode_0_is_shared_memory)
{
    struct sums sums = {0};
    assert_int_equal(proc_smaps_read(fixture("procfs-old"), 100, add, &sums, NULL), GPUT_OK);
    assert_int_equal(sums.last.inode, 0);
    assert_true(sums.last.is_file_or_shared);
    assert_true(sums.last.is_shared);
    assert_int_equal(sums.last.shared_bytes, 512 * 1024);
}

/* The file is longer than the buffer that it is read through. */
TEST(a_streamed_file_loses_no_mapping)
{
    struct sums sums = {0};
    assert_int_equal(proc_smaps_read(fixture("procfs-hybrid"), 4000, add, &sums, NULL), GPUT_OK);
    assert_int_equal(sums.count, 91);
    assert_int_equal(sums.rss, 21852 * 1024);
    assert_int_equal(sums.pss, 12791 * 1024);
    assert_int_equal(sums.private, (2280 + 2884) * 1024);
    assert_int_equal(sums.shared, (4228 + 12460) * 1024);
    assert_int_equal(sums.anonymous, 13296 * 1024);
    assert_int_equal(sums.private + sums.shared, sums.rss);
}

TEST(sums_over_all_mappings_are_those_of_the_rollup)
{
    struct sums sums = {0};
    struct proc_smaps_rollup rollup;
    pid_t child = fork(); /* one that is stopped, so that its figures do not change */
    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    waitpid(child, NULL, WUNTRACED);
    int code = proc_smaps_rollup_read("/proc", child, &rollup, NULL);
    if (code == GPUT_OK)
        code = proc_smaps_read("/proc", child, add, &sums, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (code == GPUT_ERROR_UNSUPPORTED)
        SKIP("Linux before 4.14");
    assert_int_equal(code, GPUT_OK);
    assert_int_equal(sums.rss, rollup.private_bytes + rollup.shared_bytes);
    assert_int_equal(sums.anonymous, rollup.anonymous_bytes);
    assert_int_equal(sums.private + sums.shared, rollup.private_bytes + rollup.shared_bytes);
}

TEST(processes_without_memory_have_no_mappings)
{
    struct sums sums = {0};
    assert_int_equal(proc_smaps_read(fixture("procfs-hybrid"), 4004, add, &sums, NULL), GPUT_OK);
    assert_int_equal(proc_smaps_read(fixture("procfs-hybrid"), 2, add, &sums, NULL), GPUT_OK);
    assert_int_equal(sums.count, 0);
    assert_int_equal(
        proc_smaps_read(fixture("procfs-hybrid"), 5, add, &sums, NULL), GPUT_ERROR_GONE);
    assert_int_equal(
        proc_smaps_read(fixture("procfs-old"), 102, add, &sums, NULL), GPUT_ERROR_UNSUPPORTED);
}

static size_t walk(const char *text, size_t length, struct sums *sums)
{
    struct proc_smaps_cursor cursor = proc_smaps_start(text, length);
    struct memory_mapping mapping;
    *sums = (struct sums){0};
    while (proc_smaps_next(&cursor, &mapping))
        add(sums, &mapping);
    return sums->count;
}

TEST(unknown_missing_and_oddly_spaced_keys_do_no_harm)
{
    const char *text = "1000-2000 rw-p 00000000 00:00 0 \n"
                       "Rss:    \t  4 kB\n"
                       "FutureThing:    9999999999 kB\n"
                       "Pss:                   4 kB\n"
                       "Pss_Dirty:             2 kB\n"
                       "Private_Dirty:  123456789012 kB\n"
                       "Private_Hugetlb:    2048 kB\n"
                       "Shared_Hugetlb:     4096 kB\n"
                       "Swap:\n"
                       "Private_Clean:         x kB\n"
                       "no key at all\n"
                       "\n"
                       "THPeligible:           0\n"
                       "VmFlags: rd wr \n"
                       "3000-4000 r--s 00001000 fe:0a 77                 /a b\n";
    struct sums sums;
    assert_int_equal(walk(text, strlen(text), &sums), 2);
    assert_int_equal(sums.all[0].rss_bytes, 4096);
    assert_int_equal(sums.all[0].pss_bytes, 4096);
    assert_int_equal(sums.all[0].private_bytes, UINT64_C(123456789012) * 1024);
    assert_int_equal(sums.all[0].private_hugetlb_bytes, 2048 * 1024);
    assert_int_equal(sums.all[0].shared_hugetlb_bytes, 4096 * 1024);
    assert_int_equal(sums.all[1].offset, 4096);
    assert_int_equal(sums.all[1].device, UINT64_C(0xfe) << 32 | 0x0a);
    assert_int_equal(sums.all[1].inode, 77);
    assert_int_equal(sums.all[1].rss_bytes, 0);
    assert_true(sums.all[1].is_shared);
}

/* Wherever the text is truncated, nothing is read past its end and no figure grows. */
TEST(a_truncated_end_costs_at_most_its_own_part)
{
    const char *text = "1000-2000 rw-p 00000000 00:00 0 \n"
                       "Rss:                   8 kB\n"
                       "Private_Dirty:         8 kB\n"
                       "VmFlags: rd \n"
                       "3000-4000 r--s 00001000 fe:0a 77                 /a b\n"
                       "Rss:                  16 kB\n";
    struct sums sums;
    for (size_t length = 0; length <= strlen(text); length++) {
        char *copy = malloc(length + 1); /* exact, so that valgrind sees a read past the end */
        memcpy(copy, text, length);
        size_t count = walk(copy, length, &sums);
        free(copy);
        assert_true(count <= 2);
        assert_true(sums.rss == 0 || sums.rss == 8192 || sums.rss == 8192 + 16384);
    }
    assert_int_equal(sums.count, 2);
    assert_int_equal(sums.rss, 8192 + 16384);
}

TEST(lines_that_are_no_mapping_are_skipped)
{
    const char *text = "a\n-\n1000\n1000-\n1000-2000\n1000-2000 r\n1000-2000 rw-p\n"
                       "1000-2000 rw-p 0\n1000-2000 rw-p 0 0\n1000-2000 rw-p 0 0:\n"
                       "1000-2000 rw-p 0 0:0\n12345678901234567-2 rw-p 0 0:0 0\n"
                       "5000-6000 rw-p 0 0:0 0\nRss: 1 kB\n";
    struct sums sums;
    assert_int_equal(walk(text, strlen(text), &sums), 1);
    assert_int_equal(sums.last.start, 0x5000);
}

struct search {
    uint64_t address;
    struct memory_mapping found;
};

static void find(void *user, const struct memory_mapping *mapping)
{
    struct search *search = user;
    if (mapping->start <= search->address && search->address < mapping->end)
        search->found = *mapping;
}

TEST(finds_shared_memory_of_its_own)
{
    const size_t size = 1 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(memory, 1, size);
    struct search search = {.address = (uintptr_t)memory};
    assert_int_equal(proc_smaps_read("/proc", getpid(), find, &search, NULL), GPUT_OK);
    munmap(memory, size);
    assert_true(search.found.is_shared);
    assert_true(search.found.is_file_or_shared);
    assert_true(search.found.rss_bytes >= size);
}

RUN_TESTS(NULL, NULL)
