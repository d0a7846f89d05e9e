/*
 * What can be measured on this machine, and how more could be: every source of figures with its
 * state, and the GPUs that were found. Nothing is tracked.
 */
#ifndef GPUTRACKER_DOCTOR_H
#define GPUTRACKER_DOCTOR_H

#include <gputracker/error.h>
#include <gputracker/results.h>
#include <gputracker/session.h>
#include <gputracker/units.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gput_doctor_state {
    GPUT_DOCTOR_AVAILABLE,
    GPUT_DOCTOR_PARTLY, /**< some of what it gives is missing; `reason` says what */
    GPUT_DOCTOR_UNAVAILABLE,
};

/** "available", "partly" or "unavailable". Static text. */
GPUT_API const char *gput_doctor_state_name(enum gput_doctor_state state);

struct gput_doctor_source {
    char name[24];  /**< snake_case: "procfs", "nvml", "rapl" … */
    char gives[96]; /**< the figures that come from it */
    enum gput_doctor_state state;
    char reason[208]; /**< what is there, or why something is not */
    char remedy[208]; /**< the command or step that opens it; "" when there is none, or no need */
};

/** A GPU as it was found. */
struct gput_doctor_gpu {
    char uuid[96];
    char name[96];
    char vendor[16];           /**< "nvidia", "amd", "intel" or "other" */
    char pci_address[24];      /**< "0000:01:00.0"; "" when it has none */
    char source[16];           /**< the source that reads it: "nvml", "amdgpu", "drm" */
    double ram_capacity_bytes; /**< NaN when not available */
    char missing[240];         /**< figures that are not available, and why; "" when all are */
};

#define GPUT_DOCTOR_MAX_SOURCES 24

/** Plain data without pointers. */
struct gput_doctor {
    uint32_t n_sources;
    struct gput_doctor_source sources[GPUT_DOCTOR_MAX_SOURCES];
    uint32_t n_gpus;
    struct gput_doctor_gpu gpus[GPUT_MAX_GPUS];
};

/**
 * Checks everything. Of `options` the roots, nvml_path and gpu_brand are used; NULL: the
 * defaults. Takes a moment, and seconds where a GPU driver is slow. A control group is made and
 * removed again to see whether that is allowed.
 *
 * Errors: GPUT_ERROR_INVALID (the brand), GPUT_ERROR_MEMORY. A source that does not work is none.
 */
GPUT_API int gput_doctor_examine(
    const struct gput_options *options, struct gput_doctor *doctor, struct gput_error *error);

/**
 * The findings as text or JSON; sizes in `ram_unit`.
 *
 * Returns: GPUT_OK and in `*text` a terminated string that ends with a newline; free() it.
 * Errors: GPUT_ERROR_INVALID for another format, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_doctor_render(const struct gput_doctor *doctor, enum gput_format format,
    enum gput_ram_unit ram_unit, char **text, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
