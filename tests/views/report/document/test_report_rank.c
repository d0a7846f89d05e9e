#include "views/report/document/report_session.h"

#include "testing.h"

TEST(ranks_are_words_with_a_number)
{
    assert_int_equal(report_rank_of("rank3.csv"), 3);
    assert_int_equal(report_rank_of("rank 12"), 12);
    assert_int_equal(report_rank_of("job-7.rank_03.sqlite"), 3);
    assert_int_equal(report_rank_of("run.r0.csv"), 0);
    assert_int_equal(report_rank_of("rank1/rank-4.csv"), 4);
}

TEST(other_names_have_no_rank)
{
    static const char *const names[] = {"", "3.csv", "r.csv", "ranking3.csv", "franks4", "r3d.csv",
        "before.csv", "frank3", "r12345678", "rank", "r-"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(report_rank_of(names[i]), REPORT_NO_RANK);
}

TEST(ranks_of_a_job_are_all_different)
{
    long ranks[3];
    const char *const job[] = {"a.r2.csv", "a.r0.csv", "a.r1.csv"};
    const char *const runs[] = {"before.r1.csv", "after.r1.csv"};
    const char *const some[] = {"a.r1.csv", "b.csv"};
    assert_true(report_ranks_of(job, 3, ranks));
    assert_int_equal(ranks[0] * 100 + ranks[1] * 10 + ranks[2], 201);
    assert_false(report_ranks_of(runs, 2, ranks));
    assert_false(report_ranks_of(some, 2, ranks));
    assert_false(report_ranks_of(job, 1, ranks));
}

RUN_TESTS(NULL, NULL)
