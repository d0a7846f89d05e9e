/*
 * The energy counters of the CPU and its memory, by powercap or by perf events: joules of each
 * domain (package, DRAM, psys, ...), and what is wrong with them.
 */
#pragma once

#include "machine/energy/powercap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The same energy counters by perf events, for users who may read those and not the powercap files:
 * <sysfs>/bus/event_source/devices/power. One counter a domain and package, in units of 2^-32 J,
 * which do not wrap.
 */
struct perf_energy_counter {
    enum energy_domain domain;
    uint32_t package; /* numbered in the order of the CPUs in cpumask, one per package */
    int fd;
    double joules_per_count;
};

struct perf_energy {
    struct perf_energy_counter *counters; /* owned */
    size_t count;
    bool refused;      /* they exist, but permission is denied */
    char why_not[160]; /* when count is 0 */
};

/* Opens the counters that the kernel permits. The caller calls perf_energy_close(). */
void perf_energy_open(const char *sysfs_root, struct perf_energy *energy);
void perf_energy_close(struct perf_energy *energy);

/* Pure: the CPUs of a cpumask file ("0,18" or "0-1"); returns how many were written. */
size_t perf_energy_parse_cpus(const char *text, int *cpus, size_t capacity);

/* Pure: N of "event=0xN". */
bool perf_energy_parse_event(const char *text, uint64_t *config);

/*
 * One energy counter, polled: the increase since the last reading, with wraps undone and
 * implausible readings detected.
 */
struct energy_counter {
    double last_joules;
    int64_t last_ns;     /* of the last reading; before any, when it first failed */
    int64_t moved_ns;    /* when it last changed */
    int64_t unknown_ns;  /* how long it was late, jumped or did not change */
    int64_t late_ns;     /* how long it failed before its first reading */
    double range_joules; /* where it wraps; 0: it does not, or not known */
    bool has_last;
    bool has_moved;   /* until then it is not usable: one that never changes is stuck */
    bool went_back;   /* at least once, by more than a wrap */
    bool went_ahead;  /* at least once, by more than any device can have used */
    bool stood_still; /* for longer than a running device can; at least once */
    bool failed;      /* the last reading failed */
};

/* Stores the counter's first reading. `range_joules` 0: it does not wrap. */
void energy_counter_start(
    struct energy_counter *counter, double joules, double range_joules, int64_t now_ns);

/*
 * Joules since the last reading. NaN: the counter decreased (it was reset, or the machine slept) or
 * jumped, so this interval is not known; the next one starts here.
 */
double energy_counter_advance(struct energy_counter *counter, double joules, int64_t now_ns);

/* A reading failed. The increase until the next one is counted then, except before the first
 * reading. */
void energy_counter_fail(struct energy_counter *counter, int64_t now_ns);

/* For how much of the time since `since_ns` its joules are not known. */
int64_t energy_counter_unknown_ns(
    const struct energy_counter *counter, int64_t since_ns, int64_t now_ns);

/* Whether it has not changed for longer than is possible for a running device. */
bool energy_counter_stands_still(const struct energy_counter *counter);

struct energy_counters {
    const char *sysfs_root;
    struct powercap powercap;
    struct perf_energy perf; /* the same counters: used where perf gives more of them */
    bool uses_perf;
    struct energy_counter *counters; /* of powercap's zones, or perf's counters; owned */
    bool is_lost[ENERGY_DOMAINS];    /* its joules were known, but are not any more */
    double pending[ENERGY_DOMAINS];  /* joules read and not taken; NaN: none */
    int64_t first_read_ns, read_ns;  /* when they were first and last read; 0: not yet */
    char why_not[256];               /* why there are none; "" */
    char remedy[160];                /* what an administrator can do about it; "" */
};

/* Finds the counters. `sysfs_root` must live as long as they. The caller calls
 * energy_counters_finish(). */
void energy_counters_init(struct energy_counters *energy, const char *sysfs_root);
void energy_counters_finish(struct energy_counters *energy);

/* Whether none can be read: `why_not` says why. */
bool energy_counters_are_missing(const struct energy_counters *energy);

/* Whether they wrap unless they are read often: a 65 kJ counter does every 3.6 minutes at 300 W. */
bool energy_counters_may_wrap(const struct energy_counters *energy);

/* Reads all counters and adds their increase to `pending`. */
void energy_counters_read(struct energy_counters *energy, int64_t now_ns);

/* Gives the joules of each domain since the call before; NaN: not known. */
void energy_counters_take(struct energy_counters *energy, double joules[ENERGY_DOMAINS]);

/* Whether the packages' joules are known, or will be with the next change of a counter. */
bool energy_counters_have_package(const struct energy_counters *energy);

/* An upper bound of the time since `start_ns` for which some counter of the domains that count gave
 * no joules. */
int64_t energy_counters_unknown_ns(
    const struct energy_counters *energy, int64_t start_ns, const bool counts[ENERGY_DOMAINS]);

/* Writes all faults, as far as there is space: "the psys counter did not advance; ...". "" when
 * nothing is. */
void energy_counters_explain(const struct energy_counters *energy, char *text, size_t size);

/*
 * A list of faults as one text of limited size: "this; that; and 3 more".
 */
struct fault_list {
    char *text; /* borrowed */
    size_t size, length;
    unsigned more; /* faults without space */
};

/* Begins an empty list in `text`, which has space for `size` bytes, at least one. */
void fault_list_begin(struct fault_list *list, char *text, size_t size);
void fault_list_add(struct fault_list *list, const char *fault);

/* Appends how many faults there was no space for. */
void fault_list_end(const struct fault_list *list);
