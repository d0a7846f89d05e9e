#include "machine/gpu/drm_gpus.h"

#include "base/clock.h"

#include <stdlib.h>

bool drm_gpus_find(struct drm_gpus *gpus, const struct gpu_source_options *options,
    drm_card_filter *is_wanted, const char *whose, struct gpu_source_status *status)
{
    struct drm_cards found;
    bool has_memory = drm_cards_find(options, is_wanted, &found);
    *gpus = (struct drm_gpus){.options = *options, .cards = found.cards, .count = found.count};
    if (has_memory && found.count == 0) {
        drm_cards_explain_none(options, whose, &found, status);
        return false;
    }
    status->n_skipped = found.n_skipped;
    if (has_memory)
        gpus->targets = calloc(found.count, sizeof *gpus->targets);
    for (uint32_t i = 0; gpus->targets && i < gpus->count; i++)
        drm_target_init(&gpus->targets[i], &gpus->cards[i]);
    if (!gpus->targets)
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "", "out of memory");
    return gpus->targets != NULL;
}

void drm_gpus_finish(struct drm_gpus *gpus)
{
    drm_client_reader_finish(&gpus->reader);
    free(gpus->cards);
    free(gpus->targets);
}

void drm_gpus_read_processes(
    struct drm_gpus *gpus, const struct gpu_tracked *tracked, struct gpu_process_list *list)
{
    for (uint32_t i = 0; i < gpus->count; i++)
        drm_target_check(&gpus->targets[i], &gpus->cards[i], i, list);
    drm_clients_read(&gpus->reader, gpus->options.procfs_root, tracked, gpus->targets, gpus->count,
        clock_monotonic_ns(), list);
}
