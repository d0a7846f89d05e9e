#include "files/results/results_read.h"

#include "files/results/results_codec.h"
#include "files/temporary.h"

#include <math.h>

#define REPORT                                                                                     \
    "{\"max_ram\": {\"unit\": \"gigabytes\"}, "                                                    \
    "\"compute_time\": {\"unit\": \"hours\", \"time\": 0.5}}"

static int read_text(const char *text, struct gput_results *results, enum results_form *form,
    struct gput_error *error)
{
    const char *path = temporary("file");
    temporary_write(path, text);
    memset(results, 0, sizeof *results);
    return results_read(path, results, form, error);
}

FOLDER_TEST(both_forms_are_read)
{
    struct gput_results results, kept = {.elapsed_seconds = 7};
    enum results_form form;
    struct str copy = {0};
    assert_int_equal(read_text("\n " REPORT, &results, &form, NULL), GPUT_OK);
    assert_int_equal(form, RESULTS_REPORT);
    assert_true(results.elapsed_seconds == 1800);
    assert_true(isnan(results.max[GPUT_MAIN_RAM]));
    results_finish(&results);

    results_encode(&kept, 1, &copy);
    assert_int_equal(file_write_atomic(temporary("kept"), copy.data, copy.length, NULL), GPUT_OK);
    memset(&results, 0, sizeof results);
    assert_int_equal(results_read(temporary("kept"), &results, &form, NULL), GPUT_OK);
    assert_int_equal(form, RESULTS_KEPT);
    assert_true(results.elapsed_seconds == 7);
    results_finish(&results);
    str_finish(&copy);
}

/* A value of a document takes 100 bytes: of a trace of 10 MB that would be 200 MB. */
FOLDER_TEST(a_large_document_of_others_is_refused_before_it_is_read)
{
    struct gput_results results = {0};
    enum results_form form;
    struct gput_error error = {0};
    struct str text = {0};
    str_append(&text, "{\"traceEvents\": [");
    str_append_repeated(&text, '[', 2 << 20); /* which no reader of JSON takes */
    assert_int_equal(read_text(str_text(&text), &results, &form, &error), GPUT_ERROR_UNSUPPORTED);
    str_clear(&text);
    str_append(&text, "{\"note\": 1, ");
    str_append(&text, REPORT + 1); /* its members in another order */
    assert_int_equal(read_text(str_text(&text), &results, &form, &error), GPUT_OK);
    results_finish(&results);
    str_clear(&text);
    str_append(&text, "{\"max_ram\": {\"unit\": \"gigabytes\"}, ");
    str_append_repeated(&text, ' ', 2 << 20);
    str_append(&text, "\"compute_time\": {\"unit\": \"hours\", \"time\": 0.5}}");
    assert_int_equal(read_text(str_text(&text), &results, &form, &error), GPUT_OK);
    results_finish(&results);
    str_finish(&text);
}

FOLDER_TEST(files_of_other_kinds_and_damaged_ones_differ)
{
    static const struct {
        const char *text, *said;
        int code;
    } rows[] = {
        {"", "is not a report", GPUT_ERROR_UNSUPPORTED},
        {"timestamp,main_ram\n", "is not a report", GPUT_ERROR_UNSUPPORTED},
        {"{\"traceEvents\": []}", "is not a report", GPUT_ERROR_UNSUPPORTED},
        {"{\"max_ram\": ", "/file", GPUT_ERROR_FORMAT},
        {"{\"max_ram\": {\"unit\": \"gallons\"}, \"compute_time\": {}}", "gallons",
            GPUT_ERROR_FORMAT},
        {"gpu-tracker res\nand no more", "damaged", GPUT_ERROR_FORMAT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gput_results results;
        struct gput_error error = {0};
        assert_int_equal(read_text(rows[i].text, &results, NULL, &error), rows[i].code);
        assert_non_null(strstr(error.message, rows[i].said));
        assert_non_null(strstr(error.message, "/file"));
        results_finish(&results);
    }
    struct gput_results results = {0};
    assert_int_equal(results_read(temporary("none"), &results, NULL, NULL), GPUT_ERROR_NOT_FOUND);
}

RUN_TESTS(temporary_create, temporary_remove)
