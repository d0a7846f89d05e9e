/* What processes use of cards, from a procfs that the test writes while it is read. */
#include "machine/gpu/drm_clients.h"

#include "base/clock.h"
#include "fake_sysfs.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a descriptor: a link, and what the kernel says of it. */
static void open_fd(pid_t pid, int fd, const char *target, const char *info)
{
    char path[256], name[64];
    snprintf(name, sizeof name, "%d/fdinfo/%d", (int)pid, fd);
    fake_sysfs_write(name, info);
    snprintf(path, sizeof path, "%s/%d/fd", fake_sysfs, (int)pid);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%d/fd/%d", fake_sysfs, (int)pid, fd);
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

static int setup(void **state)
{
    (void)state;
    return fake_sysfs_create();
}

static struct drm_target target = {.pci_address = "0000:00:02.0",
    .driver = "i915",
    .card_number = 1,
    .render_number = 129,
    .integrated = true};

static struct gpu_process_list list;

/* Reads the processes 10 and 11 at a moment. */
static void read_at(struct drm_client_reader *reader, int64_t seconds)
{
    pid_t pids[] = {10, 11};
    struct gpu_tracked tracked = {pids, 2};
    gpu_process_list_clear(&list);
    drm_clients_read(reader, fake_sysfs, &tracked, &target, 1, seconds * NS_PER_SECOND, &list);
}

static const char *client(const char *engines)
{
    static char text[512];
    snprintf(text, sizeof text,
        "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t5\n"
        "drm-resident-system0:\t4 KiB\n%s",
        engines);
    return text;
}

#define IN_SYSFS(name) TEST_WITH(name, setup, fake_sysfs_remove)

IN_SYSFS(gives_the_share_of_the_busiest_engine)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/dri/renderD129",
        client("drm-engine-render:\t7000000000 ns\ndrm-engine-video:\t0 ns\n"
               "drm-engine-capacity-video:\t2\n"));
    read_at(&reader, 100);
    assert_int_equal(list.count, 1);
    assert_true(list.entries[0].ram_bytes == 4096);
    assert_true(isnan(list.entries[0].sm_percent)); /* nothing to compare with yet */
    open_fd(10, 3, "/dev/dri/renderD129",
        client("drm-engine-render:\t7500000000 ns\ndrm-engine-video:\t3000000000 ns\n"
               "drm-engine-capacity-video:\t2\n"));
    read_at(&reader, 102);
    assert_true(fabs(list.entries[0].sm_percent - 75) < 1e-9); /* 3 s of two engines in 2 s */
    /* A counter that dips, then goes on from where it was. */
    open_fd(10, 3, "/dev/dri/renderD129", client("drm-engine-render:\t7400000000 ns\n"));
    read_at(&reader, 104);
    assert_true(list.entries[0].sm_percent == 0);
    open_fd(10, 3, "/dev/dri/renderD129", client("drm-engine-render:\t7700000000 ns\n"));
    read_at(&reader, 106);
    assert_true(fabs(list.entries[0].sm_percent - 10) < 1e-9);
    drm_client_reader_finish(&reader);
}

/* amdgpu lists the engines that a client has used. */
IN_SYSFS(an_engine_that_is_listed_later_began_at_0)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/dri/renderD129", client(""));
    read_at(&reader, 100);
    open_fd(10, 3, "/dev/dri/renderD129", client("drm-engine-gfx:\t500000000 ns\n"));
    read_at(&reader, 102);
    assert_true(fabs(list.entries[0].sm_percent - 25) < 1e-9);
    open_fd(10, 3, "/dev/dri/renderD129",
        client("drm-engine-gfx:\t500000000 ns\ndrm-engine-compute:\t1000000000 ns\n"));
    read_at(&reader, 104);
    assert_true(fabs(list.entries[0].sm_percent - 50) < 1e-9);
    /* What is not listed for a moment keeps its counters. */
    open_fd(10, 3, "/dev/dri/renderD129", client("drm-engine-gfx:\t500000000 ns\n"));
    read_at(&reader, 106);
    assert_true(list.entries[0].sm_percent == 0);
    open_fd(10, 3, "/dev/dri/renderD129",
        client("drm-engine-gfx:\t500000000 ns\ndrm-engine-compute:\t1200000000 ns\n"));
    read_at(&reader, 108);
    assert_true(fabs(list.entries[0].sm_percent - 10) < 1e-9);
    drm_client_reader_finish(&reader);
}

static void put_cycles(pid_t pid, unsigned busy, unsigned total)
{
    char text[512];
    snprintf(text, sizeof text,
        "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t%d\n"
        "drm-cycles-rcs:\t%u\ndrm-total-cycles-rcs:\t%u\n",
        (int)pid, busy, total);
    open_fd(pid, 3, "/dev/dri/renderD129", text);
}

IN_SYSFS(gives_the_ratio_of_cycles)
{
    struct drm_client_reader reader = {0};
    put_cycles(10, 1000, 100000);
    read_at(&reader, 1);
    put_cycles(10, 26000, 200000);
    read_at(&reader, 2);
    assert_true(fabs(list.entries[0].sm_percent - 25) < 1e-9);
    /* A counter that falls for a moment, then goes on from where it was. */
    put_cycles(10, 20000, 300000);
    read_at(&reader, 3);
    assert_true(list.entries[0].sm_percent == 0);
    put_cycles(10, 36000, 400000);
    read_at(&reader, 4);
    assert_true(fabs(list.entries[0].sm_percent - 10) < 1e-9);
    drm_client_reader_finish(&reader);
}

IN_SYSFS(after_a_reset_cycles_count_anew)
{
    struct drm_client_reader reader = {0};
    put_cycles(10, 80000, 900000);
    read_at(&reader, 1);
    put_cycles(10, 500, 1000);
    read_at(&reader, 2);
    assert_true(isnan(list.entries[0].sm_percent)); /* how long it was busy before is not known */
    put_cycles(10, 30500, 101000);
    read_at(&reader, 3);
    assert_true(fabs(list.entries[0].sm_percent - 30) < 1e-9);
    drm_client_reader_finish(&reader);
}

IN_SYSFS(a_new_client_has_cycles_where_another_one_has_their_total)
{
    struct drm_client_reader reader = {0};
    put_cycles(11, 1000, 100000);
    read_at(&reader, 1);
    put_cycles(11, 1000, 200000);
    put_cycles(10, 40000, 200000);
    read_at(&reader, 2);
    assert_int_equal(list.entries[0].pid, 10);
    assert_true(fabs(list.entries[0].sm_percent - 40) < 1e-9);
    drm_client_reader_finish(&reader);
}

IN_SYSFS(counts_a_client_once_a_process)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/dri/renderD129", client(""));
    open_fd(10, 4, "/dev/dri/card1", client(""));
    open_fd(11, 9, "/dev/dri/renderD129", client(""));
    read_at(&reader, 1);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.entries[0].client, list.entries[1].client);
    drm_client_reader_finish(&reader);
}

/* A client with 3 MiB, of which 2.5 MiB are in a buffer of another one, too. */
static const char *sharing_client(unsigned number)
{
    static char text[256];
    snprintf(text, sizeof text,
        "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t%u\n"
        "drm-resident-system0:\t3072 KiB\ndrm-shared-system0:\t2560 KiB\n",
        number);
    return text;
}

IN_SYSFS(buffers_of_several_clients_count_once)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/dri/renderD129", sharing_client(5));
    open_fd(11, 3, "/dev/dri/renderD129", sharing_client(6));
    open_fd(11, 4, "/dev/dri/renderD129", sharing_client(5)); /* inherited */
    read_at(&reader, 100);
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < list.count; i++) {
        bool is_first = list.entries[i].client == list.entries[0].client;
        assert_true(list.entries[i].ram_bytes == (is_first ? 3072 : 512) * 1024);
    }
    drm_client_reader_finish(&reader);
}

IN_SYSFS(skips_other_cards_and_other_descriptors)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 0, "/dev/null", client(""));
    open_fd(10, 1, "socket:[77]", client(""));
    open_fd(10, 3, "/dev/dri/renderD128", client(""));
    open_fd(10, 4, "/home/user/dri/renderD129", client(""));
    read_at(&reader, 1);
    assert_int_equal(list.count, 0);
    drm_client_reader_finish(&reader);
}

IN_SYSFS(a_client_of_a_card_that_slept_is_no_new_one)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/dri/renderD129", client("drm-engine-render:\t7000000000 ns\n"));
    read_at(&reader, 1);
    target.suspended = true;
    read_at(&reader, 2);
    read_at(&reader, 3);
    target.suspended = false;
    open_fd(10, 3, "/dev/dri/renderD129", client("drm-engine-render:\t7600000000 ns\n"));
    read_at(&reader, 4);
    assert_true(fabs(list.entries[0].sm_percent - 20) < 1e-9); /* 0.6 s of 3 */
    drm_client_reader_finish(&reader);
}

IN_SYSFS(finds_a_descriptor_that_becomes_a_card)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/null", "");
    read_at(&reader, 1);
    assert_int_equal(list.count, 0);
    open_fd(10, 3, "/dev/dri/renderD129", client(""));
    open_fd(10, 4, "/dev/dri/renderD129", client(""));
    read_at(&reader, 2);
    assert_int_equal(list.count, 1); /* a new number at once */
    unlink(strcat(strcpy((char[128]){0}, fake_sysfs), "/10/fd/4"));
    read_at(&reader, 9);
    assert_int_equal(list.count, 1); /* an old one after a while */
    drm_client_reader_finish(&reader);
}

IN_SYSFS(a_driver_without_figures_leaves_them_missing)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/dri/renderD129", "pos:\t0\nflags:\t02\n");
    read_at(&reader, 1);
    assert_int_equal(list.count, 1);
    assert_true(isnan(list.entries[0].ram_bytes) && isnan(list.entries[0].sm_percent));
    drm_client_reader_finish(&reader);
}

IN_SYSFS(a_process_that_may_not_be_read_is_missing_not_zero)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/dri/renderD129", client(""));
    char path[128];
    snprintf(path, sizeof path, "%s/10/fd", fake_sysfs);
    chmod(path, 0);
    chmod(fake_sysfs, 0755);
    uid_t uid = geteuid();
    if (uid == 0) /* root may see everything */
        assert_int_equal(seteuid(65534), 0);
    read_at(&reader, 1);
    if (uid == 0)
        assert_int_equal(seteuid(0), 0);
    chmod(path, 0700);
    assert_int_equal(list.count, 1);
    assert_true(isnan(list.entries[0].ram_bytes));
    drm_client_reader_finish(&reader);
}

/* Leaves this many more descriptors. */
static void limit_files(rlim_t more)
{
    int fd = dup(0);
    assert_true(fd >= 0);
    close(fd);
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = more < limit.rlim_max ? (rlim_t)fd + more : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

IN_SYSFS(without_descriptors_figures_are_missing_not_zero)
{
    struct drm_client_reader reader = {0};
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    open_fd(10, 3, "/dev/dri/renderD129", client(""));
    for (rlim_t more = 0; more < 3; more++) {
        limit_files(more);
        read_at(&reader, 1);
        setrlimit(RLIMIT_NOFILE, &before);
        assert_true(list.lacks_descriptors);
        assert_non_null(strstr(list.ram_missing[0], "ulimit -n"));
        assert_non_null(strstr(list.sm_missing[0], "ulimit -n"));
    }
    read_at(&reader, 2);
    assert_false(list.lacks_descriptors);
    assert_null(list.ram_missing[0]);
    assert_int_equal(list.count, 1);
    assert_true(list.entries[0].ram_bytes == 4096);
    drm_client_reader_finish(&reader);
}

IN_SYSFS(a_suspended_card_is_not_read)
{
    struct drm_client_reader reader = {0};
    open_fd(10, 3, "/dev/dri/renderD129", client(""));
    target.suspended = true;
    read_at(&reader, 1);
    target.suspended = false;
    assert_int_equal(list.count, 0);
    drm_client_reader_finish(&reader);
}

TEST_FILE
{
    int failed = run_listed_tests(NULL, NULL);
    gpu_process_list_finish(&list);
    return failed;
}
