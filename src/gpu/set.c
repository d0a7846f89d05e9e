#include "gpu/gpu.h"

#include "base/clock.h"
#include "base/str.h"
#include "gpu/attribution.h"
#include "gpu/feed.h"
#include "gpu/pci_address.h"
#include "gpu/selection.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long gpu_set_open() waits for drivers: usually, and when it has to know every UUID. */
#define OPEN_WAIT_NS (3 * NS_PER_SECOND)
#define OPEN_WAIT_FOR_UUID_NS (30 * NS_PER_SECOND)
/* How long gpu_set_close() lets threads end by themselves. */
#define CLOSE_WAIT_NS (NS_PER_SECOND / 4)
/* From what age a figure is no longer one: this, or this many ticks. */
#define OLD_NS (10 * NS_PER_SECOND)
#define OLD_TICKS 3
/* Lists in a row with pids of nobody after which they are not just processes that ended. */
#define LISTS_UNTIL_WARNING 3

static const char stale_reason[] = "the driver does not answer any more";
static const char waiting_reason[] = "the driver has not answered yet";
static const char forked_reason[] = "opened in another process, before a fork";

/* A source that was probed, and what of it the set has taken over. */
struct member {
    struct gpu_feed *feed; /* NULL: skipped */
    struct gpu_feed_view *view;
    uint64_t merged_version;            /* of view->devices */
    uint32_t position[GPU_MAX_DEVICES]; /* where its devices are in the set */
    bool failure_told;

    uint64_t attributed_version; /* of view->processes */
    uint64_t attributed_generation;
    struct gpu_share shares[GPU_MAX_DEVICES];
    uint32_t n_unattributed;
};

struct gpu_set {
    pid_t owner;
    char *procfs_root, *sysfs_root, *nvml_path, *uuids;
    enum gpu_vendor vendor;
    int64_t old_ns;
    bool synchronous;
    void (*warn)(void *user, const char *message);
    void *user;

    struct member members[GPU_SOURCE_COUNT];
    struct gpu_source_status statuses[GPU_SOURCE_COUNT];

    size_t n_devices;
    struct gpu_device devices[GPU_MAX_DEVICES];
    const char *missing[GPU_MAX_DEVICES][GPU_FIGURE_COUNT]; /* what devices[].missing says now */
    bool lost[GPU_MAX_DEVICES];
    char absence[640];

    bool asked; /* since the last sample */
    bool tracking;
    uint64_t generation;
    struct pid_book book;
    pid_t *pids; /* of the tree, ascending, for sources that ask each */
    size_t pid_capacity;
    unsigned lists_with_unknown;
    bool unknown_told, overflow_told;
};

static void warn(struct gpu_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(struct gpu_set *set, const char *format, ...)
{
    char message[512];
    if (!set->warn)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    set->warn(set->user, message);
}

/* ---- devices ---- */

static bool same_address(const struct gpu_device *a, const struct gpu_device *b)
{
    return a->pci_address[0] && strcmp(a->pci_address, b->pci_address) == 0;
}

/* Where a device of a member belongs: its place so far, that of the sleeping GPU it was, or a new
 * one at the end. GPU_MAX_DEVICES when there is no room. */
static uint32_t place(struct gpu_set *set, const struct gpu_device *device, const bool *taken)
{
    for (uint32_t i = 0; i < set->n_devices; i++)
        if (!taken[i] && strcmp(set->devices[i].source, device->source) == 0 &&
            strcmp(set->devices[i].uuid, device->uuid) == 0)
            return i;
    for (uint32_t i = 0; i < set->n_devices; i++)
        if (!taken[i] && strcmp(set->devices[i].source, device->source) == 0 &&
            same_address(&set->devices[i], device))
            return i;
    if (set->n_devices < GPU_MAX_DEVICES)
        return (uint32_t)set->n_devices++;
    if (!set->overflow_told)
        warn(set, "More than %d GPUs: the others are left out", GPU_MAX_DEVICES);
    set->overflow_told = true;
    return GPU_MAX_DEVICES;
}

static void merge_devices(struct gpu_set *set, struct member *member)
{
    const struct gpu_feed_view *view = member->view;
    if (member->merged_version == view->devices_version)
        return;
    bool taken[GPU_MAX_DEVICES] = {0};
    for (uint32_t i = 0; i < view->n_devices; i++) {
        uint32_t at = place(set, &view->devices[i], taken);
        member->position[i] = at;
        if (at == GPU_MAX_DEVICES)
            continue;
        taken[at] = true;
        set->devices[at] = view->devices[i];
        set->devices[at].selected = gpu_selection_has(set->uuids, &view->devices[i], at);
        memset(set->missing[at], 0, sizeof set->missing[at]);
    }
    member->merged_version = view->devices_version;
}

static void tell_failure(struct gpu_set *set, struct member *member)
{
    const struct gpu_source_status *status = &member->view->status;
    if (status->state != GPU_SOURCE_FAILED || member->failure_told)
        return;
    member->failure_told = true;
    /* Without any device the caller gives gpu_set_missing() as its one warning. */
    if (set->n_devices)
        warn(set, "GPUs of %s cannot be read: %s", status->name, status->detail);
}

static void take_all(struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct member *member = &set->members[i];
        if (!member->feed)
            continue;
        gpu_feed_take(member->feed, member->view);
        set->statuses[i] = member->view->status;
        merge_devices(set, member);
    }
}

static bool is_opening(const struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed && set->members[i].view->opening)
            return true;
    return false;
}

/* True when there are GPUs that do not show, so that nothing is not zero. */
static bool something_is_hidden(const struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->statuses[i].state == GPU_SOURCE_FAILED ||
            set->statuses[i].state == GPU_SOURCE_ASLEEP)
            return true;
    return is_opening(set);
}

/* ---- open and close ---- */

static void copy_text(char **to, const char *text, bool *failed)
{
    *to = text ? strdup(text) : NULL;
    *failed |= text && !*to;
}

static int set_init(struct gpu_set *set, const struct gpu_options *options)
{
    bool failed = false;
    set->owner = getpid();
    copy_text(&set->procfs_root, options->procfs_root ? options->procfs_root : "/proc", &failed);
    copy_text(&set->sysfs_root, options->sysfs_root ? options->sysfs_root : "/sys", &failed);
    copy_text(&set->nvml_path, options->nvml_path, &failed);
    copy_text(&set->uuids, options->uuids, &failed);
    set->warn = options->warn;
    set->user = options->user;
    set->synchronous = options->synchronous;
    double interval = options->interval_seconds > 0 ? options->interval_seconds : 1;
    set->old_ns = OLD_NS;
    if (OLD_TICKS * interval > (double)OLD_NS / NS_PER_SECOND)
        set->old_ns = (int64_t)(OLD_TICKS * interval * NS_PER_SECOND);
    return failed ? GPUT_ERROR_MEMORY : GPUT_OK;
}

static bool wanted(const struct gpu_set *set, const struct gpu_source *source)
{
    return set->vendor == GPU_VENDOR_OTHER || source->vendor == GPU_VENDOR_OTHER ||
           source->vendor == set->vendor;
}

static int start_feeds(struct gpu_set *set)
{
    const struct gpu_source_options options = {
        .procfs_root = set->procfs_root,
        .sysfs_root = set->sysfs_root,
        .nvml_path = set->nvml_path,
        .vendor = set->vendor,
        .wake = set->uuids != NULL,
    };
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct member *member = &set->members[i];
        set->statuses[i].name = gpu_sources[i]->name;
        if (!wanted(set, gpu_sources[i])) {
            gpu_source_status_set(&set->statuses[i], GPU_SOURCE_SKIPPED, "",
                "not looked at: only GPUs of %s were asked for", gpu_vendor_name(set->vendor));
            continue;
        }
        member->view = calloc(1, sizeof *member->view);
        member->feed = gpu_feed_create(gpu_sources[i], &options, set->synchronous);
        if (!member->view || !member->feed)
            return GPUT_ERROR_MEMORY;
    }
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            gpu_feed_start(set->members[i].feed);
    return GPUT_OK;
}

static bool settle(struct gpu_set *set, int64_t deadline_ns)
{
    bool settled = true;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            settled &= gpu_feed_settle(set->members[i].feed, deadline_ns);
    return settled;
}

/* Says in one sentence why there is no GPU: of what does not work when there is such, else of all.
 */
static void describe_absence(struct gpu_set *set)
{
    struct str text = {0};
    bool hidden = something_is_hidden(set);
    const char *brand = set->vendor == GPU_VENDOR_NVIDIA  ? " NVIDIA"
                        : set->vendor == GPU_VENDOR_AMD   ? " AMD"
                        : set->vendor == GPU_VENDOR_INTEL ? " Intel"
                                                          : "";
    if (hidden)
        str_printf(&text, "No%s GPU can be read, so GPU figures are missing:", brand);
    else
        str_printf(&text, "No%s GPU was found, so GPU figures stay 0:", brand);
    const char *separator = " ";
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        const struct gpu_source_status *status = &set->statuses[i];
        bool opening = set->members[i].feed && set->members[i].view->opening;
        if (status->state == GPU_SOURCE_SKIPPED ||
            (hidden && status->state == GPU_SOURCE_ABSENT && !opening))
            continue;
        str_printf(
            &text, "%s%s: %s", separator, status->name, opening ? waiting_reason : status->detail);
        separator = "; ";
    }
    snprintf(set->absence, sizeof set->absence, "%s", str_text(&text));
    str_finish(&text);
}

static int open_all(
    struct gpu_set *set, const struct gpu_options *options, struct gput_error *error)
{
    if (set_init(set, options) != GPUT_OK || start_feeds(set) != GPUT_OK)
        return error_memory(error);
    int64_t start = clock_monotonic_ns();
    settle(set, start + OPEN_WAIT_NS);
    take_all(set);
    if (set->uuids && is_opening(set) &&
        gpu_selection_check(set->uuids, set->devices, set->n_devices, NULL) != GPUT_OK) {
        settle(set, start + OPEN_WAIT_FOR_UUID_NS);
        take_all(set);
    }
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            tell_failure(set, &set->members[i]);
    describe_absence(set);
    return gpu_selection_check(set->uuids, set->devices, set->n_devices, error);
}

int gpu_set_open(const struct gpu_options *options, struct gpu_set **set, struct gput_error *error)
{
    enum gpu_vendor vendor;
    *set = NULL;
    TRY(gpu_brand_parse(options->brand, &vendor, error));
    struct gpu_set *opened = calloc(1, sizeof *opened);
    if (!opened)
        return error_memory(error);
    opened->vendor = vendor;
    int code = open_all(opened, options, error);
    if (code != GPUT_OK)
        gpu_set_close(opened);
    else
        *set = opened;
    return code;
}

void gpu_set_close(struct gpu_set *set)
{
    if (!set)
        return;
    int64_t deadline_ns = clock_monotonic_ns() + CLOSE_WAIT_NS;
    /* In a forked child the threads are not there, and what they held stays as it was. */
    bool owned = set->owner == getpid();
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed && owned)
            gpu_feed_stop(set->members[i].feed);
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct member *member = &set->members[i];
        if (member->feed && owned)
            gpu_feed_close(member->feed, deadline_ns);
        if (member->view)
            gpu_feed_view_finish(member->view);
        free(member->view);
    }
    pid_book_finish(&set->book);
    free(set->pids);
    free(set->procfs_root);
    free(set->sysfs_root);
    free(set->nvml_path);
    free(set->uuids);
    free(set);
}

/* ---- what is there ---- */

const struct gpu_device *gpu_set_devices(const struct gpu_set *set, size_t *count)
{
    *count = set->n_devices;
    return set->devices;
}

size_t gpu_set_selected_count(const struct gpu_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->n_devices; i++)
        count += set->devices[i].selected;
    return count;
}

double gpu_set_capacity_bytes(const struct gpu_set *set)
{
    if (!set->n_devices)
        return something_is_hidden(set) ? NAN : 0;
    double sum = NAN;
    for (size_t i = 0; i < set->n_devices; i++) {
        double capacity = set->devices[i].ram_capacity_bytes;
        if (!isnan(capacity))
            sum = isnan(sum) ? capacity : sum + capacity;
    }
    return sum;
}

const char *gpu_set_missing(const struct gpu_set *set)
{
    return set->n_devices ? NULL : set->absence;
}

const struct gpu_source_status *gpu_set_sources(const struct gpu_set *set, size_t *count)
{
    *count = GPU_SOURCE_COUNT;
    return set->statuses;
}

/* ---- a tick ---- */

static void ask(struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            gpu_feed_ask(set->members[i].feed);
}

void gpu_set_refresh(struct gpu_set *set)
{
    if (set->owner != getpid() || set->synchronous)
        return;
    ask(set);
    set->asked = true;
}

/* Hands the pids of a changed tree to the sources. */
static void track(struct gpu_set *set, const struct gpu_tree *tree)
{
    if (set->tracking && set->generation == tree->generation)
        return;
    size_t count = tree->n_descendants + 1, length = 0;
    if (count > set->pid_capacity) {
        pid_t *grown = reallocarray(set->pids, count * 2, sizeof *grown);
        if (!grown)
            return;
        set->pids = grown;
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

static void clear_device(struct gpu_device_sample *device)
{
    *device = (struct gpu_device_sample){
        .ram_used_bytes = NAN,
        .utilization_percent = NAN,
        .power_watts = NAN,
        .energy_joules = NAN,
        .main_ram_bytes = NAN,
        .descendants_ram_bytes = NAN,
        .combined_ram_bytes = NAN,
        .main_sm_percent = NAN,
        .descendants_sm_percent = NAN,
        .age_seconds = NAN,
    };
}

static void clear_sample(struct gpu_sample *sample, double value)
{
    sample->main_ram_bytes = sample->descendants_ram_bytes = sample->combined_ram_bytes = value;
    sample->system_ram_bytes = value;
    sample->utilization_sum_percent = sample->utilization_hardware_percent = value;
    sample->unattributed_ram_bytes = 0;
    sample->n_unattributed = 0;
    sample->device_age_seconds = sample->process_age_seconds = NAN;
    sample->n_devices = 0;
}

/* Puts a reason (static text, NULL: none) where the device list shows it. */
static void explain(struct gpu_set *set, uint32_t at, enum gpu_figure figure, const char *reason)
{
    if (set->missing[at][figure] == reason)
        return;
    set->missing[at][figure] = reason;
    snprintf(set->devices[at].missing[figure], sizeof set->devices[at].missing[figure], "%s",
        reason ? reason : "");
}

static void tell_loss(struct gpu_set *set, uint32_t at, const struct gpu_device_reading *reading)
{
    if (reading->lost && !set->lost[at])
        warn(set, "GPU %s (%s) was lost: its figures are missing from here on",
            set->devices[at].uuid, set->devices[at].name);
    set->lost[at] = reading->lost;
}

/* The older of two ages; NaN is no age. */
static double older(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

static void sample_device(struct gpu_set *set, struct gpu_sample *sample,
    const struct gpu_feed_view *view, uint32_t index, uint32_t at, int64_t now)
{
    struct gpu_device_sample *out = &sample->devices[at];
    const struct gpu_device_reading *reading = &view->readings[index];
    if (!view->opened)
        return;
    bool fresh = view->read_ns[index] && now - view->read_ns[index] <= set->old_ns;
    for (int figure = 0; figure <= GPU_ENERGY; figure++)
        explain(set, at, figure,
            fresh                  ? reading->missing[figure]
            : view->read_ns[index] ? stale_reason
                                   : waiting_reason);
    if (!fresh)
        return;
    out->ram_used_bytes = reading->ram_used_bytes;
    out->utilization_percent = reading->utilization_percent;
    out->power_watts = reading->power_watts;
    out->energy_joules = reading->energy_joules;
    out->age_seconds = (double)(now - view->read_ns[index]) / NS_PER_SECOND;
    sample->device_age_seconds = older(sample->device_age_seconds, out->age_seconds);
    tell_loss(set, at, reading);
}

static void attribute(struct gpu_set *set, struct member *member, const struct gpu_tree *tree)
{
    const struct gpu_feed_view *view = member->view;
    bool is_new_list = member->attributed_version != view->processes_version;
    if (!is_new_list && member->attributed_generation == tree->generation)
        return;
    member->n_unattributed = gpu_attribute(
        &view->processes, view->n_devices, tree, &set->book, set->procfs_root, member->shares);
    member->attributed_version = view->processes_version;
    member->attributed_generation = tree->generation;
    if (!is_new_list)
        return;
    set->lists_with_unknown = member->n_unattributed ? set->lists_with_unknown + 1 : 0;
    if (set->lists_with_unknown >= LISTS_UNTIL_WARNING && !set->unknown_told) {
        set->unknown_told = true;
        warn(set,
            "%s lists %u process(es) that are not in %s (a driver that answers the pids of the "
            "host, "
            "or of another container): their GPU RAM is nobody's in the figures",
            view->status.name, member->n_unattributed, set->procfs_root);
    }
}

static void sample_processes(
    struct gpu_set *set, struct gpu_sample *sample, struct member *member, int64_t now)
{
    const struct gpu_feed_view *view = member->view;
    if (!view->opened)
        return;
    int64_t age_ns = now - view->processes_ns;
    bool fresh = view->processes_version && age_ns <= set->old_ns;
    const char *reason = view->processes_version ? stale_reason : waiting_reason;
    for (uint32_t i = 0; i < view->n_devices; i++) {
        uint32_t at = member->position[i];
        if (at == GPU_MAX_DEVICES)
            continue;
        explain(set, at, GPU_PROCESS_RAM, fresh ? view->processes.ram_missing[i] : reason);
        explain(set, at, GPU_PROCESS_UTILIZATION, fresh ? view->processes.sm_missing[i] : reason);
        if (!fresh)
            continue;
        const struct gpu_share *share = &member->shares[i];
        struct gpu_device_sample *out = &sample->devices[at];
        out->main_ram_bytes = share->main_ram_bytes;
        out->descendants_ram_bytes = share->descendants_ram_bytes;
        out->combined_ram_bytes = share->combined_ram_bytes;
        out->main_sm_percent = share->main_sm_percent;
        out->descendants_sm_percent = share->descendants_sm_percent;
        sample->unattributed_ram_bytes += share->unattributed_ram_bytes;
    }
    if (!fresh)
        return;
    sample->n_unattributed += member->n_unattributed;
    sample->process_age_seconds =
        older(sample->process_age_seconds, (double)age_ns / NS_PER_SECOND);
}

static void add_known(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

static void sum_up(const struct gpu_set *set, struct gpu_sample *sample)
{
    unsigned busy_known = 0;
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        add_known(&sample->main_ram_bytes, device->main_ram_bytes);
        add_known(&sample->descendants_ram_bytes, device->descendants_ram_bytes);
        add_known(&sample->combined_ram_bytes, device->combined_ram_bytes);
        add_known(&sample->system_ram_bytes, device->ram_used_bytes);
        if (!set->devices[i].selected || isnan(device->utilization_percent))
            continue;
        add_known(&sample->utilization_sum_percent, device->utilization_percent);
        busy_known++;
    }
    if (busy_known)
        sample->utilization_hardware_percent = sample->utilization_sum_percent / busy_known;
}

static void sample_forked(struct gpu_set *set, struct gpu_sample *sample)
{
    clear_sample(sample, NAN);
    sample->n_devices = (uint32_t)set->n_devices;
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        clear_device(&sample->devices[i]);
        for (int figure = 0; figure < GPU_FIGURE_COUNT; figure++)
            explain(set, i, figure, forked_reason);
    }
}

void gpu_set_sample(struct gpu_set *set, const struct gpu_tree *tree, struct gpu_sample *sample)
{
    if (set->owner != getpid()) {
        sample_forked(set, sample);
        return;
    }
    track(set, tree);
    if (set->synchronous)
        ask(set);
    take_all(set);
    clear_sample(sample, set->n_devices || something_is_hidden(set) ? NAN : 0);
    sample->n_devices = (uint32_t)set->n_devices;
    for (uint32_t i = 0; i < sample->n_devices; i++)
        clear_device(&sample->devices[i]);
    int64_t now = clock_monotonic_ns();
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct member *member = &set->members[i];
        if (!member->feed)
            continue;
        tell_failure(set, member);
        for (uint32_t j = 0; j < member->view->n_devices; j++)
            if (member->position[j] < GPU_MAX_DEVICES)
                sample_device(set, sample, member->view, j, member->position[j], now);
        attribute(set, member, tree);
        sample_processes(set, sample, member, now);
    }
    sum_up(set, sample);
    if (!set->asked && !set->synchronous)
        ask(set);
    set->asked = false;
}

bool gpu_set_settle(struct gpu_set *set, double timeout_seconds)
{
    if (set->owner != getpid())
        return false;
    bool settled =
        settle(set, clock_monotonic_ns() + (int64_t)(timeout_seconds * (double)NS_PER_SECOND));
    take_all(set);
    return settled;
}
