/*
 * Recorded runs, fed into the accounting again: scans of procfs, events, exit records, lost events
 * and what wait4 gave, recorded by tests/machine/process/replay/record.c. Every figure is compared
 * with the .expected file next to the recording, so that no change of the accounting goes
 * unnoticed; what the kernel itself counted is in the recording too and is checked without it.
 *
 * GPUT_REPLAY_UPDATE=1 writes the .expected files anew: read their difference before it is kept.
 */
#include "fake_procfs.h"
#include "machine/process/process_figures.h"
#include "machine/process/process_log.h"
#include "machine/process/process_tree.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>

/* What the kernel announces: every recording is replayed with all of it, a part, and none. */
struct sources {
    const char *name;
    bool has_events, has_taskstats;
};

static const struct sources all_sources[] = {
    {"events and exit records", true, true},
    {"events", true, false},
    {"scans alone", false, false},
};

struct replay {
    const struct sources *sources;
    struct fake_procfs procfs;
    struct process_log log;
    struct process_tree tree;
    bool has_tree;
    struct cpu_totals totals;
    pid_t main;
    int main_is_old;
    int64_t ns_per_tick, now_ns, orphans_ns;
    int64_t suspended_ns; /* by which the boot clock, of recordings, is ahead here */
    int64_t wait4_ns;     /* -1: not recorded */
    struct taskstats_exit
        *exits; /* of the batch: as in a session they are added after its events */
    size_t n_exits;
    int64_t exit_records_ns; /* CPU time of all exit records, also those that are not replayed */
    unsigned long peak_kilobytes;
};

static void write_file(struct replay *replay, char *line)
{
    char *text = strchr(line, ' ');
    assert_non_null(text);
    *text++ = '\0';
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool is_escape = *from == '\\' && from[1];
        from += is_escape;
        *to++ = is_escape && *from == 'n' ? '\n' : *from;
    }
    *to = '\0';
    fake_write(&replay->procfs, text, "%s", line);
}

static void parse_event(const struct replay *replay, const char *line)
{
    struct process_event event = {0};
    char kind[8];
    int is_thread, is_collected;
    assert_int_equal(sscanf(line, "%7s %d %d %d %d %d %" SCNd64, kind, &event.pid, &event.parent,
                         &event.status, &is_thread, &is_collected, &event.time_ns),
        7);
    event.time_ns -= replay->suspended_ns;
    event.kind = strcmp(kind, "fork") == 0   ? PROCESS_EVENT_FORK
                 : strcmp(kind, "exec") == 0 ? PROCESS_EVENT_EXEC
                                             : PROCESS_EVENT_EXIT;
    event.is_thread = is_thread;
    event.is_collected = is_collected;
    process_log_event((struct process_log *)&replay->log, &event);
}

static void parse_exit(struct replay *replay, const char *line)
{
    struct taskstats_exit exit = {0};
    int is_leader, is_last;
    assert_true(sscanf(line,
                    "%d %d %d %d %d %d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                    " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                    " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %15[^\n]",
                    &exit.thread, &exit.process, &exit.parent, &is_leader, &is_last, &exit.status,
                    &exit.elapsed_ns, &exit.process_elapsed_ns, &exit.cpu_ns, &exit.user_ns,
                    &exit.system_ns, &exit.counts.minor_faults, &exit.counts.major_faults,
                    &exit.counts.voluntary_switches, &exit.counts.involuntary_switches,
                    &exit.counts.read_call_bytes, &exit.counts.write_call_bytes,
                    &exit.counts.read_bytes, &exit.counts.write_bytes,
                    &exit.counts.cancelled_write_bytes, &exit.peak_rss_bytes, exit.name) >= 21);
    exit.is_leader = is_leader;
    exit.is_last = is_last;
    replay->exit_records_ns += (int64_t)exit.cpu_ns;
    replay->exits = realloc(replay->exits, (replay->n_exits + 1) * sizeof *replay->exits);
    assert_non_null(replay->exits);
    replay->exits[replay->n_exits++] = exit;
}

static void end_batch(struct replay *replay, bool lost)
{
    for (size_t i = 0; i < replay->n_exits && replay->sources->has_taskstats; i++)
        process_log_exit(&replay->log, &replay->exits[i]);
    replay->n_exits = 0;
    if (replay->sources->has_events)
        process_log_end_batch(&replay->log, lost);
}

static void begin(struct replay *replay)
{
    struct process_tree_options tree = {.procfs_root = replay->procfs.root,
        .main = replay->main,
        .main_is_old = replay->main_is_old,
        .removed = process_log_remove,
        .user = &replay->log};
    assert_int_equal(process_tree_init(&replay->tree, &tree, NULL), GPUT_OK);
    replay->tree.view.ns_per_tick = replay->ns_per_tick;
    replay->has_tree = true;
}

static void scan(struct replay *replay)
{
    struct cpu_totals before = replay->totals;
    if (replay->has_tree)
        assert_int_equal(process_tree_scan(&replay->tree, false, replay->now_ns), GPUT_OK);
    else
        begin(replay);
    process_log_scan(&replay->log, replay->now_ns);
    process_log_adopt_orphans(&replay->log);
    cpu_totals_update(&replay->totals, &replay->tree, replay->orphans_ns, 0);
    assert_true(replay->totals.main_ns >= before.main_ns);
    assert_true(replay->totals.descendants_ns >= before.descendants_ns);
}

/* One line of a recording; `rest` is what follows its first word. */
static void replay_line(struct replay *replay, const char *word, char *rest)
{
    const struct sources *sources = replay->sources;
    if (strcmp(word, "main") == 0) {
        assert_int_equal(sscanf(rest, "%d %d", &replay->main, &replay->main_is_old), 2);
    } else if (strcmp(word, "ns_per_tick") == 0) {
        replay->ns_per_tick = atoll(rest);
        struct process_log_options options = {.tree = &replay->tree,
            .procfs_root = replay->procfs.root,
            .ns_per_tick = replay->ns_per_tick,
            .has_events = sources->has_events,
            .has_taskstats = sources->has_taskstats,
            .keeps_ended = true,
            .keeps_counts = true,
            .max_ended = 10000};
        process_log_init(&replay->log, &options);
    } else if (strcmp(word, "step") == 0) {
        replay->now_ns = atoll(rest) - replay->suspended_ns;
    } else if (strcmp(word, "file") == 0) {
        write_file(replay, rest);
    } else if (strcmp(word, "gone") == 0) {
        fake_end(&replay->procfs, atoi(rest));
    } else if (strcmp(word, "exit") == 0) {
        parse_exit(replay, rest);
    } else if (strcmp(word, "event") == 0) {
        if (sources->has_events)
            parse_event(replay, rest);
    } else if (strcmp(word, "batch") == 0 || strcmp(word, "lost") == 0) {
        end_batch(replay, strcmp(word, "lost") == 0);
    } else if (strcmp(word, "scan") == 0) {
        scan(replay);
    } else if (strcmp(word, "orphans") == 0) {
        replay->orphans_ns = atoll(rest);
    } else if (strcmp(word, "wait4") == 0) {
        assert_int_equal(
            sscanf(rest, "%*d %" SCNd64 " %*d %*d %lu", &replay->wait4_ns, &replay->peak_kilobytes),
            2);
    } else {
        assert_string_equal(word, "replay");
    }
}

static void write_counts(struct str *text, const struct task_counts *counts)
{
    str_printf(text,
        " faults %" PRIu64 " %" PRIu64 " switches %" PRIu64 " %" PRIu64 " bytes %" PRIu64
        " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "%s\n",
        counts->minor_faults, counts->major_faults, counts->voluntary_switches,
        counts->involuntary_switches, counts->read_call_bytes, counts->write_call_bytes,
        counts->read_bytes, counts->write_bytes, counts->cancelled_write_bytes,
        counts->lacks_io ? " lacks_io" : "");
}

static void write_record(struct str *text, const struct process *process)
{
    static const char *const peaks[] = {"unknown", "sampled", "kept", "final"};
    struct task_counts counts = process_counts(process);
    str_printf(text,
        "process %d parent %d %s\n  cpu_ns %" PRId64 " peak_bytes %" PRIu64 " %s%s%s%s",
        process->pid, process->parent_pid, process->program.name[0] ? process->program.name : "-",
        process->cpu_ns, process->peak.rss_bytes, peaks[process->peak.trust],
        process_has_ended(process) ? " ended" : "",
        process_has_last_record(process) ? " final" : "", process_is_old(process) ? " old" : "");
    if (process->end.has_status)
        str_printf(text, " status %d", process->end.status);
    str_append_char(text, '\n');
    str_append(text, " ");
    write_counts(text, &counts);
}

/* Every figure that sessions take from here. */
static void write_figures(struct replay *replay, struct str *text)
{
    const struct process_log *log = &replay->log;
    struct process_peaks peaks = process_log_descendants(log);
    struct task_counts counts = process_log_counts(log);
    double main_bytes = log->main ? (double)log->main->peak.rss_bytes : 0;
    double at_most = process_log_peak_upper_bound(log, main_bytes, 1e9);
    int64_t cpu_ns = -1;
    size_t count;
    bool has_cpu = process_log_cpu_ns(log, &cpu_ns);
    str_printf(text, "== %s\n", replay->sources->name);
    str_printf(text, "seen %" PRIu64 " ended %" PRIu64 " living %zu has_all %d auto_reaped %d\n",
        log->seen, log->ended_total, process_log_count(log), process_log_has_all(log),
        process_log_has_auto_reaped(log));
    str_printf(text, "totals main_ns %" PRId64 " descendants_ns %" PRId64 "\n",
        replay->totals.main_ns, replay->totals.descendants_ns);
    str_printf(text, "exit_records cpu_ns %" PRId64 "%s\n", cpu_ns, has_cpu ? "" : " not of all");
    str_printf(text, "descendants peak %" PRIu64 " at_most %" PRIu64 " open %" PRIu64 "%s%s",
        peaks.largest_bytes, peaks.largest_upper_bound_bytes, peaks.unbounded,
        peaks.living > 0 ? " living" : "", peaks.has_all ? " all" : "");
    str_append(text, " together ");
    if (isnan(at_most))
        str_append(text, "unknown\n");
    else
        str_printf(text, "%.0f\n", at_most);
    str_append(text, "counts");
    write_counts(text, &counts);
    struct process **list = process_log_list(log, &count);
    assert_non_null(list);
    for (size_t i = 0; i < count; i++)
        write_record(text, list[i]);
    free(list);
}

/* What holds of every recording, by what the kernel counted itself: wait4() lacks children that
 * were auto-reaped, exit records lack what a thread used since its last clock tick. */
static void check_against_the_kernel(struct replay *replay)
{
    int64_t collected_ns = replay->wait4_ns + replay->orphans_ns;
    int64_t kernel_ns =
        collected_ns > replay->exit_records_ns ? collected_ns : replay->exit_records_ns;
    int64_t at_most_ns = kernel_ns + kernel_ns / 50 + 2 * replay->ns_per_tick;
    int64_t totals_ns = replay->totals.main_ns + replay->totals.descendants_ns;
    int64_t cpu_ns;
    if (process_log_count(&replay->log) > 0)
        return; /* neither has those that live on */
    if (process_log_cpu_ns(&replay->log, &cpu_ns))
        assert_true(cpu_ns <= at_most_ns);
    assert_true(totals_ns <= at_most_ns || replay->main_is_old);
}

static void replay_file(const char *path, const struct sources *sources, struct str *figures)
{
    struct replay replay = {
        .sources = sources, .wait4_ns = -1, .suspended_ns = -clock_monotonic_of_boot_ns(0)};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    assert_non_null(file);
    fake_procfs_init(&replay.procfs);
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = strchr(line, ' ');
        if (rest)
            *rest++ = '\0';
        replay_line(&replay, line, rest ? rest : line + strlen(line));
    }
    free(line);
    fclose(file);
    for (int i = 0; i < 3 && process_log_end_unannounced(&replay.log); i++)
        process_log_end_batch(&replay.log, false);
    process_log_refresh(&replay.log);
    process_log_read_counts(&replay.log);
    check_against_the_kernel(&replay);
    write_figures(&replay, figures);
    free(replay.exits);
    process_tree_finish(&replay.tree);
    process_log_finish(&replay.log);
    fake_procfs_finish(&replay.procfs);
}

static void replay_recording(void **state)
{
    char path[512];
    const char *name = *state;
    struct str figures = {0}, expected = {0};
    snprintf(path, sizeof path, "%s/replay/%s.replay", getenv("GPUT_TEST_FIXTURES"), name);
    for (size_t i = 0; i < sizeof all_sources / sizeof all_sources[0]; i++)
        replay_file(path, &all_sources[i], &figures);
    snprintf(path, sizeof path, "%s/replay/%s.expected", getenv("GPUT_TEST_FIXTURES"), name);
    if (getenv("GPUT_REPLAY_UPDATE")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(str_text(&figures), file);
        fclose(file);
    }
    assert_int_equal(file_read(path, &expected, NULL), GPUT_OK);
    assert_string_equal(str_text(&figures), str_text(&expected));
    str_finish(&figures);
    str_finish(&expected);
}

TEST_FILE
{
    static char names[][32] = {"make-j4", "fork-pool", "spawn-pool", "daemons", "swarm",
        "vfork-chain", "leader-exits", "attach-half-way", "lost-events", "auto-reaped", "pid-reuse",
        "killed-tree", "exec-chain", "pytest"};
    struct CMUnitTest tests[sizeof names / sizeof names[0]];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        tests[i] = (struct CMUnitTest){names[i], replay_recording, NULL, NULL, names[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
