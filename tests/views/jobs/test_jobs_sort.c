/* Ranks as jobs, machines and their clocks, without files. */
#include "views/jobs/jobs.h"

#include "base/array.h"
#include "decimal_commas.h"
#include "testing.h"

#include <math.h>
#include <string.h>

#define START 1e9

/* One of `world` ranks that ran for 100 seconds. */
static struct jobs_rank *add(
    struct gput_jobs *jobs, const char *job, const char *machine, double rank, double start)
{
    assert_true(ARRAY_EXTEND(jobs->ranks, jobs->n_ranks));
    struct jobs_rank *added = &jobs->ranks[jobs->n_ranks++];
    *added = (struct jobs_rank){.path = strdup("r.json"),
        .files = JOBS_REPORT,
        .pid = (double)jobs->n_ranks,
        .rank = rank,
        .world_size = 4,
        .restarts = NAN,
        .exit_status = 0,
        .signal = NAN,
        .first_sample = NAN,
        .start = START + start,
        .end = START + start + 100,
        .seconds = 100,
        .cpu_seconds = 50,
        .cores = 1,
        .shared_cores = NAN,
        .slurm_cores = NAN,
        .system_cores = 8,
        .max_ram_bytes = 1e9,
        .allowed_ram_bytes = NAN,
        .gpu_percent = NAN,
        .gpus = 0,
        .energy_joules = NAN,
        .machine_joules = NAN,
        .node_seconds = NAN,
        .samples = NAN};
    snprintf(added->launcher, sizeof added->launcher, "MPICH");
    snprintf(added->job_id, sizeof added->job_id, "%s", job);
    snprintf(added->node, sizeof added->node, "%s", machine);
    snprintf(added->boot_id, sizeof added->boot_id, "boot-%s", machine);
    snprintf(added->start_text, sizeof added->start_text, "%.0f", START + start);
    return added;
}

static void assert_ranges(const char *text, const char *expected)
{
    char found[80] = "";
    double first, last;
    for (const char *at = text; jobs_next_ranks(&at, &first, &last);)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%.0f-%.0f ", first, last);
    assert_string_equal(found, expected);
}

static struct gput_jobs *sorted(struct gput_jobs *jobs)
{
    jobs_sort(jobs);
    for (size_t i = 0; i < jobs->n_jobs; i++) {
        jobs_compare_clocks(jobs, &jobs->jobs[i]);
        jobs_add_up(jobs, &jobs->jobs[i]);
    }
    assert_false(jobs->failed);
    return jobs;
}

TEST(files_of_one_session_are_one_rank)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    struct jobs_rank *samples = add(jobs, "1", "n1", 0, 0);
    samples->files = JOBS_SAMPLES;
    samples->samples = 7;
    add(jobs, "1", "n1", 1, 0);
    add(jobs, "1", "n1", 0, 0)->pid = 1;
    sorted(jobs);
    assert_int_equal(jobs->n_ranks, 2);
    assert_int_equal(jobs->ranks[0].files, JOBS_SAMPLES | JOBS_REPORT);
    assert_true(jobs->ranks[0].samples == 7);
    assert_int_equal(jobs->n_findings, 0); /* a report and samples are not a doubled file */
    gput_jobs_destroy(jobs);
}

TEST(a_rank_that_comes_twice_is_of_the_next_run)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    for (int run = 0; run < 2; run++)
        for (int rank = 0; rank < 4; rank++)
            if (run == 1 || rank != 3) /* of the first run one is missing */
                add(jobs, "", rank < 2 ? "n1" : "n2", rank, run * 1000 + rank * 0.1);
    sorted(jobs);
    assert_int_equal(jobs->n_jobs, 2);
    assert_string_equal(jobs->jobs[0].name, "MPICH");
    assert_string_equal(jobs->jobs[1].name, "MPICH, run 2");
    assert_int_equal(jobs->jobs[0].count, 3);
    assert_true(jobs->jobs[0].missing == 1);
    assert_int_equal(jobs->jobs[1].count, 4);
    assert_true(jobs->jobs[1].missing == 0);
    gput_jobs_destroy(jobs);
}

TEST(runs_at_the_same_time_are_two_jobs)
{
    static const char *const runs[] = {"n1:2", "n1:1"};
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    for (int rank = 0; rank < 4; rank++)
        for (int run = 0; run < 2; run++)
            strcpy(add(jobs, "", "n1", rank, rank + run * 0.5)->run, runs[run]);
    sorted(jobs);
    assert_int_equal(jobs->n_jobs, 2);
    assert_string_equal(jobs->jobs[1].name, "MPICH, run 2");
    for (size_t i = 0; i < jobs->n_ranks; i++)
        assert_string_equal(jobs->ranks[i].run, runs[jobs->ranks[i].job]);
    assert_true(jobs->jobs[0].missing == 0 && jobs->jobs[1].missing == 0);
    gput_jobs_destroy(jobs);
}

/* Of no known run, as in containers: world sizes keep them apart, where they went on at once. */
TEST(runs_of_other_sizes_at_the_same_time_are_two_jobs)
{
    for (double later = 0; later < 300; later += 200) {
        struct gput_jobs *jobs = calloc(1, sizeof *jobs);
        for (int rank = 0; rank < 4; rank++) {
            add(jobs, "", "n1", rank, rank);
            if (rank < 2)
                add(jobs, "", "n1", rank, rank + 0.5 + later)->world_size = 2;
        }
        sorted(jobs);
        assert_int_equal(jobs->n_jobs, 2);
        assert_true(jobs->jobs[0].world_size == 4 && jobs->jobs[0].missing == 0);
        assert_true(jobs->jobs[1].world_size == 2 && jobs->jobs[1].missing == 0);
        gput_jobs_destroy(jobs);
    }
}

/* An earlier version does not say it. */
TEST(ranks_of_no_known_run_are_of_the_only_one)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    for (int rank = 0; rank < 4; rank++)
        strcpy(add(jobs, "", "n1", rank, rank)->run, rank == 2 ? "" : "n1:1");
    sorted(jobs);
    assert_int_equal(jobs->n_jobs, 1);
    assert_int_equal(jobs->jobs[0].count, 4);
    gput_jobs_destroy(jobs);
}

/* Of no known run: the starts of their ranks are all there is. */
TEST(runs_of_one_size_at_the_same_time_are_named)
{
    for (double later = 0.5; later < 300; later += 200) {
        struct gput_jobs *jobs = calloc(1, sizeof *jobs);
        for (int rank = 0; rank < 4; rank++)
            for (int run = 0; run < 2; run++)
                add(jobs, "", "n1", rank, rank + run * later);
        sorted(jobs);
        assert_int_equal(jobs->n_jobs, 2);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(jobs->jobs[i].overlaps_another_run, later < 100);
            size_t first = jobs->n_findings;
            jobs_advise(jobs, &jobs->jobs[i]);
            assert_int_equal(strcmp(jobs->findings[first].kind, "runs_at_once") == 0, later < 100);
        }
        gput_jobs_destroy(jobs);
    }
}

/* Ranks 0 and 1 of n1, 2 and 3 of n2, of which the clock is off; none is there of what `lost` says,
 * as run * 10 + rank. */
static struct gput_jobs *runs_of_two_machines(int n_runs, double offset, const int *lost, int count)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    for (int run = 0; run < n_runs; run++) {
        for (int rank = 0; rank < 4; rank++) {
            bool is_lost = false;
            for (int i = 0; i < count; i++)
                is_lost |= lost[i] == run * 10 + rank;
            if (!is_lost)
                add(jobs, "", rank < 2 ? "n1" : "n2", rank,
                    run * 200 + rank * 0.1 + (rank < 2 ? 0 : offset))
                    ->samples = run;
        }
    }
    return sorted(jobs);
}

TEST(a_lost_rank_does_not_mix_runs_where_a_clock_is_off)
{
    const int lost[][2] = {{0, 0}, {3, 3}, {12, 12}, {2, 13}, {1, 3}};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        for (double offset = -3600; offset <= 3600; offset += 3600) {
            struct gput_jobs *jobs = runs_of_two_machines(3, offset, lost[i], 2);
            assert_int_equal(jobs->n_jobs, 3);
            for (size_t k = 0; k < jobs->n_ranks; k++)
                assert_true(jobs->ranks[k].samples == (double)jobs->ranks[k].job);
            gput_jobs_destroy(jobs);
        }
    }
}

/* The first run without n2, the last one without n1, at intervals that are equal: clocks that are
 * right explain them as well, and that comes first. */
TEST(runs_that_a_machine_was_not_in_are_distinguished_by_starts)
{
    const int lost[] = {2, 3, 20, 21};
    struct gput_jobs *jobs = runs_of_two_machines(3, 0, lost, 4);
    assert_int_equal(jobs->n_jobs, 3);
    for (size_t k = 0; k < jobs->n_ranks; k++)
        assert_true(jobs->ranks[k].samples == (double)jobs->ranks[k].job);
    gput_jobs_destroy(jobs);
}

/* Bytes that end at a moment are not those that begin then. */
TEST(ram_of_a_machine_is_that_of_ranks_that_ran_at_once)
{
    struct span spans[10] = {{0, 10, 1}, {5, 15, 2}, {10, 20, 4}, {10, 10, 8}, {30, 40, NAN}};
    assert_true(spans_highest_at_once(spans, 5) == 2 + 4 + 8);
    spans[0] = (struct span){-INFINITY, INFINITY, 3};
    spans[1] = (struct span){0, 1, 4};
    spans[2] = (struct span){1, 2, 2};
    assert_true(spans_highest_at_once(spans, 3) == 7);
    spans[0] = (struct span){0, 1, NAN};
    assert_true(isnan(spans_highest_at_once(spans, 1)));
    assert_true(isnan(spans_highest_at_once(spans, 0)));
}

TEST(a_clock_is_put_right_where_starts_and_ends_are_off_alike)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    for (int rank = 0; rank < 4; rank++)
        add(jobs, "1", rank < 2 ? "n1" : "n2", rank, rank < 2 ? 0 : -3600.5);
    sorted(jobs);
    assert_int_equal(jobs->n_jobs, 1);
    assert_true(jobs->machines[1].clock_is_corrected);
    assert_true(jobs->machines[1].clock_offset_seconds == -3600.5);
    assert_true(fabs(jobs->jobs[0].seconds - 100) < 1e-3);
    assert_string_equal(jobs->findings[0].kind, "clock");
    gput_jobs_destroy(jobs);
}

TEST(energy_of_a_machine_counts_once)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    for (int rank = 0; rank < 4; rank++) {
        struct jobs_rank *added = add(jobs, "1", rank < 2 ? "n1" : "n2", rank, 0);
        added->machine_joules = rank < 2 ? 1000 : 300 + rank; /* n2: one took over from the other */
        added->node_seconds = rank < 2 ? NAN : 50;            /* n1: each reads for itself */
        added->seconds = rank == 2 ? 50 : 100;
    }
    jobs->ranks[3].node_seconds = 49.25;
    sorted(jobs);
    assert_true(jobs->jobs[0].cpu_joules == 1000 + 302 + 303);
    assert_true(jobs->machines[0].unread_seconds == 0);
    assert_true(jobs->machines[1].unread_seconds == 0.75);
    gput_jobs_destroy(jobs);
}

/* As containers of one machine: none sees the lock of the other, so both read all the time. */
TEST(energy_that_two_read_at_once_counts_once)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    for (int rank = 0; rank < 4; rank++) {
        struct jobs_rank *added = add(jobs, "1", rank < 2 ? "n1" : "n2", rank, 0);
        strcpy(added->boot_id, "one");
        added->machine_joules = rank % 2 == 0 ? 1000 : NAN;
        added->node_seconds = rank % 2 == 0 ? 100 : 0;
    }
    sorted(jobs);
    assert_int_equal(jobs->n_machines, 2);
    assert_true(jobs->jobs[0].cpu_joules == 1000);
    assert_true(jobs->machines[0].unread_seconds == 0);
    assert_true(isnan(jobs->machines[1].unread_seconds));
    gput_jobs_destroy(jobs);
}

/* They follow each other, the second before the first has ended; the third is within the first. */
TEST(energy_of_sessions_that_overlap_counts_once)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    add(jobs, "1", "n1", 0, 0)->machine_joules = 1000;
    add(jobs, "1", "n1", 1, 90)->machine_joules = 2000;
    struct jobs_rank *within = add(jobs, "1", "n1", 2, 40);
    within->seconds = 10;
    within->machine_joules = 100;
    add(jobs, "1", "n1", 3, 90); /* it has none */
    sorted(jobs);
    assert_true(fabs(jobs->jobs[0].cpu_joules - (1000 + 0.9 * 2000)) < 1e-3);
    gput_jobs_destroy(jobs);
}

TEST(lists_of_ranks_are_read_in_any_locale)
{
    assert_ranges("0-3,8", "0-3 8-8 ");
    assert_ranges("0,2,4", "0-0 2-2 4-4 ");
    assert_ranges("0-3,8-", "0-3 8-8 ");
    assert_ranges("0-3,", "0-3 ");
    assert_ranges("-1,2", "");
    assert_ranges("0x10", "0-0 ");
    assert_ranges("nan,inf", "");
    assert_ranges("", "");
    if (!decimal_commas_set())
        SKIP("this libc has no locale with a decimal comma");
    assert_ranges("0,2,4", "0-0 2-2 4-4 ");
    setlocale(LC_NUMERIC, "C");
}

TEST(elements_of_an_array_are_one_job)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    for (int i = 1; i <= 3; i++) {
        char job[16];
        snprintf(job, sizeof job, "47_%d", i);
        add(jobs, job, "n1", 0, i * 500)->world_size = 1;
    }
    sorted(jobs);
    assert_int_equal(jobs->n_jobs, 1);
    assert_string_equal(jobs->jobs[0].name, "47 (array)");
    assert_true(jobs->ranks[2].rank == 3);
    gput_jobs_destroy(jobs);
}

/* ---- Indexed jobs of Kubernetes ---- */

/* A pod: neither the world size nor a count of starts is known. */
static struct jobs_rank *add_pod(struct gput_jobs *jobs, const char *pod, double rank, double start,
    double seconds, double exit_status)
{
    struct jobs_rank *added = add(jobs, "", "n1", rank, start);
    strcpy(added->launcher, "Kubernetes");
    added->world_size = NAN;
    added->seconds = seconds;
    added->end = added->start + seconds;
    added->exit_status = exit_status;
    added->boot_id[0] = (char)('a' + (int)rank); /* each of a node of its own */
    jobs_set_name_from_pod(added, pod);
    return added;
}

TEST(names_of_pods_name_their_jobs)
{
    static const struct {
        const char *pod;
        double rank;
        const char *job;
    } pods[] = {{"train-a-0-x0y9z", 0, "train-a"}, {"train-a-12", 12, "train-a"},
        {"train-1-1", 1, "train-1"}, {"b-3-3-bcdfg", 3, "b-3"}, {"train-a-2-x0y9z", 0, ""},
        {"train-a", 0, ""}, {"-0", 0, ""}, {"-0-abcde", 0, ""}, {"0", 0, ""}, {"", 0, ""},
        {"train-0-", 0, ""}, {"train-10", 0, ""}};
    for (size_t i = 0; i < sizeof pods / sizeof *pods; i++) {
        struct jobs_rank rank = {.launcher = "Kubernetes", .rank = pods[i].rank};
        jobs_set_name_from_pod(&rank, pods[i].pod);
        assert_string_equal(rank.job_id, pods[i].job);
    }
    struct jobs_rank slurm = {.launcher = "Slurm"}, other = {.launcher = "Kubernetes"};
    strcpy(other.job_id, "7");
    jobs_set_name_from_pod(&slurm, "train-a-0");
    jobs_set_name_from_pod(&other, "train-a-0");
    assert_string_equal(slurm.job_id, "");
    assert_string_equal(other.job_id, "7");
}

TEST(jobs_of_pods_at_the_same_time_are_two_jobs)
{
    struct gput_jobs *jobs = calloc(1, sizeof *jobs);
    add_pod(jobs, "train-0-aaaaa", 0, 0, 100, 0);
    add_pod(jobs, "eval-0-aaaaa", 0, 1, 100, 0);
    add_pod(jobs, "train-1-aaaaa", 1, 2, 100, 0);
    add_pod(jobs, "eval-1-aaaaa", 1, 3, 100, 0);
    add_pod(jobs, "train-2-aaaaa", 2, 4, 100, 0);
    sorted(jobs);
    assert_int_equal(jobs->n_jobs, 2);
    assert_string_equal(jobs->jobs[0].name, "eval");
    assert_string_equal(jobs->jobs[1].name, "train");
    assert_int_equal(jobs->jobs[0].count, 2);
    assert_int_equal(jobs->jobs[1].count, 3);
    gput_jobs_destroy(jobs);
}

/* Also where nothing else ran meanwhile, and on a node whose clock is off. */
TEST(an_index_that_failed_and_comes_again_is_one_rank)
{
    for (int named = 0; named < 2; named++) {
        struct gput_jobs *jobs = calloc(1, sizeof *jobs);
        const char *pod = named ? "train-1-aaaaa" : "";
        add_pod(jobs, named ? "train-0-aaaaa" : "", 0, 0, 100, 0);
        add_pod(jobs, pod, 1, 0, 30, 3);
        struct jobs_rank *lost = add_pod(jobs, pod, 1, 40, 20, NAN);
        lost->end = NAN; /* its node went */
        /* by the clock of another node, which may be off */
        add_pod(jobs, pod, 1, named ? 55 : 60, 20, 1)->boot_id[0] = named ? 'z' : 'b';
        add_pod(jobs, pod, 1, 300, 50, 0);
        sorted(jobs);
        assert_int_equal(jobs->n_jobs, 1);
        assert_true(jobs->jobs[0].present == 2 && jobs->jobs[0].retried == 3);
        assert_true(jobs->jobs[0].failed == 1 && jobs->jobs[0].unfinished == 0);
        gput_jobs_destroy(jobs);
    }
}

TEST(an_index_that_ended_well_and_comes_again_is_of_the_next_run)
{
    for (int with_size = 0; with_size < 2; with_size++) {
        struct gput_jobs *jobs = calloc(1, sizeof *jobs);
        for (int run = 0; run < 2; run++) {
            for (int rank = 0; rank < 3; rank++) /* in the first run two of them fail */
                add_pod(jobs, "", rank, run * 500 + rank, 100, run == 0 && rank != 1);
        }
        add_pod(jobs, "", 4, 700, 10, 0); /* its turn came later */
        for (size_t i = 0; i < jobs->n_ranks; i++) {
            strcpy(jobs->ranks[i].job_id, "train");
            jobs->ranks[i].world_size = with_size ? 5 : NAN;
        }
        sorted(jobs);
        assert_int_equal(jobs->n_jobs, 2);
        assert_string_equal(jobs->jobs[1].name, "train, run 2");
        assert_true(jobs->jobs[0].count == 3 && jobs->jobs[0].retried == 0);
        assert_true(jobs->jobs[1].count == 4 && jobs->jobs[1].failed == 0);
        gput_jobs_destroy(jobs);
    }
}

RUN_TESTS(NULL, NULL)
