#include "machine/gpu/drm_figures.h"

#include "base/text.h"
#include "machine/os/sysfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SENSORS 4
/* Of pwm1, where the driver does not say. */
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

void drm_figures_read_sensors(const struct drm_card *card, struct card_reading *reading)
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

/* "ue: 0\nce: 3\n": errors that could not be corrected, and those that were. */
static void read_errors(const char *folder, struct card_reading *reading)
{
    char text[128];
    unsigned long long uncorrected, corrected;
    long length = sysfs_read_bytes(folder, "ras/umc_err_count", text, sizeof text - 1);
    if (length <= 0)
        return;
    text[length] = '\0';
    if (sscanf(text, "ue: %llu ce: %llu", &uncorrected, &corrected) != 2)
        return;
    set(reading, CARD_ECC_UNCORRECTED, (double)uncorrected);
    set(reading, CARD_ECC_CORRECTED, (double)corrected);
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
    read_errors(card->folder, reading);
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
