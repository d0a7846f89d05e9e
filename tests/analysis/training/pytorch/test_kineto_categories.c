#include "analysis/training/pytorch/kineto_categories.h"

#include "testing.h"

#include <gputracker/profile.h>

#include <string.h>
#include <unistd.h>

/* All names of libkineto's ActivityType.h, and what PyTorch 1.8 to 1.11 wrote instead. */
static const char *const written[] = {"cpu_op", "user_annotation", "gpu_user_annotation",
    "gpu_memcpy", "gpu_memset", "kernel", "external_correlation", "cuda_runtime", "cuda_driver",
    "cpu_instant_event", "python_function", "overhead", "mtia_runtime", "mtia_ccp_events",
    "mtia_insight", "cuda_sync", "cuda_event", "mtia_counters", "glow_runtime",
    "cuda_profiler_range", "hpu_op", "xpu_runtime", "xpu_driver", "collective_comm",
    "privateuse1_runtime", "privateuse1_driver", "xpu_scope_profiler", "xpu_sync",
    "hardware_counters", "Kernel", "Memcpy", "Memset", "Runtime", "Operator", "Trace", "User",
    "gpu_user_Annotation"};

static char warnings[4096];

static void warn(void *user, const char *message)
{
    (void)user;
    size_t used = strlen(warnings);
    snprintf(warnings + used, sizeof warnings - used, "%s\n", message);
}

/* What a view makes of a kernel launched at 0 that began at 10, of another at 100, and of an event
 * of a category at 40, all of 10 us. "host" is without the kernels. The caller frees the text. */
static char *render(enum gput_kineto_view view, const char *category, bool has_kernels)
{
    static const char kernels[] =
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":9,\"tid\":9,\"ts\":0,"
        "\"dur\":"
        "1,\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":10,"
        "\"args\":{\"correlation\":1}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":10,"
        "\"args\":{\"correlation\":2}},";
    char path[] = "/tmp/kineto-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fprintf(file,
        "[%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"it\",\"pid\":0,\"tid\":7,\"ts\":40,"
        "\"dur\":10,\"args\":{\"correlation\":2}}]",
        has_kernels ? kernels : "", category);
    assert_int_equal(fclose(file), 0);
    const char *paths[] = {path};
    struct gput_kineto_options options = {
        .size = sizeof options, .paths = paths, .n_paths = 1, .warn = warn};
    struct gput_tables *tables;
    struct gput_error error = {0};
    char *text = NULL;
    warnings[0] = '\0';
    if (gput_kineto_tables(view, &options, &tables, &error) == GPUT_OK) {
        assert_int_equal(gput_tables_render(tables, GPUT_FORMAT_CSV, &text, NULL, NULL), GPUT_OK);
        gput_tables_destroy(tables);
    } else {
        warn(NULL, error.message);
    }
    unlink(path);
    return text;
}

static bool has(const char *text, const char *wanted)
{
    return text && strstr(text, wanted);
}

static void assert_kernels(const struct kineto_category *category)
{
    char *kernels = render(GPUT_KINETO_KERNELS, category->spelling, true);
    const bool is_kernel = category->kind == KINETO_KERNEL;
    assert_int_equal(has(kernels, "it,compute,1,10.0"), is_kernel);
    assert_int_equal(has(kernels, "it,memory,1,10.0"), category->kind == KINETO_MEMORY);
    free(kernels);
}

/* 80 us passed between the kernels; launched at 40, 80 of them were waited for the host. */
static void assert_launch(const struct kineto_category *category)
{
    char *idle = render(GPUT_KINETO_IDLE, category->spelling, true);
    assert_int_equal(has(idle, "100.0,80.0,80.0,0.0,0.0,0.0"), category->kind == KINETO_LAUNCH);
    free(idle);
}

static void assert_operator(const struct kineto_category *category)
{
    char *operators = render(GPUT_KINETO_KERNELS, category->spelling, false);
    assert_int_equal(has(operators, "it,1,10.0,10.0"), category->kind == KINETO_OPERATOR);
    free(operators);
}

TEST(each_category_is_what_the_table_says)
{
    for (size_t i = 0; i < kineto_category_count; i++) {
        const struct kineto_category *category = &kineto_categories[i];
        char unknown[80];
        snprintf(unknown, sizeof unknown, "left out: %s (1)\n", category->spelling);
        assert_kernels(category);
        assert_int_equal(has(warnings, unknown), category->kind == KINETO_UNKNOWN);
        assert_launch(category);
        assert_operator(category);
        if (category->kind == KINETO_UNKNOWN) {
            assert_non_null(strstr(warnings, category->spelling));
            assert_null(strstr(warnings, "no events of the categories"));
        }
    }
}

TEST(the_table_has_what_pytorch_writes)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const struct json_value spelling = {
            written[i], (uint32_t)strlen(written[i]), JSON_STRING, 0};
        if (!kineto_category_find(&spelling))
            fail_msg("%s is missing", written[i]);
    }
    const struct json_value none = {"", 0, JSON_NONE, 0};
    assert_null(kineto_category_find(&none));
}

TEST(spellings_are_distinct_and_lead_to_a_category_of_the_same_kind)
{
    for (size_t i = 0; i < kineto_category_count; i++) {
        const struct kineto_category *category = &kineto_categories[i];
        const struct json_value spelling = {category->spelling, category->length, JSON_STRING, 0};
        const struct json_value name = {
            category->name, (uint32_t)strlen(category->name), JSON_STRING, 0};
        assert_ptr_equal(kineto_category_find(&spelling), category);
        assert_non_null(kineto_category_find(&name));
        assert_int_equal(kineto_category_find(&name)->kind, category->kind);
    }
}

RUN_TESTS(NULL, NULL)
