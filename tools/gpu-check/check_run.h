/* Runs gpu-tracker over programs whose use is known, and reads its reports. */
#pragma once

#include "check_table.h"
#include "monotonic.h"
#include "nvml_reference.h"
#include "nvml_watch.h"
#include "programs.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MIB ((uint64_t)1 << 20)
/* A driver gives memory to a process in pieces of 2 MiB, and may keep some for itself. */
#define PIECE_BYTES (2.0 * MIB)

/* What the driver's list has of a program that uses the GPU. Containers get less of it. */
enum listing {
    LISTS_NOTHING,    /* of it; or no memory */
    LISTS_OTHER_PIDS, /* an entry, by the pid of another namespace */
    LISTS_PROCESS,
};

struct check {
    const char *tracker, *load; /* paths of the programs */
    const char *folder;         /* where reports, logs and the table go */
    const char *python;         /* with gpu_tracker; NULL: none */
    double scale;               /* of durations: 1, less for a quick check */
    double patience_s;          /* what a program may take longer than its steps say */
    struct nvml_reference nvml;
    json_t *machine; /* an object of texts: what the GPU, its driver and this machine are */
    struct check_table table;
    struct programs programs;
    bool has_context; /* a program can use the GPU */
    enum listing listing;
    bool is_shared;            /* others use the GPU: what it does as a whole is not known */
    double context_bytes;      /* what the driver counts for a process with a context alone */
    double context_used_bytes; /* by which the memory in use rises for it */
    double context_s;          /* how long it takes until it is there */
};

/* Says that it goes on: loops that take long call it. */
void check_progress(struct check *check);

/* A duration of so many milliseconds, scaled, at least 100. */
unsigned check_ms(const struct check *check, unsigned milliseconds);

/* The path of a file in the folder. */
struct check_path {
    char text[4096];
};
struct check_path check_path(const struct check *check, const char *name);

/* Starts a command, its output appended to log.txt. The array ends with NULL. -1: it could not be
 * started. */
pid_t check_start(struct check *check, const char *const *command);
/* Runs a command that should take so many seconds; returns what programs_wait() does. */
int check_execute(struct check *check, const char *const *command, double seconds);
/* Why a command is not fine: a sentence, in static text. */
const char *check_failure(int status);

/* Starts gpu-load with steps, a text whose words are separated by single spaces. */
pid_t check_start_load(struct check *check, const char *steps);

struct check_result {
    int status;     /* of gpu-tracker */
    json_t *report; /* as -f json writes it, in bytes and seconds */
    struct nvml_watch watch;
    double first_s, last_s; /* the first and last sample, by CLOCK_REALTIME */
    double longest_gap_s;   /* between two samples */
};

/*
 * Runs `gpu-tracker run OPTIONS -- gpu-load STEPS`, each a text whose words are separated by single
 * spaces, while the driver is watched. The result is to be released. false: there is no report, and
 * a row says why; then there is nothing to release.
 */
bool check_track(
    struct check *check, const char *options, const char *steps, struct check_result *result);
void check_result_release(struct check_result *result);

/* What gpu-load reported of the steps that are done since it was last started. */
int check_steps_done(const struct check *check, const char *step);
/* Seconds in which kernels ran, of the first process or of its children; NaN: no such step. */
double check_busy_s(const struct check *check, bool of_children);

/* The number at a place of the report, as "gpu_peaks.main"; NaN: there is none. "gpu." at the
 * beginning is the GPU that is checked. */
double check_number(const struct check *check, const json_t *report, const char *place);
const char *check_text(const struct check *check, const json_t *report, const char *place);

/*
 * Compares the figure at a place of the report. Where the driver does not have what it is made of,
 * and gpu-tracker says why it is missing, the row is skipped with that reason; a figure that is
 * missing without a reason differs. A timed figure that differs is skipped on a machine that is
 * busy.
 */
void check_compare(struct check *check, const json_t *report, const char *place, bool driver_has_it,
    struct check_figure figure);
/* The same of a figure that is made of the driver's list of processes. */
void check_compare_process(
    struct check *check, const json_t *report, const char *place, struct check_figure figure);
/* Why gpu-tracker lacks figures of processes, or of the GPU; NULL: it does not say. */
const char *check_missing_reason(const struct check *check, const json_t *report);

/* Compares the memory in use on the GPU with what was held in contexts of which there were so many.
 */
void check_compare_used(struct check *check, const struct check_result *result, const char *figure,
    unsigned contexts, double held_bytes);

/*
 * More programs want to run than the machine has processors: readings that are in time for a sample
 * cannot be expected. `why` says so, with the figures.
 */
struct check_busy {
    bool is_busy;
    char why[96];
};
struct check_busy check_machine_busy(void);

/* Waits until the memory in use is what it was before; others may change it: not for ever. */
void check_await_rest(struct check *check);
/* Waits until gpu-load has done a step so many times; false: it ended, or it took too long. */
bool check_await_steps(struct check *check, pid_t load, const char *step, int count);

/* Says what is there before anything runs, and learns what a context takes. */
void trial_preparation(struct check *check);
/* The trials, in the order in which they run. */
void trial_memory(struct check *check);
void trial_peaks(struct check *check);
void trial_use(struct check *check);
void trial_driver(struct check *check);
void trial_card(struct check *check);
void trial_front_ends(struct check *check);
