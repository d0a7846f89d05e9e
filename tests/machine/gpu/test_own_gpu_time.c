/* GPU time of this process, from a procfs that the test writes while it is read. */
#include "base/clock.h"
#include "fake_sysfs.h"
#include "machine/gpu/own_gpu_time.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char sys_root[80];

static void set_info(int fd, const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "self/fdinfo/%d", fd);
    fake_sysfs_write(name, text);
}

/* Any change of descriptors is seen after so long, whatever the size of a folder says. */
static void wait_for_search(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 12000000}, NULL);
}

static void open_fd(int fd, const char *target, const char *info)
{
    char path[256];
    set_info(fd, info);
    snprintf(path, sizeof path, "%s/self/fd/%d", fake_sysfs, fd);
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

static void close_fd(int fd)
{
    char path[256];
    snprintf(path, sizeof path, "%s/self/fd/%d", fake_sysfs, fd);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/self/fdinfo/%d", fake_sysfs, fd);
    assert_int_equal(unlink(path), 0);
}

static const char *info_of(const char *driver, int client, const char *engines)
{
    static char text[512];
    snprintf(text, sizeof text,
        "pos:\t0\ndrm-driver:\t%s\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t%d\n%s", driver, client,
        engines);
    return text;
}

static const char *render(int client, long ns)
{
    char engines[64];
    snprintf(engines, sizeof engines, "drm-engine-render:\t%ld ns\n", ns);
    return info_of("i915", client, engines);
}

static int setup(void **state)
{
    (void)state;
    char path[128];
    if (fake_sysfs_create() != 0)
        return -1;
    snprintf(sys_root, sizeof sys_root, "%s/sys", fake_sysfs);
    fake_sysfs_write("sys/class/drm/card0/device/uevent", "DRIVER=i915\n");
    fake_sysfs_write("self/fdinfo/0", "pos:\t0\n");
    snprintf(path, sizeof path, "%s/self/fd", fake_sysfs);
    mkdir(path, 0777);
    open_fd(0, "/dev/null", "pos:\t0\n");
    return 0;
}

static struct own_gpu_time *begin(void)
{
    struct own_gpu_time *gpu_time;
    assert_int_equal(own_gpu_time_open(fake_sysfs, sys_root, &gpu_time, NULL), GPUT_OK);
    return gpu_time;
}

#define IN_SYSFS(name) TEST_WITH(name, setup, fake_sysfs_remove)

IN_SYSFS(adds_up_engines_and_clients_each_once)
{
    open_fd(3, "/dev/dri/renderD128",
        info_of("i915", 5, "drm-engine-render:\t100 ns\ndrm-engine-video:\t20 ns\n"));
    open_fd(4, "/dev/dri/renderD128",
        info_of("i915", 5, "drm-engine-render:\t100 ns\ndrm-engine-video:\t20 ns\n"));
    open_fd(5, "/dev/dri/card0", render(6, 1000));
    struct own_gpu_time *gpu_time = begin();
    int64_t before = own_gpu_time_read(gpu_time);
    set_info(3, info_of("i915", 5, "drm-engine-render:\t150 ns\ndrm-engine-video:\t30 ns\n"));
    set_info(4, info_of("i915", 5, "drm-engine-render:\t150 ns\ndrm-engine-video:\t30 ns\n"));
    set_info(5, render(6, 1007));
    assert_int_equal(own_gpu_time_read(gpu_time) - before, 67);
    set_info(5, render(6, 1001)); /* a counter that dips, then goes on from where it was */
    assert_int_equal(own_gpu_time_read(gpu_time) - before, 67);
    set_info(5, render(6, 1009));
    assert_int_equal(own_gpu_time_read(gpu_time) - before, 69);
    own_gpu_time_close(gpu_time);
}

IN_SYSFS(clients_come_and_go_and_their_time_stays)
{
    struct own_gpu_time *gpu_time = begin();
    assert_int_equal(own_gpu_time_read(gpu_time), 0);
    open_fd(3, "/dev/dri/renderD128", render(5, 300));
    wait_for_search();
    assert_int_equal(own_gpu_time_read(gpu_time), 300);
    close_fd(3);
    wait_for_search();
    assert_int_equal(own_gpu_time_read(gpu_time), 300);
    open_fd(3, "/dev/dri/renderD128", render(7, 40)); /* another client in its place */
    wait_for_search();
    assert_int_equal(own_gpu_time_read(gpu_time), 340);
    set_info(3, render(8, 5)); /* and again, which is seen at once */
    assert_int_equal(own_gpu_time_read(gpu_time), 345);
    set_info(3, "pos:\t0\n"); /* a descriptor that is closed */
    own_gpu_time_read(gpu_time);
    close_fd(3);
    wait_for_search();
    assert_int_equal(own_gpu_time_read(gpu_time), 345);
    own_gpu_time_close(gpu_time);
}

IN_SYSFS(cycles_are_a_share_of_the_time)
{
    static const char format[] = "drm-cycles-rcs:\t%d\ndrm-total-cycles-rcs:\t%d\n";
    char engines[128];
    snprintf(engines, sizeof engines, format, 1000, 100000);
    open_fd(3, "/dev/dri/renderD128", info_of("xe", 5, engines));
    int64_t began_ns = clock_monotonic_ns();
    struct own_gpu_time *gpu_time = begin();
    int64_t opened_ns = clock_monotonic_ns();
    wait_for_search();
    snprintf(engines, sizeof engines, format, 1500, 102000);
    set_info(3, info_of("xe", 5, engines));
    int64_t before_ns = clock_monotonic_ns();
    int64_t busy_ns = own_gpu_time_read(gpu_time);
    int64_t after_ns = clock_monotonic_ns();
    assert_in_range(busy_ns, (before_ns - opened_ns) / 4, (after_ns - began_ns) / 4 + 1);
    /* One that is found later counts from its first cycle. */
    snprintf(engines, sizeof engines, format, 400, 200000);
    open_fd(4, "/dev/dri/renderD128", info_of("xe", 6, engines));
    wait_for_search();
    assert_int_equal(own_gpu_time_read(gpu_time), busy_ns);
    snprintf(engines, sizeof engines, format, 400, 200400);
    set_info(4, info_of("xe", 6, engines));
    assert_true(own_gpu_time_read(gpu_time) > busy_ns);
    own_gpu_time_close(gpu_time);
}

IN_SYSFS(it_is_unknown_while_a_gpu_is_open_that_does_not_report)
{
    static const struct {
        const char *target, *info;
        bool is_reported;
    } cases[] = {
        {"/dev/nvidia0", "pos:\t0\n", false},
        {"/dev/nvidia-uvm", "pos:\t0\n", false},
        {"/dev/nvidiactl", "pos:\t0\n", true},
        {"/dev/kfd", "pos:\t0\n", false},
        {"/dev/dxg", "pos:\t0\n", false},
        {"/dev/dri/card1", "pos:\t0\n", false},
        {"/dev/dri/card1", "drm-driver:\tnouveau\ndrm-client-id:\t9\n", false},
        {"/dev/dri/card1", "drm-driver:\ti915\ndrm-engine-render:\t9 ns\n", false},
        /* leaves out engines that were never used */
        {"/dev/dri/card1", "drm-driver:\tamdgpu\ndrm-client-id:\t9\n", true},
        {"socket:[1]", "pos:\t0\n", true},
    };
    struct own_gpu_time *gpu_time = begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_fd(7, cases[i].target, cases[i].info);
        wait_for_search();
        assert_int_equal(
            own_gpu_time_read(gpu_time), cases[i].is_reported ? 0 : OWN_GPU_TIME_UNKNOWN);
        close_fd(7);
        wait_for_search();
        assert_int_equal(own_gpu_time_read(gpu_time), 0);
    }
    for (int fd = 100; fd < 165; fd++) /* more than have a place */
        open_fd(fd, "/dev/dri/renderD128", render(fd, 1));
    wait_for_search();
    assert_int_equal(own_gpu_time_read(gpu_time), OWN_GPU_TIME_UNKNOWN);
    close_fd(100);
    wait_for_search();
    own_gpu_time_read(gpu_time); /* gives its place to the last one */
    wait_for_search();
    assert_true(own_gpu_time_read(gpu_time) > 0);
    own_gpu_time_close(gpu_time);
}

IN_SYSFS(a_descriptor_that_the_program_took_is_not_read)
{
    open_fd(3, "/dev/dri/renderD128", render(5, 100));
    struct own_gpu_time *gpu_time = begin();
    int64_t before = own_gpu_time_read(gpu_time);
    int ours = -1; /* what it has open of the client */
    char path[256], link[256];
    for (int fd = 3; fd < 64 && ours < 0; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, link, sizeof link - 1);
        link[length > 0 ? length : 0] = '\0';
        if (strstr(link, "/self/fdinfo/3"))
            ours = fd;
    }
    assert_true(ours >= 0);
    int zero = open("/dev/zero", O_RDONLY);
    assert_int_equal(dup2(zero, ours), ours);
    set_info(3, render(5, 130));
    assert_int_equal(own_gpu_time_read(gpu_time) - before, 30);
    own_gpu_time_close(gpu_time);
    assert_int_equal(close(ours), 0); /* the program's own is still open */
    close(zero);
}

IN_SYSFS(machines_that_report_nothing_say_why)
{
    struct gput_error error;
    static const char why[] = "sys/class/drm/card0/device/uevent";
    assert_int_equal(own_gpu_time_check(fake_sysfs, sys_root, &error), GPUT_OK);
    fake_sysfs_write(why, "DRIVER=nouveau\n");
    assert_int_equal(own_gpu_time_check(fake_sysfs, sys_root, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(
        error.message, "The GPU's driver (nouveau) reports no GPU time to a program.");
    fake_sysfs_write(why, "DRIVER=ast\n"); /* a display */
    assert_int_equal(own_gpu_time_check(fake_sysfs, sys_root, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(
        error.message, "This machine has no GPU whose driver reports a program's GPU time to it.");
    fake_sysfs_write("driver/nvidia/version", "");
    assert_int_equal(own_gpu_time_check(fake_sysfs, sys_root, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(
        error.message, "NVIDIA's driver reports no GPU time to a program without privileges.");
    fake_sysfs_write("sys/class/drm/card1/device/uevent", "DRIVER=amdgpu\n"); /* next to it */
    assert_int_equal(own_gpu_time_check(fake_sysfs, sys_root, &error), GPUT_OK);
    struct own_gpu_time *gpu_time = NULL;
    assert_int_equal(
        own_gpu_time_open(fake_sysfs, "/nowhere", &gpu_time, &error), GPUT_ERROR_NOT_FOUND);
    assert_null(gpu_time);
    own_gpu_time_close(NULL);
}

RUN_TESTS(NULL, NULL)
