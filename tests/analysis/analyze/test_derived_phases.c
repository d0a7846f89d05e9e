#include "files/marks/sub_tracking_file.h"
#include "testing.h"

#include <gputracker/sub_tracking.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES "derived-phases.csv"
#define PHASES "derived-phases-marks.csv"

/* Samples a second apart: RAM in GB and percent of a core; an empty cell where the text is NULL. */
static void write_samples(size_t count, size_t change, const char *missing)
{
    FILE *file = fopen(SAMPLES, "w");
    assert_non_null(file);
    fputs("ram_unit,gpu_ram_unit,time_unit\ngigabytes,gigabytes,hours\n\n"
          "combined_ram,cpu_combined_sum_utilization_percent,timestamp\n",
        file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%g,%s,%zu\n", i < change ? 1.0 : 2.5,
            missing ? missing
            : i % 2 ? "99"
                    : "98",
            1000 + i);
    fclose(file);
}

static void check_phases(const char *expected)
{
    char text[1024];
    FILE *file = fopen(PHASES, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
    unlink(PHASES);
    unlink(SAMPLES);
}

#define HEAD "process_id,code_block_name,position,timestamp\n"

TEST(a_change_ends_a_phase_and_begins_the_next)
{
    size_t n_phases;
    write_samples(400, 100, "");
    assert_int_equal(gput_sub_tracking_derive(PHASES, SAMPLES, 7, &n_phases, NULL), GPUT_OK);
    assert_int_equal(n_phases, 2);
    check_phases(HEAD "7,derived:phase 1,0,1000.0\n7,derived:phase 1,1,1100.0\n"
                      "7,derived:phase 2,0,1100.0\n7,derived:phase 2,1,1399.0\n");
}

TEST(many_samples_are_compared_by_their_means)
{
    size_t n_phases;
    write_samples(100000, 64000, NULL);
    assert_int_equal(gput_sub_tracking_derive(PHASES, SAMPLES, 7, &n_phases, NULL), GPUT_OK);
    assert_int_equal(n_phases, 2);
    check_phases(HEAD "7,derived:phase 1,0,1000.0\n7,derived:phase 1,1,65000.0\n"
                      "7,derived:phase 2,0,65000.0\n7,derived:phase 2,1,100999.0\n");
}

TEST(without_a_change_there_is_no_file)
{
    size_t n_phases;
    struct gput_error error;
    for (size_t count = 0; count < 1000; count += 333) {
        write_samples(count, count, NULL);
        assert_int_equal(gput_sub_tracking_derive(PHASES, SAMPLES, 7, &n_phases, NULL), GPUT_OK);
        assert_int_equal(n_phases, 0);
        assert_int_not_equal(access(PHASES, F_OK), 0);
    }
    unlink(SAMPLES);
    assert_int_equal(
        gput_sub_tracking_derive(PHASES, SAMPLES, 7, &n_phases, &error), GPUT_ERROR_NOT_FOUND);
}

TEST_FILE
{
    char folder[] = "/tmp/gput-derived-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int failed = run_listed_tests(NULL, NULL);
    rmdir(folder);
    return failed;
}
