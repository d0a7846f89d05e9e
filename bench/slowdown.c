/*
 * By how much tracking slows a program down that holds 1 GB in small pages and is always busy with
 * it. The program works on without end, and `gpu-tracker attach --st 0.1` next to it is stopped and
 * continued in turn: stretches alone and tracked that lie side by side are compared, in the order
 * ABBA, so that what drifts cancels. A tracker that goes on reads more at first than it would have
 * without the stop: the figures are rather too high.
 *
 *     slowdown [INTERVAL [RAM]]      default 0.1 adaptive, as of --st and --ram
 *
 * Next to other programs: chrt -f 10 slowdown.
 */
#include "bench.h"

#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define BYTES (UINT64_C(1) << 30)
#define PART (UINT64_C(8) << 20)
#define PASSES_PER_PART 4096

extern char **environ;

/* ---- the program ---- */

/* Writes all over its memory, and now and then gives a part of it back and takes it anew, as
 * allocators do: that needs the lock that readers of maps hold. Counts what it has done. */
static void program(volatile uint64_t *passes)
{
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, BYTES, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < BYTES; i += 4096)
        memory[i] = 1;
    for (uint64_t at = 1;; ++*passes) {
        for (int i = 0; i < 100; i++) {
            at = at * 6364136223846793005u + 1442695040888963407u;
            ((volatile char *)memory)[(at >> 20) % BYTES]++;
        }
        if (*passes % PASSES_PER_PART != 0)
            continue;
        char *part = memory + *passes / PASSES_PER_PART % (BYTES / PART) * PART;
        madvise(part, PART, MADV_DONTNEED);
        for (uint64_t i = 0; i < PART; i += 4096)
            part[i]++;
    }
}

/* ---- stretches ---- */

struct subject {
    pid_t pid;
    clockid_t clock;
    volatile uint64_t *passes;
};

/* Seconds for a pass. */
struct stretch {
    double cpu, wall;
};

static struct subject start_subject(void)
{
    struct subject subject = {
        .passes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    subject.pid = fork();
    if (subject.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        program(subject.passes);
    }
    clock_getcpuclockid(subject.pid, &subject.clock);
    while (*subject.passes == 0)
        bench_sleep(0.01);
    return subject;
}

static struct stretch watch(const struct subject *subject, double seconds)
{
    uint64_t passes = *subject->passes;
    double cpu = bench_clock(subject->clock), wall = bench_wall();
    bench_sleep(seconds);
    double done = (double)(*subject->passes - passes);
    return (struct stretch){
        (bench_clock(subject->clock) - cpu) / done, (bench_wall() - wall) / done};
}

static pid_t start_tracker(pid_t tracked, const char *interval, const char *ram)
{
    char number[16];
    pid_t pid;
    snprintf(number, sizeof number, "%d", (int)tracked);
    const char *program = bench_program("gpu-tracker");
    const char *const arguments[] = {program, "attach", "--st", interval, "--ram", ram,
        "--disable-logs", "-o", "/dev/null", "--resource-usage-file", "/dev/shm/gput-bench-kept",
        number, NULL};
    if (posix_spawn(&pid, program, NULL, NULL, (char *const *)arguments, environ) != 0)
        exit(1);
    return pid;
}

/* The median, and where the true one is in 95 of 100 cases, by the order of the values. */
static void print(const char *what, double *values, size_t count, const char *target)
{
    char text[128];
    double median = bench_median(values, count);
    double reach = 0.98 * sqrt((double)count);
    size_t low = (size_t)fmax(0, floor((double)count / 2 - reach));
    size_t high = count - 1 - low;
    snprintf(text, sizeof text, "%s (95 of 100: %.2f to %.2f)", what, values[low], values[high]);
    bench_figure(text, "%", median, target);
}

/* ---- comparing ---- */

/* Three samples: what drifts is slower, and many such stretches distinguish one percent from
 * nothing. */
#define STRETCH_SECONDS 0.3
enum { MAX_PAIRS = 600 };

/* A, T, T, A, A, T, T, A …: of each two, one is tracked. */
static bool is_tracked(int i)
{
    return (i + 1) / 2 % 2;
}

static void take_stretches(
    const struct subject *subject, pid_t tracker, struct stretch *stretches, int count)
{
    for (int i = 0; i < count; i++) {
        kill(tracker, is_tracked(i) ? SIGCONT : SIGSTOP);
        bench_sleep(0.02);
        stretches[i] = watch(subject, STRETCH_SECONDS);
    }
    kill(tracker, SIGCONT);
}

static double more(double after, double before)
{
    return (after / before - 1) * 100;
}

static void compare(const struct stretch *stretches, int pairs)
{
    double cpu[MAX_PAIRS], wall[MAX_PAIRS], noise[MAX_PAIRS];
    int alone_twice = 0;
    for (int i = 0; i < pairs; i++) {
        const struct stretch *pair = stretches + 2 * i;
        const struct stretch *alone = pair + is_tracked(2 * i),
                             *tracked = pair + !is_tracked(2 * i);
        cpu[i] = more(tracked->cpu, alone->cpu);
        wall[i] = more(tracked->wall, alone->wall);
        if (i + 1 < pairs && !is_tracked(2 * i + 1))
            noise[alone_twice++] = fabs(more(pair[2].cpu, pair[1].cpu));
    }
    print("a busy 1 GB program slows down, CPU time", cpu, (size_t)pairs, "< 1");
    print("a busy 1 GB program slows down, wall time", wall, (size_t)pairs, "< 1");
    bench_figure("two stretches, neither tracked, differ by", "%",
        bench_median(noise, (size_t)alone_twice), "-");
}

int main(int argc, char **argv)
{
    const char *interval = argc > 1 ? argv[1] : "0.1", *ram = argc > 2 ? argv[2] : "adaptive";
    int pairs = bench_is_full() ? MAX_PAIRS : 60;
    struct stretch stretches[2 * MAX_PAIRS];
    struct subject subject = start_subject();
    pid_t tracker = start_tracker(subject.pid, interval, ram);
    bench_sleep(1);
    take_stretches(&subject, tracker, stretches, 2 * pairs);
    compare(stretches, pairs);
    kill(subject.pid, SIGKILL);
    waitpid(subject.pid, NULL, 0);
    waitpid(tracker, NULL, 0);
    return 0;
}
