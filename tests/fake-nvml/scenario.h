/*
 * The scenario of the fake libnvidia-ml.so.1: the text file that says what its calls answer, what
 * each call does first (its place in the log, its delay, its code), and handles of devices.
 */
#pragma once

#include <stdbool.h>

typedef void *nvmlDevice_t;

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    ARGUMENT_VERSION_MISMATCH = 25,
    UNKNOWN = 999,
};

#define MAX_GPUS 144
#define MAX_MIG 8
#define MAX_ENTRIES 256
#define MAX_RULES 64

struct entry {
    char kind; /* c compute, g graphics, m MPS, s utilization sample */
    unsigned pid;
    unsigned long long value; /* bytes, or the timestamp of a sample */
    unsigned percent;
};

struct rule {
    char call[48];
    int number;
};

/* What a call with one number as its answer gives: "nvmlDeviceGetFanSpeed",
 * "nvmlDeviceGetClockInfo/2" with its second argument, "field/74". */
struct value {
    char call[48];
    unsigned long long number;
};

struct device {
    char uuid[96], name[96];
    unsigned domain, bus, slot;
    unsigned long long total, reserved, used, energy_mj, module_energy_mj;
    unsigned utilization, power_mw, instant_power_mw, compute_mode;
    bool is_simulated;
    int n_rules;
    struct rule rules[MAX_RULES]; /* codes of calls on this GPU */
    int n_values;
    struct value values[MAX_RULES];
    int n_entries;
    struct entry *entries; /* MAX_ENTRIES */
};

struct gpu {
    struct device self;
    unsigned mig_current;
    int n_mig;
    struct device mig[MAX_MIG];
};

struct scenario {
    char driver[80];
    unsigned generation; /* of handles: older ones are stale */
    int grow;            /* entries that are added between two calls of a list */
    int n_codes, n_delays, n_costs, n_gpus;
    struct rule codes[MAX_RULES], delays[MAX_RULES], costs[MAX_RULES];
    struct gpu gpus[MAX_GPUS];
};

/* What the file said at the start of the call that runs. */
extern struct scenario scenario;

/* The start of a call: its code. The calls of all threads wait for each other until end(). */
int begin(const char *call);

/* The end of a call: returns `code`. */
int end(int code);

/* The start of a call on a device: its code, and the device when that is SUCCESS. */
int begin_on(const char *call, nvmlDevice_t handle, struct device **device);

/* The code of a call by rules; 0 when none names it. */
int rule_for(const struct rule *rules, int count, const char *call);

/* The number that a call on a device gives; NULL: it does not support it. */
const unsigned long long *value_of(const struct device *device, const char *call);

/* A handle of a GPU, or of one of its MIG instances (from 1; 0: the GPU itself). */
nvmlDevice_t make_handle(unsigned gpu, unsigned mig);

/* nvmlInit() and nvmlShutdown() were called. A fork of the process that initialized has no library.
 */
void set_initialized(bool initialized);
