/*
 * Runs every target without a fuzzer: over the fixtures and random changes of them. It holds that
 * all of them are built, linked, and survive what is nearly right; tools/fuzz.sh goes further. As
 * arguments: the targets to run, or none for all.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of each target: all seeds, as many changes of them, and more until so much CPU time is used. What
 * is changed is the same in every run, so that more time would find nothing that is new. */
#define TARGET_NS 40000000
#define MAX_SEED_BYTES 8192
#define MAX_INPUT_BYTES (2 * MAX_SEED_BYTES)
#define MAX_SEEDS 1024
/* A target that takes longer hangs. */
#define MAX_SECONDS 240

#define FUZZ_TARGET(noun) int fuzz_##noun(const uint8_t *data, size_t size);
#include "fuzz_targets.h"
#undef FUZZ_TARGET

static const struct target {
    const char *noun;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define FUZZ_TARGET(noun) {#noun, fuzz_##noun},
#include "fuzz_targets.h"
#undef FUZZ_TARGET
};
#define TARGETS (sizeof targets / sizeof *targets)

/* Shared with the child, so that it is known what it died of. */
struct input {
    unsigned count; /* of inputs so far */
    size_t size;
    uint8_t bytes[MAX_INPUT_BYTES];
};

static struct seed {
    uint8_t *bytes;
    size_t size;
} seeds[MAX_SEEDS];
static size_t seed_count;
static uint64_t random_state;
static unsigned line;

static size_t below(size_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % bound);
}

static void say(bool fine, const char *noun, const char *what)
{
    printf("%s %u - %s: %s\n", fine ? "ok" : "not ok", ++line, noun, what);
    fflush(stdout);
}

/* ---- seeds ---- */

static int add_seed(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)place;
    if (kind != FTW_F || info->st_size == 0 || info->st_size > MAX_SEED_BYTES ||
        seed_count == MAX_SEEDS)
        return 0;
    struct seed *seed = &seeds[seed_count];
    FILE *file = fopen(path, "r");
    seed->size = (size_t)info->st_size;
    seed->bytes = malloc(seed->size);
    if (file && seed->bytes && fread(seed->bytes, 1, seed->size, file) == seed->size)
        seed_count++;
    else
        free(seed->bytes);
    if (file)
        fclose(file);
    return 0;
}

static int by_content(const void *left, const void *right)
{
    const struct seed *a = left, *b = right;
    size_t size = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->bytes, b->bytes, size);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* In the same order on every machine. */
static bool read_seeds(const char *fixtures)
{
    if (!fixtures || nftw(fixtures, add_seed, 16, FTW_PHYS) != 0 || seed_count == 0)
        return false;
    qsort(seeds, seed_count, sizeof *seeds, by_content);
    return true;
}

/* ---- one input ---- */

static void insert(struct input *input, size_t at, const uint8_t *bytes, size_t size)
{
    if (size > sizeof input->bytes - input->size)
        size = sizeof input->bytes - input->size;
    memmove(input->bytes + at + size, input->bytes + at, input->size - at);
    memcpy(input->bytes + at, bytes, size);
    input->size += size;
}

static void change(struct input *input)
{
    const struct seed *other = &seeds[below(seed_count)];
    uint8_t byte = (uint8_t)below(256);
    size_t at = below(input->size + 1), from = below(other->size);
    switch (below(6)) {
    case 0:
        if (at < input->size)
            input->bytes[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        if (at < input->size)
            input->bytes[at] = byte;
        break;
    case 2:
        input->size = at;
        break;
    case 3:
        insert(input, at, &byte, 1);
        break;
    case 4: /* targets choose what to do by the first byte */
        byte %= 8;
        insert(input, 0, &byte, 1);
        break;
    default:
        insert(input, at, other->bytes + from, below(other->size - from) + 1);
    }
}

/* First each seed as it is. */
static void make_input(struct input *input)
{
    bool is_plain = input->count < seed_count;
    const struct seed *seed = &seeds[is_plain ? input->count : below(seed_count)];
    input->size = seed->size;
    memcpy(input->bytes, seed->bytes, seed->size);
    for (size_t changes = is_plain ? 0 : 1 + below(4); changes > 0; changes--)
        change(input);
}

/* ---- one target ---- */

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* In a child; what is written does not matter, what sanitizers say does. */
static void run_inputs(const struct target *target, struct input *input)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(MAX_SECONDS);
    for (int64_t end = cpu_ns() + TARGET_NS; input->count < 2 * seed_count || cpu_ns() < end;
         input->count++) {
        make_input(input);
        /* exactly as long as it is: reading beyond is seen */
        uint8_t *bytes = malloc(input->size ? input->size : 1);
        if (!bytes)
            abort();
        memcpy(bytes, input->bytes, input->size);
        target->run(bytes, input->size);
        free(bytes);
    }
}

static void keep_input(const struct target *target, const struct input *input)
{
    char path[128];
    snprintf(path, sizeof path, "crash-%s", target->noun);
    FILE *file = fopen(path, "w");
    if (file && fwrite(input->bytes, 1, input->size, file) == input->size)
        printf("# its input is in %s\n", path);
    if (file)
        fclose(file);
}

static bool run_target(const struct target *target)
{
    char what[128];
    int status = 0;
    struct input *input =
        mmap(NULL, sizeof *input, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (input == MAP_FAILED)
        abort();
    random_state = UINT64_C(0x9e3779b97f4a7c15);
    pid_t child = fork();
    if (child == 0) {
        run_inputs(target, input);
        exit(EXIT_SUCCESS);
    }
    while (waitpid(child, &status, 0) < 0)
        ;
    if (WIFSIGNALED(status))
        snprintf(what, sizeof what, "input %u ended it by signal %d", input->count + 1,
            WTERMSIG(status));
    else
        snprintf(what, sizeof what, "%u inputs", input->count);
    say(status == 0, target->noun, what);
    if (status != 0)
        keep_input(target, input);
    munmap(input, sizeof *input);
    return status == 0;
}

/* ---- all ---- */

static bool is_known(const char *noun)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (strcmp(targets[i].noun, noun) == 0)
            return true;
    return false;
}

/* A target that is not built checks nothing. */
static bool knows_all(const char *source)
{
    char folder[4096], noun[256];
    bool fine = true;
    snprintf(folder, sizeof folder, "%s/tests/fuzz", source ? source : ".");
    DIR *files = opendir(folder);
    for (const struct dirent *file; files && (file = readdir(files));) {
        if (sscanf(file->d_name, "fuzz_%200[a-z0-9_].c", noun) != 1 ||
            !strstr(file->d_name, ".c") || is_known(noun))
            continue;
        say(false, noun, "tests/fuzz/meson.build does not list it");
        fine = false;
    }
    if (files)
        closedir(files);
    return fine && files;
}

static bool is_chosen(const char *noun, char **words)
{
    for (char **word = words; *word; word++)
        if (strcmp(*word, noun) == 0)
            return true;
    return !*words;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    (void)argc;
    char folder[] = "/tmp/fuzz-targets-XXXXXX";
    if (!read_seeds(getenv("GPUT_TEST_FIXTURES")) || !mkdtemp(folder)) {
        fputs("GPUT_TEST_FIXTURES is to be the path of tests/fixtures, /tmp writable.\n", stderr);
        return EXIT_FAILURE;
    }
    setenv("FUZZ_FOLDER", folder, 1);
    bool fine = knows_all(getenv("GPUT_SOURCE"));
    for (size_t i = 0; i < TARGETS; i++)
        if (is_chosen(targets[i].noun, argv + 1))
            fine &= run_target(&targets[i]);
    printf("1..%u\n", line);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    for (size_t i = 0; i < seed_count; i++)
        free(seeds[i].bytes);
    return fine && line > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
