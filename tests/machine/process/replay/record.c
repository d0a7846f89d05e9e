/*
 * Records what a session would read of a command and all it starts: procfs at each tick, events
 * of the process connector, exit records of taskstats, what wait4 gives.
 * tests/machine/process/test_replay.c feeds recordings into the accounting again. Needs root.
 *
 *   record [-t TICK_MS] [-a ATTACH_AFTER_MS] [-l LOST_STEP] FILE COMMAND [ARG…]
 *
 * -a: the command runs for that long before tracking begins, as with `attach`. -l: the events of
 * that step are dropped, as if they had not been read in time. The form of FILE: replay.h.
 */
#include "base/clock.h"
#include "machine/os/process_events.h"
#include "machine/os/taskstats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_MEMBERS 4096
#define MAX_FILES 65536
#define MAX_BATCH 16384
#define MAX_TEXT 4096

/* What a file held when it was last written down. */
struct known_file {
    char *path, *text;
};

struct recorder {
    FILE *out;
    int64_t suspended_ns; /* by which the boot clock, of start times in stat, is ahead */
    pid_t main;
    pid_t members[MAX_MEMBERS];
    bool is_gone[MAX_MEMBERS]; /* procfs no longer has it */
    size_t n_members;
    struct known_file files[MAX_FILES];
    size_t n_files;
    struct process_events events;
    struct taskstats_socket taskstats;
    struct process_event batch[MAX_BATCH];
    size_t n_batch;
    struct taskstats_exit exits[MAX_BATCH];
    size_t n_exits;
    int64_t orphans_ns;
};

static void die(const char *what)
{
    fprintf(stderr, "record: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t ns_of(const struct timeval *time)
{
    return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

static bool is_member(const struct recorder *recorder, pid_t pid)
{
    for (size_t i = 0; i < recorder->n_members; i++) {
        if (recorder->members[i] == pid)
            return true;
    }
    return false;
}

static void add_member(struct recorder *recorder, pid_t pid)
{
    if (pid > 0 && !is_member(recorder, pid) && recorder->n_members < MAX_MEMBERS)
        recorder->members[recorder->n_members++] = pid;
}

/* ---- Files ---- */

static bool read_text(const char *path, char *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = 0, more;
    while ((more = read(fd, text + length, MAX_TEXT - 1 - (size_t)length)) > 0)
        length += more;
    close(fd);
    text[length] = '\0';
    return length > 0 || more == 0;
}

/* Of status, the lines that are read. */
static void keep_known_lines(char *text)
{
    static const char *const names[] = {"Name:", "State:", "Tgid:", "Pid:", "PPid:", "Threads:",
        "SigIgn:", "NSpid:", "VmHWM:", "VmRSS:", "Uid:", "voluntary", "nonvoluntary"};
    char *to = text;
    for (char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (strncmp(line, names[i], strlen(names[i])) != 0)
                continue;
            memmove(to, line, (size_t)(end - line));
            to += end - line;
            break;
        }
    }
    *to = '\0';
}

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else if (*text == '\\')
            fputs("\\\\", out);
        else
            putc(*text, out);
    }
}

static struct known_file *known(struct recorder *recorder, const char *path)
{
    for (size_t i = recorder->n_files; i-- > 0;) {
        if (strcmp(recorder->files[i].path, path) == 0)
            return &recorder->files[i];
    }
    if (recorder->n_files == MAX_FILES)
        die("too many files");
    struct known_file *file = &recorder->files[recorder->n_files++];
    file->path = strdup(path);
    return file;
}

static void copy_file(struct recorder *recorder, const char *name)
{
    char path[128], text[MAX_TEXT];
    snprintf(path, sizeof path, "/proc/%s", name);
    if (!read_text(path, text))
        return;
    if (strstr(name, "/status"))
        keep_known_lines(text);
    struct known_file *file = known(recorder, name);
    if (file->text && strcmp(file->text, text) == 0)
        return;
    free(file->text);
    file->text = strdup(text);
    fprintf(recorder->out, "file %s ", name);
    write_escaped(recorder->out, text);
    putc('\n', recorder->out);
}

static void add_children(struct recorder *recorder, const char *name)
{
    char path[128], text[MAX_TEXT], *rest;
    snprintf(path, sizeof path, "/proc/%s", name);
    if (!read_text(path, text))
        return;
    for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
        add_member(recorder, (pid_t)atoi(word));
}

static void copy_threads(struct recorder *recorder, pid_t pid)
{
    static const char *const names[] = {"children", "stat", "status", "io"};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        for (size_t i = 0; entry->d_name[0] != '.' && i < sizeof names / sizeof names[0]; i++) {
            char name[96];
            snprintf(name, sizeof name, "%d/task/%.16s/%s", pid, entry->d_name, names[i]);
            copy_file(recorder, name);
            if (i == 0)
                add_children(recorder, name);
        }
    }
    if (folder)
        closedir(folder);
}

static void copy_member(struct recorder *recorder, size_t member)
{
    static const char *const names[] = {"stat", "statm", "status", "io"};
    pid_t pid = recorder->members[member];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", pid);
    if (access(path, F_OK) != 0) {
        fprintf(recorder->out, "gone %d\n", pid);
        recorder->is_gone[member] = true;
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%d/%s", pid, names[i]);
        copy_file(recorder, name);
    }
    copy_threads(recorder, pid);
}

/* ---- Events ---- */

static void read_events(struct recorder *recorder)
{
    bool has_more = true;
    recorder->n_batch = 0;
    recorder->n_exits = taskstats_read(&recorder->taskstats, recorder->exits, MAX_BATCH);
    while (has_more && recorder->n_batch + PROCESS_EVENTS_BATCH <= MAX_BATCH)
        recorder->n_batch +=
            process_events_read(&recorder->events, recorder->batch + recorder->n_batch, &has_more);
    for (size_t i = 0; i < recorder->n_batch; i++) {
        const struct process_event *event = &recorder->batch[i];
        if (event->kind == PROCESS_EVENT_FORK && is_member(recorder, event->parent))
            add_member(recorder, event->pid);
    }
}

static void write_exits(const struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->n_exits; i++) {
        const struct taskstats_exit *exit = &recorder->exits[i];
        if (!is_member(recorder, exit->process))
            continue;
        fprintf(recorder->out,
            "exit %d %d %d %d %d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
            " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
            " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
            exit->thread, exit->process, exit->parent, exit->is_leader, exit->is_last, exit->status,
            exit->elapsed_ns, exit->process_elapsed_ns, exit->cpu_ns, exit->user_ns,
            exit->system_ns, exit->counts.minor_faults, exit->counts.major_faults,
            exit->counts.voluntary_switches, exit->counts.involuntary_switches,
            exit->counts.read_call_bytes, exit->counts.write_call_bytes, exit->counts.read_bytes,
            exit->counts.write_bytes, exit->counts.cancelled_write_bytes, exit->peak_rss_bytes,
            exit->name);
    }
}

static void write_events(const struct recorder *recorder)
{
    static const char *const kinds[] = {"fork", "exec", "ended"};
    for (size_t i = 0; i < recorder->n_batch; i++) {
        const struct process_event *event = &recorder->batch[i];
        if (!is_member(recorder, event->pid))
            continue;
        fprintf(recorder->out, "event %s %d %d %d %d %d %" PRId64 "\n", kinds[event->kind],
            event->pid, event->parent, event->status, event->is_thread, event->is_collected,
            event->time_ns + recorder->suspended_ns);
    }
}

static void reap_orphans(struct recorder *recorder)
{
    struct rusage usage;
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
           info.si_pid != recorder->main) {
        if (wait4(info.si_pid, NULL, 0, &usage) < 0)
            die("wait4");
        recorder->orphans_ns += ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
        info.si_pid = 0;
    }
    fprintf(recorder->out, "orphans %" PRId64 "\n", recorder->orphans_ns);
}

static void take_step(struct recorder *recorder, bool loses)
{
    read_events(recorder);
    fprintf(recorder->out, "step %" PRId64 "\n", clock_monotonic_ns() + recorder->suspended_ns);
    for (size_t i = 0; i < recorder->n_members; i++) {
        if (!recorder->is_gone[i])
            copy_member(recorder, i);
    }
    if (!loses) {
        write_exits(recorder);
        write_events(recorder);
    }
    process_events_want_threads(&recorder->events, true);
    fputs(loses ? "lost\n" : "batch\n", recorder->out);
    fputs("scan\n", recorder->out);
    reap_orphans(recorder);
}

static bool main_has_ended(const struct recorder *recorder)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)recorder->main, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

static pid_t start(char *const argv[])
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC) < 0)
        die("pipe");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    return pid;
}

static void finish(struct recorder *recorder)
{
    struct rusage usage;
    int status;
    if (wait4(recorder->main, &status, 0, &usage) < 0)
        die("wait4");
    usleep(20000); /* the last events */
    take_step(recorder, false);
    fprintf(recorder->out, "wait4 %d %" PRId64 " %ld %ld %ld\n", status,
        ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime), usage.ru_minflt, usage.ru_majflt,
        usage.ru_maxrss);
}

int main(int argc, char **argv)
{
    static struct recorder recorder;
    int option, tick_ms = 20, attach_ms = 0, lost = -1;
    while ((option = getopt(argc, argv, "+t:a:l:")) != -1) {
        int value = option == '?' ? 0 : atoi(optarg);
        tick_ms = option == 't' ? value : tick_ms;
        attach_ms = option == 'a' ? value : attach_ms;
        lost = option == 'l' ? value : lost;
    }
    if (argc - optind < 2) {
        fprintf(stderr, "record [-t TICK_MS] [-a ATTACH_AFTER_MS] [-l LOST_STEP] FILE COMMAND…\n");
        return 2;
    }
    struct gput_error error;
    if (process_events_open(&recorder.events, &error) != GPUT_OK ||
        taskstats_open(&recorder.taskstats, &error) != GPUT_OK) {
        fprintf(stderr, "record: %s\n", error.message);
        return 1;
    }
    recorder.out = fopen(argv[optind], "w");
    if (!recorder.out)
        die(argv[optind]);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    recorder.suspended_ns = -clock_monotonic_of_boot_ns(0);
    recorder.main = start(argv + optind + 1);
    add_member(&recorder, recorder.main);
    usleep((useconds_t)attach_ms * 1000);
    if (attach_ms)
        read_events(&recorder); /* of before: dropped */
    fprintf(recorder.out, "replay 1\nmain %d %d\nns_per_tick %ld\n", recorder.main, attach_ms > 0,
        1000000000 / sysconf(_SC_CLK_TCK));
    for (int step = 0; !main_has_ended(&recorder); step++) {
        take_step(&recorder, step == lost);
        usleep((useconds_t)tick_ms * 1000);
    }
    take_step(&recorder, false);
    finish(&recorder);
    if (fclose(recorder.out) != 0)
        die(argv[optind]);
    return 0;
}
