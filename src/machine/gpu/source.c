#include "machine/gpu/source.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *gpu_vendor_name(enum gpu_vendor vendor)
{
    static const char *const names[] = {"other", "nvidia", "amd", "intel"};
    return names[vendor];
}

static const char *figure_name(enum gpu_figure figure)
{
    static const char *const names[GPU_FIGURE_COUNT] = {
        "ram_used",
        "utilization",
        "power",
        "energy",
        "process_ram",
        "process_utilization",
    };
    return names[figure];
}

static void append(char *text, size_t size, const char *separator, const char *more)
{
    size_t length = strlen(text);
    text_fit(text + length, size - length, "%s%s", separator, more);
}

void gpu_device_explain(
    const struct gpu_device *device, enum gpu_figure but, char *text, size_t size)
{
    bool named[GPU_FIGURE_COUNT + 1] = {false};
    named[but] = true;
    text[0] = '\0';
    for (enum gpu_figure figure = 0; figure < GPU_FIGURE_COUNT; figure++) {
        const char *reason = device->missing[figure], *separator = text[0] ? "; " : "";
        if (named[figure] || !reason[0])
            continue;
        for (enum gpu_figure same = figure; same < GPU_FIGURE_COUNT; same++) {
            if (named[same] || strcmp(device->missing[same], reason) != 0)
                continue;
            append(text, size, separator, figure_name(same));
            named[same] = true;
            separator = ", ";
        }
        append(text, size, ": ", reason);
    }
}

static const char not_reported[] = "not reported by this driver";

void gpu_device_reading_clear(struct gpu_device_reading *reading, const char *reason)
{
    *reading = (struct gpu_device_reading){
        .ram_used_bytes = NAN,
        .utilization_percent = NAN,
        .power_watts = NAN,
        .energy_joules = NAN,
        .card_power_watts = NAN,
        .card_energy_joules = NAN,
        .card_ram_used_bytes = NAN,
    };
    for (int i = 0; i < GPU_FIGURE_COUNT; i++)
        reading->missing[i] = reason;
    card_reading_clear(&reading->card, reason ? reason : not_reported);
}

void gpu_source_status_set(struct gpu_source_status *status, enum gpu_source_state state,
    const char *remedy, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(status->detail, sizeof status->detail, format, arguments);
    va_end(arguments);
    snprintf(status->remedy, sizeof status->remedy, "%s", remedy);
    status->state = state;
}
