/* Recordings of power of a session. */
#include "session/sessions.h"

#include <gputracker/energy_recording.h>

#include <stdatomic.h>
#include <sys/syscall.h>

#define STEP_SECONDS 3600

/* How far clocks are ahead; the library under test gets the time here. */
static atomic_int realtime_step_seconds;
static atomic_int suspended_seconds;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int code = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME)
        time->tv_sec += atomic_load(&realtime_step_seconds);
    if (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME)
        time->tv_sec += atomic_load(&suspended_seconds);
    return code;
}

static double monotonic_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static atomic_int n_samples;

static void count_sample(void *user, const struct gput_sample *sample)
{
    (void)user;
    (void)sample;
    atomic_fetch_add(&n_samples, 1);
}

static void wait_for_samples(int more)
{
    int wanted = atomic_load(&n_samples) + more;
    while (atomic_load(&n_samples) < wanted)
        usleep(1000);
}

static char recording_folder[128];

static struct gput_session_options recording_options(void)
{
    struct gput_session_options options = options_every(0.01);
    snprintf(recording_folder, sizeof recording_folder, "%s/rec", folder);
    options.energy_folder = recording_folder;
    options.energy_period_seconds = 0.1;
    options.sysfs_root = "/nonexistent";
    options.nvml_path = "/nonexistent";
    options.sample = count_sample;
    return options;
}

/* The folder is left empty. */
static struct gput_energy_recording *take_recording(void)
{
    static const char *const names[] = {"power_metrics.json", "metadata.json"};
    struct gput_energy_recording *recording;
    assert_int_equal(gput_energy_recording_load(recording_folder, &recording, NULL), GPUT_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[192];
        snprintf(path, sizeof path, "%s/%s", recording_folder, names[i]);
        unlink(path);
    }
    rmdir(recording_folder);
    return recording;
}

static struct gput_energy_metric metric_of(
    const struct gput_energy_recording *recording, const char *name)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    assert_int_equal(gput_energy_recording_metric(recording, name, NULL, &metric, NULL), GPUT_OK);
    return metric;
}

/* Records with a clock set by STEP_SECONDS at half time; returns the recording and how long it
 * took. */
static struct gput_energy_recording *record_while_set(atomic_int *clock, int step, double *seconds)
{
    struct gput_session_options options = recording_options();
    struct gput_session *session = create(&options);
    double begin = monotonic_seconds();
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    wait_for_samples(20);
    atomic_store(clock, step);
    wait_for_samples(20);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    *seconds = monotonic_seconds() - begin;
    gput_session_destroy(session);
    atomic_store(clock, 0);
    return take_recording();
}

static double window_seconds(struct gput_energy_recording *recording)
{
    struct gput_energy_window window = gput_energy_recording_window(recording, NULL, NULL);
    return (double)(window.end_us - window.start_us) / 1e6;
}

TEST_WITH(dates_go_on_while_the_system_s_time_is_set, enter_folder, leave_folder)
{
    static const int steps[] = {STEP_SECONDS, -STEP_SECONDS};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        double seconds;
        struct gput_energy_recording *recording =
            record_while_set(&realtime_step_seconds, steps[i], &seconds);
        double recorded = gput_energy_recording_seconds(recording, NULL);
        assert_true(recorded > 0 && recorded <= seconds);
        assert_int_equal(metric_of(recording, "total_mem_use").segments, 1);
        assert_true(window_seconds(recording) <= seconds);
        gput_energy_recording_destroy(recording);
    }
}

TEST_WITH(a_suspended_machine_adds_no_time, enter_folder, leave_folder)
{
    double seconds;
    struct gput_energy_recording *recording =
        record_while_set(&suspended_seconds, STEP_SECONDS, &seconds);
    double recorded = gput_energy_recording_seconds(recording, NULL);
    assert_true(recorded > 0 && recorded <= seconds);
    assert_int_equal(metric_of(recording, "total_mem_use").segments, 2);
    double days = window_seconds(recording);
    assert_true(days > STEP_SECONDS - seconds && days < STEP_SECONDS + seconds);
    gput_energy_recording_destroy(recording);
}

TEST_WITH(the_integral_of_cpu_time_is_what_was_used, enter_folder, leave_folder)
{
    struct gput_session_options options = recording_options();
    spin(0.2); /* what was used before does not count */
    struct gput_session *session = create(&options);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    spin(0.3);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    gput_session_destroy(session);
    struct gput_energy_recording *recording = take_recording();
    double used = results.accounting.sampled_cpu_seconds;
    double total = metric_of(recording, "absolute_cpu_time_per_pid").total;
    gput_energy_recording_destroy(recording);
    if (!(used > 0.25 && fabs(total - used) < 0.1 * used))
        fail_msg("%g s of %g s", total, used);
}

RUN_TESTS(NULL, NULL)
