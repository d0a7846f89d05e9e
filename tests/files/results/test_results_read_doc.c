#include "files/results/results_read_doc.h"

#include "views/output/results_doc.h"

#include "testing.h"

#include <math.h>
#include <string.h>

/* Every figure another one, as far as figures go. */
static void fill(struct gput_results *results)
{
    *results = (struct gput_results){.static_data = {.ram_unit = GPUT_RAM_UNIT_MEGABYTES,
                                         .gpu_ram_unit = GPUT_RAM_UNIT_GIGABYTES,
                                         .time_unit = GPUT_TIME_UNIT_MINUTES,
                                         .ram_system_capacity_bytes = 64e9,
                                         .gpu_ram_system_capacity_bytes = 16e9,
                                         .system_core_count = 12,
                                         .n_expected_cores = 8,
                                         .system_gpu_count = 1,
                                         .n_expected_gpus = 1,
                                         .allowed_ram_bytes = 8e9,
                                         .allowed_cores = 2.5},
        .elapsed_seconds = 90,
        .peaks = {.combined = {1e9, 2e9, "seen; bounded"}},
        .accounting = {.kernel_cpu_seconds = 30.5,
            .processes_seen = 7,
            .captured_percent = 98.5,
            .read_bytes = 123456,
            .minor_page_faults = NAN},
        .energy = {.unit = GPUT_ENERGY_UNIT_WATT_HOURS, .combined = 7200},
        .limit = {.kind_name = "ram", .value = 5e9, .at_seconds = 3, .enforced = true},
        .n_later_limits = 1,
        .later_limits = {{.kind_name = "seconds", .value = 90, .at_seconds = 90.5}},
        .n_sources = 1,
        .sources = {{"ram", GPUT_SOURCE_SAMPLED, "statm"}}};
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        results->max[i] = 1000 * (i + 1);
        results->mean[i] = i % 3 ? 10 * i : NAN;
    }
    assert_int_equal(results_reserve_gpus(results, 1), GPUT_OK);
    results->n_gpus = 1;
    results->gpus[0] = (struct gput_gpu){.uuid = "GPU-1",
        .name = "A card",
        .selected = true,
        .ram_capacity_bytes = 16e9,
        .max_ram_bytes = 3e9,
        .max_power_watts = NAN};
}

static char *json_of(const struct gput_results *results, struct doc **doc)
{
    struct str text = {0};
    *doc = results_doc(results, false, NULL);
    assert_non_null(*doc);
    doc_write_json(*doc, 1, &text);
    return str_steal(&text);
}

static void a_report_is_the_same_when_it_was_read(void **state)
{
    (void)state;
    struct gput_results results, read = {0};
    struct doc *doc, *again;
    fill(&results);
    char *written = json_of(&results, &doc);
    assert_true(results_doc_is_report(doc));
    assert_int_equal(results_read_doc(doc, &read, NULL), GPUT_OK);
    char *rewritten = json_of(&read, &again);
    assert_string_equal(rewritten, written);
    free(written);
    free(rewritten);
    doc_destroy(doc);
    doc_destroy(again);
    results_finish(&results);
    results_finish(&read);
}

static void what_is_not_there_is_not_known(void **state)
{
    (void)state;
    static const char text[] = "{\"max_ram\": {\"unit\": \"gigabytes\", \"system\": null}, "
                               "\"compute_time\": {\"unit\": \"hours\", \"time\": 0.5}}";
    struct gput_results read = {0};
    struct doc *doc;
    assert_int_equal(doc_read_json(text, sizeof text - 1, "x", &doc, NULL), GPUT_OK);
    assert_int_equal(results_read_doc(doc, &read, NULL), GPUT_OK);
    assert_true(read.elapsed_seconds == 1800);
    assert_true(isnan(read.max[GPUT_SYSTEM_RAM]) && isnan(read.max[GPUT_MAIN_RAM]));
    assert_true(isnan(read.accounting.kernel_cpu_seconds) && isnan(read.energy.combined));
    assert_true(isnan(read.static_data.allowed_ram_bytes));
    doc_destroy(doc);
}

static void other_documents_are_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"[]", "{}", "{\"max_ram\": 1, \"compute_time\": {}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct doc *doc;
        assert_int_equal(doc_read_json(texts[i], strlen(texts[i]), "x", &doc, NULL), GPUT_OK);
        assert_false(results_doc_is_report(doc));
        doc_destroy(doc);
    }
    static const char unit[] = "{\"max_ram\": {\"unit\": \"gallons\"}, \"compute_time\": {}}";
    struct gput_results read = {0};
    struct doc *doc;
    assert_int_equal(doc_read_json(unit, sizeof unit - 1, "x", &doc, NULL), GPUT_OK);
    assert_true(results_doc_is_report(doc));
    assert_int_equal(results_read_doc(doc, &read, NULL), GPUT_ERROR_INVALID);
    doc_destroy(doc);
}

static void a_report_with_more_sources_than_there_are_is_invalid(void **state)
{
    (void)state;
    struct str text = {0};
    str_append(&text,
        "{\"max_ram\": {\"unit\": \"bytes\"}, \"compute_time\": {\"unit\": \"hours\"}, "
        "\"max_gpu_ram\": {\"unit\": \"bytes\"}, \"sources\": {");
    for (int i = 0; i <= GPUT_MAX_SOURCES; i++)
        str_printf(&text, "%s\"s%d\": {\"state\": \"exact\", \"reason\": \"\"}", i ? ", " : "", i);
    str_append(&text, "}}");
    struct gput_results read = {0};
    struct gput_error error;
    struct doc *doc;
    assert_int_equal(doc_read_json(str_text(&text), text.length, "x", &doc, NULL), GPUT_OK);
    assert_int_equal(results_read_doc(doc, &read, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "\"sources\""));
    doc_destroy(doc);
    str_finish(&text);
    results_finish(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_the_same_when_it_was_read),
        cmocka_unit_test(what_is_not_there_is_not_known),
        cmocka_unit_test(other_documents_are_none),
        cmocka_unit_test(a_report_with_more_sources_than_there_are_is_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
