/*
 * Sessions for tests, each in its own folder.
 */
#pragma once

#include "machine/process/live.h"
#include "model/results.h"
#include "results.h"
#include "testing.h"

#include <gputracker/gputracker.h>

#include <dirent.h>
#include <math.h>
#include <sys/resource.h>

/* Each test has its own folder, so that it sees which files a session leaves. */
static char folder[64];
static char kept_path[128], csv_path[128], csv_session_path[160];

static inline int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gput-session-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(kept_path, sizeof kept_path, "%s/kept", folder);
    snprintf(csv_path, sizeof csv_path, "%s/samples.csv", folder);
    snprintf(csv_session_path, sizeof csv_session_path, "%s.session.json", csv_path);
    return 0;
}

static inline size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static inline int leave_folder(void **state)
{
    (void)state;
    unlink(kept_path);
    unlink(csv_path);
    unlink(csv_session_path);
    return rmdir(folder);
}

static inline struct gput_session_options options_every(double seconds)
{
    struct gput_session_options options = gput_session_options_default();
    options.sleep_time_seconds = seconds;
    options.resource_usage_file = kept_path;
    return options;
}

static inline struct gput_session *create(const struct gput_session_options *options)
{
    struct gput_session *session;
    struct gput_error error;
    if (gput_session_create(options, &session, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return session;
}

static inline struct gput_session *create_every(double seconds)
{
    struct gput_session_options options = options_every(seconds);
    return create(&options);
}

/* For commands that leave orphans: nothing else is started meanwhile. */
static inline struct gput_session *create_alone(double seconds)
{
    struct gput_session_options options = options_every(seconds);
    options.no_other_children = true;
    return create(&options);
}

/* No figure had to be corrected. */
static inline void assert_agrees(const struct gput_results *results)
{
    assert_int_equal(results->tracker.contradictions, 0);
    const struct gput_peak *peaks[] = {
        &results->peaks.main, &results->peaks.descendants, &results->peaks.combined};
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        if (strstr(peaks[i]->source, "contradicted"))
            fail_msg("peak %zu: %s", i, peaks[i]->source);
    }
    for (uint32_t i = 0; i < results->n_sources; i++) {
        if (strstr(results->sources[i].reason, "contradicted"))
            fail_msg("%s: %s", results->sources[i].name, results->sources[i].reason);
    }
}

static inline struct gput_results results_of(struct gput_session *session)
{
    struct gput_results *results;
    assert_int_equal(gput_session_results(session, &results, NULL), GPUT_OK);
    assert_agrees(results);
    return results_by_value(results);
}

static inline void launch_consumer(struct gput_session *session, const char *words)
{
    char text[512];
    char *argv[64];
    struct gput_error error;
    snprintf(text, sizeof text, "%s", words);
    consumer_words(text, argv, 64);
    if (gput_session_launch(session, argv, &error) != GPUT_OK)
        fail_msg("%s", error.message);
}

static inline int wait_for_end(struct gput_session *session)
{
    bool ended = false;
    int status;
    assert_int_equal(gput_session_wait(session, 60000, &ended, &status, NULL), GPUT_OK);
    assert_true(ended);
    return status;
}

static inline double cpu_seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Uses CPU time of the calling thread. */
static inline void spin(double seconds)
{
    double start = -1, now;
    volatile unsigned sink = 0;
    do {
        for (int i = 0; i < 10000; i++)
            sink += (unsigned)i;
        now = cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
        if (start < 0)
            start = now;
    } while (now - start < seconds);
}

/* Opens a pipe on which consumers wait by "await N", N being what is returned, until its other end,
 * `*writing`, is closed. They do not inherit that. */
static inline int open_gate(int *writing)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    *writing = ends[1];
    return ends[0];
}

/* Of the children of this process that were waited for, and of those that they waited for. */
static inline double cpu_seconds_of_children(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static inline void nap(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&time, NULL);
}

/* As of the last half a second. */
static inline struct gput_results snapshot_after(struct gput_session *session, double seconds)
{
    struct gput_results *made, results;
    do {
        assert_int_equal(gput_session_results_so_far(session, &made, NULL), GPUT_OK);
        results = results_by_value(made);
        nap(0.01);
    } while (results.elapsed_seconds < seconds);
    assert_agrees(&results);
    return results;
}

#define IN_FOLDER(test) TEST_WITH(test, enter_folder, leave_folder)
