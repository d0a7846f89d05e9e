/*
 * Helpers for tests that use the fake libnvidia-ml.so.1: scenarios, and sets opened on them.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "testing.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Longer than any test may take: whoever waits for it fails by that. */
#define HANG "delay_ms * 600000\n"

/* What the last set warned of, one line each. */
static char warnings[4096];

static inline void keep_warning(void *user, const char *message)
{
    (void)user;
    size_t length = strlen(warnings);
    snprintf(warnings + length, sizeof warnings - length, "%s\n", message);
}

static char scenario_folder[64], scenario_path[96], scenario_log[96];

/* Replaces the scenario in one step, as a running program may read it at any moment. */
static inline void scenario_write(const char *text)
{
    char fresh[128];
    snprintf(fresh, sizeof fresh, "%s.new", scenario_path);
    FILE *file = fopen(fresh, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(rename(fresh, scenario_path), 0);
}

static inline int scenario_setup(void **state)
{
    (void)state;
    warnings[0] = '\0';
    snprintf(scenario_folder, sizeof scenario_folder, "/tmp/gput-test-XXXXXX");
    if (!mkdtemp(scenario_folder))
        return -1;
    snprintf(scenario_path, sizeof scenario_path, "%s/scenario", scenario_folder);
    snprintf(scenario_log, sizeof scenario_log, "%s/log", scenario_folder);
    setenv("FAKE_NVML_SCENARIO", scenario_path, 1);
    setenv("FAKE_NVML_LOG", scenario_log, 1);
    return 0;
}

static inline int scenario_teardown(void **state)
{
    (void)state;
    unlink(scenario_path);
    unlink(scenario_log);
    rmdir(scenario_folder);
    return 0;
}

#define SCENARIO_TEST(name) TEST_WITH(name, scenario_setup, scenario_teardown)

/* How often a call was made, by any process when `pid` is 0. "" counts all calls. */
static inline int count_calls(const char *call, pid_t pid)
{
    char name[96];
    int maker, count = 0;
    FILE *file = fopen(scenario_log, "r");
    while (file && fscanf(file, "%d %95s", &maker, name) == 2)
        count += (!call[0] || strcmp(name, call) == 0) && (!pid || maker == pid);
    if (file)
        fclose(file);
    return count;
}

/* The path of a build of the fake library: "fake-nvml", "fake-nvml-v1" … Static text. */
static inline const char *fake_library(const char *variant)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/fake-nvml/lib%s.so", getenv("GPUT_BUILD"), variant);
    return path;
}

/* Options for a machine that has only what the scenario says. */
static inline struct gpu_options fake_options(void)
{
    return (struct gpu_options){
        .sysfs_root = "/nonexistent",
        .nvml_path = fake_library("fake-nvml"),
        .warn = keep_warning,
        .synchronous = true,
    };
}

/* The same on a machine with GPUs of AMD and Intel, too. */
static inline struct gpu_options options_with_other_vendors(void)
{
    static char sysfs[4096];
    struct gpu_options options = fake_options();
    snprintf(sysfs, sizeof sysfs, "%s", fixture("gpu-two-vendors/sys"));
    options.sysfs_root = sysfs;
    return options;
}

static inline struct gpu_set *open_set(const struct gpu_options *options)
{
    struct gpu_set *set;
    struct gput_error error = {0};
    if (gpu_set_open(options, &set, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return set;
}

/* Opens a set that reads in the background, and waits for its drivers: opening it waits for a
 * second, which a busy machine may need to start a thread. */
static inline struct gpu_set *open_threaded(struct gpu_options options)
{
    options.synchronous = false;
    struct gpu_set *set = open_set(&options);
    assert_true(gpu_set_await_all(set, 60));
    return set;
}

/* A tree of main and one descendant (0: none). Its generation is new every time. */
static inline struct gpu_tree tree_of(pid_t main, const pid_t *descendants, size_t count)
{
    static uint64_t generation;
    return (struct gpu_tree){main, descendants, count, ++generation};
}

/* Samples once with a tree of main and one descendant. */
static inline struct gpu_sample sample_once(struct gpu_set *set, pid_t main, pid_t descendant)
{
    struct gpu_sample sample;
    struct gpu_tree tree = tree_of(main, &descendant, descendant != 0);
    gpu_set_sample(set, &tree, &sample);
    return sample;
}

static inline const char *missing(struct gpu_set *set, size_t device, enum gpu_figure figure)
{
    size_t count;
    return gpu_set_devices(set, &count)[device].missing[figure];
}

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("\"%s\" is not in \"%s\"", part, text);                                       \
    } while (0)

#define assert_number(actual, expected)                                                            \
    do {                                                                                           \
        double actual_ = (actual), expected_ = (expected);                                         \
        if (isnan(expected_) ? !isnan(actual_) : !(fabs(actual_ - expected_) <= 1e-6))             \
            fail_msg("%s is %.9g, not %.9g", #actual, actual_, expected_);                         \
    } while (0)
