/*
 * A source of GPU figures: one vtable, one file each. A set (gpu.h) walks the array gpu_sources; to
 * add a vendor, write its file and add its line in set.c.
 *
 * A source knows no threads and no selection: feed.h calls it from threads, sample.c makes sums.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "model/card.h"

/*
 * The processes that a driver lists for its devices, and what each of them uses.
 */

/* Use of one device by one process. */
struct gpu_process {
    uint32_t device;  /* index in the source's list */
    pid_t pid;        /* as the driver lists it */
    uint64_t client;  /* entries with the same number on the same device are the same memory, shared
                         by several processes; 0: not shared */
    double ram_bytes; /* NaN: not reported */
    double sm_percent; /* NaN: not reported */
};

/* The processes that use the devices. All zeroes is an empty list. */
struct gpu_process_list {
    struct gpu_process *entries; /* owned; by device, client, pid after gpu_process_list_sort() */
    size_t count;
    size_t capacity;
    pid_t *tracked_pids; /* tracked when it was read, ascending; owned */
    size_t n_tracked_pids, tracked_capacity;
    bool only_tracked; /* it has no others, which may use the devices too */
    /* No tracked process has a file of this driver open: pids that are not visible are not tracked
     * ones. False also where that is unknown. */
    bool none_tracked_has_files;
    /* The pids, except those of clients, may be of a namespace around ours: the same number is
     * another process here. */
    bool pids_unproven;
    bool lacks_descriptors; /* some processes could not be read without more of them */
    /* Where 0 percent of a listed process is right only while the device is idle: the driver gave
     * no utilization samples; or it lists compute programs, whose utilization it never reports. */
    bool lacks_samples[GPU_MAX_DEVICES];
    bool lacks_compute[GPU_MAX_DEVICES];
    /* For each device why the figure is missing, static text; NULL: it is not, and processes that
     * are not listed have 0. */
    const char *ram_missing[GPU_MAX_DEVICES];
    const char *sm_missing[GPU_MAX_DEVICES];
};

/* Empties the list and keeps its memory; nothing is missing. */
void gpu_process_list_clear(struct gpu_process_list *list);
/* False without memory. */
bool gpu_process_list_add(struct gpu_process_list *list, struct gpu_process entry);
/* Sets the processes that are tracked when it is read; `pids` ascending, copied. False without
 * memory: then there are none. */
bool gpu_process_list_set_tracked(struct gpu_process_list *list, const pid_t *pids, size_t count);
/* Whether that process was tracked when it was read. */
bool gpu_process_list_was_made_for(const struct gpu_process_list *list, pid_t pid);
/* Replaces the content of `to`. False without memory; `to` is then empty. */
bool gpu_process_list_copy(struct gpu_process_list *to, const struct gpu_process_list *from);
void gpu_process_list_sort(struct gpu_process_list *list);
void gpu_process_list_finish(struct gpu_process_list *list);

/* Where a source reads. The strings outlive the source. */
struct gpu_source_options {
    const char *procfs_root; /* never NULL */
    const char *sysfs_root;  /* never NULL */
    const char *nvml_path;   /* NULL: the driver's own */
    enum gpu_vendor vendor;  /* only this vendor's; GPU_VENDOR_OTHER: all */
    bool parts;              /* also figures of parts of the chip */
    bool wake;               /* suspended GPUs may be resumed: the user named one */
};

/* The figures of a device. A figure that is NaN has its reason, static text, in `missing`. */
struct gpu_device_reading {
    double ram_used_bytes;
    double utilization_percent;
    double power_watts;
    double energy_joules;
    int64_t energy_ns; /* when the energy counter was read, if earlier than the rest; else 0 */
    /* Where the device has is_card_leader; else NaN. */
    double card_power_watts, card_energy_joules, card_ram_used_bytes;
    const char *missing[GPU_FIGURE_COUNT];
    bool lost; /* the device is gone */
    struct card_reading card;
};

/* Makes all figures NaN, each with that reason. */
void gpu_device_reading_clear(struct gpu_device_reading *reading, const char *reason);

/* The tracked processes, ascending, with main. */
struct gpu_tracked {
    const pid_t *pids;
    size_t count;
};

struct gpu_source {
    const char *name;
    enum gpu_vendor vendor; /* of its GPUs; GPU_VENDOR_OTHER: several */
    bool opens_slowly;      /* takes longer than a short command */

    /*
     * Checks cheaply, without a driver call, whether there are GPUs. Returns a state for the calls
     * below, or NULL when there are none; `status` then says why.
     */
    void *(*probe)(const struct gpu_source_options *options, struct gpu_source_status *status);

    /*
     * Starts the driver; can take seconds. False when it does not work: `status` says why; after
     * GPU_SOURCE_SUSPENDED it is called again later.
     */
    bool (*open)(void *state, struct gpu_source_status *status);

    /* Fills at most `capacity` devices (zeroed before) and returns how many there are. Before
     * open(): those known without the driver, with `missing` filled. */
    uint32_t (*list_devices)(void *state, struct gpu_device *devices, uint32_t capacity);

    /* Reads the figures of one device (after gpu_device_reading_clear()). `whole`: also those that
     * are otherwise read at times, because they cost much. */
    void (*read_device)(
        void *state, uint32_t device, bool whole, struct gpu_device_reading *reading);

    /* Replaces the memory in use of a device that was just read; leaves it where it cannot be read.
     * NULL: no device reports it. */
    void (*read_ram)(void *state, uint32_t device, struct gpu_device_reading *reading);

    /*
     * Lists the processes that use the devices. While a list is late, another thread calls
     * read_device() at the same time, but no further list. `list` is empty; it need not be sorted.
     * `whole` as above.
     */
    void (*read_processes)(
        void *state, const struct gpu_tracked *tracked, bool whole, struct gpu_process_list *list);

    /* Frees the state; may take long when open() succeeded. */
    void (*close)(void *state);
};

#define GPU_SOURCE_COUNT 3

extern const struct gpu_source gpu_source_nvml;
extern const struct gpu_source gpu_source_amdgpu;
extern const struct gpu_source gpu_source_drm;

/* Sets state, detail and remedy ("" for none). */
void gpu_source_status_set(struct gpu_source_status *status, enum gpu_source_state state,
    const char *remedy, const char *format, ...) __attribute__((format(printf, 4, 5)));
