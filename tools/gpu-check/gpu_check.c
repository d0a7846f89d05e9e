/*
 * gpu-check: holds gpu-tracker against a real NVIDIA GPU, or the stand-ins that rehearse it.
 *
 *   memory      processes, children, contexts, crashes
 *   peaks       memory that is held for 5 to 500 ms
 *   use         utilization, use by process, power, energy, shares
 *   driver      how often the driver renews its figures, and what its calls cost
 *   card        what the card says of itself
 *   front-ends  doctor, served metrics, pid namespaces, Python
 *
 * Before them it says what is there, and learns what a context of a program takes (preparation).
 *
 * It changes no setting of the GPU. Programs of its own use it: see gpu_load.c.
 */
#include "check_run.h"
#include "guard.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_DIFFERS = 1, EXIT_USAGE = 2, EXIT_NO_GPU = 3 };

static const struct trial {
    const char *name;
    void (*run)(struct check *check);
    bool needs_context;
} trials[] = {
    {"memory", trial_memory, true},
    {"peaks", trial_peaks, true},
    {"use", trial_use, true},
    {"driver", trial_driver, false},
    {"card", trial_card, false},
    {"front-ends", trial_front_ends, false},
};

static void print_usage(FILE *file)
{
    fprintf(file,
        "Usage: gpu-check [OPTIONS] [TRIAL…]\n\n"
        "Compares gpu-tracker with the truth and with the driver, and writes gpu-check.md and "
        "gpu-check.json.\n"
        "Trials: memory, peaks, use, driver, card, front-ends; all of them if none is named. "
        "Before "
        "them: preparation, which can be named to run alone.\n\n"
        "  -o FOLDER          where they are written; the current folder without it\n"
        "  --tracker PATH     the command; next to gpu-check, or of PATH, without it\n"
        "  --python PATH      a Python that can import gpu_tracker\n"
        "  --scale FACTOR     of durations: 0.1 is a quick rehearsal; 1 without it\n"
        "  --patience SECONDS how much longer than its steps a program may take before it is "
        "ended; 60 without it\n\n"
        "Exit status: 0 all agree, 1 something differs, 2 wrong usage, 3 there is no GPU.\n");
}

/* A program in the folder that this one is in. The string is the caller's to free. */
static char *sibling(const char *name)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/'), *found = NULL;
    if (asprintf(&found, "%.*s/%s", slash ? (int)(slash - path) : 1, slash ? path : ".", name) < 0)
        return NULL;
    return found;
}

static bool is_trial(const char *name)
{
    if (strcmp(name, "preparation") == 0)
        return true; /* it comes first in any case */
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        if (strcmp(trials[i].name, name) == 0)
            return true;
    return false;
}

/* NULL: all of them. */
static void run_trial(struct check *check, const char *name)
{
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        if (name && strcmp(trials[i].name, name) != 0)
            continue;
        if (check->has_context || !trials[i].needs_context)
            trials[i].run(check);
        else
            check_table_skip(&check->table, trials[i].name, "no program can use the GPU");
    }
}

static int read_options(struct check *check, int count, char **arguments)
{
    static const struct option options[] = {{"tracker", required_argument, NULL, 't'},
        {"python", required_argument, NULL, 'p'}, {"scale", required_argument, NULL, 's'},
        {"patience", required_argument, NULL, 'w'}, {"help", no_argument, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(count, arguments, "o:h", options, NULL)) != -1;)
        switch (option) {
        case 'o':
            check->folder = optarg;
            break;
        case 't':
            check->tracker = optarg;
            break;
        case 'p':
            check->python = optarg;
            break;
        case 's':
            check->scale = strtod(optarg, NULL);
            break;
        case 'w':
            check->patience_s = strtod(optarg, NULL);
            break;
        case 'h':
            print_usage(stdout);
            exit(0);
        default:
            return EXIT_USAGE;
        }
    bool is_fine = check->scale > 0 && check->scale <= 10 && check->patience_s > 0;
    return is_fine ? 0 : EXIT_USAGE;
}

static bool names_are_trials(int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (!is_trial(names[i])) {
            fprintf(stderr,
                "gpu-check: no trial is called %s: preparation, memory, peaks, use, driver, "
                "card or front-ends\n",
                names[i]);
            return false;
        }
    return true;
}

static int run_trials(struct check *check, int count, char **names)
{
    struct guard guard;
    bool is_guarded = guard_start(&guard, check);
    trial_preparation(check);
    for (int i = 0; i < count; i++)
        run_trial(check, names[i]);
    if (count == 0)
        run_trial(check, NULL);
    if (is_guarded)
        guard_stop(&guard);
    if (!check_table_write(&check->table, check->folder, check->machine)) {
        fprintf(stderr, "gpu-check: cannot write into %s: %s\n", check->folder, strerror(errno));
        return EXIT_USAGE;
    }
    printf("%d figures compared, %d differ, %d could not be tried: %s/gpu-check.md\n",
        check->table.n_compared, check->table.n_different, check->table.n_skipped, check->folder);
    return check->table.n_different ? EXIT_DIFFERS : 0;
}

/* An absolute path, as programs may run elsewhere; and its file log.txt begins anew. */
static bool make_folder(struct check *check, char *path)
{
    if ((mkdir(check->folder, 0755) != 0 && errno != EEXIST) || !realpath(check->folder, path)) {
        fprintf(stderr, "gpu-check: cannot create %s: %s\n", check->folder, strerror(errno));
        return false;
    }
    check->folder = path;
    unlink(check_path(check, "log.txt").text);
    return true;
}

static int run(struct check *check, int count, char **names)
{
    char path[PATH_MAX];
    const char *message = NULL;
    if (!names_are_trials(count, names))
        return EXIT_USAGE;
    if (!nvml_reference_open(&check->nvml, &message)) {
        fprintf(stderr, "gpu-check: no NVIDIA GPU here: %s\n", message);
        return EXIT_NO_GPU;
    }
    if (!make_folder(check, path))
        return EXIT_USAGE;
    /* CUDA and NVML may number GPUs differently. */
    setenv("CUDA_VISIBLE_DEVICES", check->nvml.uuid, 1);
    programs_init(&check->programs);
    check_table_init(&check->table);
    int status = run_trials(check, count, names);
    check_table_finish(&check->table);
    json_decref(check->machine);
    return status;
}

int main(int count, char **arguments)
{
    struct check check = {.folder = ".",
        .scale = 1,
        .patience_s = 60,
        .context_bytes = NAN,
        .context_used_bytes = NAN,
        .context_s = NAN};
    char *tracker = sibling("gpu-tracker"), *load = sibling("gpu-load");
    check.tracker = tracker && access(tracker, X_OK) == 0 ? tracker : "gpu-tracker";
    check.load = load;
    int status = read_options(&check, count, arguments);
    if (status == 0)
        status = run(&check, count - optind, arguments + optind);
    else
        print_usage(stderr);
    free(tracker);
    free(load);
    return status;
}
