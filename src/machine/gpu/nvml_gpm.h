/*
 * How busy parts of an NVIDIA chip are: processors, tensor cores, arithmetic, memory, links. The
 * driver counts that (GPM, from Hopper on): two samples of its counters give means of the time
 * between them. DCGM reads the same counters and may miss values meanwhile, so nothing is read
 * unless a user asked for it.
 */
#pragma once

#include "machine/gpu/nvml_library.h"
#include "model/card.h"

/* Of one GPU or MIG instance. Used by one thread. */
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
