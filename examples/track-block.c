/*
 * Tracks a block of its own code with the library and prints the report:
 *
 *     cc track-block.c $(pkg-config --cflags --libs gputracker) -o track-block
 */
#include <gputracker/gputracker.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The block: some memory, some computing. */
static double work(void)
{
    size_t count = 10 * 1000 * 1000;
    double *values = malloc(count * sizeof *values);
    if (!values)
        return 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        values[i] = (double)i;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < count; i++)
            sum += values[i] / (round + 1);
    }
    free(values);
    return sum;
}

static int print_report(struct gput_session *session, struct gput_error *error)
{
    struct gput_results *results;
    char *text;
    int code = gput_session_results(session, &results, error);
    if (code == GPUT_OK)
        code = gput_results_render(results, NULL, GPUT_FORMAT_TEXT, &text, NULL, error);
    if (code == GPUT_OK) {
        fputs(text, stdout);
        free(text);
    }
    gput_results_destroy(results);
    return code;
}

int main(void)
{
    struct gput_error error = {0};
    struct gput_session_options options = gput_session_options_default();
    options.sleep_time_seconds = 0.05;
    options.ram_unit = GPUT_RAM_UNIT_MEGABYTES;
    options.time_unit = GPUT_TIME_UNIT_SECONDS;

    struct gput_session *session = NULL;
    int code = gput_session_create(&options, &session, &error);
    if (code == GPUT_OK)
        code = gput_session_track_self(session, &error);
    if (code == GPUT_OK) {
        printf("The sum is %g.\n", work());
        code = gput_session_stop(session, &error);
    }
    if (code == GPUT_OK)
        code = print_report(session, &error);
    if (code != GPUT_OK)
        fprintf(stderr, "track-block: %s\n", error.message);
    gput_session_destroy(session);
    return code == GPUT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
