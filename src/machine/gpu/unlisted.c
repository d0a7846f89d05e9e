#include "machine/gpu/unlisted.h"

#include "machine/gpu/drm_card.h"

#include <math.h>

static const char unreported_reason[] = "the driver does not report it for the tracked processes";
static const char other_pids_reason[] = "the driver lists only pids that are not visible here, "
                                        "such as those of the host seen from a container";
static const char unproven_pids_reason[] = "the driver lists pids that may be of the host: no "
                                           "process that has one here is known to use it";
static const char no_pids_reason[] =
    "the driver lists no process while memory is in use, as inside a container";
static const char no_pids_no_use_reason[] =
    "the driver lists no process and does not report how much memory is in use";
static const char no_samples_reason[] =
    "the GPU is busy, and the driver gives no samples of its use by each process";
static const char no_compute_reason[] =
    "the driver does not report how long compute programs (ROCm) use the GPU";

bool gpu_reason_is_hidden(const char *reason)
{
    return reason == other_pids_reason || reason == unproven_pids_reason ||
           reason == no_pids_reason || reason == no_pids_no_use_reason;
}

/* Whether any process uses the device. */
static bool is_in_use(const struct gpu_listed *listed)
{
    const struct gpu_device_sample *sample = listed->sample;
    if (listed->device->shares_ram)
        return sample->utilization_percent != 0;
    return !(sample->ram_used_bytes < GPU_MIN_CONTEXT_BYTES);
}

/* Why tracked processes may use the device without being listed, or NULL. A list of the tracked
 * ones only is complete, except for pids that another interface of the driver added. */
static const char *why_hidden(const struct gpu_listed *listed)
{
    const struct gpu_process_list *list = listed->list;
    if (listed->has_listed || list->none_tracked_has_files)
        return NULL;
    if (listed->share->n_unattributed > 0)
        return list->pids_unproven ? unproven_pids_reason : other_pids_reason;
    if (list->only_tracked || !is_in_use(listed))
        return NULL;
    bool has_use = listed->device->shares_ram || !isnan(listed->sample->ram_used_bytes);
    return has_use ? no_pids_reason : no_pids_no_use_reason;
}

/* Why 0 percent of listed tracked processes is unknown, or NULL. */
static const char *why_no_zero(const struct gpu_listed *listed)
{
    const struct gpu_share *share = listed->share;
    if (share->n_tracked == 0 || share->main_sm_percent > 0 || share->descendants_sm_percent > 0)
        return NULL;
    return listed->list->lacks_samples[listed->number]   ? no_samples_reason
           : listed->list->lacks_compute[listed->number] ? no_compute_reason
                                                         : NULL;
}

/* Whether tracked processes may have had what is missing: not so of a list from before tracking. */
static bool may_be_some(const struct gpu_listed *listed, const char *reason, bool is_hidden)
{
    bool is_early = is_hidden && listed->list->n_tracked_pids == 0;
    return reason && reason != drm_card_suspended_reason && !is_early;
}

struct gpu_missing gpu_missing_find(const struct gpu_listed *listed)
{
    const struct gpu_share *share = listed->share;
    struct gpu_missing missing = {
        .ram = listed->list->ram_missing[listed->number],
        .sm = listed->list->sm_missing[listed->number],
    };
    const char *hidden = missing.ram ? NULL : why_hidden(listed);
    missing.ram_is_hidden = hidden != NULL;
    if (!missing.ram)
        missing.ram = hidden;
    if (!missing.ram && isnan(share->combined_ram_bytes))
        missing.ram = unreported_reason;
    if (!missing.sm && listed->sample->utilization_percent != 0)
        missing.sm = hidden ? hidden : why_no_zero(listed);
    missing.sm_is_hidden = missing.sm && missing.sm != listed->list->sm_missing[listed->number];
    if (!missing.sm && (isnan(share->main_sm_percent) || isnan(share->descendants_sm_percent)))
        missing.sm = unreported_reason;
    missing.ram_may_be_held = may_be_some(listed, missing.ram, missing.ram_is_hidden);
    missing.lacks_samples = missing.sm == no_samples_reason;
    /* A client's utilization is known from its second reading on. */
    missing.sm_may_be_used = missing.sm_is_hidden && may_be_some(listed, missing.sm, true);
    return missing;
}
