#include "machine/os/taskstats.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>

#define BUFFER_BYTES (16 << 20)
#define MESSAGE_BYTES 4096

/* Messages that are received at once. */
#define BATCH 8

/* The first version that has the process of a thread, and the flag of a process's last thread. */
#define FIRST_VERSION 12
#ifndef AGROUP
#define AGROUP 0x20
#endif

#define POSSIBLE_CPUS "/sys/devices/system/cpu/possible"

/* ---- attributes ---- */

struct attribute {
    unsigned type;
    const unsigned char *bytes;
    size_t length;
};

/* The next attribute of a sequence; false at the end or at a damaged one. */
static bool next_attribute(
    const unsigned char **at, const unsigned char *end, struct attribute *attribute)
{
    struct nlattr header;
    size_t left = (size_t)(end - *at);
    if (left < NLA_HDRLEN)
        return false;
    memcpy(&header, *at, sizeof header);
    if (header.nla_len < NLA_HDRLEN || header.nla_len > left)
        return false;
    *attribute = (struct attribute){
        header.nla_type & NLA_TYPE_MASK, *at + NLA_HDRLEN, (size_t)header.nla_len - NLA_HDRLEN};
    size_t step = NLA_ALIGN(header.nla_len);
    *at = step < left ? *at + step : end;
    return true;
}

static bool find_attribute(
    const unsigned char *at, const unsigned char *end, unsigned type, struct attribute *attribute)
{
    while (next_attribute(&at, end, attribute)) {
        if (attribute->type == type)
            return true;
    }
    return false;
}

/* The attributes of a generic netlink message of that command; NULL when it is another. */
static const unsigned char *attributes_of(
    const unsigned char *bytes, size_t length, unsigned command, const unsigned char **end)
{
    struct nlmsghdr header;
    struct genlmsghdr generic;
    size_t before = NLMSG_HDRLEN + GENL_HDRLEN;
    if (length < before)
        return NULL;
    memcpy(&header, bytes, sizeof header);
    memcpy(&generic, bytes + NLMSG_HDRLEN, sizeof generic);
    if (header.nlmsg_len < before || header.nlmsg_len > length || generic.cmd != command)
        return NULL;
    *end = bytes + header.nlmsg_len;
    return bytes + before;
}

/* ---- records ---- */

static uint32_t number_at(const unsigned char *bytes, size_t offset)
{
    uint32_t number;
    memcpy(&number, bytes + offset, sizeof number);
    return number;
}

/*
 * Linux 6.14 inserted numbers in the middle of the record: one or two of 8 bytes after each of
 * three delays before the name, and of six before the process. Later versions moved them to the end
 * again. The offset of the thread's id shows which layout it is. SIZE_MAX: not found.
 */
static size_t inserted_bytes(const unsigned char *record, size_t length, pid_t thread)
{
    for (size_t each = 0; each <= 16; each += 8) {
        size_t offset = offsetof(struct taskstats_record, thread) + 3 * each;
        if (offset + sizeof(uint32_t) <= length && number_at(record, offset) == (uint32_t)thread)
            return each;
    }
    return SIZE_MAX;
}

/* Stretches of a record between which numbers were inserted. */
static const size_t stretches[] = {
    0,
    offsetof(struct taskstats_record, block_delays),
    offsetof(struct taskstats_record, swapin_delays),
    offsetof(struct taskstats_record, run_real_ns),
    offsetof(struct taskstats_record, thrashing_delays),
    offsetof(struct taskstats_record, begin64_s),
    offsetof(struct taskstats_record, process),
};
#define STRETCHES (sizeof stretches / sizeof stretches[0])

/* Converts a record to the layout of version 13; zeroes what is missing at the end. False: it is
 * too short. */
static bool arrange(
    const unsigned char *record, size_t length, pid_t thread, struct taskstats_record *raw)
{
    memset(raw, 0, sizeof *raw);
    size_t each = inserted_bytes(record, length, thread);
    size_t last = offsetof(struct taskstats_record, process);
    if (each == SIZE_MAX || length < last + 6 * each + sizeof raw->process + sizeof(uint64_t))
        return false;
    for (size_t i = 0; i < STRETCHES; i++) {
        size_t from = stretches[i], shifted = from + i * each;
        size_t size = (i + 1 < STRETCHES ? stretches[i + 1] : sizeof *raw) - from;
        size_t left = length - shifted;
        memcpy((unsigned char *)raw + from, record + shifted, size < left ? size : left);
    }
    return true;
}

/* Converts the kernel's record: times to nanoseconds, sizes to bytes. */
static void convert_record(const struct taskstats_record *raw, struct taskstats_exit *exit)
{
    *exit = (struct taskstats_exit){
        .thread = (pid_t)raw->thread,
        .process = (pid_t)raw->process,
        .parent = (pid_t)raw->parent,
        .is_leader = raw->thread == raw->process,
        .is_last = (raw->flags & AGROUP) != 0,
        .status = (int)raw->exit_status,
        .elapsed_ns = raw->elapsed_us * 1000,
        .process_elapsed_ns = raw->process_elapsed_us * 1000,
        .cpu_ns =
            raw->run_virtual_ns ? raw->run_virtual_ns : (raw->user_us + raw->system_us) * 1000,
        .user_ns = raw->user_us * 1000,
        .system_ns = raw->system_us * 1000,
        .counts = {.minor_faults = raw->minor_faults,
            .major_faults = raw->major_faults,
            .voluntary_switches = raw->voluntary_switches,
            .involuntary_switches = raw->involuntary_switches,
            .read_call_bytes = raw->read_call_bytes,
            .write_call_bytes = raw->write_call_bytes,
            .read_bytes = raw->read_bytes,
            .write_bytes = raw->write_bytes,
            .cancelled_write_bytes = raw->cancelled_write_bytes},
        .delays = {.has_cpu = raw->cpu_delays > 0,
            .cpu_ns = raw->cpu_delay_ns,
            .block_ns = raw->block_delay_ns,
            .swapin_ns = raw->swapin_delay_ns,
            .reclaim_ns = raw->reclaim_delay_ns,
            .thrashing_ns = raw->thrashing_delay_ns,
            .compaction_ns = raw->compaction_delay_ns},
        .peak_rss_bytes = raw->peak_rss_kib * 1024,
    };
    memcpy(exit->name, raw->name, sizeof exit->name - 1);
}

int taskstats_parse(const unsigned char *bytes, size_t length, struct taskstats_exit *exit)
{
    const unsigned char *end;
    struct attribute group, thread, record;
    const unsigned char *at = attributes_of(bytes, length, TASKSTATS_CMD_NEW, &end);
    if (!at || !find_attribute(at, end, TASKSTATS_TYPE_AGGR_PID, &group) ||
        !find_attribute(group.bytes, group.bytes + group.length, TASKSTATS_TYPE_PID, &thread) ||
        !find_attribute(group.bytes, group.bytes + group.length, TASKSTATS_TYPE_STATS, &record) ||
        thread.length < sizeof(uint32_t) || record.length < sizeof(uint16_t))
        return GPUT_ERROR_FORMAT;

    uint16_t version;
    struct taskstats_record raw;
    memcpy(&version, record.bytes, sizeof version);
    if (version < FIRST_VERSION ||
        !arrange(record.bytes, record.length, (pid_t)number_at(thread.bytes, 0), &raw))
        return GPUT_ERROR_UNSUPPORTED;
    convert_record(&raw, exit);
    return GPUT_OK;
}

/* ---- the socket ---- */

struct request {
    struct nlmsghdr header;
    struct genlmsghdr generic;
    unsigned char attributes[512];
};

/* Sends a request with one attribute that is a text. Returns 0 or an errno. */
static int send_request(int fd, uint16_t family, uint8_t command, uint16_t type, const char *text)
{
    struct request request = {
        .header = {.nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
        .generic = {.cmd = command, .version = TASKSTATS_GENL_VERSION}};
    size_t size = strlen(text) + 1;
    struct nlattr attribute = {.nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = type};
    if (NLA_HDRLEN + size > sizeof request.attributes)
        return EMSGSIZE;
    memcpy(request.attributes, &attribute, sizeof attribute);
    memcpy(request.attributes + NLA_HDRLEN, text, size);
    request.header.nlmsg_len =
        (uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN + NLA_ALIGN(NLA_HDRLEN + size));
    return send(fd, &request, request.header.nlmsg_len, 0) < 0 ? errno : 0;
}

/* Waits for the kernel's reply; sets `family` if that has the family's id. Returns 0 or an errno.
 */
static int read_answer(int fd, uint16_t *family)
{
    unsigned char bytes[MESSAGE_BYTES];
    ssize_t length;
    while ((length = recv(fd, bytes, sizeof bytes, 0)) >= (ssize_t)NLMSG_HDRLEN) {
        struct nlmsghdr header;
        struct nlmsgerr answer;
        struct attribute attribute;
        const unsigned char *end;
        memcpy(&header, bytes, sizeof header);
        if (header.nlmsg_type == NLMSG_ERROR && length >= (ssize_t)(NLMSG_HDRLEN + sizeof answer)) {
            memcpy(&answer, bytes + NLMSG_HDRLEN, sizeof answer);
            return -answer.error;
        }
        const unsigned char *at = attributes_of(bytes, (size_t)length, CTRL_CMD_NEWFAMILY, &end);
        if (family && at && find_attribute(at, end, CTRL_ATTR_FAMILY_ID, &attribute) &&
            attribute.length >= sizeof *family)
            memcpy(family, attribute.bytes, sizeof *family);
    }
    return length < 0 ? errno : EPROTO;
}

/* Registers for the records of these CPUs. Returns 0, or an errno. */
static int request_records(int fd, const char *cpus)
{
    uint16_t family = 0;
    int failure = send_request(
        fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
    if (!failure)
        failure = read_answer(fd, &family);
    if (failure)
        return failure;
    failure =
        send_request(fd, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus);
    return failure ? failure : read_answer(fd, NULL);
}

/* Says why the kernel sends no records. */
static int explain(int failure, struct gput_error *error)
{
    switch (failure) {
    case EPERM:
    case EACCES:
        return error_set(
            error, GPUT_ERROR_PERMISSION, "exit records of the kernel (taskstats) require root");
    case ENOENT:
        return error_set(error, GPUT_ERROR_UNSUPPORTED, "this kernel was built without taskstats");
    case EINVAL:
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "the kernel gives no taskstats inside a container or user namespace");
    default:
        return error_set_errno_as(
            error, GPUT_ERROR_UNSUPPORTED, failure, "the kernel gives no taskstats");
    }
}

int taskstats_open(struct taskstats_socket *taskstats, struct gput_error *error)
{
    char cpus[256];
    *taskstats = (struct taskstats_socket){.fd = -1};
    /* "0-127": records are sent for the CPUs that were requested, of threads that ended there. */
    struct str content = {0};
    int code = file_read(POSSIBLE_CPUS, &content, error);
    if (code == GPUT_OK)
        text_fit(cpus, 256, "%.*s", (int)strcspn(str_text(&content), "\n"), str_text(&content));
    str_finish(&content);
    TRY(code);
    *taskstats = (struct taskstats_socket){
        .fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_GENERIC)};
    if (taskstats->fd < 0)
        return explain(errno, error);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    int bytes = BUFFER_BYTES;
    if (setsockopt(taskstats->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(taskstats->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    int failure = 0;
    if (bind(taskstats->fd, (struct sockaddr *)&address, sizeof address) != 0)
        failure = errno;
    if (!failure)
        failure = request_records(taskstats->fd, cpus);
    if (!failure)
        return GPUT_OK;
    taskstats_close(taskstats);
    return explain(failure, error);
}

void taskstats_close(struct taskstats_socket *taskstats)
{
    file_close_fd(&taskstats->fd);
}

/* Receives up to `asked` messages. Returns the number; 0: there are none. */
static size_t receive(struct taskstats_socket *taskstats, unsigned asked,
    unsigned char bytes[BATCH][MESSAGE_BYTES], struct mmsghdr messages[BATCH])
{
    struct iovec parts[BATCH];
    for (unsigned i = 0; i < asked; i++) {
        parts[i] = (struct iovec){bytes[i], MESSAGE_BYTES};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &parts[i], .msg_iovlen = 1}};
    }
    int got;
    while ((got = recvmmsg(taskstats->fd, messages, asked, MSG_DONTWAIT, NULL)) < 0 &&
           errno == ENOBUFS)
        taskstats->overflows++;
    return got > 0 ? (size_t)got : 0;
}

size_t taskstats_read(struct taskstats_socket *taskstats, struct taskstats_exit *exits, size_t max)
{
    unsigned char bytes[BATCH][MESSAGE_BYTES];
    struct mmsghdr messages[BATCH];
    size_t count = 0, asked, got;
    do {
        asked = max - count < BATCH ? max - count : BATCH;
        got = receive(taskstats, (unsigned)asked, bytes, messages);
        for (size_t i = 0; i < got; i++) {
            int code = taskstats_parse(bytes[i], messages[i].msg_len, &exits[count]);
            count += code == GPUT_OK;
            taskstats->is_unknown |= code == GPUT_ERROR_UNSUPPORTED;
        }
    } while (got == asked && count < max);
    return count;
}
