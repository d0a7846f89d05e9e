/*
 * The GPUs of the machine, of all vendors, as one set that a sampler reads at every tick.
 *
 *     struct gpu_set *set;
 *     TRY(gpu_set_open(&options, &set, error));
 *     … at each tick:
 *         gpu_set_refresh(set);                      at its start: requests fresh figures
 *         … read processes …
 *         gpu_set_sample(set, &tree, &gpu_sample);   at its end: the latest figures
 *     gpu_set_close(set);
 *
 * Drivers are called from the set's own threads, and a tick takes the latest answers with their
 * age. Only gpu_set_open() and the functions named gpu_set_await… wait for one, and not for long. A
 * figure whose answer is late is NaN, with a reason, until the answer comes.
 *
 * A set is used from one thread at a time, and only in the process that opened it: after a fork,
 * the child's gpu_set_sample() gives NaN, and gpu_set_close() frees what is safe to free.
 *
 * Figures are in bytes, percent (100: one whole GPU), watts, joules, seconds. What cannot be known
 * is NaN, never 0.
 */
#pragma once

#include "base/error.h"
#include "model/card.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The most GPUs in a set (MIG instances count as GPUs); further ones are skipped, with a warning.
 */
#define GPU_MAX_DEVICES 128

struct gpu_options {
    const char *procfs_root; /* NULL: /proc */
    const char *sysfs_root;  /* NULL: /sys */
    /* A file to load instead of the driver's libnvidia-ml.so.1; NULL: none. */
    const char *nvml_path;
    const char *brand;       /* "nvidia", "amd" or "intel"; NULL: all */
    const char *uuids;       /* comma-separated UUIDs, indexes or PCI addresses; NULL: all GPUs */
    double interval_seconds; /* between ticks; 0: 1 s */
    double max_age_seconds;  /* older figures are missing; 0: 10 s, or 3 ticks if longer */
    /* One line for each thing worth a warning (a lost GPU, …), only from within the calls of this
     * header, on the caller's thread. NULL: none. */
    void (*warn)(void *user, const char *message);
    void *user;        /* passed to warn() */
    bool parts;        /* also figures of parts of the chip, which others may miss meanwhile */
    bool each_process; /* gpu_set_process_ram() will be called */
    bool synchronous;  /* no threads: gpu_set_sample() calls the drivers. For tests */
    bool starts_later; /* see gpu_set_start() */
};

enum gpu_vendor { GPU_VENDOR_OTHER, GPU_VENDOR_NVIDIA, GPU_VENDOR_AMD, GPU_VENDOR_INTEL };

/* "nvidia", "amd", "intel" or "other". Static text. */
const char *gpu_vendor_name(enum gpu_vendor vendor);

/* The figures of a device, each of which can be missing. */
enum gpu_figure {
    GPU_RAM_USED,
    GPU_UTILIZATION,
    GPU_POWER,
    GPU_ENERGY,
    GPU_PROCESS_RAM,
    GPU_PROCESS_UTILIZATION,
    GPU_FIGURE_COUNT,
};

struct gpu_device {
    char uuid[96]; /* the driver's; where it has none, the PCI address */
    char name[96]; /* "NVIDIA H200", "AMD 0x744c" */
    enum gpu_vendor vendor;
    char pci_address[24]; /* "0000:01:00.0"; "" when it has none */
    /* Devices of a vendor are counted by its library in this order, equal ones as they are listed;
     * ROCm's is that of KFD's nodes, of which each partition of a card is one. */
    uint32_t vendor_number;
    uint32_t n_partitions;     /* 0: not known; as 1 */
    double ram_capacity_bytes; /* NaN when unknown */
    char source[16];           /* "nvml", "amdgpu", "drm" */
    bool selected;             /* in options.uuids; if these are NULL, see gpu_set_show() */
    bool mig;                  /* a MIG instance */
    bool is_card_leader;       /* the first device of its card, which has the card's figures */
    bool in_package;           /* in the CPU package, whose power includes it */
    bool shares_ram;           /* uses system RAM: its memory in use does not show the GPU's use */
    bool power_is_counted; /* its power is computed from its energy counter, not measured separately
                            */
    char missing[GPU_FIGURE_COUNT][112]; /* why a figure is missing; "" when it is not */
};

/*
 * Writes what is missing and why: "power: not supported by this GPU; …", as much as fits. Figures
 * that are missing for the same reason share it. `but` is skipped (GPU_FIGURE_COUNT: none).
 */
void gpu_device_explain(
    const struct gpu_device *device, enum gpu_figure but, char *text, size_t size);

/* One device at one moment. The energy counter has an arbitrary start and may be reset: use
 * differences. */
struct gpu_device_sample {
    double ram_used_bytes;
    double max_ram_used_bytes; /* the most of all readings since the last sample; 0: none */
    double utilization_percent;
    double power_watts;
    double energy_joules;    /* counted by the device since its driver was loaded */
    int64_t energy_ns;       /* when that was read: reading it costs some drivers much */
    double card_power_watts; /* of a card split into MIG instances: in the first one only */
    double card_energy_joules;
    double card_ram_used_bytes;
    double main_ram_bytes;
    double descendants_ram_bytes;
    double combined_ram_bytes;
    double untracked_ram_bytes; /* in use by the driver and untracked processes, as of the last list
                                   during which the RAM in use did not change. NaN: unknown */
    bool is_ram_changed;        /* the RAM in use is not what it was around the list */
    bool bounds_ram;            /* tracked processes cannot have more than the RAM in use */
    bool may_have_others;       /* untracked processes use it, or its list may lack some */
    double main_sm_percent;     /* share of the GPU's processors (SM, CU, EU) used by main */
    double descendants_sm_percent;
    double all_sm_percent; /* by all processes; NaN also where only tracked processes are listed */
    bool lacks_ram;        /* main or descendants may have RAM that is not in their figures */
    bool lacks_samples;    /* the driver gave no utilization samples yet; later ones may come, so
                              memory is not a substitute */
    uint32_t n_unattributed; /* pids in its list of no visible process */
    int64_t read_ns; /* when the device's own figures were read (monotonic clock); 0: never */
};

/* The processes whose share is wanted. */
struct gpu_tree {
    pid_t main;               /* 0: gone */
    const pid_t *descendants; /* ascending; used only during the call */
    size_t n_descendants;
    uint64_t generation; /* changes whenever the pids do: an unchanged tree costs nothing */
};

/*
 * All devices at one moment. RAM sums are over all GPUs of the brand, utilization over the selected
 * ones. A sum skips devices that do not report it. It is NaN when none does, or when it would be 0
 * while a skipped device may have RAM of the processes (lacks_ram). Without any GPU every sum is 0,
 * unless there is one whose driver does not work: then it is NaN.
 */
struct gpu_sample {
    double main_ram_bytes;
    double descendants_ram_bytes;
    double combined_ram_bytes;
    double system_ram_bytes;
    double utilization_sum_percent;
    double utilization_hardware_percent; /* the sum divided by the number of GPUs in it */
    double unattributed_ram_bytes; /* of pids of no visible process (inside a container a driver may
                                      list the host's pids); 0 when there are none */
    uint32_t n_unattributed;       /* number of such pids */
    double device_age_seconds;     /* of the oldest device figure in the sums */
    double process_age_seconds;    /* of the oldest process list in the sums */
    int64_t listed_ns;             /* when that list was read (monotonic clock); 0: there is none */
    uint32_t n_devices;
    struct gpu_device_sample devices[GPU_MAX_DEVICES]; /* in the order of gpu_set_devices() */
};

enum gpu_source_state {
    GPU_SOURCE_AVAILABLE,
    GPU_SOURCE_PARTIAL,   /* some figure is missing; `detail` says which and why */
    GPU_SOURCE_SUSPENDED, /* its GPUs are suspended, and are not resumed just for reading */
    GPU_SOURCE_ABSENT,    /* this machine has no such GPU, or no driver for it */
    GPU_SOURCE_FAILED,    /* there is a GPU or driver, and it does not work */
    GPU_SOURCE_SKIPPED,   /* not probed: another brand was requested */
    GPU_SOURCE_OPENING,   /* its driver has not answered yet, or gpu_set_start() is due */
};

/* One source of figures, for reports and `doctor`. */
struct gpu_source_status {
    const char *name; /* static text: "nvml", "amdgpu", "drm" */
    enum gpu_source_state state;
    uint32_t n_devices;
    uint32_t n_skipped; /* of more than GPU_MAX_DEVICES */
    char detail[200];   /* the driver and its version, or why it is not available */
    char remedy[200];   /* the command or step that makes it available; "" when there is none */
};

struct gpu_set;

/*
 * Finds the GPUs and reads their first figures. No GPU at all is not an error: gpu_set_missing()
 * then gives the reason. Waits for drivers, a second at most (30 s to find a requested UUID); a
 * driver that answers later is added later.
 *
 * On success the caller closes `*set` by gpu_set_close(); on failure it is NULL. Errors:
 * GPUT_ERROR_INVALID (brand; an empty list of UUIDs), GPUT_ERROR_NOT_FOUND (a UUID that the machine
 * does not have; the message lists the available ones), GPUT_ERROR_MEMORY.
 */
int gpu_set_open(const struct gpu_options *options, struct gpu_set **set, struct gput_error *error);

/*
 * With options.starts_later gpu_set_open() calls no driver where a library takes long to open, and
 * GPUs have no figures yet; unless options.uuids name some, for an unknown one is an error. This
 * function begins to open them, in threads of theirs. Called again, it does nothing.
 */
void gpu_set_start(struct gpu_set *set);

/* Whether gpu_set_start() has something to do. */
bool gpu_set_is_to_start(const struct gpu_set *set);

/* How many threads of this process are the set's, as far as the kernel still has them. */
unsigned gpu_set_threads(const struct gpu_set *set);

/* Whether all drivers have answered since. */
bool gpu_set_has_started(struct gpu_set *set);

/* Waits for that, `timeout_ns` at most, and takes what they have answered. One that answers later
 * is added later. */
void gpu_set_await_start(struct gpu_set *set, int64_t timeout_ns);

/* How long gpu_set_open() waits, as a rule. */
#define GPU_OPEN_WAIT_NS 1000000000

/* NULL is fine. Waits a quarter of a second for running driver calls; a thread whose call hangs
 * ends when the call returns. */
void gpu_set_close(struct gpu_set *set);

/*
 * The devices, in an order that never changes; more can be appended while the set is in use (a slow
 * driver, a resumed GPU). Valid until the next call with this set.
 */
const struct gpu_device *gpu_set_devices(const struct gpu_set *set, size_t *count);

struct gpu_visible;

/* From here on a device is only selected where a command sees it, too; unless options.uuids named
 * those that are. NULL: all again. It is copied. GPUT_ERROR_MEMORY: nothing has changed. */
int gpu_set_show(struct gpu_set *set, const struct gpu_visible *visible);

/* Reads nothing of devices that are not selected, or reads them again. NULL is allowed. */
void gpu_set_skip_unselected(struct gpu_set *set, bool skip);

/* How many of them are selected. */
size_t gpu_set_selected_count(const struct gpu_set *set);

/* Sum of the capacities that are known; NaN when there are devices and none is known; 0 without
 * devices. */
double gpu_set_capacity_bytes(const struct gpu_set *set);

/*
 * The figures of the card itself that a device is (of MIG instances: the first of a card) as of the
 * last gpu_set_sample(). A device whose driver does not answer has none. Valid until the next call
 * with this set.
 */
const struct card_reading *gpu_set_card(const struct gpu_set *set, size_t device);

/* Whether the last gpu_set_sample() has nothing of a device because it is lost, or its driver does
 * not answer. */
bool gpu_set_is_unread(const struct gpu_set *set, size_t device);

/* Why there is no device, as one sentence for a warning; NULL when there is one. Valid as long as
 * the set. */
const char *gpu_set_missing(const struct gpu_set *set);

/* Whether there is no GPU at all, also none that cannot be read. */
bool gpu_set_is_empty(const struct gpu_set *set);

/* Whether there is none, and no driver that might bring one: nothing of the set changes any more.
 */
bool gpu_set_is_absent(const struct gpu_set *set);

/* Each source and its state, in probing order. Valid until the next call with this set. */
const struct gpu_source_status *gpu_set_sources(const struct gpu_set *set, size_t *count);

/* Requests fresh figures from the drivers and returns at once. Without it gpu_set_sample() makes
 * the request, and its figures are one tick old. */
void gpu_set_refresh(struct gpu_set *set);

/*
 * Requests figures with lists of processes, whose reading starts from now on, and returns at once.
 * Otherwise lists are read at the intervals described in feed.h. Until they come, the lists from
 * before give no RAM of processes on a device whose RAM in use has changed since. `is_last`: no
 * further lists will come, so what they would have said is missing in the whole session; what is
 * otherwise read less often is read, too.
 */
void gpu_set_request_lists(struct gpu_set *set, const struct gpu_tree *tree, bool is_last);

/*
 * Waits for the requested figures, but not for lists of processes that are late, `timeout_ns` at
 * most. A driver that exceeded a timeout is not waited for again until it has answered; neither is
 * one that has not started yet.
 */
void gpu_set_await(struct gpu_set *set, int64_t timeout_ns);

/* Waits for the lists that were requested, also for late ones, `timeout_ns` at most, and otherwise
 * likewise. */
void gpu_set_await_lists(struct gpu_set *set, int64_t timeout_ns);

/* The latest figures. Never waits, never fails. */
void gpu_set_sample(struct gpu_set *set, const struct gpu_tree *tree, struct gpu_sample *sample);

/* GPU RAM of one tracked process on all GPUs of the brand together, as the drivers list it; a
 * client shared by several processes counts in each. */
struct gpu_process_ram {
    pid_t pid;
    int64_t read_ns;  /* when the list was read (monotonic clock) */
    double ram_bytes; /* NaN: no GPU reports it for this process */
    bool is_partial;  /* some GPU does not report it: it is at least that */
};

/*
 * GPU RAM of each process in the drivers' last lists, ascending by pid; processes without a list
 * yet are absent. Only with options.each_process, as of the last gpu_set_sample(). `*version`
 * changes whenever the figures may have changed. Valid until the next call with this set.
 */
const struct gpu_process_ram *gpu_set_process_ram(
    const struct gpu_set *set, size_t *count, uint64_t *version);

/* Memory and use of a tracked process on one GPU. */
struct gpu_use {
    pid_t pid;
    uint32_t device;   /* its index in the set */
    double ram_bytes;  /* NaN: the driver does not say */
    double sm_percent; /* share of the GPU's processors that it used lately; NaN likewise */
};

/* Each process on each GPU, ascending by both; otherwise as gpu_set_process_ram(). */
const struct gpu_use *gpu_set_uses(const struct gpu_set *set, size_t *count);

/* Whether processes could not be read because the calling process has no descriptors left. */
bool gpu_set_lacks_descriptors(const struct gpu_set *set);

/*
 * Why GPU RAM of processes is missing, on all GPUs or on some: one sentence. NULL: every GPU
 * reports it. Valid until the next call with this set. `*some`: at least one GPU reports it.
 */
const char *gpu_set_process_ram_missing(const struct gpu_set *set, bool *some);

/*
 * Why tracked processes may have used more of a device than any sample so far shows: its driver did
 * not list them, or not their use. NULL: nothing is known to be missing. Otherwise maxima of 0 are
 * unknown.
 */
const char *gpu_set_past_missing(const struct gpu_set *set, size_t device, enum gpu_figure figure);

/* Whether the reason is that the driver may hide processes, as inside a container. */
bool gpu_set_hides_processes(const struct gpu_set *set, size_t device);

/*
 * Waits until all requests so far are answered, `timeout_seconds` at most; true when they are. For
 * reports and tests, not for ticks.
 */
bool gpu_set_await_all(struct gpu_set *set, double timeout_seconds);
