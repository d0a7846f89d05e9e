#include "testing.h"

#include "live/ranks.h"

#include <math.h>
#include <string.h>

static const char page[] = "# HELP gputracker_elapsed_seconds_total x\n"
                           "gputracker_session_info{host=\"n1\",pid=\"7\"} 1\n"
                           "gputracker_elapsed_seconds_total 10\n"
                           "gputracker_system_cores 8.0\n"
                           "gputracker_system_memory_capacity_bytes 16e9\n"
                           "gputracker_system_memory_used_bytes 4e9\n"
                           "gputracker_system_cpu_seconds_total 70\n"
                           "gputracker_combined_memory_bytes 2e9\n"
                           "gputracker_combined_cpu_seconds_total 5\n"
                           "gputracker_gpu_utilization_ratio{gpu=\"0\"} 0.5\n"
                           "gputracker_gpu_utilization_ratio{gpu=\"1\"} 0.25\n"
                           "gputracker_time_went_seconds{cause=\"computing\"} 5\n"
                           "gputracker_time_went_seconds{cause=\"cpu_wait\"} 2\n"
                           "gputracker_time_went_seconds{cause=\"quota\"} 1\n"
                           "gputracker_time_went_seconds{cause=\"paging\"} 1\n"
                           "gputracker_time_went_seconds{cause=\"pipe\"} 1\n";

static struct rank_row read_page(const char *text)
{
    struct rank_row row = {.name = "n1:9000"};
    assert_true(rank_parse_page(text, &row));
    return row;
}

TEST(a_page_has_the_figures_of_a_rank)
{
    struct rank_row row = read_page(page);
    assert_string_equal(row.name, "n1:9000");
    assert_string_equal(row.machine, "n1");
    assert_string_equal(row.pid, "7");
    assert_true(row.seconds == 10 && row.cpu_seconds == 5 && row.allowed_cores == 8);
    assert_true(row.ram_bytes == 2e9 && row.capacity_bytes == 16e9 && row.gpu_percent == 75);
    assert_true(row.waited.computing == 5 && row.waited.cpu_wait == 3 && row.waited.storage == 1);
    assert_true(row.wall_seconds == 10);
}

TEST(a_limit_of_a_page_comes_before_what_the_machine_has)
{
    struct rank_row row = read_page("gputracker_allowed_cores 2.0\n"
                                    "gputracker_allowed_memory_bytes 3e9\n"
                                    "gputracker_system_cores 8.0\n"
                                    "gputracker_system_memory_capacity_bytes 16e9\n");
    assert_true(row.allowed_cores == 2 && row.machine_cores == 8 && row.capacity_bytes == 3e9);
}

TEST(a_page_of_a_machine_has_its_figures)
{
    struct rank_row row = read_page("gputracker_system_memory_used_bytes 4e9\n"
                                    "gputracker_system_cpu_seconds_total 70\n");
    assert_true(row.ram_bytes == 4e9 && row.cpu_seconds == 70);
    assert_true(isnan(row.waited.computing) && isnan(row.seconds) && isnan(row.gpu_percent));
}

TEST(other_pages_are_refused)
{
    struct rank_row row = {.name = "x"};
    assert_false(rank_parse_page("<html>\n</html>\n", &row));
    assert_false(rank_parse_page("", &row));
    assert_true(rank_parse_page("gputracker_", &row));
    assert_true(isnan(row.seconds));
}

TEST(rates_are_of_the_time_since_the_reading_before)
{
    struct rank_row none = {.seconds = NAN, .shares = {NAN, NAN, NAN}}, row = read_page(page), next;
    strcpy(none.pid, row.pid);
    rank_compare(&none, &row);
    assert_true(row.cores == 0.5 && row.shares.computing == 0.5 && row.shares.cpu_wait == 0.3);
    next = row;
    next.seconds = 11;
    next.cpu_seconds = 7;
    next.wall_seconds = 11;
    next.waited.computing = 6;
    rank_compare(&row, &next);
    assert_true(next.cores == 2);
    assert_true(next.shares.computing > 0.5 && next.shares.computing < 1);
    /* Without a sample since then they stay. */
    struct rank_row same = next;
    same.cores = NAN;
    same.shares.computing = NAN;
    rank_compare(&next, &same);
    assert_true(same.cores == 2 && same.shares.computing == next.shares.computing);
    /* Started again: from its start on. */
    struct rank_row again = read_page(page);
    rank_compare(&next, &again);
    assert_true(again.cores == 0.5);
    /* Another process, as the rank of this number in another job: likewise. */
    struct rank_row other = next;
    strcpy(other.pid, "8");
    other.seconds = 20;
    other.cpu_seconds = 60;
    rank_compare(&next, &other);
    assert_true(other.cores == 3);
}

static struct rank_row rank(const char *name, enum rank_state state, double cpu_wait)
{
    struct rank_row row = {.state = state, .shares = {0.3, cpu_wait, 0}};
    strcpy(row.name, name);
    return row;
}

TEST(the_worst_come_first_with_their_reason)
{
    struct rank_row rows[] = {rank("10", RANK_RUNS, 0.1), rank("9", RANK_RUNS, 0.1),
        rank("7", RANK_RUNS, 0.7), rank("2", RANK_FAILED, 0.1), rank("4", RANK_SILENT, 0.9),
        rank("1", RANK_ENDED, 0.1)};
    static const char *const order[] = {"4", "2", "7", "1", "9", "10"};
    ranks_judge(rows, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(rows[i].name, order[i]);
    assert_int_equal(rows[2].state, RANK_STRAGGLER);
    assert_string_equal(rows[2].note, "waits for a CPU 70 %, the others 10 %");
    /* Hosts whose names begin as numbers are written. */
    struct rank_row hosts[] = {rank("nano2:90", RANK_RUNS, 0), rank("infra:90", RANK_RUNS, 0),
        rank("nano1:90", RANK_RUNS, 0)};
    ranks_judge(hosts, 3);
    assert_string_equal(hosts[0].name, "infra:90");
    assert_string_equal(hosts[1].name, "nano1:90");
    struct rank_row alone = rank("0", RANK_RUNS, 0.9);
    ranks_judge(&alone, 1);
    assert_int_equal(alone.state, RANK_RUNS);
    ranks_judge(NULL, 0);
}

TEST(what_is_no_place_is_refused)
{
    static const char *const wrong[] = {"nonsense", "host:", ":90", "host:12x", "127.0.0.1:1,,b:2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct gput_error error;
        struct ranks *ranks;
        assert_int_equal(ranks_open(wrong[i], &ranks, &error), GPUT_ERROR_INVALID);
        assert_null(ranks);
        assert_non_null(strstr(error.message, "is neither a folder nor HOST:PORT"));
    }
}

RUN_TESTS(NULL, NULL)
