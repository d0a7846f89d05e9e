#include "machine/os/process_events.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* An event is some 80 bytes, but the kernel charges the socket 768 for it. */
#define BUFFER_BYTES (16 << 20)
#define MESSAGE_BYTES 256

/* Offsets in a message. */
#define AT_EVENT (sizeof(struct nlmsghdr) + sizeof(struct cn_msg))
#define AT_WHAT (AT_EVENT + offsetof(struct proc_event, what))
#define AT_DATA (AT_EVENT + offsetof(struct proc_event, event_data))

/* ---- parsing ---- */

/* Adds the event inside one connector message. False: it is no process event. */
static bool add_event(const unsigned char *bytes, size_t length, struct process_event *event)
{
    struct proc_event raw = {0};
    if (length < offsetof(struct proc_event, event_data) + sizeof raw.event_data.exec)
        return false;
    memcpy(&raw, bytes, length < sizeof raw ? length : sizeof raw);
    *event = (struct process_event){.time_ns = (int64_t)raw.timestamp_ns};
    switch ((uint32_t)raw.what) {
    case PROC_EVENT_FORK:
        event->kind = PROCESS_EVENT_FORK;
        event->pid = raw.event_data.fork.child_tgid;
        event->parent = raw.event_data.fork.parent_tgid;
        return length >= offsetof(struct proc_event, event_data) + sizeof raw.event_data.fork &&
               raw.event_data.fork.child_pid == event->pid;
    case PROC_EVENT_EXEC:
        event->kind = PROCESS_EVENT_EXEC;
        event->pid = raw.event_data.exec.process_tgid;
        return true;
    case PROC_EVENT_EXIT:
        event->kind = PROCESS_EVENT_EXIT;
        event->pid = raw.event_data.exit.process_tgid;
        event->status = (int)raw.event_data.exit.exit_code;
        event->is_collected =
            length >= offsetof(struct proc_event, event_data) + sizeof raw.event_data.exit &&
            raw.event_data.exit.parent_tgid == 0;
        event->is_thread = raw.event_data.exit.process_pid != event->pid;
        return true;
    default:
        return false;
    }
}

/* Returns the payload of the next connector message about processes; NULL: none. */
static const unsigned char *next_payload(
    const unsigned char **at, const unsigned char *end, size_t *length)
{
    while ((size_t)(end - *at) >= AT_EVENT) {
        const unsigned char *message = *at;
        struct nlmsghdr header;
        struct cn_msg connector;
        memcpy(&header, message, sizeof header);
        memcpy(&connector, message + sizeof header, sizeof connector);
        size_t size = header.nlmsg_len;
        if (size < sizeof header || size > (size_t)(end - message))
            break;
        size_t aligned = NLMSG_ALIGN(size);
        *at = aligned < (size_t)(end - message) ? message + aligned : end;
        if (size < AT_EVENT || connector.id.idx != CN_IDX_PROC || connector.id.val != CN_VAL_PROC)
            continue;
        size_t left = size - AT_EVENT;
        *length = connector.len < left ? connector.len : left;
        return message + AT_EVENT;
    }
    *at = end;
    return NULL;
}

bool process_events_parse(
    const unsigned char **at, const unsigned char *end, struct process_event *event)
{
    const unsigned char *payload;
    size_t length;
    while ((payload = next_payload(at, end, &length))) {
        if (add_event(payload, length, event))
            return true;
    }
    return false;
}

bool process_events_parse_answer(
    const unsigned char *bytes, size_t length, uint32_t request, uint32_t *error, int64_t *time_ns)
{
    const unsigned char *at = bytes;
    size_t size;
    const unsigned char *payload = next_payload(&at, bytes + length, &size);
    struct proc_event raw;
    struct cn_msg connector;
    if (!payload || size < offsetof(struct proc_event, event_data) + sizeof raw.event_data.ack)
        return false;
    memcpy(&connector, payload - sizeof connector, sizeof connector);
    if (connector.ack != request + 1) /* `seq` is a count of its own */
        return false;
    memcpy(&raw.what, payload, sizeof raw.what);
    memcpy(error, payload + offsetof(struct proc_event, event_data), sizeof *error);
    memcpy(time_ns, payload + offsetof(struct proc_event, timestamp_ns), sizeof *time_ns);
    return (uint32_t)raw.what == PROC_EVENT_NONE;
}

/* ---- the socket ---- */

/* Sets a filter that passes starts, ends, execve() and replies, and ends of threads where they are
 * wanted. A filter loads numbers in network byte order, while messages have host byte order. */
static void drop_the_rest(int fd, bool keeps_threads)
{
    enum { FORK = 5, EXIT = 9, COMPARE = 12, KEEP = 13, DROP = 14 };
    const unsigned char at_exit = keeps_threads ? KEEP : EXIT;
    /* Jumps count from the next instruction. */
    struct sock_filter program[] = {
        /* 0 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_WHAT),
        /* 1 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), KEEP - 2, 0),
        /* 2 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_NONE), KEEP - 3, 0),
        /* 3 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_FORK), FORK - 4, 0),
        /* 4 */ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXIT), at_exit - 5, DROP - 5),
        [FORK] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_DATA + 8),
        /* 6 */ BPF_STMT(BPF_MISC | BPF_TAX, 0),
        /* 7 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_DATA + 12),
        /* 8 */ BPF_STMT(BPF_JMP | BPF_JA, COMPARE - 9),
        [EXIT] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_DATA),
        /* 10 */ BPF_STMT(BPF_MISC | BPF_TAX, 0),
        /* 11 */ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_DATA + 4),
        [COMPARE] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, DROP - KEEP),
        [KEEP] = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        [DROP] = BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog filter = {sizeof program / sizeof program[0], program};
    /* Without it the parser drops them later. */
    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

/* Asks the kernel to begin or end sending events. */
static int send_request(int fd, enum proc_cn_mcast_op operation, uint32_t request)
{
    const struct cn_msg connector = {
        .id = {CN_IDX_PROC, CN_VAL_PROC}, .ack = request, .len = sizeof(uint32_t)};
    const uint32_t wanted = operation;
    unsigned char message[sizeof(struct nlmsghdr) + sizeof connector + sizeof wanted];
    const struct nlmsghdr header = {.nlmsg_len = sizeof message, .nlmsg_type = NLMSG_DONE};
    memcpy(message, &header, sizeof header);
    memcpy(message + sizeof header, &connector, sizeof connector);
    memcpy(message + sizeof header + sizeof connector, &wanted, sizeof wanted);
    return send(fd, message, sizeof message, 0) == (ssize_t)sizeof message ? 0 : errno;
}

/*
 * Times of events are of the kernel's monotonic clock. That of a process is ahead of it in a time
 * namespace, or where a library replaces clocks (libfaketime). The kernel replied at `kernel_ns`,
 * which was between the two times.
 */
static int64_t ahead_of_kernel_ns(int64_t kernel_ns, int64_t before_ns, int64_t after_ns)
{
    if (before_ns <= kernel_ns && kernel_ns <= after_ns)
        return 0;
    return before_ns + (after_ns - before_ns) / 2 - kernel_ns;
}

/* Reads the kernel's answer, which comes before send() returns, or never. `asked_ns`: when it was
 * asked. */
static int read_answer(
    struct process_events *events, uint32_t request, int64_t asked_ns, struct gput_error *error)
{
    int64_t answered_ns = clock_monotonic_ns(), time_ns;
    int fd = events->fd;
    unsigned char bytes[MESSAGE_BYTES];
    ssize_t length;
    while ((length = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        uint32_t answer;
        if (!process_events_parse_answer(bytes, (size_t)length, request, &answer, &time_ns))
            continue;
        events->ahead_ns = ahead_of_kernel_ns(time_ns, asked_ns, answered_ns);
        if (answer == 0)
            return GPUT_OK;
        return error_set(error, GPUT_ERROR_PERMISSION, "process events of the kernel require root");
    }
    return error_set(error, GPUT_ERROR_UNSUPPORTED,
        "the kernel sends no process events inside a container or user namespace");
}

/* Subscribes to events, and waits for the kernel's answer. */
static int begin(struct process_events *events, struct gput_error *error)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    /* No two that ask at one moment have the same. */
    uint32_t request = (uint32_t)clock_monotonic_ns() ^ (uint32_t)getpid();
    int bytes = BUFFER_BYTES;
    if (setsockopt(events->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
        setsockopt(events->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);

    int failure = 0;
    int64_t asked_ns = 0;
    if (bind(events->fd, (struct sockaddr *)&address, sizeof address) != 0)
        failure = errno;
    if (!failure) {
        asked_ns = clock_monotonic_ns();
        failure = send_request(events->fd, PROC_CN_MCAST_LISTEN, request);
    }
    if (failure == EPERM || failure == EACCES)
        return error_set(error, GPUT_ERROR_PERMISSION, "process events of the kernel require root");
    if (failure)
        return error_set_errno_as(
            error, GPUT_ERROR_UNSUPPORTED, failure, "the kernel sends no process events");
    events->has_started = true;
    return read_answer(events, request, asked_ns, error);
}

int process_events_open(struct process_events *events, struct gput_error *error)
{
    *events = (struct process_events){
        .fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR)};
    if (events->fd < 0)
        return error_set_errno_as(
            error, GPUT_ERROR_UNSUPPORTED, errno, "the kernel sends no process events");
    int code = begin(events, error);
    if (code != GPUT_OK)
        process_events_close(events);
    return code;
}

void process_events_close(struct process_events *events)
{
    if (events->fd < 0)
        return;
    /* Kernels before 6.6 count listeners and never notice that one has closed. */
    if (events->has_started)
        send_request(events->fd, PROC_CN_MCAST_IGNORE, 0);
    close(events->fd);
    events->fd = -1;
}

void process_events_want_threads(struct process_events *events, bool wanted)
{
    if (wanted == events->wants_threads)
        return;
    events->wants_threads = wanted;
    if (events->is_filtered)
        drop_the_rest(events->fd, wanted);
}

void process_events_filter(struct process_events *events)
{
    if (events->is_filtered || events->fd < 0)
        return;
    events->is_filtered = true;
    drop_the_rest(events->fd, events->wants_threads);
}

size_t process_events_read(
    struct process_events *events, struct process_event *read, bool *has_more)
{
    unsigned char bytes[PROCESS_EVENTS_BATCH][MESSAGE_BYTES];
    struct iovec parts[PROCESS_EVENTS_BATCH];
    struct mmsghdr messages[PROCESS_EVENTS_BATCH];
    memset(messages, 0, sizeof messages);
    for (size_t i = 0; i < PROCESS_EVENTS_BATCH; i++) {
        parts[i] = (struct iovec){bytes[i], sizeof bytes[i]};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    int got;
    while ((got = recvmmsg(events->fd, messages, PROCESS_EVENTS_BATCH, MSG_DONTWAIT, NULL)) < 0 &&
           errno == ENOBUFS)
        events->overflows++;
    size_t count = 0;
    for (int i = 0; i < got; i++) {
        /* One message carries one event; a damaged one none. */
        const unsigned char *at = bytes[i];
        bool has_event = process_events_parse(&at, bytes[i] + messages[i].msg_len, &read[count]);
        if (has_event)
            read[count].time_ns += events->ahead_ns;
        count += has_event && (events->wants_threads || !read[count].is_thread);
    }
    *has_more = got == PROCESS_EVENTS_BATCH;
    return count;
}
