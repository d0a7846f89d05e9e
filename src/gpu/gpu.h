/*
 * The GPUs of the machine, whoever made them, as one set that a sampler can read at every tick.
 *
 *     struct gpu_set *set;
 *     TRY(gpu_set_open(&options, &set, error));
 *     … at each tick:
 *         gpu_set_refresh(set);                      at its start: asks for fresh figures
 *         … read processes …
 *         gpu_set_sample(set, &tree, &gpu_sample);   at its end: takes what is there
 *     gpu_set_close(set);
 *
 * Drivers are asked from threads of the set's own, and a tick takes the latest answers with their
 * age. Only gpu_set_open(), gpu_set_await(), gpu_set_await_lists() and gpu_set_settle() wait for
 * one, and not for long. An answer that does not come makes its figures NaN, with a reason, until
 * it comes.
 *
 * A set is used from one thread at a time, and only in the process that opened it: after a fork,
 * the child's gpu_set_sample() gives NaN, and gpu_set_close() frees what it safely can.
 *
 * Figures are in bytes, percent (100: one whole GPU), watts, joules, seconds. What cannot be known
 * is NaN, never 0.
 */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* As many GPUs (MIG instances count as GPUs) as a set holds; those beyond are left out, with a
 * warning. */
#define GPU_MAX_DEVICES 128

struct gpu_options {
    const char *procfs_root; /* NULL: /proc */
    const char *sysfs_root;  /* NULL: /sys */
    const char
        *nvml_path;    /* a file to load instead of the driver's libnvidia-ml.so.1; NULL: none */
    const char *brand; /* "nvidia", "amd" or "intel"; NULL: all that are there */
    const char *uuids; /* comma-separated UUIDs, indexes or PCI addresses; NULL: all GPUs */
    double interval_seconds; /* between ticks; 0: 1 s */
    double patience_seconds; /* from what age a figure is missing; 0: 10 s, or 3 ticks if longer */
    /* One line for each thing worth a warning (a lost GPU, …), only from within the calls of this
     * header, on the caller's thread. NULL: none. */
    void (*warn)(void *user, const char *message);
    void *user;        /* handed to warn() */
    bool each_process; /* gpu_set_holdings() is wanted */
    bool synchronous;  /* no threads: ask the drivers from within gpu_set_sample(). For tests */
};

enum gpu_vendor { GPU_VENDOR_OTHER, GPU_VENDOR_NVIDIA, GPU_VENDOR_AMD, GPU_VENDOR_INTEL };

/* "nvidia", "amd", "intel" or "other". Static text. */
const char *gpu_vendor_name(enum gpu_vendor vendor);

/* The figures of a device that can be had or missing each on its own. */
enum gpu_figure {
    GPU_RAM_USED,
    GPU_UTILIZATION,
    GPU_POWER,
    GPU_ENERGY,
    GPU_PROCESS_RAM,
    GPU_PROCESS_UTILIZATION,
    GPU_FIGURE_COUNT,
};

/* "ram_used", "utilization", "power", "energy", "process_ram", "process_utilization". Static text.
 */
const char *gpu_figure_name(enum gpu_figure figure);

struct gpu_device {
    char uuid[96]; /* the driver's; where it has none, the PCI address */
    char name[96]; /* "NVIDIA H200", "AMD 0x744c" */
    enum gpu_vendor vendor;
    char pci_address[24];      /* "0000:01:00.0"; "" when it has none */
    double ram_capacity_bytes; /* NaN when unknown */
    char source[16];           /* who tells: "nvml", "amdgpu", "drm" */
    bool selected;             /* among options.uuids, or none were given */
    bool mig;                  /* a MIG instance */
    bool is_card_leader;       /* the first one of its card, which has the card's figures */
    bool in_package;           /* with the CPU, whose package's power includes it */
    bool shares_ram; /* its RAM is the machine's: what is in use of it says nothing of the GPU */
    bool power_is_counted; /* its power is how its energy counter moved, and no second witness */
    char missing[GPU_FIGURE_COUNT][112]; /* why a figure is not to be had; "" when it is */
};

/*
 * Names what is missing and why: "power: not supported by this GPU; …", as much as there is space
 * for. Figures that are missing for one reason share it. `but` is left out (GPU_FIGURE_COUNT:
 * none).
 */
void gpu_device_explain(
    const struct gpu_device *device, enum gpu_figure but, char *text, size_t size);

/* One device at one moment. The energy counter starts somewhere and may be reset: use differences.
 */
struct gpu_device_sample {
    double ram_used_bytes;
    double utilization_percent;
    double power_watts;
    double energy_joules;    /* counted by the device since its driver was loaded */
    double card_power_watts; /* of a card split into MIG instances, with the first one alone */
    double card_energy_joules;
    double card_ram_used_bytes;
    double main_ram_bytes;
    double descendants_ram_bytes;
    double combined_ram_bytes;
    double untracked_ram_bytes; /* in use next to what the tracked processes held, the driver's own
                                   and others': as of the last list during which the RAM in use
                                   stood still. NaN: not known */
    bool may_have_others;       /* others use it, or its list leaves such out */
    double main_sm_percent;     /* share of the GPU's processors (SM, CU, EU) used by main */
    double descendants_sm_percent;
    double all_sm_percent; /* by all processes; NaN also where the driver tells of ours alone */
    bool lacks_ram;        /* some RAM may be ours and is not in main's and descendants' */
    bool lacks_samples;    /* of their use of processors the driver gave none: it may come, so that
                              memory does not stand in for it */
    uint32_t n_unattributed; /* pids in its list that exist nowhere in sight */
    int64_t read_ns; /* when the device's own figures were read (monotonic clock); 0: they were not
                      */
};

/* The processes whose share is wanted. */
struct gpu_tree {
    pid_t main;               /* 0: gone */
    const pid_t *descendants; /* ascending; need to live only during the call */
    size_t n_descendants;
    uint64_t generation; /* another number whenever the pids are others: an unchanged tree costs
                            nothing */
};

/*
 * All devices at one moment. RAM sums are over all GPUs of the brand, utilization over the selected
 * ones. A sum leaves out devices that cannot tell, and is NaN when none can, or when the others
 * give 0 of processes and these may hold some (lacks_ram). Without any GPU every sum is 0, unless
 * there is one whose driver does not work: then it is NaN.
 */
struct gpu_sample {
    double main_ram_bytes;
    double descendants_ram_bytes;
    double combined_ram_bytes;
    double system_ram_bytes;
    double utilization_sum_percent;
    double utilization_hardware_percent; /* the sum over the number of GPUs in it */
    double
        unattributed_ram_bytes; /* held by pids that exist nowhere in sight (a driver that answers
                                   the host's pids inside a container); 0 when there are none */
    uint32_t n_unattributed;    /* how many such pids */
    double device_age_seconds;  /* of the oldest device figure in the sums */
    double process_age_seconds; /* of the oldest process list in the sums */
    int64_t listed_ns;          /* when that was read (monotonic clock); 0: there is none */
    uint32_t n_devices;
    struct gpu_device_sample devices[GPU_MAX_DEVICES]; /* in the order of gpu_set_devices() */
};

enum gpu_source_state {
    GPU_SOURCE_AVAILABLE,
    GPU_SOURCE_PARTLY,  /* some figure is missing; `detail` says which and why */
    GPU_SOURCE_ASLEEP,  /* its GPUs are suspended, and are not woken only to look */
    GPU_SOURCE_ABSENT,  /* this machine has no such GPU, or no driver for it */
    GPU_SOURCE_FAILED,  /* there is something, and it does not work */
    GPU_SOURCE_SKIPPED, /* not polled: another brand was asked for */
};

/* One place figures come from, for reports and `doctor`. */
struct gpu_source_status {
    const char *name; /* static text: "nvml", "amdgpu", "drm" */
    enum gpu_source_state state;
    uint32_t n_devices;
    char detail[200]; /* the driver and its version, or why it is not available */
    char remedy[200]; /* the command or step that would open it; "" when there is none */
};

struct gpu_set;

/*
 * Finds the GPUs and takes their first figures. No GPU at all is no error: gpu_set_missing() then
 * says why. Waits for drivers, a second at most (30 s to find a UUID that is asked for); a driver
 * that answers later joins later.
 *
 * On success `*set` is to be closed by gpu_set_close(); on failure it is NULL.
 * Errors: GPUT_ERROR_INVALID (brand; an empty list of UUIDs), GPUT_ERROR_NOT_FOUND (a UUID that is
 * none of the machine's; the message lists those there are), GPUT_ERROR_MEMORY.
 */
int gpu_set_open(const struct gpu_options *options, struct gpu_set **set, struct gput_error *error);

/* NULL is fine. Gives driver calls under way a quarter of a second; the thread of one that hangs
 * ends when the call does. */
void gpu_set_close(struct gpu_set *set);

/*
 * The devices, in an order that never changes; more can come at its end while the set is in use (a
 * slow driver, a GPU that woke). Valid until the next call with this set.
 */
const struct gpu_device *gpu_set_devices(const struct gpu_set *set, size_t *count);

/* How many of them are selected. */
size_t gpu_set_selected_count(const struct gpu_set *set);

/* Sum of the capacities that are known; NaN when there are devices and none is known; 0 without
 * devices. */
double gpu_set_capacity_bytes(const struct gpu_set *set);

/* Why there is no device, as one sentence for a warning; NULL when there is one. Valid as long as
 * the set. */
const char *gpu_set_missing(const struct gpu_set *set);

/* Each source and what became of it, in probing order. Valid until the next call with this set. */
const struct gpu_source_status *gpu_set_sources(const struct gpu_set *set, size_t *count);

/* Asks the drivers for fresh figures and returns at once. Without it gpu_set_sample() asks, and its
 * figures are one tick old. */
void gpu_set_refresh(struct gpu_set *set);

/*
 * Waits until the devices, not the lists of processes, have given the figures last asked for,
 * `timeout_ns` at most. A driver that kept it waiting in vain is not waited for again until it has
 * answered; neither is one that has not started yet.
 */
void gpu_set_await(struct gpu_set *set, int64_t timeout_ns);

/* Asks for lists of who uses the devices that are read from now on, and returns at once. Otherwise
 * lists are read at their own pace: see feed.h. */
void gpu_set_request_lists(struct gpu_set *set, const struct gpu_tree *tree);

/*
 * Waits until they are there, `timeout_ns` at most. A driver that kept it waiting in vain is not
 * waited for again until it has answered; neither is one that has not started yet.
 */
void gpu_set_await_lists(struct gpu_set *set, int64_t timeout_ns);

/* The latest figures. Never waits, never fails. */
void gpu_set_sample(struct gpu_set *set, const struct gpu_tree *tree, struct gpu_sample *sample);

/* The same when a list has come since the last sample, without asking for anything; else false. For
 * before gpu_set_refresh(): the next list can come before the next sample does, and replace it. */
bool gpu_set_sample_waiting(
    struct gpu_set *set, const struct gpu_tree *tree, struct gpu_sample *sample);

/* What one tracked process holds on all GPUs of the brand together, as a driver listed it; a
 * client that several processes hold counts in each. */
struct gpu_holding {
    pid_t pid;
    int64_t read_ns;  /* when it was listed (monotonic clock) */
    double ram_bytes; /* NaN: no GPU tells it for this process */
    bool lacks_some;  /* some GPU does not tell it: it is at least that */
};

/*
 * What each process held when the drivers last listed them, ascending by pid; processes that no
 * list was made for yet are not there. Only with options.each_process, as of the last
 * gpu_set_sample(). `*version` is another number whenever they may be others. Valid until the next
 * call with this set.
 */
const struct gpu_holding *gpu_set_holdings(
    const struct gpu_set *set, size_t *count, uint64_t *version);

/*
 * Why GPU RAM of processes is not to be had, on no GPU or only on some: one sentence. NULL: every
 * GPU tells it. Valid until the next call with this set. `*some`: there is a GPU that tells it.
 */
const char *gpu_set_holdings_missing(const struct gpu_set *set, bool *some);

/*
 * Why the tracked processes may have used more of a device, at some sample so far, than all samples
 * say: its driver did not list them, or not what they used. NULL: nothing is known to be missing.
 * Maxima that are 0 are no figures then.
 */
const char *gpu_set_past_missing(const struct gpu_set *set, size_t device, enum gpu_figure figure);

/* Whether that was because the driver may hide processes, as from a container. */
bool gpu_set_hides_processes(const struct gpu_set *set, size_t device);

/*
 * Waits until everything asked for so far is answered, `timeout_seconds` at most; true when it is.
 * For reports and tests, not for ticks.
 */
bool gpu_set_settle(struct gpu_set *set, double timeout_seconds);

#endif
