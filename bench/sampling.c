/*
 * CPU time of one sample, for trees of idle and of busy processes, against a bare loop that does
 * the least that a sampler of this kind has to: at the same ticks it finds the tree by the children
 * files and reads stat and statm of each process. For one process also against that loop with what
 * our samples have and it has not: RAM and CPU time of the machine.
 */
#include "bench.h"

#include <gputracker/gputracker.h>

#include <fcntl.h>

/* ---- the bare loop ---- */

#define MAX_PROCESSES 2048

static ssize_t read_file(const char *format, pid_t pid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, format, (int)pid, (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length;
}

static size_t find_tree(pid_t root, pid_t *pids)
{
    static char text[65536];
    size_t count = 0;
    pids[count++] = root;
    for (size_t i = 0; i < count; i++) {
        if (read_file("/proc/%d/task/%d/children", pids[i], text, sizeof text) <= 0)
            continue;
        for (char *at = text, *end; count < MAX_PROCESSES; at = end) {
            long pid = strtol(at, &end, 10);
            if (end == at)
                break;
            pids[count++] = (pid_t)pid;
        }
    }
    return count;
}

static volatile unsigned long long sink;

static void check(pid_t root)
{
    static pid_t pids[MAX_PROCESSES];
    char text[1024];
    size_t count = find_tree(root, pids);
    for (size_t i = 0; i < count; i++) {
        unsigned long long user = 0, system = 0;
        if (read_file("/proc/%d/stat", pids[i], text, sizeof text) > 0) {
            const char *name_end = strrchr(text, ')');
            if (name_end)
                sscanf(name_end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                    &system);
        }
        unsigned long long resident = 0;
        if (read_file("/proc/%d/statm", pids[i], text, sizeof text) > 0)
            sscanf(text, "%*u %llu", &resident);
        sink += user + system + resident;
    }
}

static void check_machine(void)
{
    char text[8192];
    unsigned long long available = 0, user = 0;
    if (read_file("/proc/meminfo", 0, text, sizeof text) > 0) {
        const char *line = strstr(text, "MemAvailable:");
        if (line)
            sscanf(line, "MemAvailable: %llu", &available);
    }
    if (read_file("/proc/stat", 0, text, sizeof text) > 0)
        sscanf(text, "cpu %llu", &user);
    sink += available + user;
}

/* Microseconds of CPU a sample. */
static double bare_loop(pid_t root, bool of_machine, double interval, int ticks)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    double before = bench_clock(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < ticks; i++) {
        deadline.tv_nsec += (long)(interval * 1e9);
        while (deadline.tv_nsec >= 1000000000) {
            deadline.tv_nsec -= 1000000000;
            deadline.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
        check(root);
        if (of_machine)
            check_machine();
    }
    return (bench_clock(CLOCK_THREAD_CPUTIME_ID) - before) / ticks * 1e6;
}

/* ---- ours ---- */

static struct gput_session *track(pid_t root, double interval, enum gput_ram_mode mode)
{
    struct gput_session_options options = gput_session_options_default();
    struct gput_session *session;
    struct gput_error error;
    options.sleep_time_seconds = interval;
    options.ram_mode = mode;
    options.resource_usage_file = "/dev/shm/gput-bench-kept";
    if (gput_session_create(&options, &session, &error) != GPUT_OK ||
        gput_session_track_pid(session, root, &error) != GPUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    return session;
}

/* Seconds after which a session is settled: until then it looks more often, as commands are short.
 */
#define SETTLED_SECONDS 15

/* Microseconds of CPU a sample, from `since` seconds after the first one on, and later in a large
 * tree: some hundred processes a second are found. */
static double ours(const struct bench_tree *tree, double since, double interval, int ticks,
    enum gput_ram_mode mode)
{
    struct gput_session *session = track(tree->pid, interval, mode);
    bench_sleep(interval * 1.5 + since + tree->count / 200.0);
    double ticks_before = bench_session_figure(session, "tracker.ticks");
    double before = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    bench_sleep(interval * ticks);
    double used = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - before;
    double sampled = bench_session_figure(session, "tracker.ticks") - ticks_before;
    gput_session_destroy(session);
    return used / sampled * 1e6;
}

static void compare(int count, bool busy, double interval, int ticks, int rounds)
{
    struct bench_tree tree = bench_tree_start(count, busy);
    double mine[16], begin[16], exact[16], bare[16], whole[16];
    for (int i = 0; i < rounds; i++) {
        begin[i] = ours(&tree, 0, interval, (int)(1 / interval), GPUT_RAM_ADAPTIVE);
        mine[i] = ours(&tree, SETTLED_SECONDS, interval, ticks, GPUT_RAM_ADAPTIVE);
        bare[i] = bare_loop(tree.pid, false, interval, ticks);
        exact[i] = ours(&tree, SETTLED_SECONDS, interval, ticks / 2 + 1, GPUT_RAM_EXACT);
        whole[i] = count == 1 ? bare_loop(tree.pid, true, interval, ticks) : 0;
    }
    bench_tree_end(&tree);
    char what[96];
    const char *target = busy ? "-" : "<= 1.3 x, then half";
    double floor = bench_median(bare, (size_t)rounds);
    snprintf(what, sizeof what, "a sample, %d %s, every %g ms", count, busy ? "busy" : "idle",
        interval * 1e3);
    double us = bench_median(mine, (size_t)rounds);
    bench_against(what, "us CPU", us, "bare C loop", floor, target);
    if (count == 1)
        bench_against("the same", "us CPU", us, "bare C loop, machine too",
            bench_median(whole, (size_t)rounds), target);
    bench_against("the same, in its first second", "us CPU", bench_median(begin, (size_t)rounds),
        "bare C loop", floor, "-");
    snprintf(what, sizeof what, "the same with --ram exact");
    bench_against(what, "us CPU", bench_median(exact, (size_t)rounds), "bare C loop", floor, "-");
}

int main(void)
{
    int times = bench_is_full() ? 5 : 1;
    int rounds = bench_is_full() ? 7 : 3;
    static const int counts[] = {1, 10, 100, 500};
    for (size_t i = 0; i < 4; i++) {
        for (int busy = 0; busy <= 1; busy++)
            compare(counts[i], busy, 0.1, 10 * times, rounds);
    }
    compare(1, false, 0.01, 100 * times, rounds);
    compare(100, false, 0.01, 100 * times, rounds);
    compare(1, false, 0.001, 500 * times, rounds);
    compare(1, true, 0.001, 500 * times, rounds);
    return 0;
}
