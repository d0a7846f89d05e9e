#include "machine/os/process_events.h"

#include "machine/process/live.h"
#include "testing.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEADERS (sizeof(struct nlmsghdr) + sizeof(struct cn_msg))

struct messages {
    unsigned char bytes[1024];
    size_t length;
};

/* Appends a message as the kernel sends it; `cut` bytes are missing at its end. */
static void put(struct messages *messages, const struct proc_event *event, size_t cut)
{
    size_t payload = sizeof *event - cut;
    struct nlmsghdr header = {.nlmsg_len = (uint32_t)(HEADERS + payload), .nlmsg_type = NLMSG_DONE};
    struct cn_msg connector = {.id = {CN_IDX_PROC, CN_VAL_PROC}, .len = (uint16_t)payload};
    unsigned char *at = messages->bytes + messages->length;
    memcpy(at, &header, sizeof header);
    memcpy(at + sizeof header, &connector, sizeof connector);
    memcpy(at + HEADERS, event, payload);
    messages->length += NLMSG_ALIGN(header.nlmsg_len);
}

static struct proc_event forked(pid_t parent, pid_t child, pid_t thread)
{
    struct proc_event event = {.what = PROC_EVENT_FORK, .timestamp_ns = 77};
    event.event_data.fork.parent_pid = parent + 1;
    event.event_data.fork.parent_tgid = parent;
    event.event_data.fork.child_tgid = child;
    event.event_data.fork.child_pid = thread;
    return event;
}

static struct proc_event ended(pid_t process, pid_t thread, uint32_t status)
{
    struct proc_event event = {.what = PROC_EVENT_EXIT, .timestamp_ns = 99};
    event.event_data.exit.process_tgid = process;
    event.event_data.exit.process_pid = thread;
    event.event_data.exit.exit_code = status;
    return event;
}

TEST(reads_the_life_of_a_process)
{
    struct messages messages = {0};
    struct proc_event fork = forked(10, 20, 20), exit = ended(20, 20, 0x300);
    struct proc_event exec = {.what = PROC_EVENT_EXEC, .timestamp_ns = 88};
    exec.event_data.exec.process_tgid = exec.event_data.exec.process_pid = 20;
    exit.event_data.exit.parent_pid = exit.event_data.exit.parent_tgid = 10;
    put(&messages, &fork, 0);
    put(&messages, &exec, 0);
    put(&messages, &exit, 0);

    const unsigned char *at = messages.bytes, *end = at + messages.length;
    struct process_event event;
    assert_true(process_events_parse(&at, end, &event));
    assert_int_equal(event.kind, PROCESS_EVENT_FORK);
    assert_int_equal(event.pid, 20);
    assert_int_equal(event.parent, 10);
    assert_int_equal(event.time_ns, 77);
    assert_true(process_events_parse(&at, end, &event));
    assert_int_equal(event.kind, PROCESS_EVENT_EXEC);
    assert_int_equal(event.pid, 20);
    assert_true(process_events_parse(&at, end, &event));
    assert_int_equal(event.kind, PROCESS_EVENT_EXIT);
    assert_int_equal(WEXITSTATUS(event.status), 3);
    assert_false(event.is_collected);
    assert_false(process_events_parse(&at, end, &event));
    assert_ptr_equal(at, end);
}

TEST(skips_starts_of_threads_and_other_events)
{
    struct messages messages = {0};
    struct proc_event thread = forked(10, 20, 21), thread_end = ended(20, 21, 0);
    struct proc_event renamed = {.what = PROC_EVENT_COMM}, exit = ended(20, 20, SIGKILL);
    put(&messages, &thread, 0);
    put(&messages, &thread_end, 0);
    put(&messages, &renamed, 0);
    put(&messages, &exit, 0);
    const unsigned char *at = messages.bytes;
    struct process_event event;
    assert_true(process_events_parse(&at, messages.bytes + messages.length, &event));
    assert_int_equal(event.kind, PROCESS_EVENT_EXIT);
    assert_int_equal(event.pid, 20);
    assert_true(event.is_thread);
    assert_true(process_events_parse(&at, messages.bytes + messages.length, &event));
    assert_int_equal(event.kind, PROCESS_EVENT_EXIT);
    assert_false(event.is_thread);
    assert_true(WIFSIGNALED(event.status));
    assert_int_equal(WTERMSIG(event.status), SIGKILL);
    assert_true(event.is_collected); /* its parent has ended */
}

TEST(old_kernels_send_shorter_ends)
{
    struct messages messages = {0};
    struct proc_event exit = ended(20, 20, 0x100);
    put(&messages, &exit, 8); /* before Linux 4.18: no parent */
    const unsigned char *at = messages.bytes;
    struct process_event event;
    assert_true(process_events_parse(&at, at + messages.length, &event));
    assert_int_equal(WEXITSTATUS(event.status), 1);
    assert_false(event.is_collected);
}

TEST(damaged_messages_end_the_reading)
{
    struct messages messages = {0};
    struct proc_event fork = forked(10, 20, 20);
    put(&messages, &fork, 0);
    struct process_event event;
    for (size_t length = 0; length < HEADERS + sizeof fork; length++) {
        /* In separate memory, so that reading past the end is detected. */
        unsigned char *copy = malloc(length + 1);
        memcpy(copy, messages.bytes, length);
        const unsigned char *at = copy;
        assert_false(process_events_parse(&at, copy + length, &event));
        assert_ptr_equal(at, copy + length);
        free(copy);
    }
    struct nlmsghdr header = {.nlmsg_len = 3};
    memcpy(messages.bytes, &header, sizeof header);
    const unsigned char *at = messages.bytes;
    assert_false(process_events_parse(&at, at + messages.length, &event));
}

TEST(recognizes_the_kernels_reply)
{
    struct messages messages = {0};
    struct proc_event answer = {.what = PROC_EVENT_NONE, .timestamp_ns = 55};
    answer.event_data.ack.err = 1;
    put(&messages, &answer, 0);
    struct cn_msg connector = {
        .id = {CN_IDX_PROC, CN_VAL_PROC}, .seq = 7, .ack = 9, .len = sizeof answer};
    memcpy(messages.bytes + sizeof(struct nlmsghdr), &connector, sizeof connector);
    const uint32_t request = 8;
    uint32_t error = 0;
    int64_t time_ns = 0;
    assert_true(
        process_events_parse_answer(messages.bytes, messages.length, request, &error, &time_ns));
    assert_int_equal(error, 1);
    assert_int_equal(time_ns, 55);
    assert_false(process_events_parse_answer(messages.bytes, HEADERS, request, &error, &time_ns));
    /* A reply to another one, who asked at the same time. */
    assert_false(process_events_parse_answer(
        messages.bytes, messages.length, request + 1, &error, &time_ns));
}

/* If this machine gives events; otherwise there must be a reason. */
TEST(a_child_is_announced)
{
    struct process_events events;
    struct gput_error error = {0};
    if (process_events_open(&events, &error) != GPUT_OK) {
        assert_true(error.message[0] != '\0');
        assert_int_equal(events.fd, -1);
        return;
    }
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    waitpid(child, NULL, 0);
    struct process_event batch[PROCESS_EVENTS_BATCH];
    bool has_started = false, has_ended = false, has_more;
    /* The kernel announces an end after the parent could learn of it. */
    EVENTUALLY(has_ended || events.overflows > 0)
    {
        size_t count = process_events_read(&events, batch, &has_more);
        for (size_t i = 0; i < count; i++) {
            if (batch[i].pid != child)
                continue;
            has_started |= batch[i].kind == PROCESS_EVENT_FORK && batch[i].parent == getpid();
            has_ended |= batch[i].kind == PROCESS_EVENT_EXIT && WEXITSTATUS(batch[i].status) == 7;
        }
    }
    process_events_close(&events);
    if (events.overflows > 0)
        SKIP("so many other processes start and end here that events were lost");
    assert_true(has_started);
    assert_true(has_ended);
}

static void *nothing(void *user)
{
    return user;
}

/* Ends a thread; whether that comes before the later end of a process, or, if `wanted`, at last. Of
 * events that were lost nothing is known: as it is wanted. */
static bool reports_end_of_thread(struct process_events *events, bool wanted)
{
    uint64_t overflows = events->overflows;
    pthread_t thread;
    bool is_reported = false;
    assert_int_equal(pthread_create(&thread, NULL, nothing, NULL), 0);
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    struct process_event batch[PROCESS_EVENTS_BATCH];
    for (bool is_over = false; !is_over || (wanted && !is_reported);) {
        if (events->overflows > overflows)
            return wanted;
        bool has_more;
        size_t count = process_events_read(events, batch, &has_more);
        for (size_t i = 0; i < count; i++) {
            is_reported |= batch[i].pid == getpid() && batch[i].is_thread;
            is_over |= batch[i].pid == child && batch[i].kind == PROCESS_EVENT_EXIT;
        }
    }
    return is_reported;
}

TEST(ends_of_threads_are_delivered_while_wanted)
{
    struct process_events events;
    struct gput_error error = {0};
    if (process_events_open(&events, &error) != GPUT_OK)
        SKIP(error.message);
    for (int i = 0; i < 2; i++) {
        assert_false(reports_end_of_thread(&events, false));
        process_events_want_threads(&events, true);
        assert_true(reports_end_of_thread(&events, true));
        process_events_want_threads(&events, false);
        assert_false(reports_end_of_thread(&events, false));
        process_events_filter(&events); /* and the same again */
    }
    process_events_close(&events);
}

RUN_TESTS(NULL, NULL)
