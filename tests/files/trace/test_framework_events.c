#include "files/trace/framework_events.h"
#include "testing.h"

#include <string.h>
#include <unistd.h>

struct seen {
    char text[2048]; /* a line an event */
    int64_t tid;     /* of the last one */
};

static int take(void *user, const struct framework_event *event, struct gput_error *error)
{
    struct seen *seen = user;
    size_t used = strlen(seen->text);
    (void)error;
    seen->tid = event->tid;
    snprintf(seen->text + used, sizeof seen->text - used, "%s/%.*s %lld-%lld pid %lld step %lld\n",
        event->phase, (int)event->name_length, event->name, (long long)event->start_ns,
        (long long)event->end_ns, (long long)event->pid, (long long)event->step);
    return GPUT_OK;
}

/* Writes a text to a file, reads it as events. */
static struct seen read_text(const char *text, struct read_report *report)
{
    struct seen seen = {0};
    char path[] = "/tmp/gput-test-XXXXXX", node[] = "node-1";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    struct trace_file file = {.kind = TRACE_FILE_EVENTS, .path = path, .node = node};
    *report = (struct read_report){0};
    assert_int_equal(framework_events_read(&file, take, &seen, report, NULL), GPUT_OK);
    unlink(path);
    return seen;
}

TEST(gives_complete_events_with_phase_and_base)
{
    struct read_report report;
    struct seen seen =
        read_text("[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,"
                  "\"args\":{\"start_time_since_epoch_in_micros\":1600000000000000}},"
                  "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"Step\"}},"
                  "{\"name\":\"s\",\"ph\":\"X\",\"pid\":1,\"ts\":1,\"dur\":2,"
                  "\"args\":{\"pid\":77,\"step_num\":\"4\"}},"
                  "{\"name\":\"caf\\u00e9\",\"ph\":\"X\",\"pid\":9,\"ts\":5,\"dur\":0}]",
            &report);
    assert_string_equal(seen.text,
        "Step/s 1600000000000001000-1600000000000003000 pid 77 step 4\n"
        "process 9/caf\xc3\xa9 1600000000000005000-1600000000000005000 pid 9 step -1\n");
    assert_int_equal(report.unusable, 0);
}

TEST(believes_the_arguments_first)
{
    struct read_report report;
    struct seen seen =
        read_text("[{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":0,"
                  "\"args\":{\"thread_id\":3,\"step_num\":\"x\"}}]",
            &report);
    assert_int_equal(seen.tid, 3);
    assert_non_null(strstr(seen.text, "pid 1 step -1"));
    seen = read_text("[{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":0,"
                     "\"args\":{\"other\":{\"thread_id\":3},\"step_num\":null}}]",
        &report);
    assert_int_equal(seen.tid, 2);
    assert_non_null(strstr(seen.text, "pid 1 step -1"));
    seen = read_text("[{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"ts\":1,\"dur\":0}]", &report);
    assert_int_equal(seen.tid, framework_thread_number("node-1", "process 1"));
}

TEST(pairs_begin_and_end_by_process_and_thread)
{
    struct read_report report;
    struct seen seen = read_text("[{\"name\":\"a\",\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1},"
                                 "{\"name\":\"b\",\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":2},"
                                 "{\"name\":\"c\",\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":3},"
                                 "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4},"
                                 "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":5,"
                                 "\"args\":{\"step_num\":3}},"
                                 "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":6},"
                                 "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":7},"
                                 "{\"name\":\"d\",\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":8}]",
        &report);
    assert_string_equal(seen.text, "process 1/a 1000-4000 pid 1 step -1\n"
                                   "process 1/c 3000-5000 pid 1 step 3\n"
                                   "process 1/b 2000-6000 pid 1 step -1\n");
    assert_int_equal(report.unusable, 2); /* an end without a begin, a begin without an end */
}

TEST(leaves_out_and_counts_what_lacks_something)
{
    struct read_report report;
    struct seen seen = read_text("[{\"name\":\"no ts\",\"ph\":\"X\",\"pid\":1,\"dur\":1},"
                                 "{\"name\":\"no dur\",\"ph\":\"X\",\"pid\":1,\"ts\":1},"
                                 "{\"ph\":\"X\",\"pid\":1,\"ts\":1,\"dur\":1},"
                                 "{\"name\":\"no pid\",\"ph\":\"X\",\"ts\":1,\"dur\":1},"
                                 "{\"name\":\"back\",\"ph\":\"X\",\"pid\":1,\"ts\":1,\"dur\":-1},"
                                 "{\"name\":\"i\",\"ph\":\"i\",\"pid\":1,\"ts\":1}]",
        &report);
    assert_string_equal(seen.text, "");
    assert_int_equal(report.unusable, 5);
    assert_int_equal(report.events, 6);
}

TEST(numbers_threads_the_same_in_every_run)
{
    int64_t number = framework_thread_number("node", "Step");
    assert_int_equal(number, framework_thread_number("node", "Step"));
    assert_int_not_equal(number, framework_thread_number("node", "Forward"));
    assert_in_range(number, 0, INT32_MAX);
}

RUN_TESTS(NULL, NULL)
