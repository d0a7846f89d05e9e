#include <gputracker/timeline.h>

#include "base/doc.h"
#include "base/file.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define T0 INT64_C(1600000000000000)

static char folder[] = "/tmp/gput-timeline-XXXXXX";
static char output[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(output, sizeof output, "%s/out.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(output);
    return rmdir(folder); /* fails when anything was left after */
}

/* Merges and reads the output back; the caller destroys the document. */
static struct doc *merge(
    const struct gput_timeline_options *options, struct gput_timeline_result *result)
{
    struct gput_error error = {0};
    struct str text = {0};
    struct doc *doc = NULL;
    int code = gput_timeline_merge(options, result, &error);
    if (code != GPUT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(file_read(result->path, &text, NULL), GPUT_OK);
    assert_int_equal(doc_read_json(text.data, text.length, "output", &doc, NULL), GPUT_OK);
    str_finish(&text);
    return doc;
}

static struct gput_timeline_options options_for(const char *const *inputs, size_t count)
{
    struct gput_timeline_options options = gput_timeline_options_default();
    options.inputs = inputs;
    options.n_inputs = count;
    options.output = output;
    return options;
}

static const char *text_of(const struct doc *event, const char *key)
{
    const struct doc *value = doc_get(event, key);
    return value && value->kind == DOC_STRING ? value->string : "";
}

static double number_of(const struct doc *event, const char *key)
{
    const struct doc *value = doc_get(event, key);
    if (!value)
        return -1;
    return value->kind == DOC_INT ? (double)value->integer : value->number;
}

/* The pid of a process of that name, or -1. */
static int64_t pid_of(const struct doc *trace, const char *name)
{
    for (const struct doc *event = trace->first; event; event = event->next)
        if (strcmp(text_of(event, "name"), "process_name") == 0 &&
            strcmp(text_of(doc_get(event, "args"), "name"), name) == 0)
            return doc_get(event, "pid")->integer;
    return -1;
}

static int count(const struct doc *trace, const char *type)
{
    int sum = 0;
    for (const struct doc *event = trace->first; event; event = event->next)
        sum += strcmp(text_of(event, "ph"), type) == 0;
    return sum;
}

TEST_WITH(merges_a_trace_root, NULL, NULL)
{
    const char *const inputs[] = {fixture("trace-root")};
    struct gput_timeline_options options = options_for(inputs, 1);
    struct gput_timeline_result result = gput_timeline_result_default();
    struct doc *trace = merge(&options, &result);
    assert_int_equal(pid_of(trace, "Step:ModeKeys.TRAIN"), 1);
    assert_int_equal(pid_of(trace, "Step:ModeKeys.EVAL"), 2);
    assert_int_equal(pid_of(trace, "Forward-node"), 10000);
    assert_int_equal(pid_of(trace, "Backward-node"), 20000);
    assert_int_equal(pid_of(trace, "DataIterator"), 30000);
    assert_int_equal(pid_of(trace, "/host:CPU"), 60000);
    assert_int_equal(pid_of(trace, "Horovod allreduce"), 90000);
    assert_int_equal(pid_of(trace, "System metrics"), 1000000);
    assert_int_equal(count(trace, "X"), 23);
    assert_int_equal(count(trace, "C"), 149);
    assert_int_equal(result.slices, 23);
    assert_int_equal(result.truncated, 2);
    assert_int_equal(result.damaged, 1);
    double last = 0;
    for (const struct doc *event = trace->first; event; event = event->next) {
        if (!doc_get(event, "ts"))
            continue;
        assert_true(number_of(event, "ts") >= last);
        last = number_of(event, "ts");
    }
    doc_destroy(trace);
}

TEST(marks_low_readings_with_all_around_them)
{
    const char *const inputs[] = {fixture("trace-root")};
    struct gput_timeline_options options = options_for(inputs, 1);
    struct gput_timeline_result result = gput_timeline_result_default();
    struct doc *trace = merge(&options, &result);
    assert_int_equal(count(trace, "i"), 18); /* 10 half seconds before the work, 8 after */
    for (const struct doc *event = trace->first; event; event = event->next) {
        if (strcmp(text_of(event, "ph"), "i") != 0)
            continue;
        assert_string_equal(text_of(event, "name"), "sys_metrics_bottlenecks");
        const struct doc *args = doc_get(event, "args");
        assert_true(args->count >= 3);
        assert_true(number_of(args, "gpu0_GPUUtilization_algo-1") == 10);
    }
    doc_destroy(trace);
    options.low_threshold = 5;
    trace = merge(&options, &result);
    assert_int_equal(count(trace, "i"), 0);
    doc_destroy(trace);
    options.low_dimension = NULL;
    options.low_threshold = 1000;
    trace = merge(&options, &result);
    assert_int_equal(count(trace, "i"), 0);
    doc_destroy(trace);
}

TEST(selects_by_time_step_and_suffix)
{
    const char *const inputs[] = {fixture("trace-root")};
    struct gput_timeline_options options = options_for(inputs, 1);
    struct gput_timeline_result result = gput_timeline_result_default();
    options.start = T0 + 1250000;
    options.end = T0 + 1300000; /* what begins there is in */
    doc_destroy(merge(&options, &result));
    assert_int_equal(result.slices, 2);

    options.unit = GPUT_TIMELINE_STEP; /* steps 1 to 2: until just before 2 begins */
    options.start = 1;
    options.end = 2;
    const char *const suffixes[] = {"pythontimeline.json"};
    options.suffixes = suffixes;
    options.n_suffixes = 1;
    doc_destroy(merge(&options, &result));
    assert_int_equal(result.slices, 6);
    assert_int_equal(result.start_us, T0 + 1300000);

    options.suffixes = (const char *const[]){"horovod_timeline.json"}; /* carries no steps */
    doc_destroy(merge(&options, &result));
    assert_int_equal(result.slices, 1);

    struct gput_error error;
    options.end = 99;
    assert_int_equal(gput_timeline_merge(&options, NULL, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "There is no step 99; steps go from 0 to 4");
    options.unit = GPUT_TIMELINE_TIME;
    options.start = options.end = 5;
    assert_int_equal(gput_timeline_merge(&options, NULL, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "nothing to merge"));
}

/* Writes a file of one event 'X' that carries a step, and gives its path to be freed. */
static char *write_step(const char *suffix, int step, int64_t ts_us)
{
    char *path = malloc(256), text[512];
    snprintf(path, 256, "%s/1600000009000000_1-host_%s", folder, suffix);
    int length = snprintf(text, sizeof text,
        "[{\"ph\": \"X\", \"name\": \"%s\", \"pid\": 1, \"ts\": %lld, \"dur\": 10, "
        "\"args\": {\"step_num\": %d}}]",
        suffix, (long long)ts_us, step);
    assert_int_equal(file_write_atomic(path, text, (size_t)length, NULL), GPUT_OK);
    return path;
}

/* Steps of TRAIN and EVAL are numbered apart. */
TEST(a_stretch_of_steps_is_one_of_time)
{
    char *train = write_step("1_pythontimeline.json", 10, T0 + 500);
    char *eval = write_step("2_pythontimeline.json", 1006, T0 + 100);
    const char *const inputs[] = {train, eval};
    struct gput_timeline_options options = options_for(inputs, 2);
    struct gput_timeline_result result = gput_timeline_result_default();
    struct gput_error error;
    options.unit = GPUT_TIMELINE_STEP;
    options.start = 1006;
    options.end = 10;
    doc_destroy(merge(&options, &result));
    assert_int_equal(result.slices, 1);
    assert_int_equal(result.start_us, T0 + 100);
    options.start = 10;
    options.end = 1006;
    assert_int_equal(gput_timeline_merge(&options, NULL, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message, "The start (step 10) is after the end (step 1006)");
    unlink(train);
    unlink(eval);
    free(train);
    free(eval);
}

/* Steps 3, 5 and 9, one file each. */
TEST(whole_steps_end_before_the_next_one_or_with_the_last)
{
    char *files[] = {write_step("3_pythontimeline.json", 3, T0 + 100),
        write_step("5_pythontimeline.json", 5, T0 + 300),
        write_step("9_pythontimeline.json", 9, T0 + 700)};
    struct gput_timeline_options options = options_for((const char *const *)files, 3);
    struct gput_timeline_result result = gput_timeline_result_default();
    struct gput_error error;
    options.unit = GPUT_TIMELINE_WHOLE_STEPS;
    options.start = 3;
    static const int ends_and_slices[][2] = {{3, 1}, {4, 1}, {5, 2}, {9, 3}};
    for (size_t i = 0; i < sizeof ends_and_slices / sizeof ends_and_slices[0]; i++) {
        options.end = ends_and_slices[i][0];
        doc_destroy(merge(&options, &result));
        assert_int_equal(result.slices, ends_and_slices[i][1]);
    }
    options.end = 10;
    assert_int_equal(gput_timeline_merge(&options, NULL, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "There is no step 10; steps go from 3 to 9");
    for (size_t i = 0; i < 3; i++) {
        unlink(files[i]);
        free(files[i]);
    }
}

TEST(steps_are_those_of_the_python_timeline_if_there_is_one)
{
    char *python = write_step("pythontimeline.json", 3, T0 + 500);
    char *model = write_step("model_timeline.json", 3, T0 + 100);
    const char *const inputs[] = {model, python};
    struct gput_timeline_options options = options_for(inputs, 2);
    struct gput_timeline_result result = gput_timeline_result_default();
    options.unit = GPUT_TIMELINE_STEP;
    options.start = 3;
    doc_destroy(merge(&options, &result));
    assert_int_equal(result.slices, 1);
    assert_int_equal(result.start_us, T0 + 500);
    options.n_inputs = 1; /* what else carries steps, does without it */
    doc_destroy(merge(&options, &result));
    assert_int_equal(result.start_us, T0 + 100);
    unlink(python);
    unlink(model);
    free(python);
    free(model);
}

TEST(aligns_ranks_on_one_clock)
{
    static char first[4096], second[4096];
    snprintf(first, sizeof first, "%s", fixture("trace-kineto/rank0.json"));
    snprintf(second, sizeof second, "%s", fixture("trace-kineto/rank1.json"));
    const char *const inputs[] = {first, second};
    struct gput_timeline_options options = options_for(inputs, 2);
    struct gput_timeline_result result = gput_timeline_result_default();
    struct doc *trace = merge(&options, &result);
    assert_true(pid_of(trace, "rank 0: python") >= 1000000);
    assert_true(pid_of(trace, "rank 1: python") >= 1000000);
    int64_t ids[4], n = 0;
    for (const struct doc *event = trace->first; event; event = event->next)
        if (doc_get(event, "id"))
            ids[n++] = doc_get(event, "id")->integer;
    assert_int_equal(n, 4); /* a flow in each file, both with the id 1 */
    assert_int_equal((ids[0] == ids[1]) + (ids[0] == ids[2]) + (ids[0] == ids[3]), 1);
    assert_int_equal(result.start_us, INT64_C(1700000000000010));
    doc_destroy(trace);
}

TEST(keeps_overlapping_slices_apart)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", fixture("trace-kineto/overlap.json"));
    const char *const inputs[] = {path};
    struct gput_timeline_options options = options_for(inputs, 1);
    struct gput_timeline_result result = gput_timeline_result_default();
    struct doc *trace = merge(&options, &result);
    double tids[4] = {0};
    for (const struct doc *event = trace->first; event; event = event->next)
        if (strcmp(text_of(event, "ph"), "X") == 0)
            tids[text_of(event, "name")[0] - 'a'] = number_of(event, "tid");
    assert_true(tids[0] == 5);       /* a: 0-10 */
    assert_true(tids[1] == tids[0]); /* b: 0-4, stands before a in the file */
    assert_true(tids[2] != tids[0]); /* c: 5-15 overlaps a */
    assert_true(tids[3] == tids[0]); /* d: 10-12 */
    doc_destroy(trace);
}

TEST(leaves_out_what_ends_before_it_begins)
{
    static const char text[] = "[{\"ph\":\"B\",\"name\":\"back\",\"pid\":1,\"tid\":1,\"ts\":5},"
                               "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":3},"
                               "{\"ph\":\"B\",\"name\":\"a\\n\",\"pid\":1,\"tid\":1,\"ts\":6},"
                               "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":9}]";
    char path[96];
    snprintf(path, sizeof path, "%s/pairs.json", folder);
    assert_int_equal(file_write_atomic(path, text, strlen(text), NULL), GPUT_OK);
    const char *const inputs[] = {path};
    struct gput_timeline_options options = options_for(inputs, 1);
    struct gput_timeline_result result = gput_timeline_result_default();
    doc_destroy(merge(&options, &result));
    assert_int_equal(result.slices, 1);
    assert_int_equal(result.unusable, 1);
    assert_int_equal(result.end_us, 9);
    unlink(path);
}

TEST(names_its_output_as_users_know_it)
{
    const char *const inputs[] = {fixture("trace-root")};
    struct gput_timeline_options options = options_for(inputs, 1);
    struct gput_timeline_result result = gput_timeline_result_default();
    char expected[128];
    options.output = NULL;
    options.output_folder = folder;
    const char *const suffixes[] = {"pythontimeline.json"};
    options.suffixes = suffixes;
    options.n_suffixes = 1;
    options.end = T0 + 2000000;
    doc_destroy(merge(&options, &result));
    snprintf(expected, sizeof expected, "%s/1600000002000000_11-host_merged_timeline.json", folder);
    assert_string_equal(result.path, expected);
    unlink(result.path);

    options.node = "4711-laptop";
    options.without_readings = true;
    doc_destroy(merge(&options, &result));
    snprintf(
        expected, sizeof expected, "%s/1600000002000000_4711-laptop_merged_timeline.json", folder);
    assert_string_equal(result.path, expected);
    assert_int_equal(result.counters, 0);
    assert_int_not_equal(result.slices, 0);
    unlink(result.path);
}

/* What ends each event of the texts below, and nothing else in them. */
#define END "\"#\"}}"

static const char event_array[] =
    "[{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":20,\"args\":{\"e\":" END
    ",\n"
    " {\"name\":\"\xc3\xa9\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":2.5,\"dur\":1,\"args\":{"
    "\"e\":" END ",\n"
    " {\"name\":\"\\u0041\",\"ph\":\"X\",\"pid\":2,\"ts\":4,\"dur\":1,\"args\":{\"x\":NaN,"
    "\"e\":" END ",\n"
    " {\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":6,\"dur\":9,\"args\":{\"e\":" END
    "]\n";

static const char event_object[] =
    "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":0},\"baseTimeNanoseconds\":7,\n"
    "\"traceEvents\":["
    "{\"ph\":\"X\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":2,\"dur\":1,\"args\":{\"e\":" END ",\n"
    "{\"ph\":\"s\",\"id\":1,\"name\":\"f\",\"pid\":0,\"tid\":7,\"ts\":2,\"args\":{\"e\":" END ",\n"
    "{\"ph\":\"C\",\"name\":\"c\",\"pid\":0,\"ts\":3,\"args\":{\"v\":1,\"e\":" END
    "],\"traceName\":\"x\"}\n";

static const char readings[] =
    "{\"Type\":\"cpu\",\"Dimension\":\"D\",\"Value\":4.5,\"Timestamp\":1600000000.5,\"N\":{"
    "\"e\":" END
    "\n{\"Type\":\"cpu\",\"Dimension\":\"D\",\"Value\":5,\"Timestamp\":1600000001,\"N\":{\"e\":" END
    "\n";

static const char samples[] =
    "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,system_core_count\n"
    "gigabytes,bytes,hours,67.254,12\ntimestamp,main_ram\n1600000000.25,1\n"
    "1600000001.25,2\n1600000002.5,3\n";

static const char marks[] = "process_id,code_block_name,position,timestamp\n"
                            "7,X,0,1600000000.25\n7,X,1,1600000001.25\n"
                            "7,\"a,b\",0,1600000002.5\n7,\"a,b\",1,1600000002.75\n";

static size_t pack(const char *text, char *packed, size_t capacity)
{
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)text,
        .avail_in = (uInt)strlen(text),
        .next_out = (unsigned char *)packed,
        .avail_out = (uInt)capacity};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_FIXED), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return capacity - stream.avail_out;
}

/* What zlib itself gives of the packed bytes. */
static void unpack(const char *packed, size_t length, char *text, size_t capacity)
{
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)packed,
        .avail_in = (uInt)length,
        .next_out = (unsigned char *)text,
        .avail_out = (uInt)capacity - 1};
    assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    inflate(&stream, Z_SYNC_FLUSH);
    inflateEnd(&stream);
    text[capacity - 1 - stream.avail_out] = '\0';
}

static uint64_t occurrences(const char *text, const char *what)
{
    uint64_t sum = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        sum++;
    return sum;
}

/* A recording whose events can be counted in its bytes: `per_end` of them for each `end` after the
 * first `heading` of these. */
struct recording {
    const char *input; /* what is merged, in the folder */
    const char *file;  /* the file of it */
    const char *text;
    bool packed;
    const char *end;
    uint64_t heading, ends_per_event;
    bool last_may_count; /* without its end */
};

static uint64_t whole_events(const struct recording *recording, const char *bytes, size_t length)
{
    char text[2048];
    if (recording->packed) {
        unpack(bytes, length, text, sizeof text);
    } else {
        memcpy(text, bytes, length);
        text[length] = '\0';
    }
    uint64_t ends = occurrences(text, recording->end);
    return ends <= recording->heading ? 0 : (ends - recording->heading) / recording->ends_per_event;
}

/* How many events of a recording are merged; none when there is nothing to merge. */
static uint64_t merged_events(const struct recording *recording)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, recording->input);
    const char *const inputs[] = {path};
    struct gput_timeline_options options = options_for(inputs, 1);
    struct gput_timeline_result result = gput_timeline_result_default();
    struct gput_error error = {0};
    options.output = "/dev/null";
    options.memory_bytes = 1; /* the least */
    options.low_dimension = NULL;
    int code = gput_timeline_merge(&options, &result, &error);
    if (code != GPUT_OK) {
        assert_true(code == GPUT_ERROR_NOT_FOUND || code == GPUT_ERROR_FORMAT);
        assert_string_not_equal(error.message, "");
    }
    return result.slices + result.counters + result.others;
}

static void make_folders(const char *file, bool make)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    for (char *slash = path + strlen(folder) + 1; make && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    unlink(path);
    for (char *slash; !make && (slash = strrchr(path, '/')) > path + strlen(folder);) {
        *slash = '\0';
        rmdir(path);
    }
}

static void cut_anywhere(const struct recording *recording)
{
    char path[256], packed[2048];
    const char *bytes = recording->packed ? packed : recording->text;
    size_t length =
        recording->packed ? pack(recording->text, packed, sizeof packed) : strlen(recording->text);
    uint64_t all = whole_events(recording, bytes, length);
    make_folders(recording->file, true);
    snprintf(path, sizeof path, "%s/%s", folder, recording->file);
    assert_true(all >= 2);
    for (size_t cut = 0; cut <= length; cut++) {
        unlink(path); /* replacing it would wait for the disk */
        assert_int_equal(file_write_atomic(path, bytes, cut, NULL), GPUT_OK);
        uint64_t whole = whole_events(recording, bytes, cut), merged = merged_events(recording);
        if (merged != whole && !(recording->last_may_count && merged == whole + 1))
            fail_msg(
                "%s cut at %zu: %d events, not %d", recording->file, cut, (int)merged, (int)whole);
    }
    make_folders(recording->file, false);
}

TEST(keeps_every_whole_event_of_what_is_cut_anywhere)
{
    static const struct recording recordings[] = {
        {"array.json", "array.json", event_array, false, END, 0, 1, false},
        {"object.json", "object.json", event_object, false, END, 0, 1, false},
        {"object.json.gz", "object.json.gz", event_object, true, END, 0, 1, false},
        {"root", "root/framework/pevents/1/9_1-host_pythontimeline.json", event_array, false, END,
            0, 1, false},
        {"9_1-host_pythontimeline.json", "9_1-host_pythontimeline.json", event_array, false, END, 0,
            1, false},
        {"root", "root/framework/tensorflow/1/1/plugins/profile/run/host.trace.json.gz",
            event_array, true, END, 0, 1, false},
        {"root", "root/system/incremental/1600000000.algo-1.json", readings, false, END, 0, 1,
            false},
        {"samples.csv", "samples.csv", samples, false, "\n", 3, 1, true},
        {"marks.csv", "marks.csv", marks, false, "\n", 1, 2, true},
    };
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++)
        cut_anywhere(recordings + i);
}

TEST(refuses_what_makes_no_sense)
{
    const char *const inputs[] = {"/nowhere"};
    const char *const suffixes[] = {"wrong.json"};
    struct gput_timeline_options options = options_for(inputs, 1);
    struct gput_error error;
    unlink(output);
    assert_int_equal(gput_timeline_merge(&options, NULL, &error), GPUT_ERROR_NOT_FOUND);
    options.suffixes = suffixes;
    options.n_suffixes = 1;
    assert_int_equal(gput_timeline_merge(&options, NULL, &error), GPUT_ERROR_INVALID);
    options.n_inputs = 0;
    options.n_suffixes = 0;
    assert_int_equal(gput_timeline_merge(&options, NULL, &error), GPUT_ERROR_INVALID);
    assert_int_equal(access(output, F_OK), -1);
}

RUN_TESTS(make_folder, remove_folder)
