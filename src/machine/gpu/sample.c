#include "base/number.h"
#include "machine/gpu/set.h"

#include "base/array.h"
#include "base/clock.h"
#include "model/energy.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* After so many lists in a row with unknown pids, these are not just processes that ended. */
#define LISTS_UNTIL_WARNING 3

static const char stale_reason[] = "the driver no longer answers";
static const char outdated_reason[] =
    "the driver's last list is from before the memory in use has changed";
static const char at_least_reason[] =
    "at least: the driver does not report it for some tracked processes";
static const char forked_reason[] = "opened in another process, before a fork";

static void ask(struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            gpu_feed_request(set->members[i].feed, GPU_FEED_FIGURES);
}

void gpu_set_refresh(struct gpu_set *set)
{
    if (!gpu_set_asks(set))
        return;
    ask(set);
    set->is_refreshed = true;
}

/* Passes the pids of a changed tree to the sources. */
static void track(struct gpu_set *set, const struct gpu_tree *tree)
{
    if (set->tracking && set->generation == tree->generation)
        return;
    size_t count = tree->n_descendants + 1, length = 0;
    if (count > set->pid_capacity) {
        if (!ARRAY_RESIZE(set->pids, count * 2))
            return;
        set->pid_capacity = count * 2;
    }
    bool placed = tree->main <= 0;
    for (size_t i = 0; i < tree->n_descendants; i++) {
        if (!placed && tree->main < tree->descendants[i]) {
            set->pids[length++] = tree->main;
            placed = true;
        }
        set->pids[length++] = tree->descendants[i];
    }
    if (!placed)
        set->pids[length++] = tree->main;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            gpu_feed_track(set->members[i].feed, set->pids, length);
    set->tracking = true;
    set->generation = tree->generation;
}

void gpu_set_request_lists(struct gpu_set *set, const struct gpu_tree *tree, bool is_last)
{
    if (set->owner != getpid())
        return;
    set->lists_since_ns = clock_monotonic_ns();
    set->lists_are_last = is_last;
    track(set, tree);
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            gpu_feed_request(set->members[i].feed, is_last ? GPU_FEED_ALL : GPU_FEED_LIST);
}

/* Makes all figures of a device missing. */
static void clear_device(struct gpu_device_sample *device)
{
    *device = (struct gpu_device_sample){
        .ram_used_bytes = NAN,
        .max_ram_used_bytes = NAN,
        .utilization_percent = NAN,
        .power_watts = NAN,
        .energy_joules = NAN,
        .card_power_watts = NAN,
        .card_energy_joules = NAN,
        .card_ram_used_bytes = NAN,
        .main_ram_bytes = NAN,
        .descendants_ram_bytes = NAN,
        .combined_ram_bytes = NAN,
        .untracked_ram_bytes = NAN,
        .main_sm_percent = NAN,
        .descendants_sm_percent = NAN,
        .all_sm_percent = NAN,
    };
}

/* Gives all sums one value: missing, or 0 without any GPU. */
static void clear_sample(struct gpu_sample *sample, double value)
{
    sample->main_ram_bytes = sample->descendants_ram_bytes = sample->combined_ram_bytes = value;
    sample->system_ram_bytes = value;
    sample->utilization_sum_percent = sample->utilization_hardware_percent = value;
    sample->unattributed_ram_bytes = 0;
    sample->n_unattributed = 0;
    sample->device_age_seconds = sample->process_age_seconds = NAN;
    sample->listed_ns = 0;
    sample->n_devices = 0;
}

/* Sets the reason (static text, NULL: none) that the device list shows. */
static void explain(struct gpu_set *set, uint32_t at, enum gpu_figure figure, const char *reason)
{
    if (set->missing[at][figure] == reason)
        return;
    set->missing[at][figure] = reason;
    snprintf(set->devices[at].missing[figure], sizeof set->devices[at].missing[figure], "%s",
        reason ? reason : "");
}

/* Takes over the last reading of a device, unless it is too old, and the most memory in use of
 * those since the last sample. */
static void sample_device(struct gpu_set *set, struct gpu_sample *sample,
    struct gpu_feed_view *view, uint32_t index, uint32_t at, int64_t now)
{
    struct gpu_device_sample *out = &sample->devices[at];
    const struct gpu_device_reading *reading = &view->readings[index];
    if (!view->opened) {
        card_reading_clear(&set->cards[at], gpu_waiting_reason);
        return;
    }
    bool fresh = view->read_ns[index] && now - view->read_ns[index] <= set->max_age_ns;
    for (int figure = 0; figure <= GPU_ENERGY; figure++)
        explain(set, at, figure,
            fresh                  ? reading->missing[figure]
            : view->read_ns[index] ? stale_reason
                                   : gpu_waiting_reason);
    if (!fresh) {
        card_reading_clear(
            &set->cards[at], view->read_ns[index] ? stale_reason : gpu_waiting_reason);
        return;
    }
    set->cards[at] = reading->card;
    out->ram_used_bytes = reading->ram_used_bytes;
    out->max_ram_used_bytes = view->max_ram_bytes[index];
    view->max_ram_bytes[index] = 0;
    out->utilization_percent = reading->utilization_percent;
    out->power_watts = energy_device_watts(reading->power_watts);
    out->energy_joules = reading->energy_joules;
    out->energy_ns = reading->energy_ns ? reading->energy_ns : view->read_ns[index];
    out->card_power_watts = energy_device_watts(reading->card_power_watts);
    out->card_energy_joules = reading->card_energy_joules;
    out->card_ram_used_bytes = reading->card_ram_used_bytes;
    out->read_ns = view->read_ns[index];
    sample->device_age_seconds =
        fmax(sample->device_age_seconds, clock_seconds_of_ns(now - out->read_ns));

    if (reading->lost && !set->lost[at])
        gpu_set_warn(set, "GPU %s (%s) was lost: its figures are missing from here on",
            set->devices[at].uuid, set->devices[at].name);
    set->lost[at] = reading->lost;
}

/* Once the main process is gone, pids that are unknown may be its own and those it started. */
static void report_unknown(
    struct gpu_set *set, struct gpu_member *member, const struct gpu_tree *tree)
{
    set->had_main |= tree->main > 0;
    bool may_be_tracked = set->had_main && !tree->main;
    member->lists_with_unknown =
        member->n_unattributed && !may_be_tracked ? member->lists_with_unknown + 1 : 0;
    if (member->lists_with_unknown < LISTS_UNTIL_WARNING || set->unknown_reported)
        return;
    set->unknown_reported = true;
    gpu_set_warn(set,
        "%s lists %u process(es) that are not in %s (the driver reports pids of the host, or of "
        "another container): their GPU RAM is in the figures of no process",
        member->view->status.name, member->n_unattributed, set->procfs_root);
}

/* True when there was something new. */
static bool attribute(struct gpu_set *set, struct gpu_member *member, const struct gpu_tree *tree)
{
    const struct gpu_feed_view *view = member->view;
    bool is_new_list = member->attributed_version != view->processes_version;
    if (!is_new_list && member->attributed_generation == tree->generation)
        return false;
    const struct pid_owner_search search = {&member->pid_owners, set->procfs_root, tree};
    member->n_unattributed =
        gpu_attribute(&view->processes, view->n_devices, &search, member->shares);
    member->attributed_version = view->processes_version;
    member->attributed_generation = tree->generation;
    if (!is_new_list)
        return true;
    for (uint32_t i = 0; i < view->n_devices; i++) {
        const struct gpu_share *share = &member->shares[i];
        double untracked = view->list_ram_bytes[i] - share->combined_ram_bytes;
        member->has_listed |= share->n_visible > 0;
        if (untracked >= 0 && !share->ram_is_at_least)
            member->untracked_ram_bytes[i] = untracked;
    }
    report_unknown(set, member, tree);
    return true;
}

/* Adds up the GPU RAM of each process over the devices of all sources. */
static void update_process_ram(struct gpu_set *set, const struct gpu_tree *tree, int64_t now)
{
    gpu_process_ram_list_clear(&set->process_ram);
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct gpu_member *member = &set->members[i];
        const struct gpu_feed_view *view = member->feed ? member->view : NULL;
        if (!view || !view->opened || !view->processes_version ||
            now - view->processes_ns > set->max_age_ns)
            continue;
        const struct gpu_process_reading reading = {&view->processes, member->missing,
            member->position, view->n_devices, view->processes_ns};
        const struct pid_owner_search search = {&member->pid_owners, set->procfs_root, tree};
        gpu_process_ram_list_add(&set->process_ram, &reading, &search);
    }
    gpu_process_ram_list_merge(&set->process_ram);
    set->process_ram_version++;
}

/* Returns which figures are missing on a device whose list is too old or has not come yet. */
static struct gpu_missing missing_list(const struct gpu_feed_view *view)
{
    bool is_stale = view->processes_version > 0;
    const char *reason = is_stale ? stale_reason : gpu_waiting_reason;
    return (struct gpu_missing){
        .ram = reason, .sm = reason, .ram_may_be_held = is_stale, .sm_may_be_used = is_stale};
}

/* A figure that may be a lower bound. A lower bound of 0 carries no information: NaN. */
static double unless_hidden(double figure, bool is_hidden)
{
    return is_hidden && !(figure > 0) ? NAN : figure;
}

/* Records that use may have gone unseen, so that maxima account for it later. */
static void record_missing(
    struct gpu_set *set, const struct gpu_member *member, uint32_t i, uint32_t at)
{
    const struct gpu_missing *missing = &member->missing[i];
    struct gpu_missing *past = &set->past_missing[at];
    /* It lists visible processes, so it would have listed the tracked ones. */
    if (member->has_listed && gpu_reason_is_hidden(past->ram))
        past->ram = NULL;
    if (member->has_listed && gpu_reason_is_hidden(past->sm))
        past->sm = NULL;
    if (missing->ram_may_be_held)
        past->ram = missing->ram;
    if (missing->sm_may_be_used)
        past->sm = missing->sm;
}

static const char *reason_of(const char *missing, const char *past, bool is_at_least)
{
    return missing ? missing : past ? past : is_at_least ? at_least_reason : NULL;
}

/* Whether the list is from before one that was requested, and the memory in use has changed since.
 */
static bool is_outdated(const struct gpu_set *set, const struct gpu_feed_view *view,
    const struct gpu_device_sample *device)
{
    return view->processes_start_ns < set->lists_since_ns && device->bounds_ram &&
           device->is_ram_changed && device->read_ns > view->processes_ns;
}

/* Processes cannot hold more than is in use. Where a list says so, the memory in use has changed
 * since, and what they hold now is not known; or the driver counts what they share twice. */
static void limit_ram(struct gpu_device_sample *device)
{
    double *const held[] = {
        &device->main_ram_bytes, &device->descendants_ram_bytes, &device->combined_ram_bytes};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        if (*held[i] > device->ram_used_bytes)
            *held[i] = device->is_ram_changed ? NAN : device->ram_used_bytes;
}

/* Takes over what processes use of a device by the last list, and says what is missing. */
static void sample_processes_of(struct gpu_set *set, struct gpu_sample *sample,
    struct gpu_member *member, uint32_t i, bool fresh)
{
    const struct gpu_feed_view *view = member->view;
    const struct gpu_share *share = &member->shares[i];
    struct gpu_missing *missing = &member->missing[i];
    uint32_t at = member->position[i];
    struct gpu_device_sample *out = &sample->devices[at];
    *missing = fresh ? gpu_missing_find(&(struct gpu_listed){
                           &view->processes, i, share, &set->devices[at], out, member->has_listed})
                     : missing_list(view);
    if (fresh)
        record_missing(set, member, i, at);
    const struct gpu_missing *past = &set->past_missing[at];
    explain(set, at, GPU_PROCESS_RAM,
        reason_of(missing->ram, past->ram, fresh && share->ram_is_at_least));
    explain(set, at, GPU_PROCESS_UTILIZATION,
        reason_of(missing->sm, past->sm, fresh && share->sm_is_at_least));
    out->lacks_ram =
        missing->ram_is_hidden || missing->ram_may_be_held || missing->ram == gpu_waiting_reason;
    out->lacks_samples = missing->lacks_samples;
    if (!fresh)
        return;

    out->main_ram_bytes = unless_hidden(share->main_ram_bytes, missing->ram_is_hidden);
    out->descendants_ram_bytes =
        unless_hidden(share->descendants_ram_bytes, missing->ram_is_hidden);
    out->combined_ram_bytes = unless_hidden(share->combined_ram_bytes, missing->ram_is_hidden);
    out->main_sm_percent = unless_hidden(share->main_sm_percent, missing->sm_is_hidden);
    out->descendants_sm_percent =
        unless_hidden(share->descendants_sm_percent, missing->sm_is_hidden);
    out->all_sm_percent = unless_hidden(share->all_sm_percent, missing->sm_is_hidden);
    out->n_unattributed = share->n_unattributed;

    out->untracked_ram_bytes = member->untracked_ram_bytes[i];
    out->bounds_ram = !set->devices[at].shares_ram;
    out->is_ram_changed =
        !isnan(out->ram_used_bytes) &&
        !(fabs(out->ram_used_bytes - view->list_ram_bytes[i]) < GPU_MIN_MOVE_BYTES);
    if (out->bounds_ram)
        limit_ram(out);
    out->may_have_others = view->processes.only_tracked || share->n_untracked ||
                           share->n_unattributed || set->devices[at].shares_ram;
    sample->unattributed_ram_bytes += share->unattributed_ram_bytes;
    if (is_outdated(set, view, out)) {
        /* The memory of tracked processes on the device is unknown, and may not be 0. */
        member->missing[i].ram = outdated_reason;
        member->missing[i].ram_may_be_held = set->lists_are_last;
        out->lacks_ram = true;
        out->main_ram_bytes = out->descendants_ram_bytes = out->combined_ram_bytes = NAN;
        record_missing(set, member, i, member->position[i]);
        explain(set, member->position[i], GPU_PROCESS_RAM, outdated_reason);
    }
}

/* Takes over what processes use of the devices of one source. */
static void sample_processes(
    struct gpu_set *set, struct gpu_sample *sample, struct gpu_member *member, int64_t now)
{
    const struct gpu_feed_view *view = member->view;
    if (!view->opened)
        return;
    int64_t age_ns = now - view->processes_ns;
    bool fresh = view->processes_version && age_ns <= set->max_age_ns;
    for (uint32_t i = 0; i < view->n_devices; i++)
        if (member->position[i] < GPU_MAX_DEVICES)
            sample_processes_of(set, sample, member, i, fresh);
    if (!fresh)
        return;
    sample->n_unattributed += member->n_unattributed;
    sample->process_age_seconds = fmax(sample->process_age_seconds, clock_seconds_of_ns(age_ns));
    if (!sample->listed_ns || view->processes_start_ns < sample->listed_ns)
        sample->listed_ns = view->processes_start_ns;
}

/* RAM of the tracked processes. A sum of 0 is NaN when some device may hide some, or a driver has
 * not answered yet. */
static void sum_up_shares(const struct gpu_set *set, struct gpu_sample *sample)
{
    bool is_opening = gpu_set_is_opening(set);
    bool lacks_main = is_opening, lacks_descendants = is_opening, lacks_combined = is_opening;
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        number_add_known(&sample->main_ram_bytes, device->main_ram_bytes);
        number_add_known(&sample->descendants_ram_bytes, device->descendants_ram_bytes);
        number_add_known(&sample->combined_ram_bytes, device->combined_ram_bytes);
        lacks_main |= device->lacks_ram && isnan(device->main_ram_bytes);
        lacks_descendants |= device->lacks_ram && isnan(device->descendants_ram_bytes);
        lacks_combined |= device->lacks_ram && isnan(device->combined_ram_bytes);
    }
    if (lacks_main && sample->main_ram_bytes == 0)
        sample->main_ram_bytes = NAN;
    if (lacks_descendants && sample->descendants_ram_bytes == 0)
        sample->descendants_ram_bytes = NAN;
    if (lacks_combined && sample->combined_ram_bytes == 0)
        sample->combined_ram_bytes = NAN;
}

/* Adds up the figures of all devices. */
static void sum_up(const struct gpu_set *set, struct gpu_sample *sample)
{
    unsigned busy_known = 0;
    sum_up_shares(set, sample);
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        number_add_known(&sample->system_ram_bytes, device->ram_used_bytes);
        if (!set->devices[i].selected || isnan(device->utilization_percent))
            continue;
        number_add_known(&sample->utilization_sum_percent, device->utilization_percent);
        busy_known++;
    }
    if (busy_known)
        sample->utilization_hardware_percent = sample->utilization_sum_percent / busy_known;
}

bool gpu_set_is_unread(const struct gpu_set *set, size_t device)
{
    const char *reason = set->cards[device].missing[CARD_TEMPERATURE];
    return set->lost[device] || reason == gpu_waiting_reason || reason == stale_reason;
}

void gpu_set_sample(struct gpu_set *set, const struct gpu_tree *tree, struct gpu_sample *sample)
{
    if (set->owner != getpid()) {
        clear_sample(sample, NAN);
        sample->n_devices = (uint32_t)set->n_devices;
        for (uint32_t i = 0; i < sample->n_devices; i++) {
            clear_device(&sample->devices[i]);
            card_reading_clear(&set->cards[i], forked_reason);
            for (int figure = 0; figure < GPU_FIGURE_COUNT; figure++)
                explain(set, i, figure, forked_reason);
        }

        return;
    }
    track(set, tree);
    if (set->synchronous)
        ask(set);
    gpu_set_update(set);
    /* Make a sample of the last readings of all sources. */
    clear_sample(sample, set->n_devices || gpu_set_has_hidden_gpus(set) ? NAN : 0);
    sample->n_devices = (uint32_t)set->n_devices;
    for (uint32_t i = 0; i < sample->n_devices; i++)
        clear_device(&sample->devices[i]);
    int64_t now = clock_monotonic_ns();
    bool is_new = false;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct gpu_member *member = &set->members[i];
        if (!member->feed)
            continue;
        gpu_set_report_failure(set, member);
        for (uint32_t j = 0; j < member->view->n_devices; j++)
            if (member->position[j] < GPU_MAX_DEVICES)
                sample_device(set, sample, member->view, j, member->position[j], now);
        is_new |= attribute(set, member, tree);
        sample_processes(set, sample, member, now);
    }
    sum_up(set, sample);
    if (is_new && set->each_process)
        update_process_ram(set, tree, now);
    if (!set->is_refreshed && !set->synchronous)
        ask(set);
    set->is_refreshed = false;
}
