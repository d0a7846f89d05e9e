#include "analysis/analyze/analysis_load.h"
#include "base/file.h"
#include "testing.h"
#include "views/output/analysis_render.h"

#include <dirent.h>
#include <math.h>
#include <string.h>

#define FOLDER "pickles/"
#define HOSTILE "pickles/hostile/"

static void assert_is(
    struct gput_statistics figures, double min, double max, double mean, double std)
{
    assert_true(figures.min == min && figures.max == max);
    assert_true(figures.mean == mean && figures.std == std);
}

/* What make.py next to the fixtures puts into each of them. */
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
    assert_null(gput_code_block_usage_percentiles(block, 0)); /* without details */
    assert_null(gput_code_block_part(block, gput_code_block_part_count(block)));
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

static struct gput_analysis *load_fixture(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, FOLDER "%s", name);
    struct gput_analysis *analysis;
    struct gput_error error;
    if (gput_analysis_load(fixture(path), &analysis, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return analysis;
}

static void pickles_of_every_pandas_and_protocol_are_read(void **state)
{
    (void)state;
    DIR *listing = opendir(fixture(FOLDER));
    assert_non_null(listing);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (!strstr(entry->d_name, ".pkl"))
            continue;
        struct gput_analysis *analysis = load_fixture(entry->d_name);
        assert_results(analysis);
        gput_analysis_destroy(analysis);
        count++;
    }
    closedir(listing);
    assert_true(count >= 16);
}

/* Writes an analysis and reads it back. */
static struct gput_analysis *round_trip(
    const struct gput_analysis *analysis, enum gput_format format)
{
    char *bytes;
    size_t length;
    struct gput_error error;
    struct gput_analysis *again;
    assert_int_equal(gput_analysis_render(analysis, format, &bytes, &length, NULL), GPUT_OK);
    if (analysis_read(bytes, length, "again", &again, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    free(bytes);
    return again;
}

static void our_json_and_our_pickles_are_read(void **state)
{
    (void)state;
    struct gput_analysis *analysis = load_fixture("pandas22-5.pkl");
    struct gput_analysis *json = round_trip(analysis, GPUT_FORMAT_JSON);
    struct gput_analysis *pickle = round_trip(json, GPUT_FORMAT_PICKLE);
    assert_results(json);
    assert_results(pickle);
    gput_analysis_destroy(pickle);
    gput_analysis_destroy(json);
    gput_analysis_destroy(analysis);
}

static void missing_figures_stay_missing(void **state)
{
    (void)state;
    struct gput_analysis *analysis = load_fixture("pandas22-5.pkl");
    analysis->overall[1].max = NAN;
    analysis->blocks[0].compute_time.min = NAN;
    struct gput_analysis *json = round_trip(analysis, GPUT_FORMAT_JSON);
    struct gput_analysis *pickle = round_trip(json, GPUT_FORMAT_PICKLE);
    assert_true(isnan(pickle->overall[1].max));
    assert_true(isnan(pickle->blocks[0].compute_time.min));
    gput_analysis_destroy(pickle);
    gput_analysis_destroy(json);
    gput_analysis_destroy(analysis);
}

static void exact_figures_go_into_json_and_back(void **state)
{
    (void)state;
    struct gput_analysis *analysis = load_fixture("pandas22-5.pkl");
    analysis->exact = 63;
    analysis->blocks[0].exact[GPUT_EXACT_PROCESS_CPU_TIME] = 0.0625;
    analysis->blocks[0].exact[GPUT_EXACT_PEAK_RSS_RISE] = 4096;
    struct gput_analysis *json = round_trip(analysis, GPUT_FORMAT_JSON);
    assert_int_equal(json->exact, 63);
    assert_true(json->blocks[0].exact[GPUT_EXACT_PROCESS_CPU_TIME] == 0.0625);
    assert_true(json->blocks[0].exact[GPUT_EXACT_PEAK_RSS_RISE] == 4096);
    assert_true(isnan(json->blocks[0].exact[GPUT_EXACT_PACKAGE_ENERGY]));
    struct gput_analysis *pickle = round_trip(analysis, GPUT_FORMAT_PICKLE);
    assert_results(pickle);
    assert_int_equal(pickle->exact, 63);
    assert_memory_equal(
        pickle->blocks[0].exact, json->blocks[0].exact, sizeof json->blocks[0].exact);
    gput_analysis_destroy(pickle);
    json->blocks[0].exact[GPUT_EXACT_MINOR_FAULTS] = 1e300;
    json->blocks[0].exact[GPUT_EXACT_MAJOR_FAULTS] = 0.5;
    struct gput_analysis *odd = round_trip(json, GPUT_FORMAT_JSON);
    assert_true(odd->blocks[0].exact[GPUT_EXACT_MINOR_FAULTS] == 1e300);
    assert_true(odd->blocks[0].exact[GPUT_EXACT_MAJOR_FAULTS] == 0.5);
    gput_analysis_destroy(odd);
    gput_analysis_destroy(json);
    gput_analysis_destroy(analysis);
}

static void the_largest_figure_of_calls_goes_into_json_and_back(void **state)
{
    (void)state;
    struct gput_analysis *analysis = load_fixture("pandas22-5.pkl");
    analysis->exact = 1u << GPUT_EXACT_BLOCK_PEAK_RSS | 1u << GPUT_EXACT_CYCLES;
    analysis->blocks[0].exact[GPUT_EXACT_BLOCK_PEAK_RSS] = 8192;
    struct gput_analysis *json = round_trip(analysis, GPUT_FORMAT_JSON);
    struct gput_analysis *pickle = round_trip(analysis, GPUT_FORMAT_PICKLE);
    assert_int_equal(json->exact, analysis->exact);
    assert_int_equal(pickle->exact, analysis->exact);
    assert_true(json->blocks[0].exact[GPUT_EXACT_BLOCK_PEAK_RSS] == 8192);
    assert_true(pickle->blocks[0].exact[GPUT_EXACT_BLOCK_PEAK_RSS] == 8192);
    assert_true(isnan(json->blocks[0].exact[GPUT_EXACT_CYCLES]));
    gput_analysis_destroy(pickle);
    gput_analysis_destroy(json);
    gput_analysis_destroy(analysis);
}

static void energy_goes_into_pickles_and_back(void **state)
{
    (void)state;
    struct gput_analysis *analysis = load_fixture("pandas22-5.pkl");
    assert_false(analysis->has_energy);
    analysis->has_energy = true;
    analysis->energy[GPUT_ENERGY_PACKAGE] = 12.5;
    analysis->blocks[0].energy[GPUT_ENERGY_COMBINED] = 0.25;
    struct gput_analysis *pickle = round_trip(analysis, GPUT_FORMAT_PICKLE);
    assert_results(pickle);
    assert_true(gput_analysis_energy(pickle, GPUT_ENERGY_PACKAGE) == 12.5);
    assert_true(isnan(pickle->energy[GPUT_ENERGY_DRAM]));
    assert_true(pickle->blocks[0].energy[GPUT_ENERGY_COMBINED] == 0.25);
    assert_int_equal(pickle->exact, 0);
    assert_true(isnan(pickle->blocks[0].energy[GPUT_ENERGY_TOTAL]));
    gput_analysis_destroy(pickle);
    analysis->energy[GPUT_ENERGY_PACKAGE] = NAN; /* lost half-way: the blocks may have theirs */
    for (int format = 0; format < 2; format++) {
        struct gput_analysis *lost =
            round_trip(analysis, format ? GPUT_FORMAT_PICKLE : GPUT_FORMAT_JSON);
        assert_true(lost->has_energy);
        assert_true(lost->blocks[0].energy[GPUT_ENERGY_COMBINED] == 0.25);
        gput_analysis_destroy(lost);
    }
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

static void other_files_are_refused(void **state)
{
    (void)state;
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
    assert_refuses("\x80\x04N.", "it is not a SubTrackingResults object");
    assert_refuses("\x80\x04\x8c\x17gpu_tracker.sub_tracker\x8c\x12SubTrackingResults\x93)\x81.",
        "its \"overall\" is not in a form that pandas 1.5 to 3 writes");
}

/* Whatever bytes are cut off or changed, it is a refusal or results, never a crash. */
static void damaged_pickles_do_no_harm(void **state)
{
    (void)state;
    static const char *const names[] = {
        "pandas15-2.pkl", "pandas20-sqlite-3.pkl", "pandas31-5.pkl", "pandas31-arrow-4.pkl"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        char path[512];
        struct str content = {0};
        snprintf(path, sizeof path, FOLDER "%s", names[n]);
        assert_int_equal(file_read(fixture(path), &content, NULL), GPUT_OK);
        for (size_t i = 0; i < content.length; i++) {
            char kept = content.data[i];
            struct gput_analysis *analysis;
            for (int change = 1; change < 256; change = change * 3 + 1) {
                content.data[i] = (char)(kept ^ change);
                if (analysis_read(content.data, content.length, "x", &analysis, NULL) == GPUT_OK)
                    gput_analysis_destroy(analysis);
            }
            content.data[i] = kept;
            assert_int_equal(
                analysis_read(content.data, i, "x", &analysis, NULL), GPUT_ERROR_FORMAT);
        }
        str_finish(&content);
    }
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

/* Arrays with fewer items than their shape or the frame's names promise, frames of a wrong shape.
 */
static void pickles_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *message;
    } cases[] = {
        {"no-rows-of-three.pkl", "its \"static_data\" is not in a form"},
        {"three-rows-of-none.pkl", "its \"static_data\" is not in a form"},
        {"long-arrow-name.pkl", "its \"static_data\" is not in a form"},
        {"table-without-columns-as-series.pkl", "it has a table where a series belongs"},
        {"series-as-table.pkl", "it has a series where a table belongs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[512];
        struct str content = {0};
        snprintf(path, sizeof path, HOSTILE "%s", cases[i].name);
        assert_int_equal(file_read(fixture(path), &content, NULL), GPUT_OK);
        assert_content_is_refused(&content, cases[i].message);
        str_finish(&content);
    }
}

/* Two bytes a reference: what they lead to is not read as often as it is named. */
static void many_references_to_one_object_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"repeated-code-block.part", "repeated-frame-block.part"};
    static const char reference[] = "h\x07";
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        char path[512];
        struct str part = {0}, content = {0};
        struct gput_analysis *analysis;
        snprintf(path, sizeof path, HOSTILE "%s", names[n]);
        assert_int_equal(file_read(fixture(path), &part, NULL), GPUT_OK);
        assert_int_equal(analysis_read(part.data, part.length, "x", &analysis, NULL), GPUT_OK);
        gput_analysis_destroy(analysis);

        const char *at = memmem(part.data, part.length, reference, 2);
        size_t before = (size_t)(at - part.data);
        str_append_bytes(&content, part.data, before);
        for (int i = 0; i < 200000; i++)
            str_append(&content, reference);
        str_append_bytes(&content, at, part.length - before);
        assert_content_is_refused(&content, "more values than a file of its size can hold");
        str_finish(&content);
        str_finish(&part);
    }
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

static void many_measurements_or_blocks_are_read(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{ANALYSIS_MEASUREMENTS_MAX, 200}, {1, 20000}};
    for (size_t i = 0; i < 2; i++) {
        struct gput_analysis *analysis = analysis_of(sizes[i][0], sizes[i][1]);
        struct gput_analysis *pickle = round_trip(analysis, GPUT_FORMAT_PICKLE);
        assert_int_equal(gput_analysis_measurement_count(pickle), sizes[i][0]);
        assert_null(gput_analysis_measurement_name(pickle, sizes[i][0]));
        assert_int_equal(gput_analysis_block_count(pickle), sizes[i][1]);
        gput_analysis_destroy(pickle);
        gput_analysis_destroy(analysis);
    }
}

static void too_many_measurements_are_refused(void **state)
{
    (void)state;
    struct gput_analysis *analysis = analysis_of(ANALYSIS_MEASUREMENTS_MAX + 1, 0);
    static const enum gput_format formats[] = {GPUT_FORMAT_JSON, GPUT_FORMAT_PICKLE};
    for (size_t i = 0; i < 2; i++) {
        struct str content = {0};
        char *bytes;
        size_t length;
        assert_int_equal(
            gput_analysis_render(analysis, formats[i], &bytes, &length, NULL), GPUT_OK);
        str_append_bytes(&content, bytes, length);
        assert_content_is_refused(&content, "it has too many measurements");
        str_finish(&content);
        free(bytes);
    }
    gput_analysis_destroy(analysis);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pickles_of_every_pandas_and_protocol_are_read),
        cmocka_unit_test(our_json_and_our_pickles_are_read),
        cmocka_unit_test(missing_figures_stay_missing),
        cmocka_unit_test(the_largest_figure_of_calls_goes_into_json_and_back),
        cmocka_unit_test(energy_goes_into_pickles_and_back),
        cmocka_unit_test(exact_figures_go_into_json_and_back),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(damaged_pickles_do_no_harm),
        cmocka_unit_test(pickles_that_do_not_fit_together_are_refused),
        cmocka_unit_test(many_references_to_one_object_are_refused),
        cmocka_unit_test(many_measurements_or_blocks_are_read),
        cmocka_unit_test(too_many_measurements_are_refused),
    };
    return cmocka_run_group_tests_name("analysis/analyze/analysis_load", tests, NULL, NULL);
}
