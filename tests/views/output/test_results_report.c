#include "base/doc.h"
#include "base/file.h"
#include "results.h"
#include "testing.h"

#include <math.h>
#include <string.h>

/* Figures of a session whose reports are tests/fixtures/output/report.txt and .json. */
static struct gput_results make_results(void)
{
    struct gput_results results;
    memset(&results, 0, sizeof results);
    results.static_data = (struct gput_static_data){
        .ram_unit = GPUT_RAM_UNIT_MEGABYTES,
        .gpu_ram_unit = GPUT_RAM_UNIT_GIGABYTES,
        .time_unit = GPUT_TIME_UNIT_MINUTES,
        .ram_system_capacity_bytes = 33567825920.0,
        .gpu_ram_system_capacity_bytes = 150754820096.0,
        .system_core_count = 16,
        .n_expected_cores = 4,
        .system_gpu_count = 2,
        .n_expected_gpus = 1,
        .allowed_ram_bytes = 8e9,
        .allowed_cores = 3.5,
    };
    identity_forget(&results.identity);
    strcpy(results.identity.host, "node1");
    strcpy(results.identity.launcher, "Open MPI");
    results.identity.pid = 4711;
    results.identity.rank = 3;
    results.identity.world_size = 4;
    results.allowed = (struct gput_allowed){4, 3.5, 4, 8e9, NAN, 100, NAN, NAN, NAN, NAN, NAN};
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        enum gput_quantity quantity = gput_measurement((enum gput_measurement_id)i)->quantity;
        bool bytes = quantity == GPUT_QUANTITY_RAM || quantity == GPUT_QUANTITY_GPU_RAM;
        results.max[i] = bytes                             ? 4096.0 * 12345 * (i + 1)
                         : quantity == GPUT_QUANTITY_COUNT ? i
                                                           : 100.0 / 3 * (i + 1);
        results.mean[i] = results.max[i] / 7;
    }
    results.elapsed_seconds = 100;
    /* a machine that reports no energy */
    results.energy.machine.package = results.energy.machine.core = results.energy.machine.uncore =
        results.energy.machine.dram = results.energy.machine.psys = results.energy.machine.gpu =
            results.energy.machine.total = NAN;
    results.energy.main = results.energy.descendants = results.energy.combined = NAN;
    results.peaks.main.bytes = 51200000;
    strcpy(results.peaks.main.source, "VmHWM");
    results.peaks.main.at_most_bytes = NAN;
    results.peaks.descendants.bytes = 25600000;
    results.peaks.descendants.at_most_bytes = 25600000;
    strcpy(results.peaks.descendants.source, "ru_maxrss");
    results.peaks.combined.bytes = NAN;
    results.peaks.combined.at_most_bytes = NAN;
    strcpy(results.peaks.combined.source, "no control group of its own");
    results.peaks.control_group.bytes = results.peaks.control_group.at_most_bytes = 42000000;
    strcpy(results.peaks.control_group.source, "its own");
    results.peaks.limit_group.bytes = results.peaks.limit_group.at_most_bytes = 43000000;
    strcpy(results.peaks.limit_group.source, "of all its containers");
    results.accounting = (struct gput_accounting){
        .kernel_cpu_seconds = 12.5,
        .kernel_user_cpu_seconds = 10.25,
        .kernel_system_cpu_seconds = 2.25,
        .sampled_cpu_seconds = 12,
        .captured_percent = 96,
        .short_lived_cpu_seconds = 0.5,
        .run_queue_run_seconds = 12.25,
        .run_queue_wait_seconds = 1.5,
        .processes_seen = 7,
        .processes_missed = 1,
        .processes_missed_reason = "pids given out",
        .left_running = NAN,
        .oom_killed = NAN,
        .short_lived_processes = 3,
        .minor_page_faults = 123456789,
        .major_page_faults = 0,
        .voluntary_context_switches = 10,
        .involuntary_context_switches = 11,
        .read_bytes = 5e9,
        .write_bytes = 4096,
        .storage_read_bytes = NAN,
        .storage_write_bytes = NAN,
        .system_network_received_bytes = 1000,
        .system_network_sent_bytes = 0,
    };
    results.tracker.cpu_seconds = 0.0125;
    results.tracker.rss_bytes = 3645440;
    results.tracker.ticks = 1000;
    results.tracker.late_ticks = 3;
    results.tracker.missed_ticks = 2;
    results.tracker.rows_lost = 1;
    results.tracker.contradictions = 0;
    results.tracker.metrics_lost = results.tracker.node_seconds = NAN;
    results.system_pressure.some_seconds[PRESSURE_CPU] = NAN;
    results.group_pressure.some_seconds[PRESSURE_CPU] = NAN;
    results.n_sources = 2;
    results.sources[0] = (struct gput_source){"ram", GPUT_SOURCE_SAMPLED, "maps at each tick"};
    results.sources[1] = (struct gput_source){"gpu_power", GPUT_SOURCE_UNAVAILABLE, "no driver"};
    return results;
}

static char *render(const struct gput_results *results, enum gput_format format)
{
    struct gput_error error = {0};
    char *text;
    size_t length;
    if (gput_results_render(results, NULL, format, &text, &length, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(length, strlen(text));
    return text;
}

static void assert_like_fixture(
    const struct gput_results *results, enum gput_format format, const char *name)
{
    struct str expected = {0};
    assert_int_equal(file_read(fixture(name), &expected, NULL), GPUT_OK);
    char *text = render(results, format);
    assert_string_equal(text, str_text(&expected));
    free(text);
    str_finish(&expected);
}

TEST(a_report_is_written_as_text)
{
    struct gput_results results = make_results();
    assert_like_fixture(&results, GPUT_FORMAT_FULL, "output/report.txt");
}

static char *render_with(
    const struct gput_results *results, const struct gput_results_render_options *options)
{
    char *text;
    assert_int_equal(
        gput_results_render(results, options, GPUT_FORMAT_FULL, &text, NULL, NULL), GPUT_OK);
    return text;
}

/* The name of a line without the unit that it may end with. */
static size_t name_length(const char *line)
{
    static const char *const ends[] = {" seconds", " time"};
    size_t name = strcspn(line, ":\n");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(ends[i]);
        if (name > length && strncmp(line + name - length, ends[i], length) == 0)
            return name - length;
    }
    return name;
}

/* Cuts each line after its name, and drops those that name a unit. */
static void keep_names(char *text)
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), name = name_length(line);
        char *next = line + length + (line[length] == '\n');
        if (strncmp(line + strspn(line, " "), "Unit:", 5) != 0) {
            memmove(to, line, name);
            to += name;
            *to++ = '\n';
        }
        line = next;
    }
    *to = '\0';
}

TEST(figures_have_units_that_fit_where_none_was_chosen)
{
    static const char *const lines[] = {"Max RAM:\n   System capacity: 33.6 GB\n",
        "   Main:\n      Total RSS: 50.6 MB\n", "Max GPU RAM:\n   System capacity: 151 GB\n",
        "      Mean hardware percent: 47.6 %\n", "Compute time:\n   Time: 1 min 40 s\n",
        "Allowed:\n   RAM: 8 GB\n   Cores: 3.5\n", "   Descendants at most: 25.6 MB\n",
        "      Kernel: 12.5 s\n", "      Captured percent: 96 %\n",
        "      Short lived, at least: 500 ms\n", "      Minor: 123456789\n", "      Read: 5 GB\n",
        "      System network sent: 0 B\n", "   CPU time: 12.5 ms\n   RSS: 3.65 MB\n",
        "   Node time: n/a\n"};
    struct gput_results results = make_results();
    struct gput_results_render_options options = gput_results_render_options_default();
    options.fits_units = true;
    results.static_data.ram_unit = results.static_data.gpu_ram_unit = GPUT_RAM_UNIT_GIGABYTES;
    results.static_data.time_unit = GPUT_TIME_UNIT_HOURS;
    char *text = render_with(&results, &options), *plain = render(&results, GPUT_FORMAT_FULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!strstr(text, lines[i]))
            fail_msg("\"%s\" is not in %s", lines[i], text);
    }
    assert_null(strstr(text, "Unit:"));
    keep_names(text);
    keep_names(plain);
    assert_string_equal(text, plain);
    free(text);
    free(plain);
}

TEST(a_label_does_not_repeat_the_unit_of_its_figure)
{
    static const char *const lines[] = {"   CPU time:\n      Kernel: 12.5 s\n",
        "      Wait time: 1.5 s\n", "Time went:\n   Total: 10 s\n", "   Asleep (pipe): 2 s\n",
        "   Waiting for a CPU: 3 s\n", "      CPU, some tasks waited: 4 s\n",
        "      I/O, all tasks waited: n/a\n"};
    struct gput_results results = make_results();
    struct gput_results_render_options options = gput_results_render_options_default();
    options.fits_units = true;
    results.time_went.seconds = 10;
    results.time_went.seconds_of[WALL_PIPE] = 2;
    results.time_went.seconds_of[WALL_CPU] = 3;
    results.system_pressure.some_seconds[PRESSURE_CPU] = 4;
    results.system_pressure.full_seconds[PRESSURE_IO] = NAN;
    char *text = render_with(&results, &options);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!strstr(text, lines[i]))
            fail_msg("\"%s\" is not in %s", lines[i], text);
    }
    free(text);
}

TEST(a_unit_that_was_chosen_stays)
{
    struct gput_results results = make_results();
    struct gput_results_render_options options = gput_results_render_options_default();
    options.fits_units = true;
    results.static_data.ram_unit = GPUT_RAM_UNIT_MEGABYTES; /* not the default */
    results.static_data.gpu_ram_unit = GPUT_RAM_UNIT_GIGABYTES;
    results.static_data.time_unit = GPUT_TIME_UNIT_HOURS;
    results.max[GPUT_MAIN_RAM] = 1234567.8e3;
    results.tracker.rss_bytes = 4.5e6;
    results.elapsed_seconds = 90;
    char *text = render_with(&results, &options);
    assert_non_null(strstr(text, "Max RAM:\n   Unit: megabytes\n"));
    assert_non_null(strstr(text, "\n      Total RSS: 1234.568\n"));
    assert_non_null(strstr(text, "\n   RSS: 4.5 megabytes\n")); /* in a section without a unit */
    assert_non_null(strstr(text, "Compute time:\n   Time: 1 min 30 s\n"));
    free(text);
    options.keeps_time_unit = options.keeps_gpu_ram_unit = options.keeps_energy_unit = true;
    results.static_data.ram_unit = GPUT_RAM_UNIT_GIGABYTES;
    text = render_with(&results, &options);
    assert_non_null(strstr(text, "\n      Total RSS: 1.23 GB\n"));
    assert_non_null(strstr(text, "Max GPU RAM:\n   Unit: gigabytes\n"));
    assert_non_null(strstr(text, "Compute time:\n   Unit: hours\n   Time: 0.025\n"));
    free(text);
}

TEST(text_has_only_what_the_older_tool_reported)
{
    struct gput_results results = make_results();
    char *full = render(&results, GPUT_FORMAT_FULL);
    char *text = render(&results, GPUT_FORMAT_TEXT);
    char *end = strstr(full, "\nIdentity:\n");
    char *allowed = strstr(text, "\nAllowed:\n"); /* which that tool did not know */
    assert_non_null(end);
    assert_non_null(allowed);
    assert_string_equal(allowed, "\nAllowed:\n   RAM: 8000.0\n   Cores: 3.5\n");
    end[1] = allowed[1] = '\0';
    assert_string_equal(text, full);
    free(text);
    free(full);
}

TEST(a_report_is_written_as_json)
{
    struct gput_results results = make_results();
    assert_like_fixture(&results, GPUT_FORMAT_JSON, "output/report.json");
}

/* A document out of what a visit gives. */
struct rebuilt {
    struct doc *open[8]; /* what the next value is in, the whole first */
    size_t depth;
    struct doc *root;
    size_t left; /* values until the visit is ended */
};

static int rebuild(void *user, const struct gput_results_value *value, struct gput_error *error)
{
    struct rebuilt *rebuilt = user;
    struct doc *parent = rebuilt->depth > 0 ? rebuilt->open[rebuilt->depth - 1] : NULL;
    struct doc *made = NULL;
    if (rebuilt->left-- == 0)
        return error_set(error, GPUT_ERROR_STATE, "enough");
    if (value->kind == GPUT_VALUE_END)
        rebuilt->depth--;
    else if (value->kind == GPUT_VALUE_OBJECT)
        made = parent ? doc_add_object(parent, value->key) : (rebuilt->root = doc_create_object());
    else if (value->kind == GPUT_VALUE_LIST)
        made = doc_add_array(parent, value->key);
    else if (value->kind == GPUT_VALUE_BOOL)
        doc_add_bool(parent, value->key, value->integer);
    else if (value->kind == GPUT_VALUE_INT)
        doc_add_int(parent, value->key, value->integer);
    else if (value->kind == GPUT_VALUE_DOUBLE)
        doc_add_double(parent, value->key, value->number);
    else if (value->kind == GPUT_VALUE_TEXT)
        doc_add_string(parent, value->key, value->text);
    else
        doc_add_null(parent, value->key);
    if (made)
        rebuilt->open[rebuilt->depth++] = made;
    return GPUT_OK;
}

TEST(the_values_of_a_visit_are_those_of_json)
{
    struct gput_results results = make_results();
    struct rebuilt rebuilt = {.left = SIZE_MAX};
    struct gput_error error = {0};
    struct str text = {0};
    results_add_source(&results, "odd", GPUT_SOURCE_EXACT,
        "a\xff"
        "b");
    assert_int_equal(gput_results_visit(&results, NULL, rebuild, &rebuilt, &error), GPUT_OK);
    assert_int_equal(rebuilt.depth, 0);
    doc_write_json(rebuilt.root, 1, &text);
    str_append_char(&text, '\n');
    char *json = render(&results, GPUT_FORMAT_JSON);
    assert_string_equal(str_text(&text), json);
    free(json);
    str_finish(&text);
    doc_destroy(rebuilt.root);

    rebuilt = (struct rebuilt){.left = 3};
    assert_int_equal(
        gput_results_visit(&results, NULL, rebuild, &rebuilt, &error), GPUT_ERROR_STATE);
    assert_string_equal(error.message, "enough");
    doc_destroy(rebuilt.root);
}

static struct doc *report_doc(const struct gput_results *results)
{
    struct doc *doc;
    char *text = render(results, GPUT_FORMAT_JSON);
    assert_int_equal(doc_read_json(text, strlen(text), "report", &doc, NULL), GPUT_OK);
    free(text);
    return doc;
}

static const struct doc *member(const struct doc *doc, const char *section, const char *key)
{
    const struct doc *found = doc_get(doc_get(doc, section), key);
    assert_non_null(found);
    return found;
}

TEST(sizes_are_bytes_times_the_factor_of_the_unit)
{
    struct gput_results results = make_results();
    results.max[GPUT_SYSTEM_RAM] = 873852928;
    char *text = render(&results, GPUT_FORMAT_JSON);
    assert_non_null(strstr(text, "\"system\": 873.8529279999999,"));
    free(text);
}

TEST(missing_counts_are_zero_in_older_sections_and_all_else_is_null)
{
    struct gput_results results = make_results();
    results.max[GPUT_MAIN_RAM] = NAN;
    results.max[GPUT_MAIN_THREADS] = NAN;
    /* Without any GPU they are 0, not NaN. */
    results.max[GPUT_MAIN_GPU_RAM] = NAN;
    results.mean[GPUT_GPU_SUM_UTILIZATION] = NAN;
    results.accounting.kernel_cpu_seconds = NAN;
    results.accounting.captured_percent = NAN;
    results.accounting.processes_missed = NAN;
    results.tracker.rss_bytes = results.tracker.metrics_lost = results.tracker.node_seconds = NAN;
    struct doc *doc = report_doc(&results);
    const struct doc *rss = doc_get(member(doc, "max_ram", "main"), "total_rss");
    assert_int_equal(rss->kind, DOC_NULL); /* what lived had RAM */
    assert_int_equal(member(doc, "max_gpu_ram", "main")->kind, DOC_NULL);
    const struct doc *gpu = member(doc, "gpu_utilization", "gpu_percentages");
    assert_int_equal(doc_get(gpu, "mean_sum_percent")->kind, DOC_NULL);
    assert_int_equal(member(doc, "cpu_utilization", "main_n_threads")->kind, DOC_INT);
    assert_int_equal(member(doc, "cpu_utilization", "main_n_threads")->integer, 0);
    const struct doc *cpu = member(doc, "accounting", "cpu_seconds");
    assert_int_equal(doc_get(cpu, "kernel")->kind, DOC_NULL);
    assert_int_equal(doc_get(cpu, "captured_percent")->kind, DOC_NULL);
    assert_int_equal(doc_get(member(doc, "accounting", "processes"), "missed")->kind, DOC_NULL);
    assert_int_equal(member(doc, "tracker", "rss")->kind, DOC_NULL);
    doc_destroy(doc);
}

TEST(sections_that_do_not_apply_are_left_out)
{
    struct gput_results results = make_results();
    struct doc *doc = report_doc(&results);
    assert_non_null(doc_get(doc, "allowed"));
    assert_null(doc_get(doc, "limit_passed"));
    doc_destroy(doc);

    results.static_data.allowed_ram_bytes = NAN;
    doc = report_doc(&results);
    assert_int_equal(member(doc, "allowed", "ram")->kind, DOC_NULL);
    doc_destroy(doc);

    results.static_data.allowed_cores = NAN;
    results.identity = (struct gput_identity){.host = ""}; /* a file of an earlier version */
    doc = report_doc(&results);
    assert_null(doc_get(doc, "allowed"));
    assert_null(doc_get(doc, "identity"));
    assert_null(doc_get(doc, "job"));
    assert_null(doc_get(doc, "ram")); /* nor did its members land elsewhere */
    assert_non_null(doc_get(doc, "peaks"));
    doc_destroy(doc);
}

TEST(a_passed_limit_is_reported_in_the_units_of_the_report)
{
    struct gput_results results = make_results();
    results.limit = (struct gput_limit_passed){"ram", 2e9, 1.5, true};
    struct doc *doc = report_doc(&results);
    assert_string_equal(member(doc, "limit_passed", "kind")->string, "ram");
    assert_true(member(doc, "limit_passed", "value")->number == 2000.0);
    assert_true(member(doc, "limit_passed", "enforced")->boolean);
    assert_null(doc_get(doc, "limits_passed_later"));
    doc_destroy(doc);

    results.limit = (struct gput_limit_passed){"seconds", 90, 90.1, false};
    doc = report_doc(&results);
    assert_true(member(doc, "limit_passed", "value")->number == 90.0);
    doc_destroy(doc);
}

TEST(each_gpu_is_reported_by_itself)
{
    struct gput_results results = make_results();
    results.n_gpus = 2;
    results.gpus = test_gpus;
    memset(test_gpus, 0, sizeof test_gpus);
    for (int i = 0; i < 2; i++) {
        struct gput_gpu *gpu = &results.gpus[i];
        snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%d", i);
        strcpy(gpu->name, "NVIDIA H200");
        strcpy(gpu->vendor, "nvidia");
        gpu->selected = true;
        gpu->ram_capacity_bytes = 150e9;
        gpu->max_ram_bytes = 3e9 * (i + 1);
        gpu->max_utilization_percent = 90;
        gpu->mean_utilization_percent = NAN;
    }
    results.gpu_peaks.combined = (struct gput_peak){4e9, 5e9, "lists"};
    results.gpu_peaks.list_age_seconds = 0.5;
    strcpy(results.gpus[1].missing, "utilization: not supported by this GPU");
    struct doc *doc = report_doc(&results);
    const struct doc *gpus = doc_get(doc, "gpus");
    assert_int_equal(gpus->kind, DOC_ARRAY);
    const struct doc *peaks = doc_get(doc, "gpu_peaks");
    assert_true(doc_get(peaks, "combined")->number == 4.0);
    assert_true(doc_get(peaks, "combined_at_most")->number == 5.0);
    assert_string_equal(doc_get(peaks, "combined_source")->string, "lists");
    assert_true(doc_get(peaks, "list_age_seconds")->number == 0.5);
    assert_int_equal(gpus->count, 2);
    assert_string_equal(doc_get(gpus->last, "uuid")->string, "GPU-1");
    assert_true(doc_get(gpus->last, "max_ram")->number == 6.0);
    assert_true(doc_get(gpus->first, "ram_capacity")->number == 150.0);
    assert_int_equal(doc_get(gpus->first, "mean_utilization_percent")->kind, DOC_NULL);
    assert_null(doc_get(gpus->first, "missing"));
    assert_string_equal(
        doc_get(gpus->last, "missing")->string, "utilization: not supported by this GPU");
    doc_destroy(doc);
    char *text = render(&results, GPUT_FORMAT_FULL);
    assert_non_null(
        strstr(text, "\nGPUs:\n   GPU 0:\n      UUID: GPU-0\n      Name: NVIDIA H200\n"));
    free(text);
}

TEST(other_formats_are_refused)
{
    struct gput_results results = make_results();
    struct gput_error error = {0};
    char *text;
    assert_int_equal(gput_results_render(&results, NULL, GPUT_FORMAT_CSV, &text, NULL, &error),
        GPUT_ERROR_INVALID);
    assert_null(text);
    assert_string_equal(error.message,
        "A report does not have this format. It has text, full, summary, line, JSON, "
        "Prometheus, OpenMetrics, Nextflow's trace, Snakemake's benchmark.");
}

TEST(every_state_of_a_source_has_a_name)
{
    assert_string_equal(gput_source_state_name(GPUT_SOURCE_EXACT), "exact");
    assert_string_equal(gput_source_state_name(GPUT_SOURCE_SAMPLED), "sampled");
    assert_string_equal(gput_source_state_name(GPUT_SOURCE_UNAVAILABLE), "unavailable");
}

RUN_TESTS(NULL, NULL)
