/*
 * Which variant runs next, and when there were enough runs; and what a run's session says of it.
 */
#include "bench/bench_state.h"

#include "analysis/bench/bench_statistics.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/random.h"
#include "model/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Without -r at least this many runs are made: an interval of fewer is wide. */
#define MIN_RUNS 5

/* Puts the variants of a block into a random order, each equally likely (Fisher and Yates). */
static void shuffle(struct gput_bench *bench)
{
    struct bench_order *order = &bench->order;
    for (size_t i = 0; i < bench->data.n_variants; i++)
        order->places[i] = i;
    for (size_t i = bench->data.n_variants; i > 1 && !bench->options.in_order; i--) {
        size_t other = random_next(&order->state) % i, moved = order->places[i - 1];
        order->places[i - 1] = order->places[other];
        order->places[other] = moved;
    }
}

double bench_order_half_width(const struct gput_bench *bench, enum bench_figure figure)
{
    double widest = NAN;
    CLEANUP_FREE double *values = malloc((bench->data.n_runs + 1) * sizeof *values);
    for (size_t i = 0; values && i < bench->data.n_variants; i++) {
        struct bench_summary summary;
        bench_summarize(values, bench_data_values(&bench->data, i, figure, values), &summary);
        widest = fmax(widest, bench_half_width_percent(&summary));
    }
    return widest;
}

/* Whether the blocks so far are enough. */
static bool is_enough(struct gput_bench *bench, size_t n_blocks)
{
    const struct gput_bench_options *options = &bench->options;
    double elapsed = clock_seconds_of_ns(clock_monotonic_ns() - bench->order.began_ns);
    if (options->n_runs > 0) {
        bench->data.stopped_by = "runs";
        return n_blocks >= options->n_runs;
    }
    if (n_blocks < MIN_RUNS)
        return false;
    bench->data.stopped_by = "time";
    if (elapsed >= options->max_seconds)
        return true;
    if (elapsed < options->min_seconds)
        return false;
    bench_data_judge_runs(&bench->data);
    double wall = bench_order_half_width(bench, BENCH_WALL);
    double ram = bench_order_half_width(bench, BENCH_RAM);
    bench->data.stopped_by = "precision";
    return !(fmax(wall, ram) > options->precision_percent);
}

/* The first block: all variants are there. */
static bool begin_order(struct gput_bench *bench)
{
    struct bench_order *order = &bench->order;
    order->places = calloc(bench->data.n_variants + 1, sizeof *order->places);
    order->state = bench->data.seed ? bench->data.seed : 1;
    order->began_ns = clock_monotonic_ns();
    order->next = bench->data.n_variants;
    return order->places != NULL;
}

bool bench_order_next(struct gput_bench *bench, size_t *variant)
{
    struct bench_order *order = &bench->order;
    if (bench->data.n_variants == 0 || (!order->places && !begin_order(bench)))
        return false;
    if (order->next == bench->data.n_variants) {
        size_t n_blocks = bench_data_block_count(&bench->data);
        if (is_enough(bench, n_blocks))
            return false;
        order->block = n_blocks;
        order->next = 0;
        shuffle(bench);
    }
    *variant = order->places[order->next];
    order->is_due = true;
    return true;
}

bool gput_bench_next(struct gput_bench *bench, size_t *variant)
{
    const struct gput_session_options *session = &bench->session_options;
    if (!bench->data.has_calls) {
        disturbances_finish(&bench->disturbances); /* of runs of commands */
        disturbances_open(&bench->disturbances, session->procfs_root, session->sysfs_root);
    }
    bench->data.has_calls = true;
    bool is_due = bench_order_next(bench, variant);
    disturbances_read_thread(&bench->disturbances, &bench->before);
    bench->wait_before = bench->wait_seconds = NAN;
    return is_due;
}

void gput_bench_begin_run(struct gput_bench *bench)
{
    bench->wait_before = disturbances_thread_wait(&bench->disturbances);
}

void gput_bench_end_run(struct gput_bench *bench)
{
    bench->wait_seconds = disturbances_thread_wait(&bench->disturbances) - bench->wait_before;
}

/* ---- What a session says of its run ---- */

/* Why a source has nothing; NULL: it has, or there is no such source. */
static const char *reason_of(const struct gput_results *results, const char *source)
{
    for (size_t i = 0; source && i < gput_results_source_count(results); i++) {
        if (strcmp(gput_results_source_name(results, i), source) == 0 &&
            gput_results_source_state(results, i) == GPUT_SOURCE_UNAVAILABLE)
            return gput_results_source_reason(results, i);
    }
    return NULL;
}

/* Wall time without waits for a CPU. Where several threads wait at once, the time is by how many
 * there were that ran or wanted to: a thread that is alone waits as long as it takes. */
static double without_wait(double wall, double cpu, double wait)
{
    double n_runnable = fmax(1, (cpu + wait) / wall);
    return wall > 0 && !isnan(wait) ? fmax(0, wall - wait / n_runnable) : NAN;
}

/* Divides figures by the amount of work, where that is known. */
static void set_per_work(double *figures)
{
    double work = figures[BENCH_WORK];
    if (!(work > 0))
        return;
    figures[BENCH_WALL_PER_WORK] = figures[BENCH_WALL] / work;
    figures[BENCH_CPU_PER_WORK] = figures[BENCH_CPU] / work;
    figures[BENCH_ENERGY_PER_WORK] = figures[BENCH_ENERGY] / work;
    figures[BENCH_RAM_PER_WORK] = figures[BENCH_RAM] / work;
}

void bench_fill_run(const struct gput_bench *bench, const struct gput_results *results,
    double wall_seconds, struct bench_run *run)
{
    double *figures = run->figures;
    for (size_t i = 0; i < BENCH_FIGURE_COUNT; i++) {
        if (bench_figures[i].column)
            figures[i] = gput_results_number(results, bench_figures[i].column);
    }
    figures[BENCH_WALL] = isnan(wall_seconds) ? gput_results_seconds(results) : wall_seconds;
    figures[BENCH_WALL] -= bench->shell_seconds;
    figures[BENCH_CPU] -= bench->shell_cpu_seconds;
    if (gput_results_gpu_count(results) > 0)
        figures[BENCH_GPU_TIME] = gput_results_mean(results, GPUT_GPU_SUM_UTILIZATION) / 100 *
                                  gput_results_seconds(results);
    figures[BENCH_WAIT] = gput_results_number(results, "accounting.run_queue.wait_seconds");
    figures[BENCH_WALL_WITHOUT_WAIT] =
        without_wait(figures[BENCH_WALL], figures[BENCH_CPU], figures[BENCH_WAIT]);
    set_per_work(figures);
}

void bench_fill_missing(struct gput_bench *bench, const struct gput_results *results)
{
    for (size_t i = 0; i < BENCH_FIGURE_COUNT; i++) {
        const char *reason = reason_of(results, bench_figures[i].source);
        if (!reason)
            reason = reason_of(results, bench_figures[i].needs);
        if (i == BENCH_RAM && isnan(gput_results_number(results, bench_figures[i].column)))
            reason = gput_results_text(results, "peaks.main_source");
        if (bench->data.missing[i] || !reason)
            continue;
        bench->data.missing[i] = strdup(reason);
    }
}
