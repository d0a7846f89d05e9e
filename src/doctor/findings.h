/*
 * The findings of the doctor: the public type inside the library.
 */
#pragma once

#include <gputracker/doctor.h>

#include <stdint.h>

/* A source of figures: its name, state and remedy. */
struct gput_doctor_source {
    char name[24];  /* snake_case: "procfs", "nvml", "rapl" … */
    char gives[96]; /* the figures that come from it */
    enum gput_doctor_state state;
    char reason[208]; /* what was found, or why something is missing */
    char remedy[208]; /* the command or step that makes it available; "" when there is none, or no
                         need */
};

/* A GPU that was found. */
struct gput_doctor_gpu {
    char uuid[96];
    char name[96];
    char vendor[16];           /* "nvidia", "amd", "intel" or "other" */
    char pci_address[24];      /* "0000:01:00.0"; "" when it has none */
    char source[16];           /* the source that reads it: "nvml", "amdgpu", "drm" */
    double ram_capacity_bytes; /* NaN when not available */
    char health[240];          /* current problems of the card; "": none, or not known */
    char missing[240];         /* figures that are not available, and why; "" when all are */
};

#define DOCTOR_MAX_SOURCES 24

/* All findings. */
struct gput_doctor {
    char summary[240];           /* "CPU, RAM: yes. GPU: none found. Energy: not on this VM." */
    enum gput_ram_unit ram_unit; /* unit of GPU RAM in reports */
    uint32_t n_sources;
    struct gput_doctor_source sources[DOCTOR_MAX_SOURCES];
    uint32_t n_gpus;
    struct gput_doctor_gpu *gpus; /* owned */
};
