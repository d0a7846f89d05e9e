#include "machine/process/process_state.h"

#include "testing.h"

#include <stddef.h>

/* A way from PROCESS_FOUND by PROCESS_RUNNING: inputs, and the state after each. */
struct step {
    enum process_input input;
    enum process_state state;
};

static void follow(const struct step *steps, size_t count)
{
    enum process_state state = process_state_after(PROCESS_FOUND, PROCESS_INPUT_FORK);
    assert_int_equal(state, PROCESS_RUNNING);
    for (size_t i = 0; i < count; i++) {
        state = process_state_after(state, steps[i].input);
        assert_int_equal(state, steps[i].state);
    }
}

#define FOLLOW(...)                                                                                \
    do {                                                                                           \
        static const struct step steps[] = {__VA_ARGS__};                                          \
        follow(steps, sizeof steps / sizeof steps[0]);                                             \
    } while (0)

TEST(scans_alone_give_running_dead_final)
{
    FOLLOW({PROCESS_INPUT_RUNS, PROCESS_RUNNING}, {PROCESS_INPUT_DEAD, PROCESS_DEAD},
        {PROCESS_INPUT_CLOSED, PROCESS_FINAL});
    FOLLOW({PROCESS_INPUT_LEADER_EXITED, PROCESS_LEADER_EXITED},
        {PROCESS_INPUT_CLOSED, PROCESS_LEADER_EXITED}, {PROCESS_INPUT_DEAD, PROCESS_DEAD});
}

TEST(a_process_that_is_not_counted_has_no_end_by_events)
{
    for (int input = PROCESS_INPUT_EXEC; input < PROCESS_INPUTS; input++)
        assert_int_equal(
            process_state_after(PROCESS_FOUND, (enum process_input)input), PROCESS_FOUND);
}

TEST(an_announced_exit_is_certain_once_it_was_read)
{
    FOLLOW({PROCESS_INPUT_EXIT, PROCESS_EXITED}, {PROCESS_INPUT_CLOSED, PROCESS_EXITED},
        {PROCESS_INPUT_DEAD, PROCESS_DEAD}, {PROCESS_INPUT_EXIT, PROCESS_DEAD},
        {PROCESS_INPUT_CLOSED, PROCESS_FINAL});
}

TEST(an_announced_exit_may_be_that_of_the_leader_alone)
{
    FOLLOW({PROCESS_INPUT_EXIT, PROCESS_EXITED},
        {PROCESS_INPUT_LEADER_EXITED, PROCESS_LEADER_EXITED},
        {PROCESS_INPUT_THREAD_EXIT, PROCESS_EXITED}, {PROCESS_INPUT_DEAD, PROCESS_DEAD});
    FOLLOW({PROCESS_INPUT_EXIT, PROCESS_EXITED}, {PROCESS_INPUT_EXEC, PROCESS_RUNNING});
    FOLLOW({PROCESS_INPUT_EXIT, PROCESS_EXITED}, {PROCESS_INPUT_RUNS, PROCESS_RUNNING});
}

TEST(the_exit_of_another_thread_is_no_end_while_the_leader_lives)
{
    FOLLOW({PROCESS_INPUT_THREAD_EXIT, PROCESS_RUNNING});
    FOLLOW({PROCESS_INPUT_LAST_RECORD, PROCESS_RECORDED},
        {PROCESS_INPUT_THREAD_EXIT, PROCESS_RECORDED}, {PROCESS_INPUT_EXIT, PROCESS_COMPLETE});
}

TEST(exit_record_and_event_come_in_either_order)
{
    FOLLOW({PROCESS_INPUT_LAST_RECORD, PROCESS_RECORDED}, {PROCESS_INPUT_EXIT, PROCESS_COMPLETE},
        {PROCESS_INPUT_CLOSED, PROCESS_FINAL});
    FOLLOW({PROCESS_INPUT_EXIT, PROCESS_EXITED}, {PROCESS_INPUT_LAST_RECORD, PROCESS_COMPLETE},
        {PROCESS_INPUT_CLOSED, PROCESS_FINAL});
    FOLLOW({PROCESS_INPUT_LEADER_EXITED, PROCESS_LEADER_EXITED},
        {PROCESS_INPUT_LAST_THREAD_RECORD, PROCESS_COMPLETE});
}

/* A scan may be older than an exit record, and an execve() was before it. */
TEST(an_exit_record_is_not_revoked)
{
    static const enum process_state recorded[] = {
        PROCESS_RECORDED, PROCESS_COMPLETE, PROCESS_FINAL};
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        for (int input = 0; input < PROCESS_INPUTS; input++)
            assert_true(process_state_after(recorded[i], (enum process_input)input) >= recorded[i]);
    }
}

TEST(a_final_process_stays_final)
{
    for (int input = 0; input < PROCESS_INPUTS; input++)
        assert_int_equal(
            process_state_after(PROCESS_FINAL, (enum process_input)input), PROCESS_FINAL);
}

static void mark_reachable(enum process_state from, bool *reachable)
{
    if (reachable[from])
        return;
    reachable[from] = true;
    for (int input = 0; input < PROCESS_INPUTS; input++)
        mark_reachable(process_state_after(from, (enum process_input)input), reachable);
}

TEST(every_state_is_reached_and_leads_to_final)
{
    bool from_found[PROCESS_STATES] = {false};
    mark_reachable(PROCESS_FOUND, from_found);
    for (int from = 0; from < PROCESS_STATES; from++) {
        bool reachable[PROCESS_STATES] = {false};
        mark_reachable((enum process_state)from, reachable);
        assert_true(from_found[from]);
        assert_true(reachable[PROCESS_FINAL]);
    }
}

RUN_TESTS(NULL, NULL)
