#include "machine/gpu/set.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"
#include "base/text.h"
#include "machine/gpu/selection.h"
#include "machine/gpu/source.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* To add a vendor, write its file and add its line here. */
static const struct gpu_source *const gpu_sources[GPU_SOURCE_COUNT] = {
    &gpu_source_nvml,
    &gpu_source_amdgpu,
    &gpu_source_drm,
};

/* How long gpu_set_open() waits for drivers when it has to know every UUID. */
#define OPEN_WAIT_FOR_UUID_NS (30 * NS_PER_SECOND)
/* How long gpu_set_close() waits for threads to end. */
#define CLOSE_WAIT_NS (NS_PER_SECOND / 4)
/* A figure that is older than this, and than this many ticks, is missing. */
#define MAX_AGE_SECONDS 10.0
#define MAX_AGE_TICKS 3

static const char gpu_left_reason[] =
    "read by the tracker of another rank (one tracker per machine)";
const char gpu_waiting_reason[] = "the driver has not answered yet";
static const char gpu_unasked_reason[] =
    "not asked: opening its library takes longer than the command took";

void gpu_set_warn(struct gpu_set *set, const char *format, ...)
{
    char message[512];
    if (!set->warn)
        return;
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(message, sizeof message, format, arguments);
    va_end(arguments);
    set->warn(set->user, message);
}

/* ---- devices ---- */

static bool same_address(const struct gpu_device *a, const struct gpu_device *b)
{
    return a->pci_address[0] && strcmp(a->pci_address, b->pci_address) == 0;
}

/* The index of a member's device in the set: its index so far, that of the suspended GPU it was, or
 * a new one. GPU_MAX_DEVICES when the set is full. */
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
    if (set->n_devices == GPU_MAX_DEVICES)
        return GPU_MAX_DEVICES;
    card_reading_clear(&set->cards[set->n_devices], gpu_waiting_reason);
    return (uint32_t)set->n_devices++;
}

/* After devices came, or what is to be selected changed. */
static void select_devices(struct gpu_set *set)
{
    for (size_t i = 0; i < set->n_devices; i++)
        set->devices[i].selected =
            set->uuids     ? gpu_selection_has(set->uuids, &set->devices[i], i)
            : set->visible ? gpu_visible_has(set->visible, set->devices, set->n_devices, i)
                           : true;
}

/* Tells a source which of its devices are not to be read. */
static void skip_unselected(struct gpu_set *set, struct gpu_member *member)
{
    bool skipped[GPU_MAX_DEVICES] = {0};
    for (uint32_t i = 0; i < member->view->n_devices; i++) {
        uint32_t at = member->position[i];
        skipped[i] = at < GPU_MAX_DEVICES && set->skips_unselected && !set->devices[at].selected;
    }
    gpu_feed_skip(member->feed, skipped, gpu_left_reason);
}

/* Gives the devices of a source their places in the set, when they have changed. */
static void merge_devices(struct gpu_set *set, struct gpu_member *member)
{
    const struct gpu_feed_view *view = member->view;
    if (member->merged_version == view->devices_version)
        return;
    /* Devices found without the driver count only while the driver may still answer. */
    if (!view->opened && !view->opening && view->status.state != GPU_SOURCE_SUSPENDED)
        return;
    bool taken[GPU_MAX_DEVICES] = {0};
    member->n_skipped = 0;
    for (uint32_t i = 0; i < view->n_devices; i++) {
        uint32_t at = place(set, &view->devices[i], taken);
        member->position[i] = at;
        if (at == GPU_MAX_DEVICES) {
            member->n_skipped++;
            continue;
        }
        taken[at] = true;
        set->devices[at] = view->devices[i];
        memset(set->missing[at], 0, sizeof set->missing[at]);
    }
    member->merged_version = view->devices_version;
    select_devices(set);
    if (set->skips_unselected)
        skip_unselected(set, member);
}

void gpu_set_skip_unselected(struct gpu_set *set, bool skip)
{
    if (!set || set->skips_unselected == skip)
        return;
    set->skips_unselected = skip;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        if (set->members[i].feed)
            skip_unselected(set, &set->members[i]);
    }
}

int gpu_set_show(struct gpu_set *set, const struct gpu_visible *visible)
{
    struct gpu_visible *copy = visible ? malloc(sizeof *copy) : NULL;
    if (visible && !copy)
        return GPUT_ERROR_MEMORY;
    if (copy)
        *copy = *visible;
    free(set->visible);
    set->visible = copy;
    select_devices(set);
    return GPUT_OK;
}

void gpu_set_report_failure(struct gpu_set *set, struct gpu_member *member)
{
    const struct gpu_source_status *status = &member->view->status;
    if (status->state != GPU_SOURCE_FAILED || member->failure_reported)
        return;
    member->failure_reported = true;
    /* without any device the caller shows gpu_set_missing() as its one warning */
    if (set->n_devices)
        gpu_set_warn(set, "GPUs of %s cannot be read: %s", status->name, status->detail);
}

void gpu_set_update(struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct gpu_member *member = &set->members[i];
        if (!member->feed)
            continue;
        gpu_feed_update(member->feed, member->view);
        set->statuses[i] = member->view->status;
        if (member->view->opening)
            gpu_source_status_set(&set->statuses[i], GPU_SOURCE_OPENING, "", "%s",
                set->is_started ? gpu_waiting_reason : gpu_unasked_reason);
        merge_devices(set, member);
    }
    /* If there are more GPUs than fit, count those that the sources and the set skipped. */
    uint32_t count = 0;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        count += set->statuses[i].n_skipped + set->members[i].n_skipped;
    if (count == 0 || set->left_out_reported)
        return;
    set->left_out_reported = true;
    gpu_set_warn(set, "%u GPUs are skipped: gpu-tracker reads at most %d. Sums are of those.",
        count, GPU_MAX_DEVICES);
}

/* The process is asked for last: it is a system call. */
bool gpu_set_asks(const struct gpu_set *set)
{
    bool has_feed = false;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        has_feed |= set->members[i].feed != NULL;
    return has_feed && !set->synchronous && set->owner == getpid();
}

bool gpu_set_is_opening(const struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed && set->members[i].view->opening)
            return true;
    return false;
}

bool gpu_set_has_hidden_gpus(const struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->statuses[i].state == GPU_SOURCE_FAILED ||
            set->statuses[i].state == GPU_SOURCE_SUSPENDED)
            return true;
    return gpu_set_is_opening(set);
}

/* ---- open and close ---- */

static void copy_text(char **to, const char *text, bool *failed)
{
    *to = text ? strdup(text) : NULL;
    *failed |= text && !*to;
}

/* Copies the options. */
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
    set->each_process = options->each_process;
    set->parts = options->parts;
    double interval = options->interval_seconds > 0 ? options->interval_seconds : 1;
    double max_age_seconds = options->max_age_seconds;
    if (max_age_seconds <= 0)
        max_age_seconds =
            MAX_AGE_TICKS * interval > MAX_AGE_SECONDS ? MAX_AGE_TICKS * interval : MAX_AGE_SECONDS;
    set->max_age_ns = clock_ns_of_seconds(max_age_seconds);
    return failed ? GPUT_ERROR_MEMORY : GPUT_OK;
}

/* Searches for the GPUs of all vendors that are wanted. A source that has none needs no memory. */
static int create_feeds(struct gpu_set *set)
{
    const struct gpu_source_options options = {
        .procfs_root = set->procfs_root,
        .sysfs_root = set->sysfs_root,
        .nvml_path = set->nvml_path,
        .vendor = set->vendor,
        .wake = set->uuids != NULL,
        .parts = set->parts,
    };
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct gpu_member *member = &set->members[i];
        const struct gpu_source *source = gpu_sources[i];
        set->statuses[i].name = source->name;
        if (set->vendor != GPU_VENDOR_OTHER && source->vendor != GPU_VENDOR_OTHER &&
            source->vendor != set->vendor) {
            gpu_source_status_set(&set->statuses[i], GPU_SOURCE_SKIPPED, "",
                "not read: only GPUs of %s were asked for", gpu_vendor_name(set->vendor));
            continue;
        }
        struct gpu_source_status status;
        member->feed = gpu_feed_create(source, &options, set->synchronous, &status);
        if (!member->feed && status.state == GPU_SOURCE_ABSENT) {
            set->statuses[i] = status;
            continue;
        }
        if (!member->feed)
            return GPUT_ERROR_MEMORY;
        member->view = calloc(1, sizeof *member->view);
        if (!member->view)
            return GPUT_ERROR_MEMORY;
        for (size_t j = 0; j < GPU_MAX_DEVICES; j++)
            member->untracked_ram_bytes[j] = NAN;
    }
    return GPUT_OK;
}

static void start_feeds(struct gpu_set *set)
{
    set->is_started = true;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            gpu_feed_start(set->members[i].feed);
}

/* Waits for all requests so far to be answered; true when they are. */
static bool await_feeds(struct gpu_set *set, int64_t deadline_ns)
{
    bool have_answered = true;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed && set->is_started)
            have_answered &= gpu_feed_await_all(set->members[i].feed, deadline_ns);
    return have_answered;
}

unsigned gpu_set_threads(const struct gpu_set *set)
{
    unsigned n_threads = 0;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        pid_t ended = set->ended_threads[i];
        if (set->members[i].feed)
            n_threads += gpu_feed_threads(set->members[i].feed);
        else if (ended)
            n_threads += syscall(SYS_tgkill, getpid(), ended, 0) == 0; /* glibc: since 2.30 */
    }
    return n_threads;
}

bool gpu_set_has_started(struct gpu_set *set)
{
    return await_feeds(set, clock_monotonic_ns());
}

void gpu_set_await_start(struct gpu_set *set, int64_t timeout_ns)
{
    int64_t start = clock_monotonic_ns();
    await_feeds(set, start + timeout_ns);
    gpu_set_update(set);
    bool lacks_uuids =
        set->uuids && gpu_set_is_opening(set) &&
        gpu_selection_check(set->uuids, set->devices, set->n_devices, NULL) != GPUT_OK;
    if (lacks_uuids) {
        await_feeds(set, start + OPEN_WAIT_FOR_UUID_NS);
        gpu_set_update(set);
    }
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            gpu_set_report_failure(set, &set->members[i]);
    /* Say in one sentence why there is no GPU: names the sources that failed when there are any,
     * else all. */
    CLEANUP_STR struct str text = {0};
    bool hidden = gpu_set_has_hidden_gpus(set);
    const char *brand = set->vendor == GPU_VENDOR_NVIDIA  ? " NVIDIA"
                        : set->vendor == GPU_VENDOR_AMD   ? " AMD"
                        : set->vendor == GPU_VENDOR_INTEL ? " Intel"
                                                          : "";
    if (hidden)
        str_printf(&text, "No%s GPU can be read, so GPU figures are missing:", brand);
    else
        str_printf(&text, "No%s GPU was found, so GPU figures are reported as 0:", brand);
    const char *separator = " ";
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        const struct gpu_source_status *status = &set->statuses[i];
        if (status->state == GPU_SOURCE_SKIPPED || (hidden && status->state == GPU_SOURCE_ABSENT))
            continue;
        str_printf(&text, "%s%s: %s", separator, status->name, status->detail);
        separator = "; ";
    }
    text_fit(set->absence, sizeof set->absence, "%s", str_text(&text));
    /* Close sources that will give no figures: ticks skip them. */
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct gpu_member *member = &set->members[i];
        if (!member->feed || member->view->opened || member->view->opening ||
            member->view->status.state == GPU_SOURCE_SUSPENDED)
            continue;
        set->ended_threads[i] = gpu_feed_close(member->feed, clock_monotonic_ns() + CLOSE_WAIT_NS);
        gpu_feed_view_finish(member->view);
        free(member->view);
        member->feed = NULL;
        member->view = NULL;
    }
}

void gpu_set_start(struct gpu_set *set)
{
    if (!gpu_set_is_to_start(set) || set->owner != getpid())
        return;

    /* Forget devices that were known without a driver: the sources know more, in their own
     * order. */
    set->n_devices = 0;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        set->members[i].merged_version = 0;

    start_feeds(set);
}

bool gpu_set_is_to_start(const struct gpu_set *set)
{
    return !set->is_started;
}

CLEANUP_DEFINE(struct gpu_set, gpu_set_close)

int gpu_set_open(const struct gpu_options *options, struct gpu_set **set, struct gput_error *error)
{
    enum gpu_vendor vendor;
    *set = NULL;
    TRY(gpu_brand_parse(options->brand, &vendor, error));
    CLEANUP(gpu_set_close_pointer) struct gpu_set *opened = calloc(1, sizeof *opened);
    if (!opened)
        return error_memory(error);
    opened->vendor = vendor;
    if (set_init(opened, options) != GPUT_OK || create_feeds(opened) != GPUT_OK)
        return error_memory(error);

    bool opens_slowly = false;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        opens_slowly |= opened->members[i].feed && gpu_sources[i]->opens_slowly;
    if (opened->uuids || !options->starts_later || !opens_slowly)
        start_feeds(opened);
    gpu_set_await_start(opened, GPU_OPEN_WAIT_NS);
    TRY(gpu_selection_check(opened->uuids, opened->devices, opened->n_devices, error));
    *set = STEAL(opened);
    return GPUT_OK;
}

void gpu_set_close(struct gpu_set *set)
{
    if (!set)
        return;
    int64_t deadline_ns = clock_monotonic_ns() + CLOSE_WAIT_NS;
    /* A forked child does not have the threads, and their locks stay as they were. */
    bool owned = set->owner == getpid();
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed && owned)
            gpu_feed_stop(set->members[i].feed);
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        struct gpu_member *member = &set->members[i];
        if (member->feed && owned)
            gpu_feed_close(member->feed, deadline_ns);
        if (member->view)
            gpu_feed_view_finish(member->view);
        free(member->view);
        pid_owner_cache_finish(&member->pid_owners);
    }
    gpu_process_ram_list_finish(&set->process_ram);
    free(set->pids);
    free(set->procfs_root);
    free(set->sysfs_root);
    free(set->nvml_path);
    free(set->uuids);
    free(set->visible);
    free(set);
}

/* ---- accessors ---- */

const struct gpu_device *gpu_set_devices(const struct gpu_set *set, size_t *count)
{
    *count = set->n_devices;
    return set->devices;
}

const struct card_reading *gpu_set_card(const struct gpu_set *set, size_t device)
{
    return &set->cards[device];
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
        return gpu_set_has_hidden_gpus(set) ? NAN : 0;
    double sum = NAN;
    for (size_t i = 0; i < set->n_devices; i++)
        number_add_known(&sum, set->devices[i].ram_capacity_bytes);
    return sum;
}

const char *gpu_set_missing(const struct gpu_set *set)
{
    return set->n_devices ? NULL : set->absence;
}

bool gpu_set_is_empty(const struct gpu_set *set)
{
    return gpu_set_missing(set) && gpu_set_capacity_bytes(set) == 0;
}

bool gpu_set_is_absent(const struct gpu_set *set)
{
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++) {
        if (set->members[i].feed)
            return false;
    }
    return gpu_set_is_empty(set);
}

const struct gpu_process_ram *gpu_set_process_ram(
    const struct gpu_set *set, size_t *count, uint64_t *version)
{
    *count = set->process_ram.count;
    *version = set->process_ram_version;
    return set->process_ram.entries;
}

const struct gpu_use *gpu_set_uses(const struct gpu_set *set, size_t *count)
{
    *count = set->process_ram.held_count;
    return set->process_ram.held;
}

bool gpu_set_lacks_descriptors(const struct gpu_set *set)
{
    bool lacks = false;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        lacks |= set->members[i].view && set->members[i].view->processes.lacks_descriptors;
    return lacks;
}

const char *gpu_set_process_ram_missing(const struct gpu_set *set, bool *some)
{
    const char *why = set->n_devices ? NULL : set->absence;
    *some = false;
    for (size_t i = 0; i < set->n_devices; i++) {
        const char *missing = set->devices[i].missing[GPU_PROCESS_RAM];
        *some |= !missing[0];
        if (!why && missing[0])
            why = missing;
    }
    return why;
}

const char *gpu_set_past_missing(const struct gpu_set *set, size_t device, enum gpu_figure figure)
{
    const struct gpu_missing *past = &set->past_missing[device];
    return figure == GPU_PROCESS_RAM           ? past->ram
           : figure == GPU_PROCESS_UTILIZATION ? past->sm
                                               : NULL;
}

bool gpu_set_hides_processes(const struct gpu_set *set, size_t device)
{
    return gpu_reason_is_hidden(set->past_missing[device].ram) ||
           gpu_reason_is_hidden(set->missing[device][GPU_PROCESS_RAM]);
}

const struct gpu_source_status *gpu_set_sources(const struct gpu_set *set, size_t *count)
{
    *count = GPU_SOURCE_COUNT;
    return set->statuses;
}

/* Waits for each source in a way of a feed's. */
static void await_each(struct gpu_set *set, int64_t timeout_ns,
    void (*await)(struct gpu_feed *feed, int64_t deadline_ns))
{
    if (!gpu_set_asks(set))
        return;
    int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
    for (size_t i = 0; i < GPU_SOURCE_COUNT; i++)
        if (set->members[i].feed)
            await(set->members[i].feed, deadline_ns);
}

void gpu_set_await(struct gpu_set *set, int64_t timeout_ns)
{
    await_each(set, timeout_ns, gpu_feed_await);
}

void gpu_set_await_lists(struct gpu_set *set, int64_t timeout_ns)
{
    await_each(set, timeout_ns, gpu_feed_await_list);
}

bool gpu_set_await_all(struct gpu_set *set, double timeout_seconds)
{
    if (set->owner != getpid())
        return false;
    bool have_answered =
        await_feeds(set, clock_monotonic_ns() + clock_ns_of_seconds(timeout_seconds));
    gpu_set_update(set);
    return have_answered;
}
