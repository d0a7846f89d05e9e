#include "machine/os/taskstats.h"

#include "testing.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAST_OF_GROUP 0x20

static struct taskstats_record record(void)
{
    struct taskstats_record record = {.version = 13,
        .exit_status = 0x200,
        .flags = LAST_OF_GROUP,
        .cpu_delays = 3,
        .cpu_delay_ns = 101,
        .block_delay_ns = 102,
        .swapin_delay_ns = 103,
        .reclaim_delay_ns = 104,
        .thrashing_delay_ns = 105,
        .compaction_delay_ns = 106,
        .run_virtual_ns = 1234567,
        .name = "worker",
        .thread = 41,
        .parent = 12,
        .elapsed_us = 5000,
        .user_us = 4000,
        .system_us = 1000,
        .minor_faults = 66,
        .peak_rss_kib = 2048,
        .read_call_bytes = 10,
        .write_call_bytes = 20,
        .read_bytes = 30,
        .write_bytes = 40,
        .cancelled_write_bytes = 41,
        .voluntary_switches = 5,
        .process = 40,
        .process_elapsed_us = 9000};
    return record;
}

static void assert_delays(const struct task_delays *delays)
{
    assert_true(delays->has_cpu);
    assert_int_equal(delays->cpu_ns, 101);
    assert_int_equal(delays->block_ns, 102);
    assert_int_equal(delays->swapin_ns, 103);
    assert_int_equal(delays->reclaim_ns, 104);
    assert_int_equal(delays->thrashing_ns, 105);
    assert_int_equal(delays->compaction_ns, 106);
}

struct message {
    unsigned char bytes[2048];
    size_t length;
};

static void put_attribute(struct message *message, uint16_t type, const void *bytes, size_t length)
{
    struct nlattr header = {.nla_len = (uint16_t)(NLA_HDRLEN + length), .nla_type = type};
    memcpy(message->bytes + message->length, &header, sizeof header);
    if (length)
        memcpy(message->bytes + message->length + NLA_HDRLEN, bytes, length);
    message->length += NLA_ALIGN(header.nla_len);
}

/* The exit record of thread `pid`. */
static struct message message_of(const void *bytes, size_t length, uint32_t pid)
{
    struct message inner = {0}, message = {.length = NLMSG_HDRLEN + GENL_HDRLEN};
    put_attribute(&inner, TASKSTATS_TYPE_PID, &pid, sizeof pid);
    put_attribute(&inner, TASKSTATS_TYPE_STATS, bytes, length);
    put_attribute(&message, TASKSTATS_TYPE_AGGR_PID, inner.bytes, inner.length);
    struct nlmsghdr header = {.nlmsg_len = (uint32_t)message.length, .nlmsg_type = 30};
    struct genlmsghdr generic = {.cmd = TASKSTATS_CMD_NEW};
    memcpy(message.bytes, &header, sizeof header);
    memcpy(message.bytes + NLMSG_HDRLEN, &generic, sizeof generic);
    return message;
}

TEST(reads_the_end_of_a_thread)
{
    struct taskstats_record raw = record();
    struct message message = message_of(&raw, sizeof raw, 41);
    struct taskstats_exit exit;
    assert_int_equal(taskstats_parse(message.bytes, message.length, &exit), GPUT_OK);
    assert_int_equal(exit.thread, 41);
    assert_int_equal(exit.process, 40);
    assert_int_equal(exit.parent, 12);
    assert_string_equal(exit.name, "worker");
    assert_false(exit.is_leader);
    assert_true(exit.is_last);
    assert_int_equal(WEXITSTATUS(exit.status), 2);
    assert_int_equal(exit.elapsed_ns, 5000000);
    assert_int_equal(exit.process_elapsed_ns, 9000000);
    assert_int_equal(exit.cpu_ns, 1234567);
    assert_int_equal(exit.user_ns, 4000000);
    assert_int_equal(exit.system_ns, 1000000);
    assert_int_equal(exit.peak_rss_bytes, 2 << 20);
    assert_int_equal(exit.counts.minor_faults, 66);
    assert_int_equal(exit.counts.read_call_bytes, 10);
    assert_int_equal(exit.counts.write_call_bytes, 20);
    assert_int_equal(exit.counts.read_bytes, 30);
    assert_int_equal(exit.counts.write_bytes, 40);
    assert_int_equal(exit.counts.cancelled_write_bytes, 41);
    assert_int_equal(exit.counts.voluntary_switches, 5);
    assert_delays(&exit.delays);
}

/* Inserts `each` more bytes after each of the delays, as some versions of the kernel did. */
static size_t insert(const struct taskstats_record *raw, size_t each, unsigned char *bytes)
{
    const size_t after[] = {offsetof(struct taskstats_record, block_delays),
        offsetof(struct taskstats_record, swapin_delays),
        offsetof(struct taskstats_record, run_real_ns),
        offsetof(struct taskstats_record, thrashing_delays),
        offsetof(struct taskstats_record, begin64_s), offsetof(struct taskstats_record, process),
        sizeof *raw};
    size_t from = 0, length = 0;
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) {
        memcpy(bytes + length, (const unsigned char *)raw + from, after[i] - from);
        length += after[i] - from;
        memset(bytes + length, 0xee, each);
        length += each;
        from = after[i];
    }
    return length;
}

TEST(reads_records_of_kernels_that_inserted_fields)
{
    struct taskstats_record raw = record();
    for (size_t each = 8; each <= 16; each += 8) {
        unsigned char bytes[sizeof raw + 7 * 16];
        size_t length = insert(&raw, each, bytes);
        struct message message = message_of(bytes, length, 41);
        struct taskstats_exit exit;
        assert_int_equal(taskstats_parse(message.bytes, message.length, &exit), GPUT_OK);
        assert_int_equal(exit.process, 40);
        assert_int_equal(exit.cpu_ns, 1234567);
        assert_string_equal(exit.name, "worker");
        assert_int_equal(exit.peak_rss_bytes, 2 << 20);
        assert_int_equal(exit.process_elapsed_ns, 9000000);
    }
}

TEST(without_a_precise_clock_ticks_are_used)
{
    struct taskstats_record raw = record();
    raw.run_virtual_ns = 0;
    struct message message = message_of(&raw, sizeof raw, 41);
    struct taskstats_exit exit;
    assert_int_equal(taskstats_parse(message.bytes, message.length, &exit), GPUT_OK);
    assert_int_equal(exit.cpu_ns, 5000000);
}

TEST(reports_a_kernel_that_is_too_old_or_unknown)
{
    struct taskstats_record raw = record();
    struct taskstats_exit exit;
    struct message message = message_of(&raw, sizeof raw, 99);
    assert_int_equal(taskstats_parse(message.bytes, message.length, &exit), GPUT_ERROR_UNSUPPORTED);
    raw.version = 11;
    message = message_of(&raw, sizeof raw, 41);
    assert_int_equal(taskstats_parse(message.bytes, message.length, &exit), GPUT_ERROR_UNSUPPORTED);
    raw.version = 13;
    message = message_of(&raw, offsetof(struct taskstats_record, process), 41);
    assert_int_equal(taskstats_parse(message.bytes, message.length, &exit), GPUT_ERROR_UNSUPPORTED);
}

TEST(never_reads_past_a_truncated_end)
{
    struct taskstats_record raw = record();
    struct message message = message_of(&raw, sizeof raw, 41);
    for (size_t length = 0; length < message.length; length++) {
        unsigned char *copy = malloc(length + 1);
        struct taskstats_exit exit;
        memcpy(copy, message.bytes, length);
        assert_int_equal(taskstats_parse(copy, length, &exit), GPUT_ERROR_FORMAT);
        free(copy);
    }
}

/* If this machine permits it; otherwise there must be a reason. */
TEST(the_exit_record_of_a_child_arrives)
{
    struct taskstats_socket taskstats;
    struct gput_error error = {0};
    if (taskstats_open(&taskstats, &error) != GPUT_OK) {
        assert_true(error.message[0] != '\0');
        assert_int_equal(taskstats.fd, -1);
        return;
    }
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    waitpid(child, NULL, 0);
    struct taskstats_exit exits[3];
    bool is_reported = false;
    for (size_t count = 3; count == 3;) {
        count = taskstats_read(&taskstats, exits, 3);
        for (size_t i = 0; i < count; i++) {
            if (exits[i].process != child)
                continue;
            is_reported = exits[i].is_last && exits[i].is_leader && exits[i].parent == getpid();
            assert_int_equal(WEXITSTATUS(exits[i].status), 7);
            assert_true(exits[i].peak_rss_bytes > 0);
        }
    }
    assert_true(is_reported || taskstats.is_unknown);
    taskstats_close(&taskstats);
}

RUN_TESTS(NULL, NULL)
