/* Tracking files of sessions. */
#include "files/tracking/tracking_reader.h"
#include "session/sessions.h"

#include <stdatomic.h>
#include <sys/syscall.h>

/* The library under test gets the time here. */
static atomic_int suspended_seconds;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int code = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME)
        time->tv_sec += atomic_load(&suspended_seconds);
    return code;
}

static struct tracking_samples read_samples(void)
{
    struct tracking_reader *reader;
    struct tracking_samples samples;
    assert_int_equal(tracking_reader_open(csv_path, &reader, NULL), GPUT_OK);
    assert_int_equal(tracking_samples_read(reader, &samples, NULL), GPUT_OK);
    tracking_reader_close(reader);
    return samples;
}

/* A program that computes, on a machine that is suspended meanwhile. */
static void assert_no_cpu_time_of(int seconds)
{
    struct gput_session_options options = options_every(0.02);
    options.tracking_file = csv_path;
    struct gput_session *session = create(&options);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    spin(0.2);
    atomic_store(&suspended_seconds, seconds);
    spin(0.2);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    double used = results_of(session).accounting.sampled_cpu_seconds;
    gput_session_destroy(session);
    atomic_store(&suspended_seconds, 0);
    struct tracking_samples samples = read_samples();
    assert_true(samples.last - samples.first > seconds);
    assert_true(samples.jump == 0);
    assert_int_equal(samples.cpu_count, samples.count - 1);
    if (!(samples.cpu_seconds > 0 && samples.cpu_seconds < 1.1 * used))
        fail_msg("%g s of %g s", samples.cpu_seconds, used);
}

TEST_WITH(a_suspended_machine_uses_no_cpu_time, enter_folder, leave_folder)
{
    assert_no_cpu_time_of(600);
}

TEST_WITH(how_long_a_session_took_is_known_however_long_a_machine_is_suspended, enter_folder,
    leave_folder)
{
    assert_no_cpu_time_of(100000);
}

RUN_TESTS(NULL, NULL)
