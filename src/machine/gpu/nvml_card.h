/*
 * What the NVIDIA driver says of a card itself: clocks, temperatures, limits, links, health, and
 * for how long it was slowed.
 *
 * Each call has a rate: what changes quickly is read with each reading, at most ten times a second;
 * the rest once a second, and what stays as it is once. A call that turns out to be expensive is
 * paced apart (call_pace.h), and keeps its figure meanwhile.
 */
#pragma once

#include "machine/gpu/call_pace.h"
#include "machine/gpu/nvml_library.h"
#include "model/card.h"

#include <stdbool.h>
#include <stdint.h>

/* As many as the table in nvml_card.c has. */
#define NVML_CARD_CALLS 24

/* All zeroes before nvml_card_init(). Used by one thread. */
struct nvml_card {
    const struct nvml_library *library;
    struct card_reading reading; /* as it was read last */
    struct nvml_card_call {
        struct call_pace pace;
        int64_t read_ns;   /* 0: never */
        bool is_forgotten; /* this GPU or driver does not support it */
    } calls[NVML_CARD_CALLS];

    /* The fields of each figure that this card has, one bit each; 0: not known. */
    uint16_t summed[CARD_FIGURE_COUNT];

    /* Counters of slowed time, and whether they can be believed. */
    unsigned first_thermal_field; /* of three in a row; 0: not decided yet */
    unsigned other_thermal_field; /* those to try when they contradict the reasons; 0: none */
    struct nvml_slowed {
        double before; /* the counter as of the reading before; NaN: there was none */
        int64_t before_ns;
        int64_t still_since_ns; /* its reason was given since then, and the counter stood still */
        bool is_refuted;
    } slowed[CARD_REASON_COUNT];
};

/* `driver_version`: as the driver gives it, "580.95.05". */
void nvml_card_init(
    struct nvml_card *card, const struct nvml_library *library, const char *driver_version);

/*
 * Reads what is due, and copies all figures to `reading`. `n_gpus`: that share the time which
 * expensive calls may take. `whole`: all figures, whatever they cost. Returns the code of the last
 * failed call that concerns the whole GPU (lost, stale handle), else NVML_SUCCESS.
 */
int nvml_card_read(struct nvml_card *card, nvml_device handle, uint32_t n_gpus, bool whole,
    struct card_reading *reading);

/*
 * How busy parts of an NVIDIA chip are: processors, tensor cores, arithmetic, memory, links. The
 * driver counts that (GPM, from Hopper on): two samples of its counters give means of the time
 * between them. DCGM reads the same counters and may miss values meanwhile, so nothing is read
 * unless a user asked for it.
 */

/* Sampled parts of one GPU or MIG instance. Used by one thread. */
struct nvml_gpm;

/* `library` is the caller's as long as this is used. Freed by nvml_gpm_destroy(). NULL: there is no
 * memory. */
struct nvml_gpm *nvml_gpm_create(const struct nvml_library *library);

/* Before the library is shut down. NULL is fine. */
void nvml_gpm_destroy(struct nvml_gpm *gpm);

/* Reads a MIG instance of that card from now on. */
void nvml_gpm_set_instance(struct nvml_gpm *gpm, nvml_device card, nvml_device instance);

/*
 * Takes a sample where the last one is old enough, and sets the figures of parts alone. The first
 * two readings take none: a driver that hangs in these calls has given its other figures by then.
 */
void nvml_gpm_read(struct nvml_gpm *gpm, nvml_device handle, struct card_reading *reading);
