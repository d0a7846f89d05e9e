#include "session/ledger/gpu_usage.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/number.h"
#include "base/text.h"
#include "machine/gpu/attribution.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gpu_usage_finish(struct gpu_usage *usage)
{
    free(usage->devices);
    *usage = (struct gpu_usage){0};
}

/* Makes space for a number of GPUs; without memory there are fewer. */
static void reserve(struct gpu_usage *usage, size_t count)
{
    if (count > usage->capacity) {
        if (!ARRAY_RESIZE(usage->devices, count))
            return;
        usage->capacity = count;
    }
    if (count > usage->n_devices) {
        size_t more = count - usage->n_devices;
        memset(&usage->devices[usage->n_devices], 0, more * sizeof *usage->devices);
        usage->n_devices = count;
    }
}

static void add_untracked(struct gpu_usage_device *usage, const struct gpu_device_sample *device)
{
    usage->may_have_others |= device->may_have_others;
    if (isnan(device->untracked_ram_bytes))
        return;
    if (!usage->has_untracked || device->untracked_ram_bytes < usage->min_untracked_bytes)
        usage->min_untracked_bytes = device->untracked_ram_bytes;
    usage->has_untracked = true;
}

/* Adds a figure with a weight in seconds. */
static void add(struct gpu_usage_value *value, double figure, double seconds)
{
    value->last = figure;
    if (isnan(figure))
        return;
    if (!value->has)
        value->first = value->max = figure;
    value->has = true;
    if (figure > value->max)
        value->max = figure;
    value->weighted += figure * seconds;
    value->seconds += seconds;
    if (seconds > 0) {
        value->sum += figure;
        value->count++;
    }
}

/* A driver answers within this time, if it is not late. */
#define LATE_SECONDS 0.25

static void add_list_age(struct gpu_usage *usage, const struct gpu_sample *sample)
{
    for (uint32_t i = 0; i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        bool has_changed = device->bounds_ram && device->is_ram_changed;
        double seconds = has_changed ? sample->process_age_seconds : 0;
        if (seconds > LATE_SECONDS && seconds > usage->late_list_seconds)
            usage->late_list_seconds = seconds;
    }
}

/* A sample may have a reading that one before it had, too. */
static void add_reading_time(struct gpu_usage_device *usage, int64_t read_ns)
{
    if (read_ns == 0)
        return;
    if (usage->first_read_ns == 0)
        usage->first_read_ns = read_ns;
    usage->last_read_ns = read_ns;
}

/* Raises the maximum of the memory in use by readings that no sample has: the thread that takes
 * samples came late. Those before the first sample are not of the command. */
static void add_max_ram(struct gpu_usage_value *ram, const struct gpu_device_sample *device)
{
    if (ram->has && device->max_ram_used_bytes > ram->max)
        ram->max = device->max_ram_used_bytes;
}

void gpu_usage_add(struct gpu_usage *usage, const struct gpu_sample *sample, double seconds)
{
    reserve(usage, sample->n_devices);
    for (size_t i = 0; i < usage->n_devices && i < sample->n_devices; i++) {
        const struct gpu_device_sample *device = &sample->devices[i];
        const double figures[GPU_USAGE_FIGURES] = {
            [GPU_USAGE_RAM] = device->ram_used_bytes,
            [GPU_USAGE_MAIN_RAM] = device->main_ram_bytes,
            [GPU_USAGE_DESCENDANTS_RAM] = device->descendants_ram_bytes,
            [GPU_USAGE_COMBINED_RAM] = device->combined_ram_bytes,
            [GPU_USAGE_UTILIZATION] = device->utilization_percent,
            [GPU_USAGE_MAIN_SM] = device->main_sm_percent,
            [GPU_USAGE_DESCENDANTS_SM] = device->descendants_sm_percent,
            [GPU_USAGE_POWER] = device->power_watts,
        };
        add_max_ram(&usage->devices[i].values[GPU_USAGE_RAM], device);
        for (int figure = 0; figure < GPU_USAGE_FIGURES; figure++)
            add(&usage->devices[i].values[figure], figures[figure], seconds);
        add_untracked(&usage->devices[i], device);
        add_reading_time(&usage->devices[i], device->read_ns);
    }
    add_list_age(usage, sample);
}

void gpu_usage_add_card(struct gpu_usage *usage, size_t device, const struct card_reading *reading)
{
    if (device < usage->n_devices)
        card_usage_add(&usage->devices[device].card, reading, usage->devices[device].last_read_ns);
}

const struct card_usage *gpu_usage_card(const struct gpu_usage *usage, size_t device)
{
    return device < usage->n_devices ? &usage->devices[device].card : NULL;
}

double gpu_usage_max(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure)
{
    if (device >= usage->n_devices || !usage->devices[device].values[figure].has)
        return NAN;
    return usage->devices[device].values[figure].max;
}

double gpu_usage_last(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure)
{
    return device < usage->n_devices ? usage->devices[device].values[figure].last : NAN;
}

static bool is_of_interval(enum gpu_usage_figure figure)
{
    return figure == GPU_USAGE_POWER || figure == GPU_USAGE_MAIN_SM ||
           figure == GPU_USAGE_DESCENDANTS_SM;
}

double gpu_usage_mean(const struct gpu_usage *usage, size_t device, enum gpu_usage_figure figure)
{
    if (device >= usage->n_devices || !usage->devices[device].values[figure].has)
        return NAN;
    const struct gpu_usage_value *value = &usage->devices[device].values[figure];
    if (value->count == 0)
        return value->first;
    if (is_of_interval(figure))
        return value->weighted / value->seconds;
    return value->sum / (double)value->count;
}

double gpu_usage_combined_ram_at_most(const struct gpu_usage *usage, size_t device)
{
    if (device >= usage->n_devices)
        return NAN;
    const struct gpu_usage_device *of = &usage->devices[device];
    /* Drivers can hide processes from a container. Each would use more than that. */
    bool is_alone = of->has_untracked && of->min_untracked_bytes < GPU_MIN_CONTEXT_BYTES;
    if (of->may_have_others || !is_alone)
        return NAN;
    double at_most = of->values[GPU_USAGE_RAM].max - of->min_untracked_bytes;
    double listed = gpu_usage_max(usage, device, GPU_USAGE_COMBINED_RAM);
    return at_most < listed ? NAN : at_most;
}

double gpu_usage_sum(const struct gpu_usage *usage, enum gpu_usage_figure figure)
{
    double sum = NAN;
    for (size_t i = 0; i < usage->n_devices; i++) {
        const struct gpu_usage_value *value = &usage->devices[i].values[figure];
        if (isnan(value->last) && value->has)
            return NAN;
        if (value->has)
            number_add_known(&sum, value->last);
    }
    return sum;
}

/* A counter that was not slowed for so long was not slowed: drivers count ends of programs. */
#define MIN_SLOWED_SECONDS 0.001

/* No link of a card is that fast, in bytes per second: a counter that leaps so far was set anew. */
#define MAX_BYTES_PER_SECOND 1e13
/* A link has woken, and its figure was renewed, when a card has worked for so long. */
#define WORKING_NS (2 * NS_PER_SECOND)

/* Adds what a counter counted since the reading before. */
static void add_counted(
    struct card_value *value, double figure, const struct card_figure_info *info, int64_t read_ns)
{
    double counted = figure - value->last;
    double seconds = clock_seconds_of_ns(read_ns - value->last_ns);
    bool is_leap = info->unit && strcmp(info->unit, "bytes") == 0 &&
                   counted > MAX_BYTES_PER_SECOND * (seconds + 1);
    if (counted < 0) {
        value->counted += figure;
        value->began_anew = true;
    } else if (!is_leap) {
        value->counted += counted;
    }
}

/* Adds a reading of one figure of a card. */
static void add_value(
    struct card_value *value, double figure, const struct card_figure_info *info, int64_t read_ns)
{
    if (value->count == 0)
        value->first = value->min = value->max = figure;
    else if (info->kind == CARD_COUNTER || info->kind == CARD_SHORT_COUNTER)
        add_counted(value, figure, info, read_ns);
    value->min = fmin(value->min, figure);
    value->max = fmax(value->max, figure);
    value->sum += figure;
    value->last = figure;
    value->last_ns = read_ns;
    value->count++;
}

/* A card that rests saves power on its link, and one that has just begun to work may do so still.
 */
static void add_link(struct card_usage *usage, const struct card_reading *reading, int64_t read_ns)
{
    double width = reading->values[CARD_PCIE_WIDTH];
    bool is_slower =
        reading->values[CARD_PCIE_GENERATION] < usage->values[CARD_PCIE_GENERATION].max;
    bool says_state = !isnan(reading->values[CARD_PERFORMANCE_STATE]);
    if (card_rests(reading) || (is_slower && !says_state) || !usage->rested_ns)
        usage->rested_ns = read_ns;
    if (isnan(width))
        return;
    usage->widest_link = fmax(usage->widest_link, width);
    if (read_ns - usage->rested_ns >= WORKING_NS)
        usage->working_link = width;
}

void card_usage_add(struct card_usage *usage, const struct card_reading *reading, int64_t read_ns)
{
    for (int i = 0; i < CARD_REASON_COUNT; i++)
        if (reading->n_counter_changes > usage->n_counter_changes &&
            card_reason_is_thermal((enum card_reason)i))
            usage->values[card_reason_counter((enum card_reason)i)] = (struct card_value){0};
    if (reading->n_counter_changes > usage->n_counter_changes)
        usage->n_counter_changes = reading->n_counter_changes;
    for (int i = 0; i < CARD_FIGURE_COUNT; i++) {
        usage->values[i].is_missing = isnan(reading->values[i]);
        if (usage->values[i].is_missing)
            continue;
        add_value(&usage->values[i], reading->values[i], &card_figures[i], read_ns);
        usage->has = true;
    }
    add_link(usage, reading, read_ns);
    double reasons = reading->values[CARD_SLOWDOWN_REASONS];
    if (isnan(reasons))
        return;
    usage->n_with_reasons++;
    usage->reasons |= (unsigned)reasons;
    for (int i = 0; i < CARD_REASON_COUNT; i++)
        usage->n_throttled[i] += (unsigned)reasons >> i & 1;
}

double card_usage_max(const struct card_usage *usage, enum card_figure figure)
{
    return usage->values[figure].count ? usage->values[figure].max : NAN;
}

double card_usage_min(const struct card_usage *usage, enum card_figure figure)
{
    return usage->values[figure].count ? usage->values[figure].min : NAN;
}

double card_usage_mean(const struct card_usage *usage, enum card_figure figure)
{
    const struct card_value *value = &usage->values[figure];
    return value->count ? value->sum / (double)value->count : NAN;
}

double card_usage_last(const struct card_usage *usage, enum card_figure figure)
{
    return usage->values[figure].count ? usage->values[figure].last : NAN;
}

double card_usage_counted(const struct card_usage *usage, enum card_figure figure)
{
    const struct card_value *value = &usage->values[figure];
    return value->count > 1 && !value->is_missing ? value->counted : NAN;
}

bool card_usage_is_partial(const struct card_usage *usage)
{
    bool is_partial = usage->n_counter_changes > 0;
    for (int i = 0; i < CARD_REASON_COUNT; i++) {
        enum card_figure counter = card_reason_counter((enum card_reason)i);
        is_partial |= counter != CARD_FIGURE_COUNT && usage->values[counter].began_anew;
    }
    return is_partial;
}

bool card_usage_is_contradicted(const struct card_usage *usage)
{
    for (int i = 0; i < CARD_REASON_COUNT; i++) {
        enum card_figure counter = card_reason_counter((enum card_reason)i);
        if (counter != CARD_FIGURE_COUNT && usage->n_throttled[i] > 1 &&
            card_usage_counted(usage, counter) < MIN_SLOWED_SECONDS)
            return true;
    }
    return false;
}

static void append(char *text, size_t size, const char *separator, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void append(char *text, size_t size, const char *separator, const char *format, ...)
{
    size_t length = strlen(text);
    if (length) {
        text_fit(text + length, size - length, "%s", separator);
        length = strlen(text);
    }
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(text + length, size - length, format, arguments);
    va_end(arguments);
}

void card_usage_describe_slowdowns(const struct card_usage *usage, char *text, size_t size)
{
    bool is_named[CARD_REASON_COUNT] = {false};
    char seconds[HUMAN_SIZE], name[CARD_REASONS_SIZE];
    text[0] = '\0';
    for (;;) {
        int longest = -1;
        double most = MIN_SLOWED_SECONDS;
        for (int i = 0; i < CARD_REASON_COUNT; i++) {
            enum card_figure counter = card_reason_counter((enum card_reason)i);
            double counted =
                counter == CARD_FIGURE_COUNT ? NAN : card_usage_counted(usage, counter);
            if (!is_named[i] && counted >= most) {
                longest = i;
                most = counted;
            }
        }
        if (longest < 0)
            break;
        is_named[longest] = true;
        append(text, size, ", ", "%s %s", card_reasons_text(1u << longest, name),
            human_seconds(most, seconds));
    }
    for (int i = 0; i < CARD_REASON_COUNT; i++) {
        enum card_figure counter = card_reason_counter((enum card_reason)i);
        bool is_counted = counter != CARD_FIGURE_COUNT &&
                          card_usage_counted(usage, counter) >= MIN_SLOWED_SECONDS;
        if (!is_counted && (CARD_THROTTLES >> i & 1) && usage->n_throttled[i])
            append(text, size, ", ", "%s in %llu of %llu readings",
                card_reasons_text(1u << i, name), (unsigned long long)usage->n_throttled[i],
                (unsigned long long)usage->n_with_reasons);
    }
    if (!text[0] && usage->n_with_reasons)
        text_fit(text, size, "nothing");
}

void card_usage_describe_health(const struct card_usage *usage, char *text, size_t size)
{
    static const struct {
        enum card_figure figure;
        const char *one, *several;
    } counted[] = {
        {CARD_ECC_UNCORRECTED, "new memory error that could not be corrected",
            "new memory errors that could not be corrected"},
        {CARD_ECC_CORRECTED, "memory error was corrected", "memory errors were corrected"},
        {CARD_RETIRED_PAGES, "page of memory was retired", "pages of memory were retired"},
        {CARD_REMAPPED_ROWS, "row of memory was replaced", "rows of memory were replaced"},
        {CARD_NVLINK_ERRORS, "error of NVLink", "errors of NVLink"},
        {CARD_PCIE_REPLAYS, "packet was sent again over PCIe", "packets were sent again over PCIe"},
    };
    const struct card_value *values = usage->values;
    char word[CARD_REASONS_SIZE];
    text[0] = '\0';
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        double count = card_usage_counted(usage, counted[i].figure);
        if (count > 0)
            append(text, size, "; ", "%.0f %s", count,
                count == 1 ? counted[i].one : counted[i].several);
    }
    double n_xids = card_usage_counted(usage, CARD_XID_ERRORS);
    if (n_xids > 0)
        append(text, size, "; ", "%.0f error%s in the kernel's log (the last: Xid %.0f)", n_xids,
            n_xids == 1 ? "" : "s", values[CARD_LAST_XID].last);
    if (values[CARD_REMAPPING_PENDING].last > values[CARD_REMAPPING_PENDING].first)
        append(text, size, "; ", "rows of memory wait for a reset to be replaced");
    if (values[CARD_REMAPPING_FAILED].last > values[CARD_REMAPPING_FAILED].first)
        append(text, size, "; ", "no spare row of memory is left");
    if (values[CARD_RECOVERY_ACTION].last != values[CARD_RECOVERY_ACTION].first &&
        values[CARD_RECOVERY_ACTION].last > 0)
        append(text, size, "; ", "the driver asks for %s",
            card_value_text(CARD_RECOVERY_ACTION, values[CARD_RECOVERY_ACTION].last, word));
    if (usage->working_link > 0 && usage->working_link < usage->widest_link)
        append(text, size, "; ", "PCIe link from x%.0f to x%.0f", usage->widest_link,
            usage->working_link);
    int n_anew = 0, anew = 0;
    for (int i = 0; i < CARD_FIGURE_COUNT; i++) {
        if (!values[i].began_anew || card_figures[i].kind == CARD_SHORT_COUNTER)
            continue;
        n_anew++;
        anew = i;
    }
    /* One alone may have been cleared by somebody. */
    if (n_anew == 1)
        append(text, size, "; ", "the counter %s began anew", card_figures[anew].name);
    else if (n_anew > 1)
        append(text, size, "; ", "the card was reset, or its driver was loaded again");
}
