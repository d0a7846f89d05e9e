#include "session/sinks/sinks.h"

#include "session/sessions.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* Sinks for the options, without a session. */
struct stage {
    struct session_settings settings;
    struct latest latest;
    struct sinks sinks;
};

static int open_stage(
    struct stage *stage, const struct gput_session_options *options, struct gput_error *error)
{
    *stage = (struct stage){0};
    latest_init(&stage->latest);
    assert_int_equal(session_settings_init(&stage->settings, options, error), GPUT_OK);
    assert_int_equal(session_settings_open_gpus(&stage->settings, error), GPUT_OK);
    return sinks_open(&stage->sinks, &stage->settings, &stage->latest, error);
}

static void close_stage(struct stage *stage, struct sink_end end)
{
    sinks_close(&stage->sinks, &end);
    sinks_finish(&stage->sinks);
    latest_finish(&stage->latest);
    session_settings_finish(&stage->settings);
}

IN_FOLDER(only_sinks_that_are_asked_for_are_opened)
{
    struct gput_session_options options = options_every(1);
    struct gput_error error;
    struct stage stage;
    assert_int_equal(open_stage(&stage, &options, &error), GPUT_OK);
    assert_int_equal(stage.sinks.count, 1);
    assert_ptr_equal(stage.sinks.sinks[0]->class, &sink_results);
    close_stage(&stage, (struct sink_end){.is_unused = true});
    assert_int_equal(files_in_folder(), 0);
}

IN_FOLDER(a_sink_that_nothing_asks_for_is_always_opened)
{
    const struct sink_class plain = {.name = "plain", .size = sizeof(struct sink)};
    const struct sink_class named = {.name = "named",
        .size = sizeof(struct sink),
        .option = offsetof(struct gput_session_options, tracking_file)};
    struct gput_session_options options = options_every(1);
    assert_true(sink_is_wanted(&plain, &options));
    assert_false(sink_is_wanted(&named, &options));
    options.tracking_file = csv_path;
    assert_true(sink_is_wanted(&named, &options));
}

IN_FOLDER(what_was_opened_before_an_error_leaves_nothing)
{
    struct gput_session_options options = options_every(1);
    struct gput_error error;
    struct stage stage;
    char power[160];
    snprintf(power, sizeof power, "%s/power", folder);
    options.energy_folder = power;
    options.tracking_file = "/nonexistent/x.csv";
    assert_int_equal(open_stage(&stage, &options, &error), GPUT_ERROR_NOT_FOUND);
    close_stage(&stage, (struct sink_end){.is_unused = true});
    assert_int_equal(files_in_folder(), 0);
}

IN_FOLDER(results_stay_in_their_file_when_a_session_was_abandoned)
{
    for (int is_abandoned = 0; is_abandoned < 2; is_abandoned++) {
        struct gput_session_options options = options_every(1);
        struct gput_error error;
        struct stage stage;
        struct gput_results results = {0};
        assert_int_equal(open_stage(&stage, &options, &error), GPUT_OK);
        assert_int_equal(sinks_begin(&stage.sinks, &error), GPUT_OK);
        sinks_results(&stage.sinks, &results);
        sinks_results(&stage.sinks, &results);
        assert_int_equal(access(kept_path, F_OK), 0);
        close_stage(&stage, (struct sink_end){.is_abandoned = is_abandoned});
        assert_int_equal(access(kept_path, F_OK) == 0, is_abandoned);
    }
}

/* In a process that SIGXFSZ would end. Returns its exit status. */
static int track_with_small_files(void)
{
    struct rlimit limit = {.rlim_cur = 3000, .rlim_max = RLIM_INFINITY};
    struct gput_session_options options = options_every(0.01);
    char power[160];
    snprintf(power, sizeof power, "%s/power", folder);
    options.tracking_file = csv_path;
    options.energy_folder = power;
    signal(SIGXFSZ, SIG_DFL);
    setrlimit(RLIMIT_FSIZE, &limit);
    struct gput_session *session;
    if (gput_session_create(&options, &session, NULL) != GPUT_OK ||
        gput_session_track_self(session, NULL) != GPUT_OK)
        return 1;
    bool has_lost = false;
    for (time_t end = time(NULL) + LIVE_TIMEOUT_SECONDS; !has_lost && time(NULL) < end; nap(0.01)) {
        struct gput_results *results;
        if (gput_session_results(session, &results, NULL) != GPUT_OK)
            return 1;
        has_lost = gput_results_number(results, "tracker.rows_lost") > 0;
        gput_results_destroy(results);
    }
    gput_session_stop(session, NULL);
    gput_session_destroy(session);
    return has_lost ? 0 : 2;
}

IN_FOLDER(a_limit_of_file_sizes_ends_no_program)
{
    int status;
    char command[200];
    pid_t pid = fork();
    if (pid == 0)
        _exit(track_with_small_files());
    waitpid(pid, &status, 0);
    snprintf(command, sizeof command, "rm -rf '%s/power'", folder);
    assert_int_equal(system(command), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

RUN_TESTS(NULL, NULL)
