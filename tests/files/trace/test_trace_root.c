#include "files/trace/trace_root.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define T0 INT64_C(1600000000000000)

static struct trace_root root;

static int set_up(void **state)
{
    (void)state;
    return trace_root_read(fixture("trace-root"), &root, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    trace_root_finish(&root);
    return 0;
}

static size_t count(enum trace_file_kind kind)
{
    size_t sum = 0;
    for (size_t i = 0; i < root.count; i++)
        sum += root.files[i].kind == kind;
    return sum;
}

TEST(finds_files_of_every_kind_in_order)
{
    assert_int_equal(count(TRACE_FILE_SYSTEM), 2); /* neither .tmp nor .corrupt */
    assert_int_equal(count(TRACE_FILE_EVENTS), 3);
    assert_int_equal(count(TRACE_FILE_TENSORFLOW), 1);
    assert_int_equal(root.files[0].time_us, INT64_C(1599999960000000));
    assert_string_equal(root.files[0].node, "algo-1");
    assert_int_equal(root.files[2].time_us, T0 + 3100000);
    assert_string_equal(root.files[2].node, "11-host");
    assert_string_equal(root.files[3].suffix, "horovod_timeline.json");
}

TEST(reads_the_time_base_of_tensorflow)
{
    const struct trace_file *file = root.files + 5;
    assert_int_equal(file->kind, TRACE_FILE_TENSORFLOW);
    assert_int_equal(file->base_us, T0 + 5000000);
    assert_int_equal(file->time_us, T0 + 5001000);
    assert_string_equal(file->node, "host");
}

/* The chosen files as a text: "1" for chosen, "0" for not, in the order of the root. */
static void assert_chosen(struct trace_choice choice, const char *expected)
{
    bool chosen[16] = {0};
    char text[17] = {0};
    trace_root_choose(&root, &choice, chosen);
    for (size_t i = 0; i < root.count && i < 16; i++)
        text[i] = chosen[i] ? '1' : '0';
    text[root.count < 16 ? root.count : 16] = '\0';
    assert_memory_equal(text, expected, strlen(expected));
}

TEST(chooses_rotated_files_by_time)
{
    const int64_t minute = 60000000;
    assert_chosen((struct trace_choice){INT64_MIN, INT64_MAX, NULL, 0}, "111111");
    /* the stretch is widened by three minutes; system files: 16:00 before, 16:01:20 after */
    assert_chosen((struct trace_choice){T0 + 5 * minute, T0 + 6 * minute, NULL, 0}, "010000");
    /* of events all later files: what ended there may have begun in the stretch; TensorFlow's
     * traces say themselves when they began */
    assert_chosen((struct trace_choice){T0 - 10 * minute, T0 - 9 * minute, NULL, 0}, "101110");
    assert_chosen((struct trace_choice){T0, T0 + 1, NULL, 0}, "111111");
}

TEST(chooses_by_suffix)
{
    const char *const python[] = {"pythontimeline.json"};
    const char *const two[] = {"horovod_timeline.json", "trace.json.gz"};
    assert_chosen((struct trace_choice){INT64_MIN, INT64_MAX, python, 1}, "111010");
    assert_chosen((struct trace_choice){INT64_MIN, INT64_MAX, two, 2}, "110101");
}

TEST(names_nodes_by_host_first)
{
    static const char *const names[][2] = {{"27-algo-1", "algo-1-27"},
        {"27-algo-12-b", "algo-12-b-27"}, {"11-host", "11-host"}, {"algo-1", "algo-1"},
        {"-algo", "algo-"}};
    char folder[] = "/tmp/gput-root-XXXXXX", framework[64], path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(framework, sizeof framework, "%s/framework", folder);
    assert_int_equal(mkdir(framework, 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct trace_root other;
        snprintf(path, sizeof path, "%s/16_%s_pythontimeline.json", framework, names[i][0]);
        fclose(fopen(path, "w"));
        assert_int_equal(trace_root_read(folder, &other, NULL), GPUT_OK);
        unlink(path);
        assert_string_equal(other.files[0].node, names[i][1]);
        trace_root_finish(&other);
    }
    rmdir(framework);
    rmdir(folder);
}

TEST(takes_no_other_name_for_metadata)
{
    int64_t start_us = 0, end_us = 0;
    assert_true(trace_root_metadata_times("a_b_12_34.metadata", &start_us, &end_us));
    assert_int_equal(start_us, 12);
    assert_int_equal(end_us, 34);
    static const char *const others[] = {"12_34.metadata", "a_12_34.meta", "a_12x_34.metadata",
        "a_12_.metadata", ".metadata", "a_9223372036854775807_1.metadata"}; /* not in nanoseconds */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(trace_root_metadata_times(others[i], &start_us, &end_us));
}

/* Without its metadata a trace would be shown at wrong times. */
TEST(says_which_folder_of_metadata_cannot_be_read)
{
    struct trace_root other = {0};
    struct gput_error error;
    struct rlimit limit, lower;
    int next = dup(STDERR_FILENO);
    close(next);
    getrlimit(RLIMIT_NOFILE, &limit);
    lower = (struct rlimit){(rlim_t)next, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lower); /* permissions do not stop root */
    int code = trace_root_add(&other, root.files[5].path, false, &error);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(code, GPUT_ERROR_FILES);
    assert_non_null(strstr(error.message, "Cannot read the folder "));
    assert_non_null(strstr(error.message, "/000000001: Too many open files"));
    trace_root_finish(&other);
}

TEST(says_what_is_no_root)
{
    struct trace_root other;
    struct gput_error error;
    assert_int_equal(trace_root_read("/nowhere", &other, &error), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(trace_root_read(fixture("."), &other, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "is not a trace root"));
    assert_false(trace_root_is(fixture(".")));
    assert_true(trace_root_is(fixture("trace-root")));
}

RUN_TESTS(set_up, tear_down)
