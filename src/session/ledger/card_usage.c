#include "session/ledger/card_usage.h"

#include "base/human.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A counter that was not slowed for so long was not slowed: drivers count ends of programs. */
#define MIN_SLOWED_SECONDS 0.001

static void add_value(
    struct card_usage *usage, struct card_value *value, double figure, enum card_kind kind)
{
    bool counts = kind == CARD_COUNTER || kind == CARD_SHORT_COUNTER;
    if (value->count == 0) {
        value->first = value->min = value->max = figure;
    } else if (counts && figure < value->last) {
        value->counted += figure; /* since it began anew */
        usage->was_reset |= kind == CARD_COUNTER;
    } else if (counts) {
        value->counted += figure - value->last;
    }
    value->min = fmin(value->min, figure);
    value->max = fmax(value->max, figure);
    value->sum += figure;
    value->last = figure;
    value->count++;
}

void card_usage_add(struct card_usage *usage, const struct card_reading *reading)
{
    for (int i = 0; i < CARD_FIGURE_COUNT; i++) {
        usage->values[i].is_missing = isnan(reading->values[i]);
        if (usage->values[i].is_missing)
            continue;
        add_value(usage, &usage->values[i], reading->values[i], card_figures[i].kind);
        usage->has = true;
    }
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
    if (values[CARD_REMAPPING_PENDING].last > values[CARD_REMAPPING_PENDING].first)
        append(text, size, "; ", "rows of memory wait for a reset to be replaced");
    if (values[CARD_REMAPPING_FAILED].last > values[CARD_REMAPPING_FAILED].first)
        append(text, size, "; ", "no spare row of memory is left");
    if (values[CARD_RECOVERY_ACTION].last != values[CARD_RECOVERY_ACTION].first &&
        values[CARD_RECOVERY_ACTION].last > 0)
        append(text, size, "; ", "the driver asks for %s",
            card_value_text(CARD_RECOVERY_ACTION, values[CARD_RECOVERY_ACTION].last, word));
    if (values[CARD_PCIE_WIDTH].last < values[CARD_PCIE_WIDTH].first)
        append(text, size, "; ", "PCIe link from x%.0f to x%.0f", values[CARD_PCIE_WIDTH].first,
            values[CARD_PCIE_WIDTH].last);
    if (usage->was_reset)
        append(text, size, "; ", "the card was reset, or its driver was loaded again");
}
