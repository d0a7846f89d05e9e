/*
 * A source of GPU figures: one vtable, one file each. A set (gpu.h) walks the array gpu_sources; to
 * add a vendor, write its file and add its line in sources.c.
 *
 * A source knows no threads and no selection: feed.h calls it from threads, sample.c makes sums.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "machine/gpu/process_list.h"
#include "model/card.h"

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

extern const struct gpu_source *const gpu_sources[GPU_SOURCE_COUNT];
extern const struct gpu_source gpu_source_nvml;
extern const struct gpu_source gpu_source_amdgpu;
extern const struct gpu_source gpu_source_drm;

/* Sets state, detail and remedy ("" for none). */
void gpu_source_status_set(struct gpu_source_status *status, enum gpu_source_state state,
    const char *remedy, const char *format, ...) __attribute__((format(printf, 4, 5)));
