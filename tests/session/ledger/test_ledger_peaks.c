#include "session/ledger/ledger.h"
#include "session/sessions.h"

#include <sys/wait.h>

IN_FOLDER(a_peak_is_never_below_the_highest_sample)
{
    struct actors actors;
    actors_start(&actors, "ready await 3 alloc 100 free");
    actors_await(&actors, 1);
    struct gput_session *session = create_every(30);
    assert_int_equal(gput_session_track_pid(session, actors.pid, NULL), GPUT_OK);
    actors_let_go(&actors);
    wait_for_end(session);
    waitpid(actors.pid, NULL, 0);
    actors.pid = 0;
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    /* No scan saw the 100 MB. With exit records, both peaks have them. */
    assert_true(results.peaks.main.bytes >= results.max[GPUT_MAIN_RAM]);
    gput_session_destroy(session);
    actors_end(&actors);
}

/* The kernel keeps a peak in counters that lag: ru_maxrss can be below what statm gave before. */
TEST(ru_maxrss_that_lags_is_no_upper_bound)
{
    struct polled polled = {.stat.pid = 1};
    struct process main = {.is_main = true, .polled = &polled, .peak.rss_bytes = 1472 << 10};
    struct process *tracked[] = {&main};
    struct process_tree tree = {.processes = tracked, .count = 1};
    struct snapshot snapshot = {.tree = &tree};
    struct ledger ledger;
    ledger_init(&ledger);
    ledger.snapshot = &snapshot;
    ledger.log.options.tree = &tree;
    ledger.log.main = &main;
    ledger.collected.has_main_usage = true;
    struct gput_peak peak;
    ledger.collected.main_usage.ru_maxrss = 1316;
    ledger_fill_main_peak(&ledger, &peak);
    assert_true(peak.bytes == 1472 << 10 && peak.at_most_bytes == 1472 << 10);
    ledger.collected.main_usage.ru_maxrss = 2048;
    ledger_fill_main_peak(&ledger, &peak);
    assert_true(peak.bytes == 2048 << 10 && peak.at_most_bytes == 2048 << 10);
    ledger.log.main = NULL;
    ledger_finish(&ledger);
}

RUN_TESTS(NULL, NULL)
