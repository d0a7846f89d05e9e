#include "torch/torch_trace.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "common/environment.h"
#include "output/output_files.h"

#include <gputracker/error.h>
#include <gputracker/rank.h>
#include <gputracker/timeline.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- The files of traces ---- */

/* A trace that PyTorch's profiler wrote on demand does not have its rank. This is the size of the
 * part in which a rank is looked for. */

enum { HEAD = 64 * 1024 };

static int fail_on(const char *path, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO, "%.400s: %s", path, strerror(errno));
}

/* Whether the head of a trace has its rank. */
static bool has_rank(char *head)
{
    char *events = strstr(head, "\"traceEvents\"");
    if (events)
        *events = '\0';
    bool found = strstr(head, "\"distributedInfo\"") != NULL;
    if (events)
        *events = '"';
    return found;
}

/* Copies the first part of a trace, and inserts the rank. */
static int copy_head(
    FILE *from, FILE *to, const char *path, long rank, long world_size, struct gput_error *error)
{
    char head[HEAD + 1];
    size_t length = fread(head, 1, HEAD, from);
    head[length] = '\0';
    /* Find the start of the object's members; 0: it is no object. */
    size_t at = strspn(head, " \t\r\n");
    size_t members = at < length && head[at] == '{' ? at + 1 : 0;

    if (members == 0)
        return error_set(
            error, GPUT_ERROR_FORMAT, "%.400s is not a trace of PyTorch's profiler.", path);
    fwrite(head, 1, members, to);
    if (rank >= 0 && !has_rank(head))
        fprintf(to, "\n\"distributedInfo\": {\"rank\": %ld, \"world_size\": %ld},", rank,
            world_size > rank ? world_size : rank + 1);
    fwrite(head + members, 1, length - members, to);
    return GPUT_OK;
}

/*
 * Copies a trace to a new file, with its rank as a `distributedInfo`, which readers of traces know;
 * an existing one is kept. `rank` -1: without it. Errors: GPUT_ERROR_FORMAT (no JSON object),
 * GPUT_ERROR_IO.
 */
static int torch_file_copy(
    const char *from, const char *to, long rank, long world_size, struct gput_error *error)
{
    char chunk[8192];
    size_t length;
    FILE *source = fopen(from, "re");
    FILE *target = source ? fopen(to, "wxe") : NULL;
    int code = target ? copy_head(source, target, from, rank, world_size, error)
                      : fail_on(source ? to : from, error);
    while (code == GPUT_OK && (length = fread(chunk, 1, sizeof chunk, source)) > 0)
        fwrite(chunk, 1, length, target);
    if (code == GPUT_OK && (ferror(source) || ferror(target)))
        code = fail_on(ferror(source) ? from : to, error);
    if (source)
        fclose(source);
    if (target && fclose(target) != 0 && code == GPUT_OK)
        code = fail_on(to, error);
    if (code != GPUT_OK && target)
        unlink(to);
    return code;
}

/* Whether a trace has an operator; false if it cannot be read. */
static bool torch_file_has_operators(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    bool found = false;
    /* Read from quote to quote: the category of operators is a string of its own. */
    while (file && !found && getdelim(&text, &size, '"', file) > 0)
        found = strcmp(text, "cpu_op\"") == 0;
    free(text);
    if (file)
        fclose(file);
    return found;
}

/* PyTorch appends 52 bytes to this in an address of 108, without checking whether they fit. */
#define MAX_SOCKET_FOLDER 50

#define DAEMON_NAME "dynolog"

/* ---- Files ---- */

/* Names the file of traces after the tracking file, unless the user named it. */
static int name_file(struct torch_trace *trace, struct outputs *outputs, const char *tracking_file,
    struct gput_error *error)
{
    if (trace->path)
        return GPUT_OK; /* tracking_files_name() has set it */
    if (tracking_file)
        return outputs_name_after(
            outputs, OUTPUT_TRACES, tracking_file, "-torch.json", &trace->path, error);
    trace->path = "torch-trace.json";
    return outputs_name(outputs, OUTPUT_TRACES, &trace->path, error);
}

/* Makes the folder of traces next to the timeline, where they survive if this process is killed. If
 * PyTorch cannot use that path, uses the temporary folder. */
static int make_folder(void *user, struct gput_error *error)
{
    struct torch_trace *trace = user;
    char path[PATH_MAX];
    TRY(file_check(trace->path, error));
    const char *slash = strrchr(trace->path, '/');
    const char *name = slash ? slash + 1 : trace->path, *dot = strstr(name, ".json");
    if (!dot)
        dot = strrchr(name, '.');
    int length = dot ? (int)(dot - trace->path) : (int)strlen(trace->path);
    snprintf(path, sizeof path, "%.*s.parts", length, trace->path);
    TRY(output_files_make_private(path, trace->replaces, "the traces of an earlier command",
        "'gpu-tracker timeline merge' makes one file of them. --overwrite uses it again.", error));
    trace->folder = realpath(path, NULL);

    /* PyTorch inserts the pid before the first ".json" of a path, and refuses "..". */
    bool is_refused =
        trace->folder && (strstr(trace->folder, ".json") || strstr(trace->folder, "..") ||
                             strpbrk(trace->folder, "\n#="));
    if (is_refused) {
        rmdir(trace->folder);
        free(trace->folder);
        trace->folder = realpath(trace->sockets.path, NULL);
    }
    return trace->folder ? GPUT_OK
                         : error_set(error, GPUT_ERROR_IO, "Cannot use folder %.400s: %s", path,
                               strerror(errno));
}

/* ---- The socket ---- */

/* Whether another process listens at an address. */
static bool is_answered(const struct sockaddr_un *address, socklen_t length)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool answers = fd >= 0 && connect(fd, (const struct sockaddr *)address, length) == 0;
    if (fd >= 0)
        close(fd);
    return answers;
}

/* Whether another daemon already answers; it is then left in place. */
static bool belongs_to_other(struct torch_trace *trace)
{
    struct sockaddr_un abstract = {.sun_family = AF_UNIX};
    const char *folder = getenv("KINETO_IPC_SOCKET_DIR");
    memcpy(abstract.sun_path + 1, DAEMON_NAME, sizeof DAEMON_NAME);
    if (folder && folder[0]) {
        notes_add(&trace->notes,
            "PyTorch is not asked for traces, as KINETO_IPC_SOCKET_DIR is set already, to %.200s.",
            folder);
        return true;
    }
    if (!is_answered(&abstract,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + sizeof DAEMON_NAME)))
        return false;
    notes_add(&trace->notes, "PyTorch is not asked for traces, as a daemon (dynolog) on this "
                             "machine does that already.");
    return true;
}

/* Sets the variables by which PyTorch finds the socket. */
static int set_environment(const struct torch_trace *trace, struct gput_error *error)
{
    /* The last variable suppresses lines about the daemon, which each program that loads PyTorch
     * would print. */
    if (setenv("KINETO_USE_DAEMON", "1", 1) == 0 &&
        setenv("KINETO_IPC_SOCKET_DIR", trace->sockets.path, 1) == 0 &&
        setenv("KINETO_ONDEMAND_TRACE_DIR", trace->folder, 1) == 0 &&
        setenv("KINETO_LOG_LEVEL", "5", 0) == 0)
        return GPUT_OK;
    return error_memory(error);
}

int torch_trace_begin(struct torch_trace *trace, const struct arguments *arguments,
    struct outputs *outputs, const char *samples, struct gput_session_options *options,
    struct gput_error *error)
{
    struct gput_rank *rank;
    const char *text;
    size_t position = 0;
    *trace = (struct torch_trace){
        .path = trace->path, .socket = -1, .events = -1, .sockets = {.alive_fd = -1}};
    trace->replaces = options->overwrite;
    while ((text = arguments_next(arguments, OPTION_TORCH_TRACE, &position)))
        TRY(torch_schedule_add(&trace->schedule, text, error));
    if (trace->schedule.n_requests == 0)
        return GPUT_OK;
    trace->is_wanted = true;
    if (gput_rank_create(NULL, &rank, error) == GPUT_OK) {
        trace->schedule.is_rank = gput_rank_number(rank) >= 0;
        gput_rank_destroy(rank);
    }
    if (belongs_to_other(trace))
        return GPUT_OK;
    trace->outputs = outputs;
    TRY(name_file(trace, outputs, samples, error));
    const char *root = environment_path("TMPDIR");
    if (root && strlen(root) + sizeof "/gpu-tracker-XXXXXX" > MAX_SOCKET_FOLDER)
        root = NULL;
    TRY(temporary_folder_make(&trace->sockets, root, "the socket of --torch-trace", error));

    TRY(outputs_take(outputs, OUTPUT_TRACES, make_folder, trace, error));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct epoll_event event = {.events = EPOLLIN};
    int yes = 1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/" DAEMON_NAME, trace->sockets.path);
    trace->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    trace->events = epoll_create1(EPOLL_CLOEXEC);
    if (trace->socket < 0 || trace->events < 0 ||
        setsockopt(trace->socket, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
        bind(trace->socket, (struct sockaddr *)&address, sizeof address) != 0 ||
        epoll_ctl(trace->events, EPOLL_CTL_ADD, trace->socket, &event) != 0)
        return error_set(error, GPUT_ERROR_IO,
            "Cannot open the socket of --torch-trace in %.200s: %s", trace->sockets.path,
            strerror(errno));

    TRY(set_environment(trace, error));
    if (options->tracking_file)
        return GPUT_OK;
    if (asprintf(&trace->samples, "%s/samples.sqlite", trace->sockets.path) < 0)
        trace->samples = NULL;
    options->tracking_file = trace->samples;
    return trace->samples ? GPUT_OK : error_memory(error);
}

/* ---- While the command runs ---- */

/* Adds a trace that a process is asked for. Returns the path for it; NULL without memory. */
static const char *add_asked(struct torch_trace *trace, const struct torch_client *client,
    const struct torch_request *request)
{
    size_t count = trace->n_asked;
    if ((count & (count - 1)) == 0) {
        struct torch_asked *asked =
            realloc(trace->asked, (count > 0 ? 2 * count : 1) * sizeof *asked);
        if (!asked)
            return NULL;
        trace->asked = asked;
    }
    struct torch_asked *asked = &trace->asked[count];
    *asked = (struct torch_asked){
        .client = (size_t)(client - trace->schedule.clients), .request = request};
    if (asprintf(&asked->path, "%s/torch-%d-%zu.trace", trace->folder,
            (int)client->message.processes[0], count) < 0)
        return NULL;
    trace->n_asked++;
    return asked->path;
}

/* Writes the task of a process. Returns the length; 0: there is none. */
static size_t answer_request(
    struct torch_trace *trace, struct torch_client *client, char *text, size_t size)
{
    struct timespec now;
    int64_t joint_start_ms;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *path = client->repeated ? trace->asked[client->repeated - 1].path : NULL;
    if (path && access(path, F_OK) == 0) {
        client->n_given++;
        client->repeated = 0;
    }
    const struct torch_request *request =
        torch_schedule_next(&trace->schedule, client, clock_monotonic_ms() - trace->started_ms,
            (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, &joint_start_ms);
    if (!request)
        return 0;
    if (!client->repeated) {
        path = add_asked(trace, client, request);
        client->repeated = path && request->by_step ? trace->n_asked : 0;
    }
    return path ? torch_request_compose(request, joint_start_ms, path, text, size) : 0;
}

/* Answers a message of PyTorch; a process that asks becomes a client. */
static void answer(struct torch_trace *trace, const struct torch_message *message, pid_t pid,
    const struct sockaddr_un *from, socklen_t from_length)
{
    char text[PATH_MAX + 512];
    unsigned char reply[TORCH_MESSAGE_SIZE];
    int32_t one = 1;
    size_t length = 0;
    if (message->kind == TORCH_CONTEXT) {
        length = torch_message_compose(TORCH_CONTEXT, &one, sizeof one, reply);
    } else if (message->kind == TORCH_REQUEST) {
        size_t before = trace->schedule.n_clients;
        struct torch_client *client = torch_schedule_client(&trace->schedule, from->sun_path);
        if (!client)
            return;
        client->message = *message;
        client->n_asked++;
        if (trace->schedule.n_clients > before) {
            struct gput_rank *rank;
            struct gput_error error;
            if (gput_rank_of_process(pid, &rank, &error) == GPUT_OK) {
                client->rank = gput_rank_number(rank);
                client->world_size = gput_rank_world_size(rank);
                client->local_size = gput_rank_local_size(rank);
                gput_rank_destroy(rank);
            }
        }

        size_t text_length = answer_request(trace, client, text, sizeof text);
        length = torch_message_compose(TORCH_REQUEST, text, text_length, reply);
    }
    if (length > 0)
        sendto(trace->socket, reply, length, MSG_DONTWAIT | MSG_NOSIGNAL,
            (const struct sockaddr *)from, from_length);
}

/* Handles one message. Returns false if there is none. */
static bool handle_message(struct torch_trace *trace)
{
    unsigned char bytes[TORCH_MESSAGE_SIZE];
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct sockaddr_un from = {0};
    struct torch_message message;
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr header = {.msg_name = &from,
        .msg_namelen = sizeof from - 1, /* space for a final 0 */
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control};
    ssize_t length = recvmsg(trace->socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length < 0)
        return errno == EINTR;

    /* The kernel gives the sender's pid in this process's namespace; 0: not known. */
    struct ucred sender = {0};
    struct cmsghdr *head = CMSG_FIRSTHDR(&header);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_CREDENTIALS)
        memcpy(&sender, CMSG_DATA(head), sizeof sender);

    bool is_named = header.msg_namelen > offsetof(struct sockaddr_un, sun_path) && from.sun_path[0];
    if (is_named && torch_message_parse(bytes, (size_t)length, &message))
        answer(trace, &message, sender.pid, &from, header.msg_namelen);
    return true;
}

/* Maximum number of messages handled at once, so that a flood of another process does not keep this
 * one from its work. */
enum { MESSAGES_AT_ONCE = 64 };

/* Handles messages that have arrived, then updates the display. */
static int update(void *user)
{
    struct torch_trace *trace = user;
    for (int i = 0; i < MESSAGES_AT_ONCE && handle_message(trace); i++)
        ;
    return trace->display.update(trace->display.user);
}

static void suspend(void *user)
{
    display_suspend(&((struct torch_trace *)user)->display);
}

static void resume(void *user)
{
    display_resume(&((struct torch_trace *)user)->display);
}

struct display torch_trace_display(struct torch_trace *trace, struct display display)
{
    struct epoll_event event = {.events = EPOLLIN};
    if (trace->socket < 0)
        return display;
    trace->started_ms = clock_monotonic_ms();
    trace->display = display;
    if (display.fd >= 0)
        epoll_ctl(trace->events, EPOLL_CTL_ADD, display.fd, &event);
    return (struct display){
        .fd = trace->events, .update = update, .suspend = suspend, .resume = resume, .user = trace};
}

/* ---- Afterwards ---- */

/* Notes a warning about a trace. */
static void on_warning(void *user, const char *text)
{
    notes_add(user, "%s", text);
}

static const char *rank_text(long rank, char text[32])
{
    snprintf(text, 32, rank >= 0 ? " (rank %ld)" : "", rank);
    return text;
}

/* Copies a trace that was written to a file named by its rank. Notes why one is missing. */
static void copy_trace(struct torch_trace *trace, struct torch_asked *asked, size_t number)
{
    char path[PATH_MAX + 64], rank_part[32] = "", rank_name[32];
    struct gput_error error;
    const struct torch_client *client = &trace->schedule.clients[asked->client];
    long rank = torch_schedule_rank(&trace->schedule, client);
    int pid = (int)client->message.processes[0];
    if (torch_schedule_is_launcher(&trace->schedule, client) &&
        !torch_file_has_operators(asked->path)) {
        unlink(asked->path); /* it was asked before it had started a rank */
        return;
    }
    if (access(asked->path, F_OK) != 0) {
        notes_add(&trace->notes,
            "Process %d%s was asked for a trace, and ended before it had written it%s.", pid,
            rank_text(rank, rank_name),
            asked->request->by_step ? " (steps are those of optimizers of PyTorch)" : "");
        return;
    }
    if (rank >= 0)
        snprintf(rank_part, sizeof rank_part, "rank%ld-", rank);
    snprintf(path, sizeof path, "%s/torch-%s%d-%zu.json", trace->folder, rank_part, pid, number);
    int code = torch_file_copy(asked->path, path, rank, client->world_size, &error);
    if (code == GPUT_OK)
        unlink(asked->path);
    if (code == GPUT_OK)
        asked->taken = strdup(path);
    else
        notes_add(&trace->notes, "%s", error.message);
}

/* Merges the traces with samples and marks into one timeline. */
static int merge(struct torch_trace *trace, size_t n_taken, const char *tracking_file,
    const char *marks, struct gput_error *error)
{
    struct gput_timeline_options options = gput_timeline_options_default();
    const char **inputs = calloc(n_taken + 2, sizeof *inputs);
    size_t count = 0;
    if (!inputs)
        return error_memory(error);
    for (size_t i = 0; i < trace->n_asked; i++) {
        if (trace->asked[i].taken)
            inputs[count++] = trace->asked[i].taken;
    }
    if (tracking_file && access(tracking_file, R_OK) == 0)
        inputs[count++] = tracking_file;
    if (marks)
        inputs[count++] = marks;
    options.inputs = inputs;
    options.n_inputs = count;
    outputs_settle(trace->outputs, OUTPUT_TRACES);
    options.output = trace->path;
    options.low_dimension = NULL;
    options.warn = on_warning;
    options.user = &trace->notes;
    int code = gput_timeline_merge(&options, NULL, error);
    free(inputs);
    return code;
}

void torch_trace_merge(struct torch_trace *trace, const char *tracking_file, const char *marks)
{
    struct gput_error error;
    size_t n_taken = 0;
    if (trace->socket < 0)
        return;
    for (size_t i = 0; i < trace->n_asked; i++) {
        copy_trace(trace, &trace->asked[i], i);
        n_taken += trace->asked[i].taken != NULL;
    }
    if (trace->n_asked == 0) {
        long there = 0, wanted = 0;
        const struct torch_schedule *schedule = &trace->schedule;
        for (size_t i = 0; i < schedule->n_clients; i++) {
            there += torch_schedule_rank(schedule, &schedule->clients[i]) >= 0;
            if (schedule->clients[i].local_size > wanted)
                wanted = schedule->clients[i].local_size;
        }
        if (schedule->n_clients == 0)
            notes_add(&trace->notes,
                "No process of the command asked whether to be traced, as PyTorch "
                "2.1 and later does when it is imported.");
        else if (!schedule->is_rank && there < wanted)
            notes_add(&trace->notes,
                "No trace was asked for: %ld of %ld ranks on this machine loaded PyTorch.", there,
                wanted);
        else
            notes_add(&trace->notes,
                "No trace was asked for: the command ended before (PyTorch asks every 5 seconds).");
    }

    if (n_taken == 0)
        return;
    if (merge(trace, n_taken, tracking_file, marks, &error) != GPUT_OK) {
        notes_add(&trace->notes, "%s The traces are in %.400s.", error.message, trace->folder);
        return;
    }
    trace->is_written = true;
    char lacking[96] = "";
    size_t n_empty = 0;
    for (size_t i = 0; i < trace->n_asked; i++)
        n_empty += trace->asked[i].taken && !torch_file_has_operators(trace->asked[i].taken);
    if (n_empty == n_taken)
        snprintf(lacking, sizeof lacking, " without operators");
    else if (n_empty > 0)
        snprintf(lacking, sizeof lacking, " (%zu without operators)", n_empty);
    notes_add(&trace->notes, "%zu trace%s of PyTorch%s, with the samples: %.400s", n_taken,
        n_taken == 1 ? "" : "s", lacking, trace->path);
    if (n_empty > 0)
        notes_add(&trace->notes,
            "PyTorch ran no operator while %s recorded. A trace that begins "
            "later, or by steps (--torch-trace 5steps@100), has some.",
            n_empty == 1 ? "one was" : "these were");

    for (size_t i = 0; i < trace->n_asked; i++) {
        if (trace->asked[i].taken)
            unlink(trace->asked[i].taken);
    }
}

const char *torch_trace_file(const struct torch_trace *trace)
{
    return trace->is_written ? trace->path : NULL;
}

void torch_trace_finish(struct torch_trace *trace)
{
    if (trace->socket >= 0)
        close(trace->socket);
    if (trace->events >= 0)
        close(trace->events);
    if (trace->folder)
        rmdir(trace->folder); /* fails if it is not empty because something failed */
    for (size_t i = 0; i < trace->n_asked; i++) {
        free(trace->asked[i].path);
        free(trace->asked[i].taken);
    }
    temporary_folder_remove(&trace->sockets);
    torch_schedule_finish(&trace->schedule);
    notes_finish(&trace->notes);
    free(trace->asked);
    free(trace->folder);
    free(trace->samples);
    *trace = (struct torch_trace){.socket = -1, .events = -1, .sockets = {.alive_fd = -1}};
}
