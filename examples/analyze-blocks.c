/*
 * Tracks this program, marks two of its blocks, and prints what each of them used:
 *
 *     cc analyze-blocks.c $(pkg-config --cflags --libs gputracker) -o analyze-blocks
 *     ./analyze-blocks           # writes samples.csv and marks.csv
 *     ./analyze-blocks FOLDER    # prints a recording of power instead
 */
#include <gputracker/gputracker.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Keeps a core busy. */
static void compute(double seconds)
{
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    volatile double sum = 0;
    while (clock() < end)
        sum = sum + 1;
}

/* Marks in a log of its own, and in the default log, which any part of a program can use. */
static int run_blocks(struct gput_error *error)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    struct gput_blocks *blocks;
    options.overwrite = true;
    int code = gput_blocks_open("marks.csv", &options, &blocks, error);
    if (code != GPUT_OK)
        return code;
    for (int i = 0; i < 2; i++) {
        gput_blocks_start(blocks, "outer");
        compute(0.1);
        gput_blocks_start(blocks, "inner");
        compute(0.1);
        gput_blocks_stop(blocks);
        gput_blocks_stop(blocks);
    }
    code = gput_blocks_close(blocks, error);
    if (code == GPUT_OK)
        code = gput_default_blocks_open("default.csv", &options, error);
    if (code == GPUT_OK) {
        gput_default_blocks_start("default");
        gput_default_blocks_stop();
        code = gput_default_blocks_close(error);
    }
    return code;
}

static int track(struct gput_error *error)
{
    struct gput_session_options options = gput_session_options_default();
    struct gput_session *session = NULL;
    options.sleep_time_seconds = 0.02;
    options.tracking_file = "samples.csv";
    options.overwrite = true;
    int code = gput_session_create(&options, &session, error);
    if (code == GPUT_OK)
        code = gput_session_track_self(session, error);
    if (code == GPUT_OK)
        code = run_blocks(error);
    if (code == GPUT_OK)
        code = gput_session_stop(session, error);
    gput_session_destroy(session);
    return code;
}

static void print_block(const struct gput_code_block *block, size_t n_measurements)
{
    printf("block %s\n  %llu calls, %llu samples\n", gput_code_block_name(block),
        (unsigned long long)gput_code_block_calls(block),
        (unsigned long long)gput_code_block_timepoints(block));
    printf("  %g s in all, %g of itself, a call %g s on average\n",
        gput_code_block_compute_time_total(block), gput_code_block_self_time(block),
        gput_code_block_compute_time(block)->mean);
    for (size_t i = 0; i < n_measurements; i++)
        printf("  measurement %zu: max %g\n", i, gput_code_block_usage(block, i)->max);
    printf("  %g joules\n", gput_code_block_energy(block, GPUT_ENERGY_TOTAL));
    const char *name, *unit;
    for (int id = 0; (name = gput_exact_figure_name((enum gput_exact_figure)id)); id++) {
        unit = gput_exact_figure_unit((enum gput_exact_figure)id);
        printf("  %s: %g %s\n", name,
            gput_code_block_exact_figure(block, (enum gput_exact_figure)id), unit ? unit : "");
    }
}

static int print_analysis(struct gput_error *error)
{
    struct gput_analysis_options options = gput_analysis_options_default();
    struct gput_analysis *analysis;
    options.tracking_file = "samples.csv";
    options.sub_tracking_file = "marks.csv";
    options.details = true;
    int code = gput_analysis_create(&options, &analysis, error);
    if (code != GPUT_OK)
        return code;
    size_t n_measurements = gput_analysis_measurement_count(analysis);
    for (size_t i = 0; i < n_measurements; i++) {
        const char *name = gput_analysis_measurement_name(analysis, i);
        const struct gput_measurement *measurement = gput_measurement_find(name);
        printf("%s (%s): %s %g\n", name, measurement ? measurement->read_from : "",
            gput_statistic_name(GPUT_STATISTIC_MEAN), gput_analysis_overall(analysis, i)->mean);
    }
    printf("%g joules\n", gput_analysis_energy(analysis, GPUT_ENERGY_TOTAL));
    for (size_t i = 0; i < gput_analysis_block_count(analysis); i++)
        print_block(gput_analysis_block(analysis, i), n_measurements);
    gput_analysis_destroy(analysis);
    return GPUT_OK;
}

/* Prints the curve of each metric, and the joules of the machine. */
static int print_recording(const char *folder, struct gput_error *error)
{
    struct gput_energy_recording *recording;
    struct gput_energy_point points[1000];
    int code = gput_energy_recording_load(folder, &recording, error);
    if (code != GPUT_OK)
        return code;
    for (size_t i = 0; i < gput_energy_recording_metric_count(recording); i++) {
        const char *name = gput_energy_recording_metric_name(recording, i);
        size_t count = gput_energy_recording_curve(recording, name, NULL, points, 1000);
        for (size_t j = 0; j < count && j < 1000; j++)
            printf("%s %lld %g\n", name, (long long)points[j].time_us, points[j].value);
    }
    printf("%g joules\n", gput_energy_recording_total(recording, NULL));
    gput_energy_recording_destroy(recording);
    return GPUT_OK;
}

int main(int argc, char **argv)
{
    struct gput_error error = {0};
    int code = argc > 1 ? print_recording(argv[1], &error) : track(&error);
    if (code == GPUT_OK && argc == 1)
        code = print_analysis(&error);
    if (code != GPUT_OK)
        fprintf(stderr, "analyze-blocks: %s\n", error.message);
    return code == GPUT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
