#include "files/results/results_read_json.h"

#include "views/output/results_doc.h"

#include "testing.h"

#include <math.h>
#include <stdlib.h>
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

static char *json_of(const struct gput_results *results)
{
    struct str text = {0};
    struct doc *doc = results_doc(results, false, NULL);
    assert_non_null(doc);
    doc_write_json(doc, 1, &text);
    doc_destroy(doc);
    return str_steal(&text);
}

/* Reads a text that ends in memory where its padding does. */
static int read_padded(const char *text, size_t length, bool is_identity_only,
    struct gput_results *results, struct gput_error *error)
{
    struct results_line_table table;
    char *padded = calloc(1, length + JSON_PADDING);
    assert_non_null(padded);
    memcpy(padded, text, length);
    memset(results, 0, sizeof *results);
    assert_int_equal(results_line_table_init(&table, NULL), GPUT_OK);
    int code = results_read_json(&table, padded, length, is_identity_only, results, error);
    results_line_table_finish(&table);
    free(padded);
    return code;
}

static int read_text(const char *text, struct gput_results *results, struct gput_error *error)
{
    return read_padded(text, strlen(text), false, results, error);
}

TEST(a_report_is_the_same_when_it_was_read)
{
    struct gput_results results, read;
    fill(&results);
    char *written = json_of(&results);
    assert_int_equal(read_text(written, &read, NULL), GPUT_OK);
    char *rewritten = json_of(&read);
    assert_string_equal(rewritten, written);
    free(written);
    free(rewritten);
    results_finish(&results);
    results_finish(&read);
}

TEST(the_identity_is_known_from_the_beginning_of_a_report)
{
    struct gput_results results, read;
    fill(&results);
    strcpy(results.identity.host, "n1");
    strcpy(results.identity.session_id, "s1");
    strcpy(results.identity.tracking_file, "x.csv");
    char *written = json_of(&results);
    size_t length = (size_t)(strstr(written, "\"allowed\"") - written);
    assert_int_equal(read_padded(written, length, true, &read, NULL), GPUT_OK);
    assert_string_equal(read.identity.session_id, "s1");
    assert_true(read.elapsed_seconds == 90);
    results_finish(&read);
    assert_int_equal(read_padded(written, length, false, &read, NULL), GPUT_ERROR_FORMAT);
    length = (size_t)(strstr(written, "\"files\"") - written);
    assert_int_equal(read_padded(written, length, true, &read, NULL), GPUT_ERROR_FORMAT);
    free(written);
    results_finish(&results);
}

TEST(what_is_not_there_is_not_known)
{
    static const char text[] = "{\"max_ram\": {\"unit\": \"gigabytes\", \"system\": null, "
                               "\"main\": {\"total_rss\": NaN, \"private_rss\": \"3\"}}, "
                               "\"compute_time\": {\"unit\": \"hours\", \"time\": 0.5}}";
    struct gput_results read;
    assert_int_equal(read_text(text, &read, NULL), GPUT_OK);
    assert_true(read.elapsed_seconds == 1800);
    assert_true(isnan(read.max[GPUT_SYSTEM_RAM]) && isnan(read.max[GPUT_MAIN_RAM]));
    assert_true(isnan(read.max[GPUT_MAIN_PRIVATE_RAM]));
    assert_true(isnan(read.accounting.kernel_cpu_seconds) && isnan(read.energy.combined));
    assert_true(isnan(read.static_data.allowed_ram_bytes));
}

TEST(texts_have_their_escapes_resolved)
{
    static const char text[] = "{\"identity\": {\"host\": \"a\\u00e4\\n\", \"user\": \"\xff\"}, "
                               "\"max_ram\": {\"unit\": \"bytes\"}, "
                               "\"compute_time\": {\"unit\": \"hours\"}}";
    struct gput_results read;
    assert_int_equal(read_text(text, &read, NULL), GPUT_OK);
    assert_string_equal(read.identity.host, "a\xc3\xa4\n");
    assert_string_equal(read.identity.user, "\xef\xbf\xbd");
}

TEST(other_documents_are_none)
{
    static const struct {
        const char *text;
        int code;
    } rows[] = {
        {"[]", GPUT_ERROR_FORMAT},
        {"{}", GPUT_ERROR_UNSUPPORTED},
        {"{\"max_ram\": 1, \"compute_time\": {}}", GPUT_ERROR_UNSUPPORTED},
        {"{\"max_ram\": {\"unit\": \"gallons\"}, \"compute_time\": {}}", GPUT_ERROR_INVALID},
        {"{\"max_ram\": {}, \"compute_time\": {}} 1", GPUT_ERROR_FORMAT},
        {"{\"max_ram\": {}, \"compute_time\": {},}", GPUT_ERROR_FORMAT},
        {"{\"max_ram\": {}, \"compute_time\": {}", GPUT_ERROR_FORMAT},
        {"", GPUT_ERROR_FORMAT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gput_results read;
        assert_int_equal(read_text(rows[i].text, &read, NULL), rows[i].code);
        results_finish(&read);
    }
}

TEST(a_report_with_more_sources_than_there_are_is_invalid)
{
    struct str text = {0};
    str_append(&text,
        "{\"max_ram\": {\"unit\": \"bytes\"}, \"compute_time\": {\"unit\": \"hours\"}, "
        "\"max_gpu_ram\": {\"unit\": \"bytes\"}, \"sources\": {");
    for (int i = 0; i <= GPUT_MAX_SOURCES; i++)
        str_printf(&text, "%s\"s%d\": {\"state\": \"exact\", \"reason\": \"\"}", i ? ", " : "", i);
    str_append(&text, "}}");
    struct gput_results read;
    struct gput_error error;
    assert_int_equal(read_text(str_text(&text), &read, &error), GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "\"sources\""));
    str_finish(&text);
    results_finish(&read);
}

RUN_TESTS(NULL, NULL)
