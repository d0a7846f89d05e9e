#include "machine/gpu/drm_card.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "machine/os/sysfs.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char drm_card_suspended_reason[] = "the GPU is suspended; reading it would wake it";

/* Drivers of GPUs; a card of another driver is one when it has a render node. */
static const char *const gpu_drivers[] = {"amdgpu", "radeon", "i915", "xe", "nouveau", "nova",
    "msm", "panfrost", "panthor", "lima", "v3d", "etnaviv", "asahi", "powervr", "nvidia"};

static bool is_gpu_driver(const char *driver)
{
    return text_is_among(driver, gpu_drivers, sizeof gpu_drivers / sizeof *gpu_drivers);
}

/* The last part of a link's target. */
static bool read_link_name(const char *folder, const char *name, char *value, size_t size)
{
    char path[SYSFS_PATH_SIZE], target[PATH_MAX];
    if (!sysfs_path(path, folder, name))
        return false;
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return false;
    target[length] = '\0';
    snprintf(value, size, "%s", basename(target));
    return true;
}

/* The vendor of a card by its PCI id, or by its driver. */
static enum gpu_vendor vendor_of(const struct drm_card *card)
{
    switch (card->vendor_id) {
    case 0x10de:
        return GPU_VENDOR_NVIDIA;
    case 0x1002:
    case 0x1022:
        return GPU_VENDOR_AMD;
    case 0x8086:
        return GPU_VENDOR_INTEL;
    }
    if (strcmp(card->driver, "amdgpu") == 0)
        return GPU_VENDOR_AMD;
    if (strcmp(card->driver, "i915") == 0 || strcmp(card->driver, "xe") == 0)
        return GPU_VENDOR_INTEL;
    return GPU_VENDOR_OTHER;
}

static bool has_render_node(const struct drm_card *card)
{
    char folder[SYSFS_PATH_SIZE];
    return sysfs_path(folder, card->folder, "drm") &&
           sysfs_next_numbered(folder, "renderD", -1) >= 0;
}

/* Reads what sysfs has of a card. False: it has no hardware. */
static bool read_card(const char *drm_folder, unsigned number, struct drm_card *card)
{
    char card_folder[SYSFS_PATH_SIZE];
    uint64_t value;
    *card = (struct drm_card){.number = number};
    int length = snprintf(card_folder, sizeof card_folder, "%s/card%u", drm_folder, number);
    if (length < 0 || (size_t)length + sizeof "/device" > sizeof card->folder)
        return false;
    memcpy(card->folder, card_folder, (size_t)length);
    strcpy(card->folder + length, "/device");
    if (access(card->folder, F_OK) != 0)
        return false; /* without hardware: vgem, vkms */
    if (!sysfs_read_uevent(card->folder, "DRIVER", card->driver, sizeof card->driver))
        read_link_name(card->folder, "driver", card->driver, sizeof card->driver);
    if (sysfs_read_uint64(card->folder, "vendor", &value))
        card->vendor_id = (uint32_t)value;
    if (sysfs_read_uint64(card->folder, "device", &value))
        card->device_id = (uint32_t)value;

    char text[256];
    struct pci_address address;
    if ((sysfs_read_uevent(card->folder, "PCI_SLOT_NAME", text, sizeof text) &&
            pci_address_parse(text, &address)) ||
        (read_link_name(card_folder, "device", text, sizeof text) &&
            pci_address_parse(text, &address)))
        pci_address_format(&address, card->pci_address);

    card->vendor = vendor_of(card);
    card->renders = is_gpu_driver(card->driver) || has_render_node(card) ||
                    (!card->driver[0] && card->vendor != GPU_VENDOR_OTHER);
    return true;
}

bool drm_cards_find(
    const struct gpu_source_options *options, drm_card_filter *is_wanted, struct drm_cards *cards)
{
    char folder[SYSFS_PATH_SIZE];
    struct drm_card card;
    *cards = (struct drm_cards){0};
    if (!sysfs_path(folder, options->sysfs_root, "class/drm"))
        return true;
    for (long number = -1; (number = sysfs_next_numbered(folder, "card", number)) >= 0;) {
        if (!read_card(folder, (unsigned)number, &card) || !is_wanted(&card, options))
            continue;
        if (cards->count == GPU_MAX_DEVICES)
            cards->n_skipped++;
        else if (ARRAY_EXTEND(cards->cards, cards->count))
            cards->cards[cards->count++] = card;
        else
            return false;
    }
    cards->failure = errno;
    if (cards->failure)
        cards->count = 0;
    return true;
}

void drm_cards_explain_none(const struct gpu_source_options *options, const char *whose,
    const struct drm_cards *cards, struct gpu_source_status *status)
{
    if (cards->failure)
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "", "cannot read %s/class/drm: %s",
            options->sysfs_root, strerror(cards->failure));
    else
        gpu_source_status_set(
            status, GPU_SOURCE_ABSENT, "", "no %s GPU in %s/class/drm", whose, options->sysfs_root);
}

void drm_card_find_sensors(
    struct drm_card *card, bool (*is_wanted)(const char *folder, const char *name))
{
    char hwmon[SYSFS_PATH_SIZE], name[32];
    if (!sysfs_path(hwmon, card->folder, "hwmon"))
        return;
    for (long number = -1; (number = sysfs_next_numbered(hwmon, "hwmon", number)) >= 0;) {
        snprintf(card->sensors, sizeof card->sensors, "%s/hwmon/hwmon%ld", card->folder, number);
        if (!sysfs_read_line(card->sensors, "name", name, sizeof name))
            name[0] = '\0';
        if (is_wanted(card->sensors, name))
            return;
    }
    card->sensors[0] = '\0';
}

void drm_card_describe(const struct drm_card *card, const char *source, struct gpu_device *device)
{
    static const char *const makers[] = {"GPU", "NVIDIA", "AMD", "Intel"};
    *device = (struct gpu_device){.vendor = card->vendor, .ram_capacity_bytes = NAN};
    snprintf(device->source, sizeof device->source, "%s", source);
    snprintf(device->pci_address, sizeof device->pci_address, "%s", card->pci_address);
    if (card->pci_address[0])
        snprintf(device->uuid, sizeof device->uuid, "%s", card->pci_address);
    else
        snprintf(device->uuid, sizeof device->uuid, "card%u", card->number);
    if (card->device_id)
        snprintf(device->name, sizeof device->name, "%s 0x%04x (%s)", makers[card->vendor],
            card->device_id, card->driver[0] ? card->driver : "unknown driver");
    else
        snprintf(device->name, sizeof device->name, "%s %s", makers[card->vendor], card->driver);
}

#define MAX_SENSORS 4
/* Maximum of pwm1 where the driver does not say. */
#define PWM_MAX 255

static void set(struct card_reading *reading, enum card_figure figure, double value)
{
    reading->values[figure] = value;
    reading->missing[figure] = NULL;
}

/* A file with one number; where it cannot be read, the figure stays as it is. */
static void read_figure(const char *folder, const char *file, double factor,
    enum card_figure figure, struct card_reading *reading)
{
    uint64_t value;
    if (sysfs_read_uint64(folder, file, &value))
        set(reading, figure, (double)value * factor);
}

/* ---- hwmon ---- */

/* Reads one of the temperatures if its label is that of the chip or the memory. */
static void read_temperature(const char *folder, int number, struct card_reading *reading)
{
    static const char *const chips[] = {"edge", "pkg", ""}, *const memories[] = {"mem", "vram"};
    char file[32], label[32] = "";
    snprintf(file, sizeof file, "temp%d_label", number);
    sysfs_read_line(folder, file, label, sizeof label);
    snprintf(file, sizeof file, "temp%d_input", number);
    if (text_is_among(label, memories, sizeof memories / sizeof *memories))
        read_figure(folder, file, 1e-3, CARD_MEMORY_TEMPERATURE, reading);
    if (!text_is_among(label, chips, sizeof chips / sizeof *chips))
        return;
    read_figure(folder, file, 1e-3, CARD_TEMPERATURE, reading);
    snprintf(file, sizeof file, "temp%d_crit", number);
    read_figure(folder, file, 1e-3, CARD_SLOWDOWN_TEMPERATURE, reading);
    snprintf(file, sizeof file, "temp%d_emergency", number);
    read_figure(folder, file, 1e-3, CARD_SHUTDOWN_TEMPERATURE, reading);
}

/* Reads temperatures, their limits, the power limit and the fan from the hwmon folder. */
static void read_sensors(const struct drm_card *card, struct card_reading *reading)
{
    uint64_t pwm, max;
    if (!card->sensors[0])
        return;
    for (int i = 1; i <= MAX_SENSORS; i++)
        read_temperature(card->sensors, i, reading);
    read_figure(card->sensors, "power1_max", 1e-6, CARD_POWER_LIMIT, reading);
    read_figure(card->sensors, "power1_cap", 1e-6, CARD_POWER_LIMIT, reading);
    if (!sysfs_read_uint64(card->sensors, "pwm1_max", &max) || max == 0)
        max = PWM_MAX;
    if (sysfs_read_uint64(card->sensors, "pwm1", &pwm) && pwm <= max)
        set(reading, CARD_FAN, 100.0 * (double)pwm / (double)max);
}

/* ---- amdgpu ---- */

/* The last line of a table of clocks, "2: 2475Mhz *", has the highest one. NaN: none can be read.
 */
static double read_highest_clock(const char *folder, const char *file)
{
    char text[1024];
    double highest = NAN;
    long length = sysfs_read_bytes(folder, file, text, sizeof text - 1);
    if (length <= 0)
        return NAN;
    text[length] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n')) {
        unsigned mhz;
        line += *line == '\n';
        if (sscanf(line, "%*u: %uMhz", &mhz) == 1)
            highest = fmax(highest, mhz);
    }
    return highest;
}

void drm_figures_read_amdgpu(const struct drm_card *card, struct card_reading *reading)
{
    uint64_t percent;
    if (card->sensors[0]) {
        read_figure(card->sensors, "freq1_input", 1e-6, CARD_GRAPHICS_CLOCK, reading);
        read_figure(card->sensors, "freq2_input", 1e-6, CARD_MEMORY_CLOCK, reading);
    }
    double graphics = read_highest_clock(card->folder, "pp_dpm_sclk");
    double memory = read_highest_clock(card->folder, "pp_dpm_mclk");
    if (!isnan(graphics))
        set(reading, CARD_MAX_GRAPHICS_CLOCK, graphics);
    if (!isnan(memory))
        set(reading, CARD_MAX_MEMORY_CLOCK, memory);
    if (sysfs_read_uint64(card->folder, "mem_busy_percent", &percent) && percent <= 100)
        set(reading, CARD_MEMORY_BUSY, (double)percent);
    read_figure(card->folder, "pcie_replay_count", 1, CARD_PCIE_REPLAYS, reading);
    /* "ue: 0\nce: 3\n": errors that could not be corrected, and those that were. */
    char text[128];
    unsigned long long uncorrected, corrected;
    long length = sysfs_read_bytes(card->folder, "ras/umc_err_count", text, sizeof text - 1);
    if (length <= 0)
        return;
    text[length] = '\0';
    if (sscanf(text, "ue: %llu ce: %llu", &uncorrected, &corrected) != 2)
        return;
    set(reading, CARD_ECC_UNCORRECTED, (double)uncorrected);
    set(reading, CARD_ECC_CORRECTED, (double)corrected);
}

/* ---- xe, i915 ---- */

static const struct {
    const char *word;
    enum card_reason reason;
} intel_reasons[] = {
    {"pl1", CARD_REASON_POWER_CAP},
    {"pl2", CARD_REASON_POWER_CAP},
    {"pl4", CARD_REASON_CURRENT},
    {"vr_tdc", CARD_REASON_CURRENT},
    {"thermal", CARD_REASON_HARDWARE_THERMAL},
    {"ratl", CARD_REASON_HARDWARE_THERMAL},
    {"vr_thermalert", CARD_REASON_HARDWARE_THERMAL},
    {"prochot", CARD_REASON_HARDWARE},
};

/* Reads reasons, one file each; the overall status tells of those that are not known here. */
static void read_reasons(
    const char *folder, const char *status_file, const char *prefix, struct card_reading *reading)
{
    uint64_t status, is_given;
    char file[64];
    unsigned reasons = 0;
    if (!sysfs_read_uint64(folder, status_file, &status))
        return;
    for (size_t i = 0; i < sizeof intel_reasons / sizeof *intel_reasons; i++) {
        snprintf(file, sizeof file, "%s%s", prefix, intel_reasons[i].word);
        if (sysfs_read_uint64(folder, file, &is_given) && is_given)
            reasons |= 1u << intel_reasons[i].reason;
    }
    if (status && !reasons)
        reasons = 1u << CARD_REASON_OTHER;
    set(reading, CARD_SLOWDOWN_REASONS, reasons);
}

void drm_figures_read_intel(const struct drm_card *card, struct card_reading *reading)
{
    char folder[SYSFS_PATH_SIZE];
    if (strcmp(card->driver, "xe") == 0) {
        if (!sysfs_path(folder, card->folder, "tile0/gt0/freq0"))
            return;
        read_figure(folder, "act_freq", 1, CARD_GRAPHICS_CLOCK, reading);
        read_figure(folder, "rp0_freq", 1, CARD_MAX_GRAPHICS_CLOCK, reading);
        read_reasons(folder, "throttle/status", "throttle/reason_", reading);
    } else if (strcmp(card->driver, "i915") == 0) {
        /* Next to the link "device", which leads elsewhere. */
        snprintf(folder, sizeof folder, "%.*s/gt/gt0",
            (int)(strlen(card->folder) - strlen("/device")), card->folder);
        read_figure(folder, "rps_act_freq_mhz", 1, CARD_GRAPHICS_CLOCK, reading);
        read_figure(folder, "rps_RP0_freq_mhz", 1, CARD_MAX_GRAPHICS_CLOCK, reading);
        read_reasons(folder, "throttle_reason_status", "throttle_reason_", reading);
    }
}

void drm_figures_read(const struct drm_card *card, struct drm_figures *figures, bool whole,
    const char *reason, void (*read_more)(const struct drm_card *, struct card_reading *),
    struct card_reading *to)
{
    int64_t now_ns = clock_monotonic_ns();
    if (whole || !figures->read_ns || now_ns >= figures->read_ns + NS_PER_SECOND) {
        card_reading_clear(&figures->reading, reason);
        read_sensors(card, &figures->reading);
        read_more(card, &figures->reading);
        figures->read_ns = now_ns;
    }
    *to = figures->reading;
}
