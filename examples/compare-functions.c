/*
 * Compares two functions of this program: which needs more time, CPU time and RAM?
 *
 *     compare-functions [RUNS]
 *
 * A benchmark says which function runs next, in random order within a block. Each run is tracked by
 * a session of its own.
 */
#include <gputracker/gputracker.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void small(void)
{
    volatile double sum = 0;
    for (int i = 0; i < 1000000; i++)
        sum += sqrt(i);
}

static void large(void)
{
    enum { BYTES = 20 << 20 };
    char *memory = malloc(BYTES);
    if (memory)
        memset(memory, 1, BYTES);
    small();
    free(memory);
}

/* Tracks one call of a function, and adds it to the benchmark. */
static int run(struct gput_bench *bench, void (*function)(void), struct gput_error *error)
{
    struct gput_session_options options = gput_session_options_default();
    struct gput_session *session;
    struct gput_results *results = NULL;
    options.resource_usage_file = "";
    options.sleep_time_seconds = 0.1;
    int code = gput_session_create(&options, &session, error);
    if (code == GPUT_OK)
        code = gput_session_track_self(session, error);
    if (code == GPUT_OK) {
        function();
        code = gput_session_stop(session, error);
    }
    if (code == GPUT_OK)
        code = gput_session_results(session, &results, error);
    if (code == GPUT_OK)
        code = gput_bench_add_run(bench, results, NAN, NAN, error);
    gput_results_destroy(results);
    gput_session_destroy(session);
    return code;
}

int main(int argc, char **argv)
{
    static void (*const functions[])(void) = {small, large};
    static const char *const names[] = {"small", "large"};
    struct gput_bench_options options = gput_bench_options_default();
    struct gput_bench *bench = NULL;
    struct gput_error error;
    char *text = NULL;
    options.n_runs = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    int code = gput_bench_create(&options, &bench, &error);
    for (size_t i = 0; i < 2 && code == GPUT_OK; i++)
        code = gput_bench_add_variant(bench, names[i], &error);
    size_t variant;
    while (code == GPUT_OK && gput_bench_next(bench, &variant)) {
        printf("%s of %zu\n", gput_bench_variant_name(bench, variant),
            gput_bench_variant_count(bench));
        code = run(bench, functions[variant], &error);
    }
    if (code == GPUT_OK)
        code = gput_bench_render(bench, NULL, GPUT_FORMAT_TEXT, &text, NULL, &error);
    if (code == GPUT_OK)
        fputs(text, stdout);
    else
        fprintf(stderr, "%s\n", error.message);
    free(text);
    gput_bench_destroy(bench);
    return code == GPUT_OK ? 0 : 1;
}
