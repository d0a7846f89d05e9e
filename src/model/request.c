#include "model/request.h"

#include <math.h>

#define MEBIBYTE 1048576.0
#define GIBIBYTE (1024 * MEBIBYTE)
#define MINUTE 60.0
#define HOUR 3600.0

/* Returns the next multiple of a step. NaN stays so. */
static double round_up(double value, double step)
{
    return fmax(ceil(value / step - 1e-9), isnan(value) ? value : 1) * step;
}

double request_round_ram_bytes(double bytes)
{
    return round_up(bytes, bytes < 4 * GIBIBYTE ? 256 * MEBIBYTE : GIBIBYTE);
}

double request_round_seconds(double seconds)
{
    return round_up(seconds, seconds < 10 * MINUTE ? MINUTE
                             : seconds < HOUR      ? 5 * MINUTE
                                                   : HOUR / 4);
}

double request_ram_bytes(double used_bytes)
{
    return request_round_ram_bytes(used_bytes * (1 + REQUEST_RAM_MARGIN));
}

double request_seconds(double used_seconds)
{
    return request_round_seconds(used_seconds * (1 + REQUEST_TIME_MARGIN));
}

double request_cores(double used_cores)
{
    return round_up(used_cores * (1 + REQUEST_CORES_MARGIN), 1);
}

void request_add_slurm(double ram_bytes, double cores, double seconds, struct str *text)
{
    const char *blank = text->length > 0 ? " " : "";
    if (!isnan(ram_bytes)) {
        bool is_whole = fmod(ram_bytes, GIBIBYTE) == 0;
        str_printf(text, "%s--mem=%.0f%s", blank, ram_bytes / (is_whole ? GIBIBYTE : MEBIBYTE),
            is_whole ? "G" : "M");
        blank = " ";
    }
    if (!isnan(cores)) {
        str_printf(text, "%s--cpus-per-task=%.0f", blank, cores);
        blank = " ";
    }
    if (isnan(seconds))
        return;
    double days = floor(seconds / (24 * HOUR)), rest = seconds - days * 24 * HOUR;
    double hours = floor(rest / HOUR), minutes = floor((rest - hours * HOUR) / MINUTE);
    str_printf(text, "%s--time=", blank);
    if (days > 0)
        str_printf(text, "%.0f-", days);
    str_printf(
        text, "%02.0f:%02.0f:%02.0f", hours, minutes, rest - hours * HOUR - minutes * MINUTE);
}
