/*
 * What marking a block costs: a start and a stop, to each kind of file, next to the least that
 * could be done (two readings of the clock and two stores to memory). Prints one line a kind:
 * nanoseconds of CPU a pair, and the ratio to that floor.
 *
 *     marks [THREADS]      default 1
 *
 * GPU time is read of a card that this program makes up: what its driver would take comes on top.
 */
#include <gputracker/blocks.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64
#define LOG "bench-marks.gputblocks"

struct work {
    struct gput_blocks *blocks; /* NULL: the floor */
    long pairs;
    double cpu_ns; /* a pair */
};

static double thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void mark_floor(long pairs)
{
    int64_t memory[1024];
    volatile int64_t *kept = memory;
    for (long i = 0; i < pairs * 2; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        kept[i % 1024] = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    }
}

static void mark_blocks(struct gput_blocks *blocks, long pairs)
{
    for (long i = 0; i < pairs; i++) {
        gput_blocks_start(blocks, "a block of usual name");
        gput_blocks_stop(blocks);
    }
}

static void *run(void *argument)
{
    struct work *work = argument;
    double before = thread_cpu_ns();
    if (work->blocks)
        mark_blocks(work->blocks, work->pairs);
    else
        mark_floor(work->pairs);
    work->cpu_ns = (thread_cpu_ns() - before) / (double)work->pairs;
    return NULL;
}

/* Mean over the threads, each doing `pairs`. */
static double measure(struct gput_blocks *blocks, long pairs, int n_threads)
{
    pthread_t threads[MAX_THREADS];
    struct work works[MAX_THREADS];
    double sum = 0;
    for (int i = 0; i < n_threads; i++) {
        works[i] = (struct work){.blocks = blocks, .pairs = pairs};
        pthread_create(&threads[i], NULL, run, &works[i]);
    }
    for (int i = 0; i < n_threads; i++) {
        pthread_join(threads[i], NULL);
        sum += works[i].cpu_ns;
    }
    return sum / n_threads;
}

/* Writes a file below the made-up card's folder, and its folders. */
static void write_file(const char *path, const char *text)
{
    char folder[128];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = folder; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(folder, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        exit(1);
}

static void make_card(void)
{
    write_file("bench-card/sys/class/drm/card0/device/uevent", "DRIVER=i915\n");
    write_file("bench-card/proc/self/fdinfo/5",
        "pos:\t0\nflags:\t02100002\nmnt_id:\t24\nino:\t588\ndrm-driver:\ti915\n"
        "drm-pdev:\t0000:00:02.0\ndrm-client-id:\t14\ndrm-total-system0:\t20992 KiB\n"
        "drm-shared-system0:\t0\ndrm-active-system0:\t0\ndrm-resident-system0:\t20480 KiB\n"
        "drm-engine-render:\t25662044495 ns\ndrm-engine-copy:\t0 ns\n"
        "drm-engine-video:\t0 ns\ndrm-engine-video-enhance:\t0 ns\n");
    mkdir("bench-card/proc/self/fd", 0777);
    unlink("bench-card/proc/self/fd/5");
    if (symlink("/dev/dri/renderD128", "bench-card/proc/self/fd/5") != 0)
        exit(1);
}

/* `exact`: as in GPUT_BLOCK_EXACT. */
static double measure_file(
    const char *path, const char *exact, const char *procfs_root, long pairs, int n_threads)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    struct gput_blocks *blocks;
    struct gput_error error;
    options.overwrite = true;
    options.procfs_root = procfs_root;
    options.sysfs_root = "bench-card/sys";
    gput_blocks_options_read_exact(&options, exact, NULL);
    if (gput_blocks_open(path, &options, &blocks, &error) != GPUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    double cost = measure(blocks, pairs, n_threads);
    gput_blocks_close(blocks, NULL);
    unlink(path);
    return cost;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what;
        const char *path;
        const char *exact, *procfs_root;
        long pairs;
    } kinds[] = {
        {"block log", LOG, NULL, NULL, 1000000},
        {"block log, exact", LOG, "1", NULL, 200000},
        {"block log, exact, peak", LOG, "peak", NULL, 20000},
        {"block log, exact, counters", LOG, "counters", NULL, 100000},
        {"block log, exact, gpu, no card open", LOG, "gpu", NULL, 50000},
        {"block log, exact, gpu, a card open", LOG, "gpu", "bench-card/proc", 50000},
        {"CSV", "bench-marks.csv", NULL, NULL, 100000},
        {"SQLite", "bench-marks.sqlite", NULL, NULL, 5000},
    };
    int n_threads = argc > 1 ? atoi(argv[1]) : 1;
    if (n_threads < 1 || n_threads > MAX_THREADS)
        n_threads = 1;
    make_card();
    double floor = measure(NULL, 1000000, n_threads);
    printf("%-40s %8.0f ns   1.0 x\n", "two clock readings and two stores", floor);
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double cost = measure_file(kinds[i].path, kinds[i].exact, kinds[i].procfs_root,
            kinds[i].pairs / n_threads, n_threads);
        printf("%-40s %8.0f ns %5.1f x\n", kinds[i].what, cost, cost / floor);
    }
    return system("rm -r bench-card") == 0 ? 0 : 1;
}
