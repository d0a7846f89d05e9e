/*
 * A program that uses exactly what its arguments say, for tests and measurements of the tracker:
 *
 *   consumer alloc 300 child [ spin 1 ] spin 2 wait
 *
 * alloc MB     private memory, every page written
 * huge MB      the same, in huge pages where the system has them
 * shared MB    a shared anonymous mapping, every page written
 * file PATH    maps a file shared and reads every page
 * copy PATH    maps a file for itself and writes every page of its first half, reads the others
 * touch        writes every page of the private memory again (breaks copy-on-write)
 * again MB     writes the first pages of it again, that much
 * free         gives all memory back
 * burst MB S   has so much private memory for S seconds
 * write MB     writes to a temporary file, with fsync
 * spin S       uses S seconds of CPU time (of the calling thread)
 * sleep S      sleeps
 * threads N S  N threads that use S seconds of CPU time each; waits for them
 * waiters N FD N threads that wait as `await` does; `ready` once all are there; waits for them
 * child [ … ]  forks; the child does what is in the brackets and ends
 * swarm N S    N children one after the other, each using S seconds of CPU time
 * ignored N S  the same, but auto-reaped: it ignores SIGCHLD
 * ignore       ignores SIGCHLD from here on: `wait` waits, but gets no status
 * programs N PATH  runs that program N times, one after the other
 * exec PATH    is that program from here on (execve)
 * report PATH  writes what the kernel counted for this process and the children that it waited for,
 *              and its own peak: "CPU seconds" "bytes"
 * daemon [ … ] a grandchild in a session of its own, whose parent ends at once
 * exit-leader [ … ]  another thread does what is in the brackets and ends the process; the first
 * one ends at once clone-vm [ … ] a child in the same memory (CLONE_VM) that does what is in the
 * brackets thread-child [ … ]  forks from another thread than the main one vfork [ … ]  a child
 * does what is in the brackets in this process's own memory (vfork) and ends wait         waits for
 * all children die          kills itself (SIGKILL) ready        writes one byte to standard output:
 * "I am here" await FD     waits for one byte, or the end, of an inherited descriptor MB is 1e6
 * bytes. Prints nothing else. Exits with 2 on a word it does not know.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_BLOCKS 64

static struct block {
    char *bytes;
    size_t size;
} blocks[MAX_BLOCKS];
static size_t block_count;

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A test counts on each child. */
static pid_t checked_fork(void)
{
    pid_t child = fork();
    if (child < 0) {
        perror("consumer: fork");
        exit(1);
    }
    return child;
}

static void spin(double seconds)
{
    double end = cpu_seconds() + seconds;
    volatile uint64_t sink = 0;
    do {
        for (int i = 0; i < 10000; i++)
            sink = sink * 6364136223846793005u + 1;
    } while (cpu_seconds() < end);
}

static void nap(double seconds)
{
    struct timespec time = {
        .tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0)
        ;
}

static void keep(void *bytes, size_t size)
{
    if (bytes == MAP_FAILED || block_count == MAX_BLOCKS) {
        perror("consumer: memory");
        exit(1);
    }
    blocks[block_count++] = (struct block){bytes, size};
}

static void write_pages(char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 4096)
        bytes[i] = (char)(bytes[i] + 1);
}

static void take(double megabytes, int flags, int advice)
{
    size_t size = (size_t)(megabytes * 1e6);
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    keep(bytes, size);
    madvise(bytes, size, advice);
    write_pages(bytes, size);
}

static void burst(double megabytes, double seconds)
{
    take(megabytes, MAP_PRIVATE, MADV_NOHUGEPAGE);
    nap(seconds);
    block_count--;
    munmap(blocks[block_count].bytes, blocks[block_count].size);
}

static char *map_file(const char *path, int protection, int flags, size_t *size)
{
    struct stat stat;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &stat) != 0) {
        perror(path);
        exit(1);
    }
    *size = (size_t)stat.st_size;
    char *bytes = mmap(NULL, *size, protection, flags, fd, 0);
    close(fd);
    keep(bytes, *size);
    volatile char sink = 0;
    for (size_t i = 0; i < *size; i += 4096)
        sink = (char)(sink + bytes[i]);
    return bytes;
}

static void read_file(const char *path)
{
    size_t size;
    map_file(path, PROT_READ, MAP_SHARED, &size);
}

static void copy_file(const char *path)
{
    size_t size;
    char *bytes = map_file(path, PROT_READ | PROT_WRITE, MAP_PRIVATE, &size);
    write_pages(bytes, size / 2);
}

static void write_file(double megabytes)
{
    static char buffer[1 << 20];
    char path[] = "/tmp/consumer.XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    for (size_t left = (size_t)(megabytes * 1e6); left > 0;) {
        size_t part = left < sizeof buffer ? left : sizeof buffer;
        ssize_t done = write(fd, buffer, part);
        if (done <= 0)
            exit(1);
        left -= (size_t)done;
    }
    fsync(fd);
    close(fd);
}

static void report_ready(void)
{
    if (write(STDOUT_FILENO, ".", 1) != 1)
        exit(1);
}

static void await_byte(int fd)
{
    char byte;
    while (read(fd, &byte, 1) < 0)
        ;
}

static void *spin_thread(void *seconds)
{
    spin(*(double *)seconds);
    return NULL;
}

static void *await_in_thread(void *fd)
{
    await_byte(*(int *)fd);
    return NULL;
}

static void run_threads(int count, void *(*function)(void *), void *argument, bool says_ready)
{
    pthread_t all[256];
    for (int i = 0; i < count && i < 256; i++)
        pthread_create(&all[i], NULL, function, argument);
    if (says_ready)
        report_ready();
    for (int i = 0; i < count && i < 256; i++)
        pthread_join(all[i], NULL);
}

static void threads(int count, double seconds)
{
    run_threads(count, spin_thread, &seconds, false);
}

static void waiters(int count, int fd)
{
    run_threads(count, await_in_thread, &fd, true);
}

static char **run(char **word);

/* The words in brackets are the child's; returns what stands after them. */
static char **skip(char **word)
{
    int depth = 0;
    do {
        if (!*word)
            exit(2);
        depth += strcmp(*word, "[") == 0;
        depth -= strcmp(*word, "]") == 0;
        word++;
    } while (depth > 0);
    return word;
}

static void fork_child(char **word)
{
    if (checked_fork() == 0) {
        run(word + 1);
        _exit(0);
    }
}

static int run_vforked(void *word)
{
    run((char **)word + 1);
    _exit(0);
}

/* As vfork() does, but with a stack of the child's own. */
static void vfork_child(char **word)
{
    static char stack[1 << 18] __attribute__((aligned(16)));
    if (clone(run_vforked, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, word) < 0) {
        perror("consumer: clone");
        exit(1);
    }
}

static void fork_daemon(char **word)
{
    pid_t parent = checked_fork();
    if (parent == 0) {
        setsid();
        fork_child(word);
        _exit(0);
    }
    waitpid(parent, NULL, 0);
}

static void *fork_in_thread(void *word)
{
    fork_child(word);
    /* A thread that goes on, as a worker's would. */
    nap(0.2);
    return NULL;
}

static void swarm(int count, double seconds)
{
    for (int i = 0; i < count; i++) {
        pid_t child = checked_fork();
        if (child == 0) {
            if (seconds > 0)
                spin(seconds);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

/* Then waitpid() returns without a status when the child has gone. */
static void ignored(int count, double seconds)
{
    signal(SIGCHLD, SIG_IGN);
    swarm(count, seconds);
    signal(SIGCHLD, SIG_DFL);
}

static void execute(char *path)
{
    char *argv[] = {path, NULL};
    execv(path, argv);
    perror(path);
    _exit(127);
}

static void run_programs(int count, char *path)
{
    for (int i = 0; i < count; i++) {
        pid_t child = checked_fork();
        if (child == 0)
            execute(path);
        waitpid(child, NULL, 0);
    }
}

static double seconds_of(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* VmHWM: ru_maxrss would carry over the peak of whoever started us. */
static long long own_peak_bytes(void)
{
    char line[256];
    long long kilobytes = 0;
    FILE *status = fopen("/proc/thread-self/status", "r");
    while (
        status && fgets(line, sizeof line, status) && sscanf(line, "VmHWM: %lld", &kilobytes) != 1)
        ;
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

static void report(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        exit(1);
    fprintf(file, "%.6f %lld\n", seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN),
        own_peak_bytes());
    fclose(file);
}

static void *run_in_thread(void *word)
{
    run((char **)word + 1);
    exit(0);
}

static int run_sharer(void *word)
{
    run((char **)word + 1);
    _exit(0);
}

static void clone_vm(char **word)
{
    size_t size = 1 << 18;
    char *stack = malloc(size);
    if (!stack || clone(run_sharer, stack + size, CLONE_VM | SIGCHLD, word) < 0)
        exit(1);
}

static char **run_brackets(char **word)
{
    pthread_t thread;
    if (strcmp(*word, "clone-vm") == 0)
        clone_vm(word + 1);
    else if (strcmp(*word, "exit-leader") == 0) {
        if (pthread_create(&thread, NULL, run_in_thread, word + 1) == 0)
            pthread_exit(NULL);
        exit(1);
    } else if (strcmp(*word, "child") == 0)
        fork_child(word + 1);
    else if (strcmp(*word, "vfork") == 0)
        vfork_child(word + 1);
    else if (strcmp(*word, "daemon") == 0)
        fork_daemon(word + 1);
    else if (pthread_create(&thread, NULL, fork_in_thread, word + 1) == 0)
        pthread_join(thread, NULL);
    return skip(word + 1);
}

static void run_plain(char ***at)
{
    char **word = *at;
    double number = word[1] ? atof(word[1]) : 0;
    *at += 2;
    if (strcmp(*word, "alloc") == 0)
        take(number, MAP_PRIVATE, MADV_NOHUGEPAGE);
    else if (strcmp(*word, "huge") == 0)
        take(number, MAP_PRIVATE, MADV_HUGEPAGE);
    else if (strcmp(*word, "shared") == 0)
        take(number, MAP_SHARED, MADV_NORMAL);
    else if (strcmp(*word, "again") == 0 && block_count > 0)
        write_pages(blocks[0].bytes, (size_t)(number * 1e6));
    else if (strcmp(*word, "file") == 0)
        read_file(word[1]);
    else if (strcmp(*word, "copy") == 0 && word[1])
        copy_file(word[1]);
    else if (strcmp(*word, "write") == 0)
        write_file(number);
    else if (strcmp(*word, "report") == 0 && word[1])
        report(word[1]);
    else if (strcmp(*word, "exec") == 0 && word[1])
        execute(word[1]);
    else if (strcmp(*word, "programs") == 0 && word[1] && word[2])
        run_programs((int)number, *(*at)++);
    else if (strcmp(*word, "spin") == 0)
        spin(number);
    else if (strcmp(*word, "sleep") == 0)
        nap(number);
    else if (strcmp(*word, "await") == 0)
        await_byte((int)number);
    else if (strcmp(*word, "burst") == 0 && word[1] && word[2])
        burst(number, atof(*(*at)++));
    else if (strcmp(*word, "threads") == 0 && word[1] && word[2])
        threads((int)number, atof(*(*at)++));
    else if (strcmp(*word, "waiters") == 0 && word[1] && word[2])
        waiters((int)number, atoi(*(*at)++));
    else if (strcmp(*word, "swarm") == 0 && word[1] && word[2])
        swarm((int)number, atof(*(*at)++));
    else if (strcmp(*word, "ignored") == 0 && word[1] && word[2])
        ignored((int)number, atof(*(*at)++));
    else
        exit(2);
}

static char **run(char **word)
{
    while (*word && strcmp(*word, "]") != 0) {
        if (strcmp(*word, "child") == 0 || strcmp(*word, "clone-vm") == 0 ||
            strcmp(*word, "daemon") == 0 || strcmp(*word, "vfork") == 0 ||
            strcmp(*word, "exit-leader") == 0 || strcmp(*word, "thread-child") == 0) {
            word = run_brackets(word);
        } else if (strcmp(*word, "wait") == 0) {
            while (wait(NULL) > 0)
                ;
            word++;
        } else if (strcmp(*word, "die") == 0) {
            raise(SIGKILL);
        } else if (strcmp(*word, "ignore") == 0) {
            signal(SIGCHLD, SIG_IGN);
            word++;
        } else if (strcmp(*word, "ready") == 0) {
            report_ready();
            word++;
        } else if (strcmp(*word, "touch") == 0) {
            for (size_t i = 0; i < block_count; i++)
                write_pages(blocks[i].bytes, blocks[i].size);
            word++;
        } else if (strcmp(*word, "free") == 0) {
            while (block_count > 0) {
                block_count--;
                munmap(blocks[block_count].bytes, blocks[block_count].size);
            }
            word++;
        } else {
            run_plain(&word);
        }
    }
    return word;
}

int main(int argc, char **argv)
{
    (void)argc;
    run(argv + 1);
    return 0;
}
