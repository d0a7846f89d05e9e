#include "analysis/blocks/block_figures.h"
#include "base/wall_clock.h"
#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "/tmp/test-energy-XXXXXX";

static void write_counter(const char *package, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/class/powercap/%s/%s", root, package, file);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static int make_packages(void **state)
{
    (void)state;
    static const char *const folders[] = {"class", "class/powercap", "class/powercap/intel-rapl:0",
        "class/powercap/intel-rapl:1", "class/powercap/intel-rapl:2"};
    char path[256];
    if (!mkdtemp(root))
        return -1;
    for (unsigned i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        if (mkdir(path, 0700) != 0)
            return -1;
    }
    return 0;
}

static int remove_packages(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

/* Two packages, and the platform. */
static void fill_packages(void)
{
    static const char *const zones[][2] = {{"intel-rapl:0", "package-0\n"},
        {"intel-rapl:1", "package-1\n"}, {"intel-rapl:2", "psys\n"}};
    for (int i = 0; i < 3; i++) {
        write_counter(zones[i][0], "name", zones[i][1]);
        write_counter(zones[i][0], "max_energy_range_uj", "999999\n");
        write_counter(zones[i][0], "energy_uj", "990000\n");
    }
}

static int64_t energy(struct block_figures *figures)
{
    struct block_figures_thread thread = {0};
    struct sub_tracking_exact exact;
    block_figures_read(figures, &thread, SUB_TRACKING_START, &exact);
    return exact.energy_uj;
}

TEST(energy_is_summed_over_packages_and_over_the_end_of_a_counter)
{
    fill_packages();
    struct block_figures figures = {0};
    block_figures_open_energy(&figures, root);
    assert_int_equal(figures.n_packages, 2);
    assert_int_equal(energy(&figures), 0);
    write_counter("intel-rapl:0", "energy_uj", "995000\n");
    assert_int_equal(energy(&figures), 5000);
    write_counter("intel-rapl:0", "energy_uj", "1000\n");
    write_counter("intel-rapl:1", "energy_uj", "990007\n");
    assert_int_equal(energy(&figures), 11007);
    write_counter("intel-rapl:1", "energy_uj", "990003\n"); /* read before another thread's */
    assert_int_equal(energy(&figures), 11007);
    write_counter("intel-rapl:0", "energy_uj", "");
    assert_int_equal(energy(&figures), SUB_TRACKING_UNKNOWN);
    block_figures_close(&figures);
}

TEST(energy_of_some_packages_is_none_of_the_machine)
{
    static const char *const spoilt[][2] = {
        {"name", ""}, {"name", "npu\n"}, {"max_energy_range_uj", "0\n"}, {"energy_uj", ""}};
    for (size_t i = 0; i < 4; i++) {
        struct block_figures figures = {0};
        fill_packages();
        write_counter("intel-rapl:1", spoilt[i][0], spoilt[i][1]);
        block_figures_open_energy(&figures, root);
        assert_int_equal(energy(&figures), SUB_TRACKING_UNKNOWN);
        block_figures_close(&figures);
    }
}

TEST(a_counter_that_the_program_has_closed_is_not_read_from_its_files)
{
    struct block_figures figures = {0};
    FILE *taken = tmpfile();
    fputs("995000\n", taken);
    fflush(taken);
    fill_packages();
    block_figures_open_energy(&figures, root);
    assert_int_not_equal(energy(&figures), SUB_TRACKING_UNKNOWN);
    int fd = figures.packages[0].file.fd;
    assert_true(dup2(fileno(taken), fd) >= 0);
    assert_int_equal(energy(&figures), SUB_TRACKING_UNKNOWN);
    block_figures_close(&figures);
    assert_true(fcntl(fd, F_GETFD) >= 0); /* it is the program's */
    close(fd);
    fclose(taken);
}

TEST(without_counters_energy_is_unknown)
{
    struct block_figures figures = {0};
    block_figures_open_energy(&figures, "/nonexistent");
    assert_int_equal(energy(&figures), SUB_TRACKING_UNKNOWN);
    block_figures_close(&figures);
}

TEST(no_block_has_more_cpu_time_of_its_thread_than_of_its_process)
{
    struct block_figures figures = {0};
    struct block_figures_thread thread = {0};
    for (int i = 0; i < 20000; i++) {
        struct sub_tracking_exact start, stop;
        block_figures_read(&figures, &thread, SUB_TRACKING_START, &start);
        block_figures_read(&figures, &thread, SUB_TRACKING_STOP, &stop);
        assert_true(
            stop.process_cpu_ns - start.process_cpu_ns >= stop.thread_cpu_ns - start.thread_cpu_ns);
    }
}

/* ---- Peaks of calls ---- */

#define MIB (INT64_C(1) << 20)

/* The kernel may keep page counts of each processor for a while. */
#define SLACK (8 * MIB)

static void use_and_free(int64_t bytes)
{
    char *memory =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 1, (size_t)bytes);
    munmap(memory, (size_t)bytes);
}

static int64_t start_call(struct block_figures *figures, struct sub_tracking_exact *exact)
{
    struct block_figures_thread thread = {0};
    block_figures_read(figures, &thread, SUB_TRACKING_START, exact);
    return wall_clock_ns();
}

static struct sub_tracking_exact stop_call(struct block_figures *figures, int64_t started_ns)
{
    struct block_figures_thread thread = {.call_started_ns = started_ns};
    struct sub_tracking_exact exact;
    block_figures_read(figures, &thread, SUB_TRACKING_STOP, &exact);
    return exact;
}

static void assert_about(int64_t bytes, int64_t expected)
{
    if (bytes < expected - SLACK || bytes > expected + SLACK)
        fail_msg("%lld MiB, not about %lld", (long long)(bytes / MIB), (long long)(expected / MIB));
}

TEST(a_call_has_its_own_peak_and_the_process_keeps_its_highest)
{
    struct block_figures figures = {0};
    struct sub_tracking_exact first, outer, inner, stop;
    block_figures_open_peak(&figures);
    if (block_figures_open_block_peaks(&figures, NULL) != GPUT_OK)
        SKIP("the peak of memory cannot be reset here");
    int64_t first_ns = start_call(&figures, &first);
    use_and_free(256 * MIB);
    stop = stop_call(&figures, first_ns);
    assert_about(stop.block_peak_rss_bytes - first.block_peak_rss_bytes, 256 * MIB);

    int64_t outer_ns = start_call(&figures, &outer);
    use_and_free(128 * MIB);
    int64_t inner_ns = start_call(&figures, &inner);
    use_and_free(64 * MIB);
    stop = stop_call(&figures, inner_ns);
    assert_about(stop.block_peak_rss_bytes - inner.block_peak_rss_bytes, 64 * MIB);
    stop = stop_call(&figures, outer_ns);
    assert_about(stop.block_peak_rss_bytes - outer.block_peak_rss_bytes, 128 * MIB);
    assert_about(stop.peak_rss_bytes - first.block_peak_rss_bytes, 256 * MIB);

    assert_int_equal(stop_call(&figures, 0).block_peak_rss_bytes, SUB_TRACKING_UNKNOWN);

    FILE *taken = tmpfile(); /* by the program, which has closed what it does not know */
    assert_true(dup2(fileno(taken), figures.peaks->process.clear.fd) >= 0);
    assert_true(dup2(fileno(taken), figures.peaks->process.status.fd) >= 0);
    first_ns = start_call(&figures, &first);
    stop = stop_call(&figures, first_ns);
    assert_about(stop.block_peak_rss_bytes, first.block_peak_rss_bytes);
    fseek(taken, 0, SEEK_END);
    assert_int_equal(ftell(taken), 0);
    fclose(taken);
    block_figures_close(&figures);
}

/* As of two files, or of a program and a collector in it, which have this code each. */
TEST(all_that_read_the_peak_have_the_right_one)
{
    struct block_figures outer = {0}, inner = {0};
    struct sub_tracking_exact first, second, stop;
    if (block_figures_open_block_peaks(&outer, NULL) != GPUT_OK)
        SKIP("the peak of memory cannot be reset here");
    assert_int_equal(block_figures_open_block_peaks(&inner, NULL), GPUT_OK);
    int64_t outer_ns = start_call(&outer, &first);
    int64_t inner_ns = start_call(&inner, &second);
    use_and_free(256 * MIB);
    stop = stop_call(&inner, inner_ns);
    assert_about(stop.block_peak_rss_bytes - second.block_peak_rss_bytes, 256 * MIB);
    inner_ns = start_call(&inner, &second);
    use_and_free(64 * MIB);
    stop = stop_call(&inner, inner_ns);
    assert_about(stop.block_peak_rss_bytes - second.block_peak_rss_bytes, 64 * MIB);
    block_figures_close(&inner);
    stop = stop_call(&outer, outer_ns);
    assert_about(stop.block_peak_rss_bytes - first.block_peak_rss_bytes, 256 * MIB);
    assert_about(stop.peak_rss_bytes - first.block_peak_rss_bytes, 256 * MIB);

    outer_ns = start_call(&outer, &first);
    pid_t child = fork();
    if (child == 0) { /* it has peaks of its own, and leaves those of its parent */
        struct block_figures own = {0};
        block_figures_close(&outer);
        assert_int_equal(block_figures_open_block_peaks(&own, NULL), GPUT_OK);
        inner_ns = start_call(&own, &second);
        use_and_free(128 * MIB);
        stop = stop_call(&own, inner_ns);
        assert_about(stop.block_peak_rss_bytes - second.block_peak_rss_bytes, 128 * MIB);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    stop = stop_call(&outer, outer_ns);
    assert_about(stop.block_peak_rss_bytes, first.block_peak_rss_bytes);
    block_figures_close(&outer);
}

TEST(a_peak_that_another_one_resets_is_that_of_the_process)
{
    pid_t child = fork(); /* without the peaks of other tests */
    if (child == 0) {
        struct block_figures plain = {0}, resets = {0};
        struct sub_tracking_exact first, other, stop;
        block_figures_open_peak(&plain);
        start_call(&plain, &first);
        if (block_figures_open_block_peaks(&resets, NULL) != GPUT_OK)
            _exit(0);
        use_and_free(128 * MIB);
        start_call(&resets, &other);
        stop = stop_call(&plain, 0);
        assert_about(stop.peak_rss_bytes - first.peak_rss_bytes, 128 * MIB);
        assert_int_equal(stop.block_peak_rss_bytes, SUB_TRACKING_UNKNOWN);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void *open_peaks(void *figures)
{
    struct gput_error error;
    return block_figures_open_block_peaks(figures, &error) == GPUT_OK ? figures : NULL;
}

TEST(those_that_begin_at_once_read_one_page)
{
    enum { N = 8 };
    struct block_figures figures[N] = {0};
    pthread_t threads[N];
    void *opened[N];
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_peaks, &figures[i]), 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], &opened[i]);
    for (int i = 0; i < N; i++) {
        if (!opened[i])
            SKIP("the peak of memory cannot be reset here");
        assert_ptr_equal(figures[i].peaks->process.page, figures[0].peaks->process.page);
        assert_true(
            i == 0 || figures[i].peaks->process.reader != figures[i - 1].peaks->process.reader);
    }
    for (int i = 0; i < N; i++)
        block_figures_close(&figures[i]);
}

RUN_TESTS(make_packages, remove_packages)
