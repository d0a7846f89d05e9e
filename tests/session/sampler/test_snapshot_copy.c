#include "session/sessions.h"

#include <gputracker/snapshot.h>

#include <math.h>
#include <string.h>

static struct gput_session *create_with_snapshots(double seconds)
{
    struct gput_session_options options = options_every(seconds);
    options.snapshots = true;
    return create(&options);
}

static struct gput_snapshot *latest(struct gput_session *session)
{
    struct gput_snapshot *snapshot;
    struct gput_error error;
    if (gput_session_latest_snapshot(session, &snapshot, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return snapshot;
}

/* The first one that has as many processes, however late they start. The caller releases it. */
static struct gput_snapshot *snapshot_of_processes(struct gput_session *session, size_t count)
{
    struct gput_snapshot *snapshot = latest(session);
    EVENTUALLY(gput_snapshot_process_count(snapshot) >= count)
    {
        gput_snapshot_release(snapshot);
        snapshot = latest(session);
    }
    return snapshot;
}

/* The caller releases it. */
static struct gput_snapshot *snapshot_of_tick(struct gput_session *session, uint64_t number)
{
    for (;;) {
        struct gput_snapshot *snapshot = latest(session);
        if (gput_snapshot_number(snapshot) >= number)
            return snapshot;
        gput_snapshot_release(snapshot);
        nap(0.005);
    }
}

IN_FOLDER(the_first_snapshot_is_there_when_tracking_has_begun)
{
    struct gput_session *session = create_with_snapshots(10);
    struct gput_snapshot *snapshot;
    assert_int_equal(gput_session_latest_snapshot(session, &snapshot, NULL), GPUT_ERROR_STATE);
    assert_null(snapshot);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    snapshot = latest(session);
    assert_true(gput_snapshot_number(snapshot) >= 1);
    assert_true(gput_snapshot_process_count(snapshot) >= 1);
    const struct gput_snapshot_process *main = gput_snapshot_process(snapshot, 0);
    assert_true(main->is_main);
    assert_int_equal(main->pid, getpid());
    assert_int_equal(main->parent, getppid());
    assert_true(main->ram_bytes > 0 && main->peak_ram_bytes >= main->ram_bytes);
    assert_true(main->private_ram_bytes <= main->ram_bytes);
    assert_true(main->threads >= 1);
    assert_null(main->command_line);
    assert_null(gput_snapshot_process(snapshot, gput_snapshot_process_count(snapshot)));
    assert_null(gput_snapshot_gpu(snapshot, gput_snapshot_gpu_count(snapshot)));
    gput_snapshot_release(snapshot);
    gput_session_destroy(session);
}

/* Of two processes: main has run since `first`, the other one has not since the snapshot before. */
static bool only_main_ran(const struct gput_snapshot *snapshot, const struct gput_snapshot *first)
{
    return gput_snapshot_number(snapshot) > gput_snapshot_number(first) &&
           gput_snapshot_process(snapshot, 0)->cpu_seconds >
               gput_snapshot_process(first, 0)->cpu_seconds &&
           gput_snapshot_process(snapshot, 1)->cpu_percent == 0;
}

IN_FOLDER(processes_have_what_they_used_since_the_snapshot_before)
{
    struct gput_session *session = create_with_snapshots(0.05);
    launch_consumer(session, "child [ sleep 100 ] spin 100");
    struct gput_snapshot *first = snapshot_of_processes(session, 2);
    struct gput_snapshot *second = latest(session);
    EVENTUALLY(only_main_ran(second, first))
    {
        gput_snapshot_release(second);
        second = latest(session);
    }
    /* Before anything can fail: a process that lives on would keep the test's output open. */
    for (size_t i = 0; i < gput_snapshot_process_count(second); i++)
        kill(gput_snapshot_process(second, i)->pid, SIGKILL);
    /* Main comes first, its child, which sleeps, after it. */
    const struct gput_snapshot_process *before = gput_snapshot_process(first, 0);
    const struct gput_snapshot_process *main = gput_snapshot_process(second, 0);
    const struct gput_snapshot_process *child = gput_snapshot_process(second, 1);
    assert_non_null(child);
    assert_int_equal(child->parent, main->pid);
    assert_false(child->is_main);
    assert_true(main->is_main);
    assert_string_equal(main->name, "consumer");
    assert_true(main->start_ns == before->start_ns && child->start_ns >= main->start_ns);
    assert_true(main->cpu_percent >= 0);
    assert_true(main->private_ram_bytes > 0);
    assert_true(gput_snapshot_elapsed_seconds(second) > gput_snapshot_elapsed_seconds(first));
    assert_true(gput_snapshot_sample(second)->time_ns > gput_snapshot_sample(first)->time_ns);
    assert_true(main->computing_seconds > 0 && main->cpu_wait_seconds >= 0);
    assert_true(child->computing_seconds >= 0 && !isnan(child->storage_seconds));
    assert_true(!child->activity || strcmp(child->activity, "computing") != 0);
    /* Its own figures add up to the sample's. */
    assert_true(gput_snapshot_sample(second)->values[GPUT_COMBINED_THREADS] ==
                main->threads + child->threads);
    wait_for_end(session);
    gput_session_destroy(session);
    /* They outlive the session. */
    assert_true(gput_snapshot_number(first) < gput_snapshot_number(second));
    gput_snapshot_release(first);
    gput_snapshot_release(second);
}

IN_FOLDER(ram_of_a_child_in_the_memory_of_its_parent_is_not_known)
{
    struct gput_session *session = create_with_snapshots(0.05);
    launch_consumer(session, "vfork [ sleep 100 ]");
    struct gput_snapshot *snapshot = snapshot_of_processes(session, 2);
    for (size_t i = 0; i < gput_snapshot_process_count(snapshot); i++)
        kill(gput_snapshot_process(snapshot, i)->pid, SIGKILL);
    wait_for_end(session);
    gput_session_destroy(session);
    const struct gput_snapshot_process *child = gput_snapshot_process(snapshot, 1);
    assert_non_null(child);
    assert_true(isnan(child->ram_bytes) && isnan(child->private_ram_bytes));
    assert_true(gput_snapshot_process(snapshot, 0)->ram_bytes > 0);
    gput_snapshot_release(snapshot);
}

IN_FOLDER(there_are_no_snapshots_unless_asked_for)
{
    struct gput_session *session = create_every(10);
    struct gput_snapshot *snapshot;
    struct gput_error error;
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    assert_int_equal(gput_session_latest_snapshot(session, &snapshot, &error), GPUT_ERROR_STATE);
    assert_non_null(strstr(error.message, "`snapshots`"));
    gput_session_destroy(session);
}

static const struct gput_snapshot_process *find(const struct gput_snapshot *snapshot, pid_t pid)
{
    const struct gput_snapshot_process *process;
    for (size_t i = 0; (process = gput_snapshot_process(snapshot, i)); i++)
        if (process->pid == pid)
            return process;
    return NULL;
}

IN_FOLDER(of_the_machine_all_processes_are_listed)
{
    struct gput_session *session = create_with_snapshots(0.05);
    assert_int_equal(gput_session_track_machine(session, NULL), GPUT_OK);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    struct gput_snapshot *snapshot = latest(session);
    struct gput_snapshot *later = snapshot_of_tick(session, gput_snapshot_number(snapshot) + 3);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(gput_snapshot_sample(snapshot)->values[GPUT_SYSTEM_RAM] > 0);
    assert_true(isnan(gput_snapshot_sample(snapshot)->values[GPUT_MAIN_RAM]));
    const struct gput_snapshot_process *self = find(later, getpid());
    assert_non_null(self);
    assert_false(self->is_main);
    assert_int_equal(self->parent, getppid());
    assert_true(self->ram_bytes > 0 && self->cpu_percent >= 0 && self->start_ticks > 0);
    assert_non_null(find(later, getppid()));
    assert_non_null(find(later, child)); /* it was started after tracking had begun */
    assert_true(find(later, child)->start_ticks >= self->start_ticks);
    gput_snapshot_release(snapshot);
    gput_snapshot_release(later);
    gput_session_destroy(session);
}

IN_FOLDER(command_lines_are_there_when_asked_for)
{
    struct gput_session_options options = options_every(0.05);
    options.snapshots = options.processes = options.command_lines = true;
    struct gput_session *session = create(&options);
    launch_consumer(session, "sleep 100");
    struct gput_snapshot *snapshot = snapshot_of_tick(session, 2);
    const struct gput_snapshot_process *main = gput_snapshot_process(snapshot, 0);
    assert_non_null(main->command_line);
    assert_non_null(strstr(main->command_line, "sleep 100"));
    kill(main->pid, SIGKILL);
    wait_for_end(session);
    gput_snapshot_release(snapshot);
    gput_session_destroy(session);
}

RUN_TESTS(NULL, NULL)
