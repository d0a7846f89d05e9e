/*
 * The cards that one source reads through the kernel's DRM subsystem, with their clients. A source
 * adds what its own driver has beyond that.
 */
#pragma once

#include "machine/gpu/drm_card.h"
#include "machine/gpu/drm_clients.h"

struct drm_gpus {
    struct gpu_source_options options;
    uint32_t count;
    struct drm_card *cards;     /* owned */
    struct drm_target *targets; /* one a card; owned */
    struct drm_client_reader reader;
};

/* Finds the cards that are the source's. False: there are none of these (`whose`: "AMD"), or no
 * memory, as `status` says then. To be freed in any case. */
bool drm_gpus_find(struct drm_gpus *gpus, const struct gpu_source_options *options,
    drm_card_filter *is_wanted, const char *whose, struct gpu_source_status *status);

void drm_gpus_finish(struct drm_gpus *gpus);

/* Lists the tracked processes that use the cards. */
void drm_gpus_read_processes(
    struct drm_gpus *gpus, const struct gpu_tracked *tracked, struct gpu_process_list *list);
