/*
 * Families of processes with thousands of mappings and copy-on-write children, about one second
 * long, as browsers, interpreters and training programs are: what tracking them costs, as a share
 * of one core. The family runs in turn below `gpu-tracker run` and beside a bare loop that reads
 * stat and statm of each of its processes at the same interval. With `family` as its argument the
 * program is the family. Where chromium is installed, it is measured, too.
 */
#include "bench.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* ---- the family ---- */

#define MAPPINGS 3000
#define CHILDREN 8
#define MEGABYTE ((size_t)1 << 20)
#define STEPS 20
#define STEP_SECONDS 0.05

/* Maps pieces of this program that the kernel cannot merge, as libraries are mapped. */
static void map_pieces(int count)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    volatile char sink = 0;
    for (int i = 0; i < count; i++) {
        const char *piece = mmap(NULL, 8192, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
            MAP_PRIVATE, fd, 4096 * (i % 4));
        if (piece != MAP_FAILED)
            sink = (char)(sink + *piece);
    }
    close(fd);
}

static char *allocate(size_t megabytes)
{
    char *memory = mmap(
        NULL, megabytes * MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, megabytes * MEGABYTE);
    return memory;
}

/* A child copies a part of what it shares with its parent at each step, and maps more. */
static void live_as_child(char *shared)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int step = 0; step < STEPS; step++) {
        if (step < STEPS / 2) {
            memset(shared + (size_t)step * MEGABYTE, 2, MEGABYTE);
            map_pieces(50);
        }
        bench_sleep(STEP_SECONDS);
    }
    _exit(0);
}

static int family(void)
{
    char *memory = allocate(64);
    map_pieces(MAPPINGS);
    for (int i = 0; i < CHILDREN; i++) {
        if (fork() == 0)
            live_as_child(memory);
        bench_sleep(STEP_SECONDS / 2);
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}

/* ---- what tracking costs ---- */

/* One run below gpu-tracker: CPU time of the tracker as percent of one core. */
static double tracked_percent(const char *interval, const char *const words[])
{
    struct gput_session_options options = gput_session_options_default();
    options.sleep_time_seconds = strtod(interval, NULL);
    struct gput_session *session;
    struct gput_error error;
    bool ended;
    int status;
    double begin = bench_wall();
    if (gput_session_create(&options, &session, &error) != GPUT_OK ||
        gput_session_launch(session, (char *const *)words, &error) != GPUT_OK ||
        gput_session_wait(session, -1, &ended, &status, &error) != GPUT_OK ||
        gput_session_stop(session, &error) != GPUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    double wall = bench_wall() - begin;
    double cpu = bench_session_figure(session, "tracker.cpu_seconds");
    gput_session_destroy(session);
    return cpu / wall * 100;
}

static void read_file(const char *path)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t got = read(fd, text, sizeof text);
    (void)got;
    close(fd);
}

/* stat and statm of a process and of its children, found by the children file. */
static void read_tree(pid_t pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    read_file(path);
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    read_file(path);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    char *at = text, *end;
    for (long child; (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
        read_tree((pid_t)child);
}

static double loop_percent(const char *interval, const char *const words[])
{
    double seconds = strtod(interval, NULL), begin = bench_wall();
    double cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        read_tree(pid);
        bench_sleep(seconds);
    }
    return (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (bench_wall() - begin) * 100;
}

static void measure(const char *name, const char *interval, const char *const words[])
{
    enum { MOST_ROUNDS = 15 };
    int rounds = bench_is_full() ? MOST_ROUNDS : 5;
    double ours[MOST_ROUNDS], theirs[MOST_ROUNDS];
    for (int i = 0; i < rounds; i++) {
        ours[i] = tracked_percent(interval, words);
        theirs[i] = loop_percent(interval, words);
    }
    char what[128];
    snprintf(what, sizeof what, "%s, every %s s", name, interval);
    bench_against(what, "% of a core", bench_median(ours, (size_t)rounds), "stat and statm",
        bench_median(theirs, (size_t)rounds), strcmp(interval, "0.02") == 0 ? "-" : "<= 3");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "family") == 0)
        return family();
    const char *const intervals[] = {"1", "0.1", "0.02"};
    const char *const made[] = {bench_program("bench/bench-families"), "family", NULL};
    const char *const chromium[] = {"sh", "-c",
        "exec chromium --headless --no-sandbox --disable-gpu --dump-dom about:blank >/dev/null "
        "2>&1",
        NULL};
    bool has_chromium = system("command -v chromium >/dev/null") == 0;
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        measure("3,000 mappings, 8 forks", intervals[i], made);
        if (has_chromium)
            measure("chromium", intervals[i], chromium);
    }
    return 0;
}
