/*
 * What a session costs besides its samples: the start of a command, memory over many samples, how
 * near the asked rate comes, and a row of a tracking file.
 */
#include "bench.h"

#include "base/clock.h"
#include "files/tracking/tracking_file.h"
#include "machine/os/proc_stat.h"
#include "session/sampler/sampler.h"

#include <gputracker/gputracker.h>

#include <math.h>
#include <spawn.h>

extern char **environ;

/* ---- start-up ---- */

static double run_once(char *const argv[])
{
    pid_t pid;
    int status;
    double begin = bench_wall();
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0)
        return NAN;
    waitpid(pid, &status, 0);
    return status == 0 ? (bench_wall() - begin) * 1e3 : NAN;
}

static void measure_start(void)
{
    char command[4096];
    snprintf(command, sizeof command, "%s", bench_program("gpu-tracker"));
    const char *const tracked[] = {
        command, "run", "--disable-logs", "-o", "/dev/null", "--", "/bin/true", NULL};
    const char *const alone[] = {"/bin/true", NULL};
    enum { ROUNDS = 31 };
    double added[ROUNDS], plain[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        plain[i] = run_once((char *const *)alone);
        added[i] = run_once((char *const *)tracked) - plain[i];
    }
    bench_figure("wall time added to `true`", "ms", bench_median(added, ROUNDS), "<= 5");
}

/* ---- memory ---- */

static double rss_megabytes(void)
{
    struct proc_statm statm;
    if (proc_statm_read("/proc", getpid(), &statm, NULL) != GPUT_OK)
        return NAN;
    return (double)statm.resident_pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static struct tracking_file *create_file(const char *path)
{
    struct gput_static_data data = {.ram_unit = GPUT_RAM_UNIT_GIGABYTES, .system_core_count = 2};
    struct tracking_file *file;
    struct gput_error error;
    if (tracking_file_create(path, &data, true, &file, &error) != GPUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    return file;
}

static void measure_memory(void)
{
    const char *path = "/dev/shm/gput-bench.csv";
    struct bench_tree tree = bench_tree_start(10, true);
    struct system_meter system;
    struct sampler sampler;
    system_meter_init(&system, "/proc", 2, clock_monotonic_ns());
    struct sampler_options options = {
        .tree = {.procfs_root = "/proc", .main = tree.pid, .main_is_old = true, .kept_files = 64},
        .system_core_count = 2,
        .n_expected_cores = 2,
        .start_ns = clock_monotonic_ns(),
        .interval_ns = 1000000};
    if (sampler_init(&sampler, &options, &system, NULL) != GPUT_OK)
        exit(1);
    struct tracking_file *file = create_file(path);
    double early = 0;
    int samples = bench_is_full() ? 100000 : 30000;
    for (int i = 0; i < samples; i++) {
        sampler_take_sample(&sampler, &(struct sampler_tick){0});
        tracking_file_write_row(file, &sampler.snapshot.sample, sampler.snapshot.taken_ns, NULL);
        if (i == samples / 10)
            early = rss_megabytes();
    }
    char what[64];
    snprintf(what, sizeof what, "RSS after %d samples and rows", samples);
    bench_against(what, "MB", rss_megabytes(), "after a tenth of them", early, "<= 6, flat");
    tracking_file_finish(file, NULL, NULL);
    unlink(path);
    sampler_finish(&sampler);
    system_meter_finish(&system);
    bench_tree_end(&tree);
}

/* ---- rate ---- */

static void measure_rate(double hertz, double seconds)
{
    struct gput_session_options options = gput_session_options_default();
    struct gput_session *session;
    options.sleep_time_seconds = 1 / hertz;
    options.resource_usage_file = "/dev/shm/gput-bench-kept";
    if (gput_session_create(&options, &session, NULL) != GPUT_OK ||
        gput_session_track_self(session, NULL) != GPUT_OK)
        exit(1);
    bench_sleep(seconds + 0.5 / hertz);
    gput_session_stop(session, NULL);
    double ticks = bench_session_figure(session, "tracker.ticks");
    double late = bench_session_figure(session, "tracker.late_ticks");
    gput_session_destroy(session);
    /* The first and the last sample are next to the ticks, and so is the early one. */
    double extra = hertz < 20 ? 3 : 2;
    char what[64];
    snprintf(what, sizeof what, "rate at %g Hz (%.0f of %.0f late)", hertz, late, ticks);
    bench_against(what, "Hz", (ticks - extra) / seconds, "asked", hertz, "1");
}

/* ---- rows ---- */

static void measure_rows(const char *what, const char *path, int rows, const char *target)
{
    struct gput_sample sample = {.time_ns = clock_realtime_ns()};
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        sample.values[i] = 1234567.0 * (i + 1);
    for (int i = GPUT_CPU_SYSTEM_SUM; i <= GPUT_CPU_COMBINED_HARDWARE; i++)
        sample.values[i] = 12.3456 * i;
    struct tracking_file *file = create_file(path);
    int64_t now_ns = clock_monotonic_ns();
    double before = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < rows; i++) {
        sample.time_ns += 10000000;
        now_ns += 10000000;
        sample.values[GPUT_MAIN_RAM] += 4096;
        sample.values[GPUT_CPU_MAIN_SUM] = (double)(i * 7919 % 100000) / 1000;
        tracking_file_write_row(file, &sample, now_ns, NULL);
    }
    tracking_file_finish(file, NULL, NULL);
    double used = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - before;
    unlink(path);
    bench_figure(what, "us CPU", used / rows * 1e6, target);
}

int main(void)
{
    measure_start();
    measure_memory();
    measure_rate(1, bench_is_full() ? 10 : 3);
    measure_rate(10, 2);
    measure_rate(100, 2);
    measure_rate(1000, 2);
    measure_rows("a row of CSV, at once on disk", "/dev/shm/gput-bench.csv", 100000, "-");
    measure_rows(
        "a row of SQLite at 100 Hz, batches of 1 s", "/dev/shm/gput-bench.sqlite", 20000, "-");
    return 0;
}
