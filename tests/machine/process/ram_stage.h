/*
 * Real processes whose RAM two meters measure at the same moments, for tests of ram_meter.
 */
#pragma once

#include "machine/process/live.h"
#include "machine/process/ram_meter.h"

#include "base/clock.h"

#define MB 1000000.0

/* What a consumer has besides what it was asked to allocate. */
#define PROGRAM (3 * MB)

/* A family of real processes and two meters that measure it at the same moments. */
struct stage {
    struct actors actors;
    struct process_tree tree, other_tree;
    struct ram_meter adaptive, exact;
    int64_t now_ns;
};

static inline void open_tree(struct process_tree *tree, pid_t main)
{
    struct process_tree_options options = {
        .procfs_root = "/proc", .main = main, .is_subreaper = true, .kept_files = 64};
    assert_int_equal(process_tree_init(tree, &options, NULL), GPUT_OK);
}

static inline void set_up(struct stage *stage, const char *words, int ready_came)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    actors_start(&stage->actors, words);
    actors_await(&stage->actors, ready_came);
    open_tree(&stage->tree, stage->actors.pid);
    open_tree(&stage->other_tree, stage->actors.pid);
    stage->now_ns = clock_monotonic_ns();
    ram_meter_init(&stage->adaptive, EXACT_READINGS_ADAPTIVE, stage->now_ns);
    ram_meter_init(&stage->exact, EXACT_READINGS_ALWAYS, stage->now_ns);
}

static inline void tear_down(struct stage *stage)
{
    ram_meter_finish(&stage->adaptive);
    ram_meter_finish(&stage->exact);
    process_tree_finish(&stage->tree);
    process_tree_finish(&stage->other_tree);
    actors_end(&stage->actors);
    collect_orphans();
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* One measurement by both. */
static inline void measure_at_once(struct stage *stage)
{
    stage->now_ns++;
    assert_int_equal(process_tree_scan(&stage->tree, false, stage->now_ns), GPUT_OK);
    assert_int_equal(process_tree_scan(&stage->other_tree, false, stage->now_ns), GPUT_OK);
    assert_int_equal(ram_meter_measure(&stage->adaptive, &stage->tree, stage->now_ns), GPUT_OK);
    assert_int_equal(ram_meter_measure(&stage->exact, &stage->other_tree, stage->now_ns), GPUT_OK);
}

/* A minute after the last one: the pause between exact readings is over. */
static inline void measure(struct stage *stage)
{
    stage->now_ns += 60 * NS_PER_SECOND;
    measure_at_once(stage);
}

static inline bool near(uint64_t a, uint64_t b)
{
    double difference = a > b ? (double)(a - b) : (double)(b - a);
    /* Within 1 %, or a few pages. */
    return difference <= 0.01 * (double)(a > b ? a : b) || difference < 0.3 * MB;
}

static inline void assert_same(const struct rss *a, const struct rss *b, const char *scope)
{
    if (!near(a->total, b->total) || !near(a->private, b->private) || !near(a->shared, b->shared))
        fail_msg("%s: adaptive %.2f = %.2f + %.2f, exact %.2f = %.2f + %.2f MB", scope,
            (double)a->total / MB, (double)a->private / MB, (double)a->shared / MB,
            (double)b->total / MB, (double)b->private / MB, (double)b->shared / MB);
}

static inline void assert_agree(const struct stage *stage)
{
    const struct ram_figures *a = &stage->adaptive.figures, *b = &stage->exact.figures;
    assert_same(&a->main, &b->main, "main");
    assert_same(&a->descendants, &b->descendants, "descendants");
    assert_same(&a->combined, &b->combined, "combined");
}

static inline void assert_megabytes(uint64_t bytes, double megabytes, double more)
{
    if ((double)bytes < megabytes * MB || (double)bytes > megabytes * MB * 1.01 + more)
        fail_msg("%.2f MB, not %.2f to %.2f", (double)bytes / MB, megabytes,
            megabytes * 1.01 + more / MB);
}
