/*
 * NVML read directly, to hold gpu-tracker against: on purpose no line of its own reader is used.
 * One GPU: the first one, or that which GPU_CHECK_GPU names, or else the first of
 * CUDA_VISIBLE_DEVICES, by its index or UUID. Of a GPU that is split (MIG), one instance.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_GPUS = 64, MAX_LISTED = 512 };

enum nvml_call {
    NVML_MEMORY,
    NVML_UTILIZATION,
    NVML_POWER,
    NVML_ENERGY,
    NVML_PROCESSES,
    NVML_PROCESS_UTILIZATION,
    NVML_CALLS,
};

enum nvml_samples { NVML_POWER_SAMPLES, NVML_UTILIZATION_SAMPLES };

enum nvml_compute_mode {
    NVML_COMPUTE_SHARED,
    NVML_COMPUTE_ONE_THREAD,
    NVML_COMPUTE_PROHIBITED,
    NVML_COMPUTE_ONE_PROCESS,
};

struct nvml_process {
    pid_t pid;
    double bytes; /* NaN: the driver does not say */
};

struct nvml_reference {
    void *library;
    void *device;          /* the GPU, or an instance of it */
    void *card;            /* the whole GPU */
    void *cards[MAX_GPUS]; /* all GPUs here: their energy is what gpu-tracker sums up */
    unsigned n_cards;
    size_t entry_size; /* of the driver's list of processes */
    char name[96], uuid[96], driver[80];
    bool is_mig;
    int (*memory)(void *device, void *memory);
    int (*utilization)(void *device, unsigned *rates);
    int (*power)(void *device, unsigned *milliwatts);
    int (*fields)(void *device, int count, void *values);
    int (*energy)(void *device, unsigned long long *millijoules);
    int (*processes)(void *device, unsigned *count, void *entries);
    int (*process_utilization)(
        void *device, void *samples, unsigned *count, unsigned long long last_seen_us);
    int (*samples)(void *device, int type, unsigned long long last_seen_us, int *value_type,
        unsigned *count, void *samples);
    double used_before;  /* memory in use when it was opened; NaN: the driver does not say */
    double bytes_before; /* of processes that were listed then */
    int n_before;        /* how many; -1: the driver does not list them */
};

/* Loads libnvidia-ml.so.1, or the file that GPUT_NVML names. false: *message says why. */
bool nvml_reference_open(struct nvml_reference *nvml, const char **message);

const char *nvml_call_name(enum nvml_call call);

/*
 * Makes that call. Its figure: bytes in use, percent, watts, joules of all GPUs, bytes of all
 * processes, percent of the busiest. NaN where the driver does not say.
 */
double nvml_reference_read(struct nvml_reference *nvml, enum nvml_call call);

/* Memory that is not in use; NaN: the driver does not say. */
double nvml_reference_free_bytes(struct nvml_reference *nvml);

/* Lists processes; returns how many, -1 where the driver does not say. */
int nvml_reference_list(struct nvml_reference *nvml, struct nvml_process *processes, int size);
int nvml_reference_process_count(struct nvml_reference *nvml);

/* When the driver took the samples that it has kept, in microseconds, oldest first. Returns how
 * many; 0 where it does not say. */
size_t nvml_reference_sample_times(
    struct nvml_reference *nvml, enum nvml_samples type, uint64_t *times_us, size_t size);
/* When it last took one of the use by a process, in microseconds; 0 where it does not say. */
uint64_t nvml_reference_process_sample_us(struct nvml_reference *nvml);

/* A number that a function gives of the whole GPU, by its name; `type`: its second argument, -1 if
 * it has none. NaN: the driver does not have the function, or not the figure. */
double nvml_reference_number(struct nvml_reference *nvml, const char *function, int type);
/* The same of a field of nvmlDeviceGetFieldValues(). */
double nvml_reference_field(struct nvml_reference *nvml, unsigned field, unsigned scope);

/* How busy parts of the GPU, or of the instance that is checked, are over a quarter of a second
 * (GPM), by NVML's numbers of them. NaN: the driver does not say. */
enum { MAX_PARTS = 16 };
void nvml_reference_parts(
    struct nvml_reference *nvml, const unsigned *metrics, size_t count, double *values);

enum nvml_compute_mode nvml_reference_compute_mode(struct nvml_reference *nvml);
/* Adds texts about the GPU's modes, none of which is changed here, to an object. */
void nvml_reference_describe(struct nvml_reference *nvml, json_t *machine);
