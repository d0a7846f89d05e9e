#include "model/card.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const struct card_figure_info card_figures[CARD_FIGURE_COUNT] = {
    [CARD_GRAPHICS_CLOCK] = {"graphics_clock_mhz", "megahertz", "clock of the processors",
        CARD_GAUGE},
    [CARD_MEMORY_CLOCK] = {"memory_clock_mhz", "megahertz", "clock of the memory", CARD_GAUGE},
    [CARD_MAX_GRAPHICS_CLOCK] = {"max_graphics_clock_mhz", "megahertz",
        "highest clock of the processors", CARD_LIMIT},
    [CARD_MAX_MEMORY_CLOCK] = {"max_memory_clock_mhz", "megahertz", "highest clock of the memory",
        CARD_LIMIT},
    [CARD_PERFORMANCE_STATE] = {"performance_state", NULL, "0 is the fastest, 15 the slowest",
        CARD_GAUGE},
    [CARD_TEMPERATURE] = {"temperature_celsius", "degrees Celsius", "temperature of the chip",
        CARD_GAUGE},
    [CARD_MEMORY_TEMPERATURE] = {"memory_temperature_celsius", "degrees Celsius",
        "temperature of the memory", CARD_GAUGE},
    [CARD_SLOWDOWN_TEMPERATURE] = {"slowdown_temperature_celsius", "degrees Celsius",
        "temperature at which the chip slows itself", CARD_LIMIT},
    [CARD_SHUTDOWN_TEMPERATURE] = {"shutdown_temperature_celsius", "degrees Celsius",
        "temperature at which the chip turns itself off", CARD_LIMIT},
    [CARD_POWER_LIMIT] = {"power_limit_watts", "watts", "limit of power that is enforced",
        CARD_LIMIT},
    [CARD_FAN] = {"fan_percent", "percent", "speed of the fan, as it was set", CARD_GAUGE},
    [CARD_MEMORY_BUSY] = {"memory_busy_percent", "percent",
        "share of time in which the memory was read or written", CARD_GAUGE},
    [CARD_ENCODER] = {"encoder_percent", "percent", "use of the video encoders", CARD_GAUGE},
    [CARD_DECODER] = {"decoder_percent", "percent", "use of the video decoders", CARD_GAUGE},
    [CARD_BAR1_USED] = {"bar1_used_bytes", "bytes", "memory that is mapped for the bus (BAR1)",
        CARD_GAUGE},
    [CARD_PCIE_GENERATION] = {"pcie_generation", NULL, "generation of the PCIe link now",
        CARD_GAUGE},
    [CARD_PCIE_WIDTH] = {"pcie_width", NULL, "lanes of the PCIe link now", CARD_GAUGE},
    [CARD_MAX_PCIE_GENERATION] = {"max_pcie_generation", NULL,
        "generation that card and slot allow", CARD_LIMIT},
    [CARD_MAX_PCIE_WIDTH] = {"max_pcie_width", NULL, "lanes that card and slot allow", CARD_LIMIT},
    [CARD_PCIE_TRANSMITTED] = {"pcie_transmitted_bytes", "bytes", "sent over PCIe",
        CARD_SHORT_COUNTER},
    [CARD_PCIE_RECEIVED] = {"pcie_received_bytes", "bytes", "received over PCIe",
        CARD_SHORT_COUNTER},
    [CARD_PCIE_REPLAYS] = {"pcie_replays", NULL, "packets that PCIe had to send again",
        CARD_COUNTER},
    [CARD_NVLINK_TRANSMITTED] = {"nvlink_transmitted_bytes", "bytes", "sent over NVLink",
        CARD_COUNTER},
    [CARD_NVLINK_RECEIVED] = {"nvlink_received_bytes", "bytes", "received over NVLink",
        CARD_COUNTER},
    [CARD_NVLINK_ERRORS] = {"nvlink_errors", NULL, "replays, recoveries and CRC errors of NVLink",
        CARD_COUNTER},
    [CARD_XGMI_READ] = {"xgmi_read_bytes", "bytes", "read over XGMI, from other cards",
        CARD_COUNTER},
    [CARD_XGMI_WRITTEN] = {"xgmi_written_bytes", "bytes", "written over XGMI, to other cards",
        CARD_COUNTER},
    [CARD_ECC_CORRECTED] = {"ecc_corrected_errors", NULL,
        "memory errors that were corrected, since the driver was loaded", CARD_COUNTER},
    [CARD_ECC_UNCORRECTED] = {"ecc_uncorrected_errors", NULL,
        "memory errors that could not be corrected, since the driver was loaded", CARD_COUNTER},
    [CARD_RETIRED_PAGES] = {"retired_pages", NULL, "pages of memory taken out of use",
        CARD_COUNTER},
    [CARD_REMAPPED_ROWS] = {"remapped_rows", NULL, "rows of memory replaced by spare ones",
        CARD_COUNTER},
    [CARD_REMAPPING_PENDING] = {"remapping_pending", NULL,
        "1: the card needs a reset to replace rows of memory", CARD_GAUGE},
    [CARD_REMAPPING_FAILED] = {"remapping_failed", NULL, "1: no spare row was left", CARD_GAUGE},
    [CARD_RECOVERY_ACTION] = {"recovery_action", NULL, "what the driver says has to be done",
        CARD_STATE},
    [CARD_XID_ERRORS] = {"xid_errors", NULL,
        "errors of the card in the kernel's log (NVIDIA's Xid), since it is read", CARD_COUNTER},
    [CARD_LAST_XID] = {"last_xid", NULL, "number of the last of them", CARD_GAUGE},
    [CARD_COMPUTE_MODE] = {"compute_mode", NULL, "who may compute on it", CARD_STATE},
    [CARD_SLOWDOWN_REASONS] = {"slowdown_reasons", NULL, "why the clocks are not higher",
        CARD_REASONS},
    [CARD_POWER_CAP_SECONDS] = {"power_cap_seconds", "seconds", "slowed by the power limit",
        CARD_COUNTER},
    [CARD_SYNC_BOOST_SECONDS] = {"sync_boost_seconds", "seconds",
        "slowed to the clocks of other cards", CARD_COUNTER},
    [CARD_THERMAL_SECONDS] = {"thermal_seconds", "seconds", "slowed by the driver because of heat",
        CARD_COUNTER},
    [CARD_HARDWARE_THERMAL_SECONDS] = {"hardware_thermal_seconds", "seconds",
        "slowed by the chip itself because of heat", CARD_COUNTER},
    [CARD_POWER_BRAKE_SECONDS] = {"power_brake_seconds", "seconds",
        "slowed by a signal of the power supply", CARD_COUNTER},
    [CARD_SM_ACTIVE] = {"sm_active_percent", "percent", "processors (SM) that had work", CARD_PART},
    [CARD_SM_OCCUPANCY] = {"sm_occupancy_percent", "percent",
        "warps in the processors, of those that fit", CARD_PART},
    [CARD_TENSOR_ACTIVE] = {"tensor_active_percent", "percent",
        "share of time in which tensor cores worked", CARD_PART},
    [CARD_FP64_ACTIVE] = {"fp64_active_percent", "percent",
        "share of time with arithmetic of 64 bits", CARD_PART},
    [CARD_FP32_ACTIVE] = {"fp32_active_percent", "percent",
        "share of time with arithmetic of 32 bits", CARD_PART},
    [CARD_FP16_ACTIVE] = {"fp16_active_percent", "percent",
        "share of time with arithmetic of 16 bits", CARD_PART},
    [CARD_DRAM_BANDWIDTH] = {"dram_bandwidth_percent", "percent",
        "bandwidth of the memory in use, of the highest", CARD_PART},
    [CARD_PCIE_TRANSMIT_RATE] = {"pcie_transmit_bytes_per_second", "bytes per second",
        "rate of sending over PCIe", CARD_PART},
    [CARD_PCIE_RECEIVE_RATE] = {"pcie_receive_bytes_per_second", "bytes per second",
        "rate of receiving over PCIe", CARD_PART},
    [CARD_NVLINK_TRANSMIT_RATE] = {"nvlink_transmit_bytes_per_second", "bytes per second",
        "rate of sending over NVLink", CARD_PART},
    [CARD_NVLINK_RECEIVE_RATE] = {"nvlink_receive_bytes_per_second", "bytes per second",
        "rate of receiving over NVLink", CARD_PART},
};

void card_reading_clear(struct card_reading *reading, const char *reason)
{
    for (int i = 0; i < CARD_FIGURE_COUNT; i++) {
        reading->values[i] = NAN;
        reading->missing[i] = reason;
    }
    reading->n_counter_changes = 0;
}

static const struct {
    const char *name;
    enum card_figure counter;
} reasons[CARD_REASON_COUNT] = {
    [CARD_REASON_POWER_CAP] = {"power_cap", CARD_POWER_CAP_SECONDS},
    [CARD_REASON_SYNC_BOOST] = {"sync_boost", CARD_SYNC_BOOST_SECONDS},
    [CARD_REASON_THERMAL] = {"thermal", CARD_THERMAL_SECONDS},
    [CARD_REASON_HARDWARE_THERMAL] = {"hardware_thermal", CARD_HARDWARE_THERMAL_SECONDS},
    [CARD_REASON_POWER_BRAKE] = {"power_brake", CARD_POWER_BRAKE_SECONDS},
    [CARD_REASON_HARDWARE] = {"hardware", CARD_FIGURE_COUNT},
    [CARD_REASON_CURRENT] = {"current", CARD_FIGURE_COUNT},
    [CARD_REASON_CLOCK_SETTING] = {"clock_setting", CARD_FIGURE_COUNT},
    [CARD_REASON_DISPLAY] = {"display", CARD_FIGURE_COUNT},
    [CARD_REASON_IDLE] = {"idle", CARD_FIGURE_COUNT},
    [CARD_REASON_OTHER] = {"other", CARD_FIGURE_COUNT},
};

enum card_figure card_reason_counter(enum card_reason reason)
{
    return reasons[reason].counter;
}

bool card_reason_is_thermal(enum card_reason reason)
{
    return reason >= CARD_REASON_THERMAL && reason <= CARD_REASON_POWER_BRAKE;
}

const char *card_reasons_text(double value, char text[CARD_REASONS_SIZE])
{
    size_t length = 0;
    text[0] = '\0';
    if (isnan(value))
        return text;
    for (int i = 0; i < CARD_REASON_COUNT; i++) {
        if (!((uint32_t)value >> i & 1))
            continue;
        snprintf(
            text + length, CARD_REASONS_SIZE - length, "%s%s", length ? "+" : "", reasons[i].name);
        length = strlen(text);
    }
    if (!length)
        snprintf(text, CARD_REASONS_SIZE, "none");
    return text;
}

/* Returns the word of a state: "exclusive_process", "none". NULL where it has none, or is NaN.
 * */
static const char *state_word(enum card_figure figure, double value)
{
    static const char *const actions[] = {"none", "gpu_reset", "node_reboot", "drain_p2p",
        "drain_and_reset", "recover_imex_domain", "bus_reset", "system_reboot"};
    static const char *const modes[] = {
        "default", "exclusive_thread", "prohibited", "exclusive_process"};
    if (figure == CARD_RECOVERY_ACTION && value >= 0 && value < sizeof actions / sizeof *actions)
        return actions[(int)value];
    if (figure == CARD_COMPUTE_MODE && value >= 0 && value < sizeof modes / sizeof *modes)
        return modes[(int)value];
    return NULL;
}

bool card_figure_is_text(enum card_figure figure)
{
    return card_figures[figure].kind == CARD_STATE || card_figures[figure].kind == CARD_REASONS;
}

const char *card_value_text(enum card_figure figure, double value, char text[CARD_REASONS_SIZE])
{
    const char *word = state_word(figure, value);
    if (card_figures[figure].kind == CARD_REASONS)
        return card_reasons_text(value, text);
    if (word)
        snprintf(text, CARD_REASONS_SIZE, "%s", word);
    else if (isnan(value))
        text[0] = '\0';
    else
        snprintf(text, CARD_REASONS_SIZE, "%.15g", value);
    return text;
}

/*
 * What limits a program on a GPU, as its parts show; NULL where they do not. Below half of the
 * processors in use NVIDIA calls the use of a GPU ineffective: although something runs, kernels are
 * too small for the chip, or the gaps between them too long. Programs do not reach the whole
 * bandwidth or rate of arithmetic: from 60 and 50 % on that is what they wait for.
 */
static const char *bound_of(const double *values, double busy_percent)
{
    double arithmetic = fmax(fmax(values[CARD_FP64_ACTIVE], values[CARD_FP32_ACTIVE]),
        fmax(values[CARD_FP16_ACTIVE], values[CARD_TENSOR_ACTIVE])); /* fmax() skips NaN */
    if (values[CARD_DRAM_BANDWIDTH] >= 60)
        return "memory-bound";
    if (arithmetic >= 50)
        return "compute-bound";
    if (busy_percent < 50)
        return "the GPU waits for the program";
    if (isnan(busy_percent) || isnan(values[CARD_SM_ACTIVE]))
        return NULL;
    return values[CARD_SM_ACTIVE] < 50 ? "launch-bound" : "latency-bound";
}

void card_describe_parts(const double *values, double busy_percent, char *text, size_t size)
{
    static const struct {
        enum card_figure figure;
        const char *name;
    } parts[] = {{CARD_SM_ACTIVE, "SM"}, {CARD_SM_OCCUPANCY, "occupancy"},
        {CARD_TENSOR_ACTIVE, "tensor"}, {CARD_DRAM_BANDWIDTH, "memory"}, {CARD_FP64_ACTIVE, "FP64"},
        {CARD_FP32_ACTIVE, "FP32"}, {CARD_FP16_ACTIVE, "FP16"}};
    const char *bound = bound_of(values, busy_percent);
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(text);
        if (!isnan(values[parts[i].figure]))
            text_fit(text + length, size - length, "%s%s %.0f %%", length ? ", " : "",
                parts[i].name, values[parts[i].figure]);
    }
    size_t length = strlen(text);
    if (length && bound)
        text_fit(text + length, size - length, ": %s", bound);
}

/* The first of the performance states in which a GPU computes nothing. */
#define FIRST_RESTING_STATE 5

bool card_rests(const struct card_reading *reading)
{
    const double *values = reading->values;
    double state = values[CARD_PERFORMANCE_STATE], given = values[CARD_SLOWDOWN_REASONS];
    bool is_idle = !isnan(given) && ((unsigned)given >> CARD_REASON_IDLE & 1);
    if (isnan(state) && isnan(given))
        return values[CARD_PCIE_GENERATION] < values[CARD_MAX_PCIE_GENERATION];
    return is_idle || state >= FIRST_RESTING_STATE;
}

bool card_trouble(const struct card_reading *reading, int index, char *text, size_t size)
{
    const double *values = reading->values;
    double slowdown = values[CARD_SLOWDOWN_REASONS];
    unsigned throttles = isnan(slowdown) ? 0 : (unsigned)slowdown & CARD_THROTTLES;
    char words[CARD_REASONS_SIZE];
    text[0] = '\0';
    switch (index) {
    case 0:
        if (throttles)
            text_fit(text, size, "slowed by %s", card_reasons_text(throttles, words));
        return true;
    case 1:
        if (values[CARD_ECC_UNCORRECTED] > 0)
            text_fit(text, size, "%.0f memory error%s that could not be corrected (ECC)",
                values[CARD_ECC_UNCORRECTED], values[CARD_ECC_UNCORRECTED] == 1 ? "" : "s");
        return true;
    case 2:
        if (values[CARD_REMAPPING_PENDING] > 0)
            text_fit(text, size, "rows of memory wait to be replaced: the card needs a reset");
        return true;
    case 3:
        if (values[CARD_REMAPPING_FAILED] > 0)
            text_fit(text, size, "rows of memory could not be replaced: no spare one is left");
        return true;
    case 4:
        if (values[CARD_RECOVERY_ACTION] > 0)
            text_fit(text, size, "the driver asks for %s",
                card_value_text(CARD_RECOVERY_ACTION, values[CARD_RECOVERY_ACTION], words));
        return true;
    case 5:
        if (values[CARD_PCIE_WIDTH] < values[CARD_MAX_PCIE_WIDTH] && !card_rests(reading))
            text_fit(text, size, "its PCIe link has %.0f of %.0f lanes", values[CARD_PCIE_WIDTH],
                values[CARD_MAX_PCIE_WIDTH]);
        return true;
    default:
        return false;
    }
}

void card_explain(const struct card_reading *reading, bool with_parts, char *text, size_t size)
{
    bool is_named[CARD_FIGURE_COUNT];
    text[0] = '\0';
    for (int i = 0; i < CARD_FIGURE_COUNT; i++)
        is_named[i] = card_figures[i].kind == CARD_PART && !with_parts;
    for (int figure = 0; figure < CARD_FIGURE_COUNT; figure++) {
        const char *reason = reading->missing[figure], *separator = text[0] ? "; " : "";
        if (is_named[figure] || !reason)
            continue;
        for (int same = figure; same < CARD_FIGURE_COUNT; same++) {
            if (is_named[same] || !reading->missing[same] ||
                strcmp(reading->missing[same], reason) != 0)
                continue;
            size_t length = strlen(text);
            text_fit(text + length, size - length, "%s%s", separator, card_figures[same].name);
            is_named[same] = true;
            separator = ", ";
        }
        size_t length = strlen(text);
        text_fit(text + length, size - length, ": %s", reason);
    }
}
