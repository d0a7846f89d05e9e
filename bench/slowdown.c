/*
 * By how much tracking slows a program down that holds 1 GB in small pages and is always busy with
 * it: fixed work, alone and tracked at --st 0.1, in turn, medians of pairs.
 */
#include "bench.h"

#include <gputracker/gputracker.h>

#include <math.h>
#include <sys/mman.h>

#define BYTES (UINT64_C(1) << 30)
#define PART (UINT64_C(8) << 20)

/* Writes all over it, and gives a part of it back and takes it anew, as allocators do: that needs
 * the lock that readers of maps hold. */
static void work(volatile char *memory, int passes)
{
    uint64_t at = 1;
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < 400000; i++) {
            at = at * 6364136223846793005u + 1442695040888963407u;
            memory[(at >> 20) % BYTES]++;
        }
        char *part = (char *)memory + (uint64_t)(pass % 64) * PART;
        madvise(part, PART, MADV_DONTNEED);
        for (uint64_t i = 0; i < PART; i += 4096)
            part[i]++;
    }
}

/* The program: for every byte that it hears, it does its work and answers how long it took. */
static void program(int hear, int tell, int passes)
{
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char byte;
    madvise(memory, BYTES, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < BYTES; i += 4096)
        memory[i] = 1;
    while (read(hear, &byte, 1) == 1) {
        double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID), wall = bench_wall();
        work(memory, passes);
        double took[2] = {bench_wall() - wall, bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin};
        if (write(tell, took, sizeof took) != sizeof took)
            break;
    }
    _exit(0);
}

static int say[2], told[2];

static void once(double *wall, double *cpu)
{
    double took[2] = {NAN, NAN};
    if (write(say[1], ".", 1) != 1 || read(told[0], took, sizeof took) != sizeof took)
        exit(1);
    *wall = took[0];
    *cpu = took[1];
}

int main(void)
{
    enum { MOST = 31 };
    int pairs = bench_is_full() ? MOST : 9, passes = bench_is_full() ? 100 : 25;
    double wall[MOST], cpu[MOST], noise[MOST], wall_alone, cpu_alone, wall_tracked, cpu_tracked;
    if (pipe(say) != 0 || pipe(told) != 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        close(say[1]);
        program(say[0], told[1], passes);
    }
    once(&wall_alone, &cpu_alone);
    for (int i = 0; i < pairs; i++) {
        struct gput_options options = gput_options_default();
        struct gput_session *session;
        options.sleep_time_seconds = 0.1;
        options.resource_usage_file = "/dev/shm/gput-bench-kept";
        double cpu_before = cpu_alone;
        once(&wall_alone, &cpu_alone);
        noise[i] = fabs(cpu_alone / cpu_before - 1) * 100;
        if (gput_session_create(&options, &session, NULL) != GPUT_OK ||
            gput_session_track_pid(session, pid, NULL) != GPUT_OK)
            return 1;
        once(&wall_tracked, &cpu_tracked);
        gput_session_destroy(session);
        wall[i] = (wall_tracked / wall_alone - 1) * 100;
        cpu[i] = (cpu_tracked / cpu_alone - 1) * 100;
    }
    close(say[1]);
    waitpid(pid, NULL, 0);
    bench_figure(
        "a busy 1 GB program slows down, wall time", "%", bench_median(wall, (size_t)pairs), "< 1");
    bench_figure(
        "a busy 1 GB program slows down, CPU time", "%", bench_median(cpu, (size_t)pairs), "< 1");
    bench_figure("the same work twice, neither tracked, differs by", "%",
        bench_median(noise, (size_t)pairs), "-");
    return 0;
}
