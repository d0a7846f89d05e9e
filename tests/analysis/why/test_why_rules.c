#include "analysis/why/why_rules.h"
#include "analysis/why/why_shares.h"

#include "testing.h"

#include <math.h>
#include <string.h>

static struct gput_results session(void)
{
    struct gput_results results = {0};
    results.static_data.system_core_count = 4;
    results.static_data.allowed_cores = NAN;
    results.time_went = (struct gput_wall){.seconds = 10, .samples = 100};
    results.other_threads = (struct gput_wall){.seconds = NAN};
    results.gpu_idle = (struct gput_wall){.seconds = NAN};
    results.gpu_known_seconds = NAN;
    return results;
}

TEST(shares_are_in_order_and_say_how_sure_they_are)
{
    struct why_share shares[WALL_CAUSE_COUNT];
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_COMPUTING] = 2;
    results.time_went.seconds_of[WALL_PIPE] = 4;
    results.time_went.seconds_of[WALL_TIMER] = 4;
    assert_int_equal(why_shares(&results.time_went, shares), 3);
    assert_int_equal(shares[0].cause, WALL_PIPE);
    assert_int_equal(shares[2].cause, WALL_COMPUTING);
    assert_float_equal(shares[2].half_width, 0, 0);
    /* Half of 80 %, from 100 samples: 1.96 x 0.05 x 80. */
    assert_float_equal(shares[0].half_width, 7.84, 1e-9);
}

/* Where all samples agree, up to 3 of 100 may still be something else. */
TEST(agreement_is_not_certainty)
{
    struct why_share shares[WALL_CAUSE_COUNT];
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_POLL] = 10;
    assert_int_equal(why_shares(&results.time_went, shares), 1);
    assert_float_equal(shares[0].half_width, 1.5, 1e-9);
}

TEST(a_sentence_has_the_largest_shares)
{
    char text[128];
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_COMPUTING] = 3.1;
    results.time_went.seconds_of[WALL_CPU] = 4.8;
    results.time_went.seconds_of[WALL_PIPE] = 2.06;
    results.time_went.seconds_of[WALL_OTHER] = 0.04;
    why_sentence(&results.time_went, 5, text, sizeof text);
    assert_string_equal(text, "48 % waiting for a CPU, 31 % computing, 21 % asleep (pipe)");
    why_sentence(&results.time_went, 5, text, 40);
    assert_string_equal(text, "48 % waiting for a CPU, 31 % computing");
}

TEST(little_evidence_is_not_telling)
{
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_PIPE] = 10;
    assert_true(why_is_telling(&results.time_went));
    results.time_went.samples = 3;
    assert_false(why_is_telling(&results.time_went));
    results.time_went.samples = 100;
    results.time_went.seconds = 0.5;
    assert_false(why_is_telling(&results.time_went));
    results.time_went = (struct gput_wall){.seconds = 10, .seconds_of = {[WALL_CPU] = 10}};
    assert_true(why_is_telling(&results.time_went)); /* it was counted */
    results.time_went.seconds = NAN;
    assert_false(why_is_telling(&results.time_went));
}

TEST(each_large_share_has_its_advice)
{
    char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE];
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_CPU] = 5;
    results.time_went.seconds_of[WALL_STORAGE] = 3;
    results.time_went.seconds_of[WALL_COMPUTING] = 2;
    assert_int_equal(why_advice(&results, texts), 2);
    assert_string_equal(texts[0], "It waited for a CPU for 50 % of its time: the 4 cores were in "
                                  "use. Fewer threads or programs at once, or more cores.");
    assert_non_null(strstr(texts[1], "for storage for 30 %"));
}

TEST(a_starved_main_is_told_of_its_workers)
{
    char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE];
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_PIPE] = 9;
    results.time_went.seconds_of[WALL_COMPUTING] = 1;
    results.other_threads.seconds = 40;
    results.other_threads.seconds_of[WALL_COMPUTING] = 39;
    assert_int_equal(why_advice(&results, texts), 1);
    assert_string_equal(texts[0],
        "It slept in a pipe for 90 % of its time, while its other threads and processes used 3.9 "
        "of 4 cores: more workers need more cores.");
    results.other_threads.seconds_of[WALL_COMPUTING] = 10;
    assert_int_equal(why_advice(&results, texts), 1);
    assert_non_null(strstr(texts[0], "used 1.0 of 4 cores: more workers may feed it faster."));
    results.other_threads.seconds_of[WALL_CPU] = 20;
    assert_int_equal(why_advice(&results, texts), 1);
    assert_non_null(strstr(texts[0],
        "used 1.0 of 4 cores, and waited for a CPU for longer: more workers need more cores."));
    results.other_threads.seconds_of[WALL_COMPUTING] = 0;
    assert_int_equal(why_advice(&results, texts), 1);
    assert_non_null(strstr(texts[0], "nothing else of the command ran"));
}

TEST(an_idle_gpu_comes_first)
{
    char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE];
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_SOCKET] = 10;
    results.gpu_known_seconds = 10;
    results.gpu_idle = (struct gput_wall){
        .seconds = 6.2, .seconds_of = {[WALL_SOCKET] = 5.4, [WALL_COMPUTING] = 0.8}, .samples = 60};
    assert_int_equal(why_advice(&results, texts), 2);
    assert_string_equal(texts[0], "The GPU was idle for 62 % of the time. Meanwhile the main "
                                  "thread was: 87 % asleep (socket), 13 % computing.");
    results.gpu_idle_others.seconds_of[WALL_COMPUTING] = 18.6;
    assert_int_equal(why_advice(&results, texts), 2);
    assert_string_equal(texts[0],
        "The GPU was idle for 62 % of the time. Meanwhile the main thread was: 87 % asleep "
        "(socket), 13 % computing. Its other threads and processes used 3.0 cores.");
    results.gpu_idle.seconds = 2;
    assert_int_equal(why_advice(&results, texts), 1);
}

TEST(what_only_computed_has_no_advice)
{
    char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE];
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_COMPUTING] = 10;
    assert_int_equal(why_advice(&results, texts), 0);
    results.time_went = (struct gput_wall){.seconds = NAN};
    assert_int_equal(why_advice(&results, texts), 0);
}

TEST(a_gpu_that_was_slowed_is_named_with_its_reason)
{
    char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE];
    struct gput_results results = session();
    struct gput_gpu gpus[2] = {{.selected = true, .power_cap_seconds = 0.9, .thermal_seconds = NAN},
        {.selected = true, .power_cap_seconds = 2, .thermal_seconds = 4}};
    results.n_gpus = 2;
    results.gpus = gpus;
    for (int i = 0; i < 2; i++) {
        gpus[i].first_reading_seconds = 1;
        gpus[i].last_reading_seconds = 11;
    }
    results.time_went.seconds_of[WALL_COMPUTING] = 10;
    assert_int_equal(why_advice(&results, texts), 1);
    assert_string_equal(texts[0],
        "GPU 1 was slowed by its driver because of heat for 40 % of the time: better cooling.");
    results.gpus[1].selected = false;
    assert_int_equal(why_advice(&results, texts), 0);
}

/* What is polled may be anything, unless a process of its own holds the other end. */
TEST(a_poll_is_explained_where_a_pipe_of_its_own_is_polled)
{
    char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE];
    struct gput_results results = session();
    results.time_went.seconds_of[WALL_POLL] = 10;
    assert_int_equal(why_advice(&results, texts), 0);
    strcpy(results.awaited, "python3 read a pipe of 4 python3 processes for 9 s (99 % computing)");
    results.other_threads.seconds_of[WALL_COMPUTING] = 39;
    assert_int_equal(why_advice(&results, texts), 1);
    assert_string_equal(texts[0],
        "It slept in poll, for a pipe, for 100 % of its time, while its other threads and "
        "processes used 3.9 of 4 cores: more workers need more cores.");
}

RUN_TESTS(NULL, NULL)
