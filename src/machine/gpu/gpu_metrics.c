#include "machine/gpu/gpu_metrics.h"

#include <math.h>
#include <string.h>

/* The counter's unit: 2^-16 J. */
#define JOULES_PER_COUNT 15.259e-6

/* Discrete cards have format 1, APUs format 2. */
#define FORMAT_DISCRETE 1
#define FORMAT_APU 2

/* Where a version has each figure; 0: it has not. Offsets in bytes; clocks in MHz, temperatures in
 * degrees, speed of the link in 0.1 GT/s. */
static const struct layout {
    uint8_t format, revision;
    uint16_t energy, temperature, memory_temperature, memory_busy, graphics_clock, memory_clock,
        link_width, link_speed;
    uint16_t reasons; /* 64 bits that mean the same on all cards */
    uint16_t ticks;   /* of the controller; its five counters of slowed time follow */
    uint16_t clock;   /* when the driver made it, in nanoseconds */
    uint16_t links;   /* kilobytes read over each XGMI link; those written follow */
} layouts[] = {
    {FORMAT_DISCRETE, 1, 24, 4, 8, 18, 54, 58, 74, 76, 0, 0, 32, 0},
    {FORMAT_DISCRETE, 2, 24, 4, 8, 18, 54, 58, 74, 76, 0, 0, 32, 0},
    {FORMAT_DISCRETE, 3, 24, 4, 8, 18, 54, 58, 74, 76, 112, 0, 32, 0},
    {FORMAT_DISCRETE, 4, 24, 4, 6, 14, 240, 0, 48, 50, 0, 0, 32, 104},
    {FORMAT_DISCRETE, 6, 16, 4, 6, 14, 0, 0, 60, 62, 0, 32, 24, 128},
    {FORMAT_DISCRETE, 7, 24, 4, 6, 14, 0, 0, 68, 70, 0, 40, 32, 136},
    {FORMAT_APU, 1, 0, 0, 0, 0, 76, 80, 0, 0, 0, 0, 0, 0},
    {FORMAT_APU, 2, 0, 0, 0, 0, 76, 80, 0, 0, 120, 0, 0, 0},
};

static const struct layout *layout_of(const uint8_t *table, size_t length)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts && length >= 4; i++)
        if (layouts[i].format == table[2] && layouts[i].revision == table[3])
            return &layouts[i];
    return NULL;
}

/* A number of `size` bytes; false where the table does not have it: all bits are set then. */
static bool read_number(
    const uint8_t *table, size_t length, size_t offset, size_t size, uint64_t *number)
{
    *number = 0;
    if (!offset || offset + size > length)
        return false;
    memcpy(number, table + offset, size);
    return *number != UINT64_MAX >> (64 - 8 * size);
}

double gpu_metrics_energy_joules(const void *table, size_t length)
{
    const struct layout *layout = layout_of(table, length);
    uint64_t counter;
    if (!layout || !read_number(table, length, layout->energy, sizeof counter, &counter) ||
        counter == 0 || counter == UINT32_MAX)
        return NAN;
    return (double)counter * JOULES_PER_COUNT;
}

static void set(struct card_reading *reading, enum card_figure figure, double value)
{
    reading->values[figure] = value;
    reading->missing[figure] = NULL;
}

/* What the bits of a version's reasons mean. */
static unsigned reasons_of(uint64_t bits)
{
    static const struct {
        unsigned first, last;
        enum card_reason reason;
    } ranges[] = {
        {0, 15, CARD_REASON_POWER_CAP},
        {16, 31, CARD_REASON_CURRENT},
        {32, 45, CARD_REASON_THERMAL},
        {46, 47, CARD_REASON_HARDWARE_THERMAL},
        {48, 63, CARD_REASON_OTHER},
    };
    unsigned reasons = 0;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        uint64_t mask = UINT64_MAX >> (63 - ranges[i].last) & UINT64_MAX << ranges[i].first;
        reasons |= bits & mask ? 1u << ranges[i].reason : 0;
    }
    return reasons;
}

static int generation_of(uint64_t tenths_of_gigatransfers)
{
    static const unsigned speeds[] = {25, 50, 80, 160, 320, 640};
    for (int i = 0; i < 6; i++)
        if (speeds[i] == tenths_of_gigatransfers)
            return i + 1;
    return 0;
}

/* Counters of 64 bits, one for each XGMI link. */
#define LINKS 8
#define LINKS_SIZE (LINKS * 8)

/* Adds up what went over the links that a card has. */
static void add_links(struct card_reading *reading, enum card_figure figure, size_t offset,
    const void *table, size_t length)
{
    uint64_t kilobytes;
    double sum = NAN;
    for (size_t i = 0; i < LINKS && offset; i++)
        if (read_number(table, length, offset + 8 * i, 8, &kilobytes))
            sum = (isnan(sum) ? 0 : sum) + (double)kilobytes * 1024;
    if (!isnan(sum))
        set(reading, figure, sum);
}

void gpu_metrics_fill(const void *table, size_t length, struct card_reading *reading)
{
    const struct layout *layout = layout_of(table, length);
    uint64_t value;
    if (!layout)
        return;
    const struct {
        uint16_t offset;
        enum card_figure figure;
        unsigned max;
    } numbers[] = {
        {layout->temperature, CARD_TEMPERATURE, 200},
        {layout->memory_temperature, CARD_MEMORY_TEMPERATURE, 200},
        {layout->memory_busy, CARD_MEMORY_BUSY, 100},
        {layout->graphics_clock, CARD_GRAPHICS_CLOCK, 20000},
        {layout->memory_clock, CARD_MEMORY_CLOCK, 20000},
        {layout->link_width, CARD_PCIE_WIDTH, 32},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (read_number(table, length, numbers[i].offset, 2, &value) && value != 0 &&
            value <= numbers[i].max)
            set(reading, numbers[i].figure, (double)value);
    if (read_number(table, length, layout->link_speed, 2, &value) && generation_of(value))
        set(reading, CARD_PCIE_GENERATION, generation_of(value));
    if (read_number(table, length, layout->reasons, 8, &value))
        set(reading, CARD_SLOWDOWN_REASONS, reasons_of(value));
    add_links(reading, CARD_XGMI_READ, layout->links, table, length);
    add_links(
        reading, CARD_XGMI_WRITTEN, layout->links ? layout->links + LINKS_SIZE : 0, table, length);
}

/* The order of the counters after that of the ticks. */
enum { PROCHOT, POWER_LIMIT, SOCKET, REGULATORS, MEMORY, COUNTERS };

void gpu_metrics_add_slowed(struct gpu_metrics_slowed *slowed, const void *table, size_t length,
    struct card_reading *reading)
{
    const struct layout *layout = layout_of(table, length);
    uint64_t clock_ns, ticks, counts[COUNTERS];
    if (!layout || !read_number(table, length, layout->clock, 8, &clock_ns) ||
        !read_number(table, length, layout->ticks, 4, &ticks))
        return;
    for (size_t i = 0; i < COUNTERS; i++)
        if (!read_number(table, length, layout->ticks + 4 + 4 * i, 4, &counts[i]))
            return;
    uint32_t passed = (uint32_t)ticks - slowed->ticks;
    bool was_reset = passed > UINT32_MAX / 2; /* it went back, not round */
    if (slowed->has_before && passed > 0 && !was_reset && clock_ns > slowed->clock_ns) {
        double seconds[COUNTERS], whole = (double)(clock_ns - slowed->clock_ns) * 1e-9;
        for (size_t i = 0; i < COUNTERS; i++)
            seconds[i] =
                fmin(whole, (double)((uint32_t)counts[i] - slowed->counts[i]) / passed * whole);
        slowed->power_cap_seconds += seconds[POWER_LIMIT];
        slowed->hardware_thermal_seconds += seconds[PROCHOT];
        /* They can last at the same time. */
        slowed->thermal_seconds +=
            fmax(seconds[SOCKET], fmax(seconds[REGULATORS], seconds[MEMORY]));
    }
    slowed->has_before = true;
    slowed->clock_ns = clock_ns;
    slowed->ticks = (uint32_t)ticks;
    for (size_t i = 0; i < COUNTERS; i++)
        slowed->counts[i] = (uint32_t)counts[i];
    set(reading, CARD_POWER_CAP_SECONDS, slowed->power_cap_seconds);
    set(reading, CARD_HARDWARE_THERMAL_SECONDS, slowed->hardware_thermal_seconds);
    set(reading, CARD_THERMAL_SECONDS, slowed->thermal_seconds);
}
