#include "machine/gpu/attribution.h"

#include "machine/gpu/drm_card.h"

#include <math.h>

/* A sum of what is known, and whether some of it is not. */
struct sum {
    double known;
    bool is_partial;
};

struct sums {
    struct gpu_share share; /* its counts */
    struct sum main_ram, descendants_ram, combined_ram, main_sm, descendants_sm, all_sm;
};

static void add(struct sum *sum, double value)
{
    if (isnan(value))
        sum->is_partial = true;
    else
        sum->known += value;
}

/* A lower bound of the sum. A lower bound of 0 carries no information: NaN. */
static double value_of(const struct sum *sum)
{
    return sum->is_partial && !(sum->known > 0) ? NAN : sum->known;
}

/* The sums to which a use was already added. */
struct counted {
    bool main, descendants, all;
};

/* A client was found among the process's own files, so it is not evidence of which pids the driver
 * reports. */
static void count_pid(struct gpu_share *share, enum pid_owner owner, bool is_client)
{
    share->n_unattributed += owner == PID_OWNER_UNKNOWN;
    share->n_visible += owner != PID_OWNER_UNKNOWN && !is_client;
    share->n_tracked += owner == PID_OWNER_MAIN || owner == PID_OWNER_DESCENDANT;
    share->n_untracked += owner == PID_OWNER_UNTRACKED;
}

/* Adds what a process uses of a device. A process that is listed several times counts once in each
 * sum. */
static void add_use(
    struct sums *sums, struct counted *counted, const struct gpu_process *use, enum pid_owner owner)
{
    bool first = !counted->main && !counted->descendants;
    if (!counted->all)
        add(&sums->all_sm, use->sm_percent);
    counted->all = true;
    if (owner == PID_OWNER_MAIN && !counted->main) {
        add(&sums->main_ram, use->ram_bytes);
        add(&sums->main_sm, use->sm_percent);
        counted->main = true;
    } else if (owner == PID_OWNER_DESCENDANT && !counted->descendants) {
        add(&sums->descendants_ram, use->ram_bytes);
        add(&sums->descendants_sm, use->sm_percent);
        counted->descendants = true;
    } else if (owner == PID_OWNER_UNKNOWN && !isnan(use->ram_bytes)) {
        sums->share.unattributed_ram_bytes += use->ram_bytes;
    }
    if (first && (counted->main || counted->descendants))
        add(&sums->combined_ram, use->ram_bytes);
}

/* How many entries from `position` on belong to one use: the same client, or the same pid without
 * one. */
static size_t run_length(const struct gpu_process_list *list, size_t position)
{
    const struct gpu_process *first = &list->entries[position];
    size_t end = position + 1;
    for (; end < list->count; end++) {
        const struct gpu_process *next = &list->entries[end];
        if (next->device != first->device || next->client != first->client)
            break;
        if (!first->client && next->pid != first->pid)
            break;
    }
    return end - position;
}

/* Makes the shares of a device of the sums. */
static struct gpu_share share_of(const struct sums *sums)
{
    struct gpu_share share = sums->share;
    share.main_ram_bytes = value_of(&sums->main_ram);
    share.descendants_ram_bytes = value_of(&sums->descendants_ram);
    share.combined_ram_bytes = value_of(&sums->combined_ram);
    share.main_sm_percent = value_of(&sums->main_sm);
    share.descendants_sm_percent = value_of(&sums->descendants_sm);
    share.all_sm_percent = value_of(&sums->all_sm);
    share.ram_is_at_least = sums->combined_ram.is_partial;
    share.sm_is_at_least = sums->main_sm.is_partial || sums->descendants_sm.is_partial;
    return share;
}

static void lack(struct gpu_share *share, bool ram, bool sm)
{
    if (ram)
        share->main_ram_bytes = share->descendants_ram_bytes = share->combined_ram_bytes = NAN;
    if (sm)
        share->main_sm_percent = share->descendants_sm_percent = share->all_sm_percent = NAN;
}

/* A use without a client: the larger figure of the process's entries. */
static void attribute_own(
    struct sums *sums, const struct gpu_process *first, size_t count, enum pid_owner owner)
{
    struct counted counted = {0};
    struct gpu_process use = *first;
    for (size_t i = 1; i < count; i++) {
        use.ram_bytes = fmax(use.ram_bytes, first[i].ram_bytes);
        use.sm_percent = fmax(use.sm_percent, first[i].sm_percent);
    }
    add_use(sums, &counted, &use, owner);
    count_pid(&sums->share, owner, false);
}

/* To which process an entry belongs. A descendant that was tracked when the list was read may have
 * ended since. */
static enum pid_owner owner_of(const struct gpu_process_list *list,
    const struct pid_owner_search *search, const struct gpu_process *entry)
{
    if (search->tree->main > 0 && entry->pid != search->tree->main &&
        pid_owner_cache_has_our_pid(search->pid_owners, entry) &&
        gpu_process_list_was_made_for(list, entry->pid))
        return PID_OWNER_DESCENDANT;
    return pid_owner_find(search, entry, NULL);
}

/* A client: one entry for each process that has it open, all with the same figure. */
static void attribute_client(struct sums *sums, const struct gpu_process_list *list,
    const struct gpu_process *first, size_t count, const struct pid_owner_search *search)
{
    struct counted counted = {0};
    for (size_t i = 0; i < count; i++) {
        enum pid_owner owner = owner_of(list, search, &first[i]);
        add_use(sums, &counted, &first[i], owner);
        count_pid(&sums->share, owner, true);
    }
}

uint32_t gpu_attribute(const struct gpu_process_list *list, uint32_t n_devices,
    const struct pid_owner_search *search, struct gpu_share *shares)
{
    uint32_t unknown = 0;
    size_t position = 0;
    pid_owner_learn(search, list);
    for (uint32_t device = 0; device < n_devices; device++) {
        struct sums sums = {0};
        while (position < list->count && list->entries[position].device <= device) {
            const struct gpu_process *first = &list->entries[position];
            size_t count = run_length(list, position);
            if (first->client)
                attribute_client(&sums, list, first, count, search);
            else
                attribute_own(&sums, first, count, owner_of(list, search, first));
            position += count;
        }
        shares[device] = share_of(&sums);
        unknown += sums.share.n_unattributed;
        lack(&shares[device], list->ram_missing[device], list->sm_missing[device]);
        if (list->only_tracked)
            shares[device].all_sm_percent = NAN;
    }
    return unknown;
}

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
