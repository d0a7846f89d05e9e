/*
 * What a recorded region costs: a push and a pop through the functions that the NVTX collector
 * hands out, next to the same calls of functions that only count, and to a program without any.
 * Prints nanoseconds of CPU a pair.
 *
 *     regions COLLECTOR [THREADS]      default 1
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 1000000L
#define MAX_THREADS 64

typedef void (*function)(void);

static int (*volatile push)(const char *);
static int (*volatile pop)(void);
static function *core[16] = {[9] = (function *)&push, [11] = (function *)&pop};

static int get_module(int module, function ***table, unsigned *size)
{
    *table = module == 1 ? core : NULL;
    *size = 16;
    return *table != NULL;
}

static const void *get_table(uint32_t id)
{
    static const struct {
        size_t size;
        int (*get_module)(int, function ***, unsigned *);
    } callbacks = {sizeof callbacks, get_module};
    return id == 1 ? &callbacks : NULL;
}

static _Thread_local long counted;

static int count_push(const char *name)
{
    return name ? (int)++counted : 0;
}

static int count_pop(void)
{
    return (int)--counted;
}

static double thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* What no recorder can do without. */
static int read_clock(void)
{
    static _Thread_local int64_t kept[1024];
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    kept[counted++ % 1024] = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    return 0;
}

static int read_clock_at_push(const char *name)
{
    return name ? read_clock() : 0;
}

static void *run(void *result)
{
    double before = thread_cpu_ns();
    for (long i = 0; i < PAIRS; i++) {
        if (push)
            push("a region of usual name");
        if (pop)
            pop();
    }
    *(double *)result = (thread_cpu_ns() - before) / (double)PAIRS;
    return NULL;
}

/* Mean over the threads. */
static double measure_once(int n_threads)
{
    pthread_t threads[MAX_THREADS];
    double results[MAX_THREADS], sum = 0;
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, run, &results[i]);
    for (int i = 0; i < n_threads; i++) {
        pthread_join(threads[i], NULL);
        sum += results[i];
    }
    return sum / n_threads;
}

/* The best of some: others use the machine, too. */
static double measure(int n_threads)
{
    double best = measure_once(n_threads);
    for (int i = 0; i < 4; i++) {
        double cost = measure_once(n_threads);
        best = cost < best ? cost : best;
    }
    return best;
}

static void load(const char *path, const char *variable, const char *value)
{
    setenv(variable, value, 1);
    /* a copy of the library has a state of its own */
    void *library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    if (!initialize || initialize(get_table) == 0) {
        fprintf(stderr, "regions: %s cannot be used\n", path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/bench-regions-XXXXXX";
    int n_threads = argc > 2 ? atoi(argv[2]) : 1;
    if (argc < 2 || n_threads < 1 || n_threads > MAX_THREADS || !mkdtemp(folder))
        return 2;
    setenv("GPUT_REGIONS_FOLDER", folder, 1);
    double without = measure(n_threads);
    push = count_push;
    pop = count_pop;
    double bare = measure(n_threads);
    push = read_clock_at_push;
    pop = read_clock;
    double floor = measure(n_threads);
    printf("%-28s %7.1f ns\n%-28s %7.1f ns\n%-28s %7.1f ns\n", "no hook", without,
        "a hook that counts", bare, "a hook that reads the clock", floor);
    static const char *const ways[][3] = {
        {"recorded", "GPUT_REGION_DEPTH", ""},
        {"left out by name", "GPUT_REGION_FILTER", "!*"},
        {"left out by duration", "GPUT_REGION_MIN_NS", "1000000000"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        load(argv[1], ways[i][1], ways[i][2]);
        double cost = measure(n_threads);
        printf("%-28s %7.1f ns, %.1f above the hook\n", ways[i][0], cost, cost - bare);
        unsetenv(ways[i][1]);
    }
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? 0 : 1;
}
