/*
 * Figures of a graphics card itself: clocks, temperatures, limits, links, health. One table
 * describes each of them once; readers fill a struct card_reading, and tables and files walk over
 * the table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum card_figure {
    CARD_GRAPHICS_CLOCK,
    CARD_MEMORY_CLOCK,
    CARD_MAX_GRAPHICS_CLOCK,
    CARD_MAX_MEMORY_CLOCK,
    CARD_PERFORMANCE_STATE,
    CARD_TEMPERATURE,
    CARD_MEMORY_TEMPERATURE,
    CARD_SLOWDOWN_TEMPERATURE,
    CARD_SHUTDOWN_TEMPERATURE,
    CARD_POWER_LIMIT,
    CARD_FAN,
    CARD_MEMORY_BUSY,
    CARD_ENCODER,
    CARD_DECODER,
    CARD_BAR1_USED,
    CARD_PCIE_GENERATION,
    CARD_PCIE_WIDTH,
    CARD_MAX_PCIE_GENERATION,
    CARD_MAX_PCIE_WIDTH,
    CARD_PCIE_TRANSMITTED,
    CARD_PCIE_RECEIVED,
    CARD_PCIE_REPLAYS,
    CARD_NVLINK_TRANSMITTED,
    CARD_NVLINK_RECEIVED,
    CARD_NVLINK_ERRORS,
    CARD_XGMI_READ,
    CARD_XGMI_WRITTEN,
    CARD_ECC_CORRECTED,
    CARD_ECC_UNCORRECTED,
    CARD_RETIRED_PAGES,
    CARD_REMAPPED_ROWS,
    CARD_REMAPPING_PENDING,
    CARD_REMAPPING_FAILED,
    CARD_RECOVERY_ACTION,
    CARD_XID_ERRORS,
    CARD_LAST_XID,
    CARD_COMPUTE_MODE,
    CARD_SLOWDOWN_REASONS,
    CARD_POWER_CAP_SECONDS,
    CARD_SYNC_BOOST_SECONDS,
    CARD_THERMAL_SECONDS,
    CARD_HARDWARE_THERMAL_SECONDS,
    CARD_POWER_BRAKE_SECONDS,
    /* Parts of the chip: only where they are asked for. */
    CARD_SM_ACTIVE,
    CARD_SM_OCCUPANCY,
    CARD_TENSOR_ACTIVE,
    CARD_FP64_ACTIVE,
    CARD_FP32_ACTIVE,
    CARD_FP16_ACTIVE,
    CARD_DRAM_BANDWIDTH,
    CARD_PCIE_TRANSMIT_RATE,
    CARD_PCIE_RECEIVE_RATE,
    CARD_NVLINK_TRANSMIT_RATE,
    CARD_NVLINK_RECEIVE_RATE,
    CARD_FIGURE_COUNT,
};

enum card_kind {
    CARD_GAUGE,   /* a value of the moment */
    CARD_COUNTER, /* counts up from an arbitrary start, and may be reset: use differences */
    /* a counter that the driver also resets by itself, perhaps several times between two
     * readings: differences are lower bounds */
    CARD_SHORT_COUNTER,
    CARD_LIMIT,   /* usually constant */
    CARD_STATE,   /* a number that stands for a word */
    CARD_REASONS, /* a set of enum card_reason, one bit each */
    CARD_PART,    /* of a part of the chip: the mean since the previous reading */
};

/* Why a card runs slower than it could: bits of CARD_SLOWDOWN_REASONS. */
enum card_reason {
    CARD_REASON_POWER_CAP,
    CARD_REASON_SYNC_BOOST,
    CARD_REASON_THERMAL,          /* slowed by the driver */
    CARD_REASON_HARDWARE_THERMAL, /* by the chip itself */
    CARD_REASON_POWER_BRAKE,      /* by the power supply's signal */
    CARD_REASON_HARDWARE,         /* by the chip itself, without a stated reason */
    CARD_REASON_CURRENT,          /* of the voltage regulator */
    CARD_REASON_CLOCK_SETTING,    /* the clocks were set by a user */
    CARD_REASON_DISPLAY,          /* by displays */
    CARD_REASON_IDLE,             /* nothing runs: not a throttle */
    CARD_REASON_OTHER,            /* a reason that this library does not know */
    CARD_REASON_COUNT,
};

/* Reasons that slow a program down although it has work. */
#define CARD_THROTTLES ((1u << CARD_REASON_CLOCK_SETTING) - 1)

struct card_figure_info {
    const char *name; /* with its unit: "graphics_clock_mhz" */
    const char *unit; /* NULL: a count, a state */
    const char *meaning;
    enum card_kind kind;
};

extern const struct card_figure_info card_figures[CARD_FIGURE_COUNT];

/* The figures of a card as of the last reading. NaN: not known. */
struct card_reading {
    double values[CARD_FIGURE_COUNT];
    const char
        *missing[CARD_FIGURE_COUNT]; /* why the value is NaN (static text); NULL: it is not NaN */
    /* Number of times that the counters of thermal reasons were replaced by others. Values from
     * before and after such a change cannot be compared. */
    unsigned n_counter_changes;
};

/* Sets all figures to NaN, with that reason (static text). */
void card_reading_clear(struct card_reading *reading, const char *reason);

/* Returns the counter of the seconds for which a card was slowed for that reason;
 * CARD_FIGURE_COUNT: there is none. */
enum card_figure card_reason_counter(enum card_reason reason);

/* True for heat and for the brake of the power supply, whose three counters NVIDIA's drivers
 * number together. */
bool card_reason_is_thermal(enum card_reason reason);

/*
 * Writes a set of reasons: "power_cap+thermal", "none" of an empty one, "" of NaN. Returns `text`.
 */
#define CARD_REASONS_SIZE 160
const char *card_reasons_text(double reasons, char text[CARD_REASONS_SIZE]);

/* Writes a value as text: a number, a word or a set of reasons; "" where it is not known.
 * Returns `text`. */
const char *card_value_text(enum card_figure figure, double value, char text[CARD_REASONS_SIZE]);

/* Whether the figure is shown as a text: a state or reasons. */
bool card_figure_is_text(enum card_figure figure);

/*
 * Writes how busy parts of the chip were and, where that can be told, what limits the program, as
 * in "SM 31 %, tensor 4 %, memory 12 %: launch-bound". `values`: means of the figures over some
 * time. `busy_percent`: how much of it the GPU ran anything; NaN: not known. "": nothing is known.
 */
void card_describe_parts(const double *values, double busy_percent, char *text, size_t size);

/* True where the card says that nothing runs on it. Its link then saves power: it is slower, and
 * on some cards narrower. */
bool card_rests(const struct card_reading *reading);

/*
 * Checks a card at this moment, one check for each index from 0 on. Writes the problem ("slowed by
 * power_cap", "the driver asks for gpu_reset"), or "" where there is none or it is not known.
 * Returns false if there is no check of that index.
 */
bool card_trouble(const struct card_reading *reading, int index, char *text, size_t size);

/* Writes as many as fit of the missing figures, with reasons: "fan_percent: not supported by
 * this GPU; …". Figures with the same reason share it. `with_parts` includes figures of parts of
 * the chip. */
void card_explain(const struct card_reading *reading, bool with_parts, char *text, size_t size);
