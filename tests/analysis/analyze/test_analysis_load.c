#include "analysis/analyze/analysis_load.h"
#include "base/file.h"
#include "testing.h"
#include "views/output/analysis_render.h"

#include <math.h>
#include <string.h>

/* What the pickles next to it hold, as the Python package reads them. */
#define RESULTS "pickles/results.json"

static void assert_is(
    struct gput_statistics figures, double min, double max, double mean, double std)
{
    assert_true(figures.min == min && figures.max == max);
    assert_true(figures.mean == mean && figures.std == std);
}

/* What make.py next to the fixture puts into pickles. */
static void assert_results(const struct gput_analysis *analysis)
{
    assert_int_equal(gput_analysis_measurement_count(analysis), 3);
    assert_string_equal(gput_analysis_measurement_name(analysis, 1), "main_n_threads");
    for (int i = 0; i < 3; i++) {
        assert_is(*gput_analysis_overall(analysis, (size_t)i), 10 * i + .5, 10 * i + 1.5,
            10 * i + 2.5, 10 * i + 3.5);
    }
    assert_int_equal(gput_analysis_block_count(analysis), 1);
    const struct gput_code_block *block = gput_analysis_block(analysis, 0);
    assert_string_equal(block->name, "train:\xc3\xa9");
    assert_string_equal(gput_code_block_name(block), block->name);
    assert_int_equal(gput_code_block_timepoints(block), 5);
    assert_int_equal(gput_code_block_calls(block), block->num_calls);
    assert_ptr_equal(gput_code_block_usage(block, 2), &block->resource_usage[2]);
    assert_null(gput_code_block_usage(block, 3));
    assert_true(isnan(gput_code_block_energy(block, GPUT_ENERGY_FIGURE_COUNT)));
    assert_true(isnan(gput_code_block_exact_figure(block, GPUT_EXACT_FIGURE_COUNT)));
    assert_null(gput_analysis_overall(analysis, 3));
    assert_int_equal(block->num_timepoints, 5);
    assert_int_equal(block->num_calls, 3);
    assert_int_equal(block->num_non_empty_calls, 2);
    assert_is(block->compute_time, 1, 3, 2, .5);
    assert_true(block->compute_time_total == 6);
    assert_is(block->resource_usage[2], 40.5, 42.5, 44.5, 46.5);

    const struct doc *cell = analysis->static_data->first;
    assert_string_equal(cell->key, "ram_unit");
    assert_string_equal(cell->string, "gigabytes");
    assert_true(cell->next->number == 67.25);
    assert_int_equal(cell->next->next->kind, DOC_INT);
    assert_int_equal(cell->next->next->integer, 12);
}

static struct gput_analysis *load_fixture(void)
{
    struct gput_analysis *analysis;
    struct gput_error error;
    if (gput_analysis_load(fixture(RESULTS), &analysis, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return analysis;
}

/* Writes an analysis and reads it back. */
static struct gput_analysis *round_trip(const struct gput_analysis *analysis)
{
    char *bytes;
    size_t length;
    struct gput_error error;
    struct gput_analysis *again;
    assert_int_equal(
        gput_analysis_render(analysis, GPUT_FORMAT_JSON, &bytes, &length, NULL), GPUT_OK);
    if (analysis_read(bytes, length, "again", &again, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    free(bytes);
    return again;
}

TEST(our_json_is_read)
{
    struct gput_analysis *analysis = load_fixture();
    struct gput_analysis *json = round_trip(analysis);
    assert_results(analysis);
    assert_results(json);
    gput_analysis_destroy(json);
    gput_analysis_destroy(analysis);
}

TEST(missing_figures_stay_missing)
{
    struct gput_analysis *analysis = load_fixture();
    analysis->overall[1].max = NAN;
    analysis->blocks[0].compute_time.min = NAN;
    struct gput_analysis *json = round_trip(analysis);
    assert_true(isnan(json->overall[1].max));
    assert_true(isnan(json->blocks[0].compute_time.min));
    gput_analysis_destroy(json);
    gput_analysis_destroy(analysis);
}

TEST(exact_figures_go_into_json_and_back)
{
    struct gput_analysis *analysis = load_fixture();
    analysis->exact = 63;
    analysis->blocks[0].exact[GPUT_EXACT_PROCESS_CPU_TIME] = 0.0625;
    analysis->blocks[0].exact[GPUT_EXACT_PEAK_RSS_RISE] = 4096;
    struct gput_analysis *json = round_trip(analysis);
    assert_int_equal(json->exact, 63);
    assert_true(json->blocks[0].exact[GPUT_EXACT_PROCESS_CPU_TIME] == 0.0625);
    assert_true(json->blocks[0].exact[GPUT_EXACT_PEAK_RSS_RISE] == 4096);
    assert_true(isnan(json->blocks[0].exact[GPUT_EXACT_PACKAGE_ENERGY]));
    json->blocks[0].exact[GPUT_EXACT_MINOR_FAULTS] = 1e300;
    json->blocks[0].exact[GPUT_EXACT_MAJOR_FAULTS] = 0.5;
    struct gput_analysis *odd = round_trip(json);
    assert_true(odd->blocks[0].exact[GPUT_EXACT_MINOR_FAULTS] == 1e300);
    assert_true(odd->blocks[0].exact[GPUT_EXACT_MAJOR_FAULTS] == 0.5);
    gput_analysis_destroy(odd);
    gput_analysis_destroy(json);
    gput_analysis_destroy(analysis);
}

TEST(the_largest_figure_of_calls_goes_into_json_and_back)
{
    struct gput_analysis *analysis = load_fixture();
    analysis->exact = 1u << GPUT_EXACT_BLOCK_PEAK_RSS | 1u << GPUT_EXACT_CYCLES;
    analysis->blocks[0].exact[GPUT_EXACT_BLOCK_PEAK_RSS] = 8192;
    struct gput_analysis *json = round_trip(analysis);
    assert_int_equal(json->exact, analysis->exact);
    assert_true(json->blocks[0].exact[GPUT_EXACT_BLOCK_PEAK_RSS] == 8192);
    assert_true(isnan(json->blocks[0].exact[GPUT_EXACT_CYCLES]));
    gput_analysis_destroy(json);
    gput_analysis_destroy(analysis);
}

TEST(energy_goes_into_json_and_back)
{
    struct gput_analysis *analysis = load_fixture();
    assert_false(analysis->has_energy);
    analysis->has_energy = true;
    analysis->energy[GPUT_ENERGY_PACKAGE] = 12.5;
    analysis->blocks[0].energy[GPUT_ENERGY_COMBINED] = 0.25;
    struct gput_analysis *json = round_trip(analysis);
    assert_results(json);
    assert_true(gput_analysis_energy(json, GPUT_ENERGY_PACKAGE) == 12.5);
    assert_true(isnan(json->energy[GPUT_ENERGY_DRAM]));
    assert_true(json->blocks[0].energy[GPUT_ENERGY_COMBINED] == 0.25);
    assert_int_equal(json->exact, 0);
    assert_true(isnan(json->blocks[0].energy[GPUT_ENERGY_TOTAL]));
    gput_analysis_destroy(json);
    analysis->energy[GPUT_ENERGY_PACKAGE] = NAN; /* lost half-way: the blocks may have theirs */
    struct gput_analysis *lost = round_trip(analysis);
    assert_true(lost->has_energy);
    assert_true(lost->blocks[0].energy[GPUT_ENERGY_COMBINED] == 0.25);
    gput_analysis_destroy(lost);
    gput_analysis_destroy(analysis);
}

static void assert_refuses(const char *text, const char *message)
{
    struct gput_analysis *analysis;
    struct gput_error error = {0};
    assert_int_equal(analysis_read(text, strlen(text), "x", &analysis, &error), GPUT_ERROR_FORMAT);
    assert_null(analysis);
    assert_non_null(strstr(error.message, message));
}

TEST(other_files_are_refused)
{
    assert_refuses("", "File x holds neither results in JSON nor a pickle of protocol 2 to 5.");
    assert_refuses("Overall:\n", "neither results in JSON nor a pickle");
    assert_refuses("{}", "File x does not hold results of an analysis: it has no \"overall\".");
    assert_refuses("{\"overall\": {\"main_ram\": 1}}", "it has no \"static_data\"");
    assert_refuses("{\"overall\": {\"a\": {}}, \"static_data\": {}, \"code_block_results\": [1]}",
        "a code block has no name");
    assert_refuses("{\"overall\": {\"a\": {}}, \"static_data\": {}, \"code_block_results\": "
                   "[{\"name\": \"b\", \"compute_time\": {}, \"resource_usage\": {}}]}",
        "the counts of a code block are missing");
    assert_refuses("{\"overall\": ", "x");
    assert_refuses("\x80\x04N.", "File x is a pickle, which the Python package reads");
}

/* Fails unless a file of that content is refused with a message that has `message` in it. */
static void assert_content_is_refused(const struct str *content, const char *message)
{
    struct gput_analysis *analysis;
    struct gput_error error = {0};
    assert_int_equal(
        analysis_read(content->data, content->length, "x", &analysis, &error), GPUT_ERROR_FORMAT);
    assert_null(analysis);
    if (!strstr(error.message, message))
        fail_msg("\"%s\" does not say \"%s\"", error.message, message);
}

static struct gput_analysis *analysis_of(size_t n_measurements, size_t n_blocks)
{
    char names[ANALYSIS_MEASUREMENTS_MAX + 1][32];
    const char *list[ANALYSIS_MEASUREMENTS_MAX + 1];
    for (size_t i = 0; i < n_measurements; i++) {
        snprintf(names[i], sizeof names[i], "m%zu", i);
        list[i] = names[i];
    }
    struct gput_analysis *analysis = analysis_create(list, n_measurements);
    analysis->blocks = analysis_create_blocks(analysis, n_blocks, false);
    analysis->n_blocks = n_blocks;
    for (size_t i = 0; i < n_blocks; i++)
        assert_int_equal(analysis_name_block(&analysis->blocks[i], "b", NULL), GPUT_OK);
    return analysis;
}

TEST(many_measurements_or_blocks_are_read)
{
    static const size_t sizes[][2] = {{ANALYSIS_MEASUREMENTS_MAX, 200}, {1, 20000}};
    for (size_t i = 0; i < 2; i++) {
        struct gput_analysis *analysis = analysis_of(sizes[i][0], sizes[i][1]);
        struct gput_analysis *json = round_trip(analysis);
        assert_int_equal(gput_analysis_measurement_count(json), sizes[i][0]);
        assert_null(gput_analysis_measurement_name(json, sizes[i][0]));
        assert_int_equal(gput_analysis_block_count(json), sizes[i][1]);
        gput_analysis_destroy(json);
        gput_analysis_destroy(analysis);
    }
}

TEST(too_many_measurements_are_refused)
{
    struct gput_analysis *analysis = analysis_of(ANALYSIS_MEASUREMENTS_MAX + 1, 0);
    struct str content = {0};
    char *bytes;
    size_t length;
    assert_int_equal(
        gput_analysis_render(analysis, GPUT_FORMAT_JSON, &bytes, &length, NULL), GPUT_OK);
    str_append_bytes(&content, bytes, length);
    assert_content_is_refused(&content, "it has too many measurements");
    str_finish(&content);
    free(bytes);
    gput_analysis_destroy(analysis);
}

RUN_TESTS(NULL, NULL)
