#include "model/measurement_list.h"
#include "session/sessions.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

TEST(each_ram_mode_parses_from_its_name)
{
    static const char *const words[] = {
        [GPUT_RAM_ADAPTIVE] = "adaptive", [GPUT_RAM_EXACT] = "exact", [GPUT_RAM_TOTALS] = "totals"};
    struct gput_session_options options = gput_session_options_default();
    struct gput_error error;
    for (int i = GPUT_RAM_ADAPTIVE; i <= GPUT_RAM_TOTALS; i++) {
        assert_int_equal(gput_session_option_set(&options, "ram_mode", words[i], &error), GPUT_OK);
        assert_int_equal(options.ram_mode, i);
    }
    assert_int_equal(
        gput_session_option_set(&options, "ram_mode", "much", &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message,
        "\"much\" is not a valid RAM mode. Valid values are adaptive, exact, totals");
    assert_int_equal(options.ram_mode, GPUT_RAM_TOTALS);
}

struct refused {
    char names[128];
    bool is_accepted;
};

static bool do_without(void *user, const char *option, const struct gput_error *reason)
{
    struct refused *refused = user;
    assert_true(reason->code != GPUT_OK && reason->message[0]);
    strcat(strcat(refused->names, option), " ");
    return refused->is_accepted;
}

IN_FOLDER(a_session_does_without_what_cannot_be_opened_if_it_may)
{
    struct refused refused = {.is_accepted = true};
    struct gput_session_options options = gput_session_options_default();
    struct gput_session *session;
    struct gput_error error;
    options.tracking_file = "/no/such/folder/samples.csv";
    options.textfile_folder = "/no/such/folder";
    options.labels = "no label";
    options.resource_usage_file = "";
    options.user = &refused;
    options.do_without = do_without;
    assert_int_equal(gput_session_create(&options, &session, &error), GPUT_OK);
    assert_string_equal(refused.names, "labels tracking_file textfile_folder ");
    gput_session_destroy(session);

    refused = (struct refused){.is_accepted = false};
    assert_int_not_equal(gput_session_create(&options, &session, &error), GPUT_OK);
    assert_null(session);
    assert_string_equal(refused.names, "labels ");
}

IN_FOLDER(a_session_is_used_once_and_in_order)
{
    struct gput_session *session = create_every(0.1);
    struct gput_results *results;
    struct gput_error error;
    bool ended;
    int status;
    assert_int_equal(gput_session_pid(session), 0);
    assert_int_equal(gput_session_stop(session, &error), GPUT_ERROR_STATE);
    assert_string_equal(error.message, "Tracking has not started.");
    assert_int_equal(gput_session_results(session, &results, &error), GPUT_ERROR_STATE);
    assert_null(results);
    assert_int_equal(gput_session_wait(session, 0, &ended, &status, &error), GPUT_ERROR_STATE);

    assert_int_equal(gput_session_track_self(session, &error), GPUT_OK);
    assert_int_equal(gput_session_pid(session), getpid());
    assert_int_equal(gput_session_track_self(session, &error), GPUT_ERROR_STATE);
    assert_int_equal(gput_session_stop(session, &error), GPUT_OK);
    assert_int_equal(gput_session_stop(session, &error), GPUT_ERROR_STATE);
    assert_string_equal(error.message, "Tracking has already been stopped.");
    assert_int_equal(gput_session_track_self(session, &error), GPUT_ERROR_STATE);
    assert_int_equal(gput_session_results(session, &results, &error), GPUT_OK);
    gput_session_destroy(session);
    assert_true(gput_results_seconds(results) >= 0); /* they outlive it */
    gput_results_destroy(results);
    gput_results_destroy(NULL);
    assert_int_equal(files_in_folder(), 0);
}

IN_FOLDER(options_that_make_no_sense_are_refused)
{
    static const double sleeps[] = {0, -1, 0.0009, 1e9, NAN, INFINITY};
    for (size_t i = 0; i < sizeof sleeps / sizeof sleeps[0]; i++) {
        struct gput_session_options options = options_every(sleeps[i]);
        struct gput_session *session = (struct gput_session *)1;
        struct gput_error error;
        assert_int_equal(gput_session_create(&options, &session, &error), GPUT_ERROR_INVALID);
        assert_null(session);
    }
    struct gput_session_options options = options_every(1);
    options.tracking_file = "x.pdf";
    struct gput_session *session;
    struct gput_error error;
    assert_int_equal(gput_session_create(&options, &session, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message,
        "Invalid file name: \"x.pdf\". Valid file extensions are \".csv\" and \".sqlite\".");
    gput_session_destroy(NULL);
}

IN_FOLDER(a_tracking_file_in_the_way_is_left_alone)
{
    struct gput_session_options options = options_every(1);
    struct gput_session *session;
    struct gput_error error;
    FILE *file = fopen(csv_path, "w");
    fputs("mine\n", file);
    fclose(file);
    options.tracking_file = csv_path;
    assert_int_equal(gput_session_create(&options, &session, &error), GPUT_ERROR_EXISTS);
    char line[16];
    file = fopen(csv_path, "r");
    assert_string_equal(fgets(line, sizeof line, file), "mine\n");
    fclose(file);
}

/* A fork's copy is never freed: it remains reachable for leak checkers. */
static struct gput_session *copy_in_fork;

IN_FOLDER(a_fork_cannot_harm_its_parents_session)
{
    struct gput_session_options options = options_every(0.005);
    options.tracking_file = csv_path;
    struct gput_session *session = create(&options);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            /* The sampling thread, which may have held the lock, does not exist here. */
            struct gput_results *results;
            copy_in_fork = session;
            alarm(LIVE_TIMEOUT_SECONDS);
            if (gput_session_results(session, &results, NULL) != GPUT_ERROR_STATE)
                _exit(1);
            if (gput_session_stop(session, NULL) != GPUT_ERROR_STATE)
                _exit(2);
            gput_session_destroy(session);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
    }
    uint64_t ticks = results_of(session).tracker.ticks;
    EVENTUALLY(results_of(session).tracker.ticks > ticks + 2) {}
    assert_int_equal(access(kept_path, F_OK), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    uint64_t rows = results_of(session).tracker.ticks - 1;
    gput_session_destroy(session);

    /* Three lines of static data and header, then a row a tick, each whole. */
    char line[4096];
    uint64_t lines = 0;
    FILE *file = fopen(csv_path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        size_t commas = 0;
        for (const char *at = line; *at; at++)
            commas += *at == ',';
        if (lines++ >= 2)
            assert_int_equal(commas, TRACKED_MEASUREMENTS);
    }
    fclose(file);
    assert_int_equal(lines, rows + 3);
}

IN_FOLDER(two_sessions_at_once_do_not_disturb_each_other)
{
    struct gput_session_options options = options_every(0.01);
    struct gput_session *one = create(&options);
    options.resource_usage_file = csv_path;
    struct gput_session *other = create(&options);
    assert_int_equal(gput_session_track_self(one, NULL), GPUT_OK);
    assert_int_equal(gput_session_track_self(other, NULL), GPUT_OK);
    nap(0.05);
    assert_int_equal(gput_session_stop(one, NULL), GPUT_OK);
    nap(0.05);
    assert_int_equal(gput_session_stop(other, NULL), GPUT_OK);
    assert_true(results_of(one).elapsed_seconds >= 0.05);
    assert_true(results_of(other).elapsed_seconds >= 0.1);
    gput_session_destroy(one);
    gput_session_destroy(other);
    assert_int_equal(files_in_folder(), 0);
}

RUN_TESTS(NULL, NULL)
