/*
 * A program with one known bottleneck: bottleneck NAME SECONDS FILE. It writes what it knows of its
 * own main thread to FILE, a line for each cause: the seconds that it was in the call that it waits
 * in, without those that it ran there or waited for a CPU, as its own schedstat says.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct times {
    double wall, ran, waited;
};

static const char *cause;      /* that the call waits in */
static double slept;           /* in it, so far */
static double slept_by_choice; /* beside it */

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A reading that took longer than that was interrupted: its figures are of two moments. */
#define LONG_READING 0.0003

/* Of the calling thread. */
static struct times read_times(void)
{
    struct times times = {0};
    unsigned long long ran_ns = 0, waited_ns = 0;
    for (int i = 0; i < 100; i++) {
        char text[128] = "";
        double before = now(CLOCK_MONOTONIC);
        int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 ||
            sscanf(text, "%llu %llu", &ran_ns, &waited_ns) != 2)
            exit(3);
        close(fd);
        times.wall = now(CLOCK_MONOTONIC);
        if (times.wall - before < LONG_READING)
            break;
    }
    times.ran = (double)ran_ns / 1e9;
    times.waited = (double)waited_ns / 1e9;
    return times;
}

static void begin_call(struct times *before)
{
    *before = read_times();
}

static void end_call_of(const struct times *before, double *sum)
{
    struct times after = read_times();
    *sum += after.wall - before->wall - (after.ran - before->ran) - (after.waited - before->waited);
}

static void end_call(const struct times *before)
{
    end_call_of(before, &slept);
}

static void burn(double seconds)
{
    double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

static void rest(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static bool goes_on(double until)
{
    return now(CLOCK_MONOTONIC) < until;
}

/* ---- the bottlenecks: each lasts until that time ---- */

static void compute(double until)
{
    while (goes_on(until))
        burn(0.01);
}

/* Two on one core. */
static void share_a_core(double until)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t other = fork();
    compute(until);
    if (other == 0)
        _exit(0);
    waitpid(other, NULL, 0);
}

/* A child gives it something to do now and then. */
static void read_a_channel(double until, int ends[2])
{
    char byte = 0;
    struct times before;
    if (fork() == 0) {
        close(ends[0]);
        while (goes_on(until)) {
            rest(0.03);
            if (write(ends[1], &byte, 1) != 1)
                break;
        }
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got = 1; got == 1;) {
        begin_call(&before);
        got = read(ends[0], &byte, 1);
        end_call(&before);
        burn(0.005);
    }
    wait(NULL);
}

static void read_a_pipe(double until)
{
    int ends[2];
    cause = "pipe";
    if (pipe(ends) == 0)
        read_a_channel(until, ends);
}

static void read_a_socket(double until)
{
    int ends[2];
    cause = "socket";
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
        read_a_channel(until, ends);
}

static void poll_a_socket(double until)
{
    int ends[2];
    struct times before;
    cause = "poll";
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    struct pollfd wanted = {.fd = ends[0], .events = POLLIN};
    while (goes_on(until)) {
        begin_call(&before);
        poll(&wanted, 1, 40);
        end_call(&before);
        burn(0.005);
    }
}

static void sleep_for_a_time(double until)
{
    struct times before;
    cause = "timer";
    while (goes_on(until)) {
        begin_call(&before);
        rest(0.07);
        end_call(&before);
        burn(0.01);
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double convoy_until;

/* Each holds the lock for most of its time: it is the others' turn when it asks again. */
static void *hold_in_turn(void *is_main)
{
    struct times before;
    while (goes_on(convoy_until)) {
        if (is_main)
            begin_call(&before);
        pthread_mutex_lock(&mutex);
        if (is_main)
            end_call(&before);
        if (is_main)
            begin_call(&before);
        rest(0.004);
        if (is_main)
            end_call_of(&before, &slept_by_choice);
        burn(0.001);
        pthread_mutex_unlock(&mutex);
        sched_yield();
        burn(0.0005);
    }
    return NULL;
}

/* The main thread is one of four that want it. */
static void wait_for_a_lock(double until)
{
    pthread_t threads[3];
    cause = "lock";
    convoy_until = until;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, hold_in_turn, NULL);
    hold_in_turn(&cause);
    /* Their ends are waited for in the same call of the kernel. */
    struct times before;
    begin_call(&before);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    end_call(&before);
}

/* The lock is held by a process that sleeps. */
static void wait_for_a_file_lock(double until)
{
    struct times before;
    char name[] = "lock-XXXXXX";
    cause = "lock";
    int fd = mkstemp(name);
    if (fork() == 0) {
        int own = open(name, O_RDWR | O_CLOEXEC);
        while (goes_on(until)) {
            flock(own, LOCK_EX);
            rest(0.03);
            flock(own, LOCK_UN);
            rest(0.002);
        }
        _exit(0);
    }
    while (goes_on(until)) {
        begin_call(&before);
        flock(fd, LOCK_EX);
        end_call(&before);
        flock(fd, LOCK_UN);
        burn(0.003);
    }
    wait(NULL);
    unlink(name);
}

/* Each child sleeps. */
static void wait_for_a_child(double until)
{
    struct times before;
    cause = "child";
    while (goes_on(until)) {
        begin_call(&before);
        if (fork() == 0) {
            rest(0.3);
            _exit(0);
        }
        wait(NULL);
        end_call(&before);
    }
}

static void fork_often(double until)
{
    struct times before;
    cause = "child";
    while (goes_on(until)) {
        pid_t child = fork();
        if (child == 0) {
            burn(0.002);
            _exit(0);
        }
        begin_call(&before);
        waitpid(child, NULL, 0);
        end_call(&before);
    }
}

static void be_stopped(double until)
{
    struct times before;
    cause = "stopped";
    pid_t self = getpid();
    if (fork() == 0) {
        while (goes_on(until - 0.1)) {
            kill(self, SIGSTOP);
            rest(0.06);
            kill(self, SIGCONT);
            rest(0.02);
        }
        kill(self, SIGCONT);
        _exit(0);
    }
    /* It cannot tell when it was stopped: all that it did not run is that. */
    begin_call(&before);
    compute(until);
    end_call(&before);
    wait(NULL);
}

#define FILE_BYTES ((size_t)64 << 20)
#define BLOCK_BYTES 65536

static void write_to_storage(double until)
{
    char name[] = "storage-XXXXXX";
    static char block[BLOCK_BYTES];
    struct times before;
    cause = "storage";
    begin_call(&before);
    int fd = mkstemp(name);
    end_call(&before);
    while (goes_on(until)) {
        begin_call(&before);
        if (pwrite(fd, block, sizeof block, 0) > 0)
            fdatasync(fd);
        end_call(&before);
    }
    begin_call(&before);
    unlink(name);
    end_call(&before);
}

/* Its pages are dropped by the program, or by the kernel, whose control group has no room for all.
 */
static void touch_a_mapped_file(double until, bool drops)
{
    struct times before;
    cause = "paging";
    int fd = open("mapped", O_RDONLY | O_CLOEXEC);
    volatile char sum = 0;
    begin_call(&before);
    while (goes_on(until)) {
        char *bytes = mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            exit(3);
        madvise(bytes, FILE_BYTES, MADV_RANDOM);
        for (size_t i = 0; i < FILE_BYTES && goes_on(until); i += 4096 * 5)
            sum = (char)(sum + bytes[i]);
        munmap(bytes, FILE_BYTES);
        if (drops)
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    end_call(&before);
}

static void drop_pages(double until)
{
    touch_a_mapped_file(until, true);
}

static void have_pages_reclaimed(double until)
{
    touch_a_mapped_file(until, false);
}

/* More memory than its control group has, where there is swap space. */
static void touch_swapped_memory(double until)
{
    struct times before;
    cause = "paging";
    volatile char *bytes =
        mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        exit(3);
    begin_call(&before);
    while (goes_on(until)) {
        for (size_t i = 0; i < FILE_BYTES && goes_on(until); i += 4096)
            bytes[i]++;
    }
    end_call(&before);
}

/* "slow" is a file of a file system that takes its time (slow_disk.c). */
static void read_a_slow_disk(double until)
{
    static char block[BLOCK_BYTES];
    struct times before;
    cause = "storage";
    int fd = open("slow/file", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        exit(3);
    while (goes_on(until)) {
        begin_call(&before);
        if (pread(fd, block, sizeof block, 0) <= 0)
            exit(3);
        end_call(&before);
        burn(0.002);
    }
}

/* ---- a GPU: that of a driver which reads what it is from a file ---- */

#define GPU_IDLE_SECONDS 1.2
#define GPU_BUSY_SECONDS 0.6

/* `slowed`: for how long its power limit has slowed it so far. */
static void set_gpu(int percent, double slowed)
{
    FILE *file = fopen("gpu.new", "w");
    if (!file)
        exit(3);
    fprintf(file,
        "gpu GPU-aaaa\nmemory 16000000000 0 9000000000\nutilization %d\n"
        "value nvmlDeviceGetCurrentClocksEventReasons %d\nvalue field/74 %.0f\n",
        percent, slowed > 0 ? 4 : 0, slowed * 1e9);
    fclose(file);
    rename("gpu.new", "gpu");
}

/* It has nothing to do until the main thread has read what a worker makes. */
static void feed_a_gpu(double until)
{
    int ends[2];
    char byte = 0;
    struct times before;
    cause = "pipe";
    if (pipe(ends) != 0)
        exit(3);
    if (fork() == 0) {
        while (goes_on(until)) {
            rest(GPU_IDLE_SECONDS);
            if (write(ends[1], &byte, 1) != 1)
                break;
            rest(GPU_BUSY_SECONDS);
        }
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got = 1; got == 1;) {
        set_gpu(0, 0);
        begin_call(&before);
        got = read(ends[0], &byte, 1);
        end_call(&before);
        set_gpu(90, 0);
        begin_call(&before);
        rest(got == 1 ? GPU_BUSY_SECONDS : 0);
        end_call_of(&before, &slept_by_choice);
    }
    wait(NULL);
}

/* It has work all the time, and its power limit slows it for most of that. */
static void slow_a_gpu(double until)
{
    struct times before;
    cause = "timer";
    double start = now(CLOCK_MONOTONIC);
    while (goes_on(until)) {
        set_gpu(100, 0.7 * (now(CLOCK_MONOTONIC) - start));
        begin_call(&before);
        rest(0.05);
        end_call(&before);
    }
}

static const struct {
    const char *name;
    void (*run)(double until);
} bottlenecks[] = {
    {"compute", compute},
    {"core", share_a_core},
    {"pipe", read_a_pipe},
    {"socket", read_a_socket},
    {"poll", poll_a_socket},
    {"sleep", sleep_for_a_time},
    {"mutex", wait_for_a_lock},
    {"flock", wait_for_a_file_lock},
    {"child", wait_for_a_child},
    {"forks", fork_often},
    {"stopped", be_stopped},
    {"storage", write_to_storage},
    {"mapped", drop_pages},
    {"reclaim", have_pages_reclaimed},
    {"swap", touch_swapped_memory},
    {"fuse", read_a_slow_disk},
    {"gpu_wait", feed_a_gpu},
    {"gpu_slowed", slow_a_gpu},
};

static void write_truth(const char *path, const struct times *start)
{
    struct times end = read_times();
    FILE *file = fopen(path, "w");
    if (!file)
        exit(3);
    fprintf(file, "seconds %.6f\ncomputing %.6f\ncpu_wait %.6f\n", end.wall - start->wall,
        end.ran - start->ran, end.waited - start->waited);
    if (cause)
        fprintf(file, "%s %.6f\n", cause, slept);
    if (slept_by_choice > 0)
        fprintf(file, "timer %.6f\n", slept_by_choice);
    fclose(file);
}

int main(int argc, char **argv)
{
    struct times start = read_times();
    for (size_t i = 0; argc == 4 && i < sizeof bottlenecks / sizeof *bottlenecks; i++) {
        if (strcmp(argv[1], bottlenecks[i].name) != 0)
            continue;
        bottlenecks[i].run(start.wall + atof(argv[2]));
        write_truth(argv[3], &start);
        return 0;
    }
    return 2;
}
