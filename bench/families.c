/*
 * Families of processes with thousands of mappings and copy-on-write children, about one second
 * long, as browsers, interpreters and training programs are: what tracking them costs, as a share
 * of one core. The family runs in turn below `gpu-tracker run` and beside a bare loop that reads
 * stat and statm of each of its processes at the same interval. With `family` as its argument the
 * program is the family. Where chromium, ruby, R and numpy are installed, families of theirs are
 * measured, too.
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

/* Each is about a second long; a shell runs them. */
static const struct {
    const char *name, *is_installed, *script;
} programs[] = {
    {"chromium", "command -v chromium >/dev/null",
        "exec chromium --headless --no-sandbox --disable-gpu --dump-dom about:blank >/dev/null "
        "2>&1"},
    {"ruby, 6 workers of a loaded application", "command -v ruby >/dev/null",
        "exec ruby -e 'a = Array.new(600_000) { |i| \"string number #{i}\" }; 6.times { fork { "
        "s = 0; 15.times { |j| a[j * 20000, 20000].each { |x| s += x.hash & 1 }; GC.start if j == "
        "4; sleep 0.05 } } }; Process.waitall'"},
    {"R, mclapply on 6 cores", "command -v Rscript >/dev/null",
        "exec Rscript -e 'm <- matrix(runif(6e6), ncol = 100); l <- lapply(1:200000, function(i) "
        "c(i, i + 1)); r <- parallel::mclapply(1:24, function(k) { for (j in 1:4) { s <- "
        "sum(sapply(l[1:20000], sum)); Sys.sleep(0.04) }; s }, mc.cores = 6)'"},
    {"Python, 8 data loaders with numpy", "/usr/bin/python3 -c 'import numpy' 2>/dev/null",
        "exec /usr/bin/python3 -c '\n"
        "import os, time, numpy\n"
        "data = [{\"id\": i, \"label\": i % 10} for i in range(400_000)]\n"
        "array = numpy.random.rand(6_000_000)\n"
        "for worker in range(8):\n"
        "    if os.fork() == 0:\n"
        "        for epoch in range(12):\n"
        "            sum(row[\"label\"] for row in data[epoch * 20000:(epoch + 1) * 20000])\n"
        "            batch = numpy.stack([array[i * 1000:(i + 1) * 1000] for i in range(200)])\n"
        "            time.sleep(0.06)\n"
        "        os._exit(0)\n"
        "for worker in range(8): os.wait()'"},
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "family") == 0)
        return family();
    const char *const intervals[] = {"1", "0.1", "0.02"};
    const char *const made[] = {bench_program("bench/bench-families"), "family", NULL};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        measure("3,000 mappings, 8 forks", intervals[i], made);
        for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
            const char *const words[] = {"sh", "-c", programs[k].script, NULL};
            if (system(programs[k].is_installed) == 0)
                measure(programs[k].name, intervals[i], words);
        }
    }
    return 0;
}
