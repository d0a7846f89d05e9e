#include "views/output/workflow_formats.h"

#include <math.h>

/* The mean use of the CPU, 100 being one core; NaN: not known. */
static double mean_cpu_percent(const struct gput_results *results)
{
    double cpu_seconds = results->accounting.kernel_cpu_seconds;
    return results->elapsed_seconds > 0 ? 100 * cpu_seconds / results->elapsed_seconds : NAN;
}

/* The peak of all processes together: at least. */
static double peak_ram_bytes(const struct gput_results *results)
{
    double peak = results->peaks.combined.bytes;
    return isnan(peak) ? results->max[GPUT_COMBINED_RAM] : peak;
}

void nextflow_trace_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    const struct gput_accounting *accounting = &results->accounting;
    double ram_bytes = peak_ram_bytes(results);
    const struct {
        const char *key;
        double value;
    } lines[] = {
        {"realtime", 1000 * results->elapsed_seconds},
        {"%cpu", 10 * mean_cpu_percent(results)},
        {"rchar", accounting->read_bytes},
        {"wchar", accounting->write_bytes},
        {"read_bytes", accounting->storage_read_bytes},
        {"write_bytes", accounting->storage_write_bytes},
        {"%mem", 1000 * ram_bytes / results->static_data.ram_system_capacity_bytes},
        {"rss", ram_bytes / 1024},
        {"peak_rss", ram_bytes / 1024},
        {"vol_ctxt", accounting->voluntary_context_switches},
        {"inv_ctxt", accounting->involuntary_context_switches},
    };
    (void)options;
    str_append(text, "nextflow.trace/v2\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (isfinite(lines[i].value))
            str_printf(text, "%s=%.0f\n", lines[i].key, lines[i].value);
    }
}

/* Appends a cell after a tab: two digits, as Snakemake has them. */
static void append_cell(struct str *text, double value)
{
    if (isfinite(value))
        str_printf(text, "\t%.2f", value);
    else
        str_append(text, "\tNA");
}

void snakemake_benchmark_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    const double mebibyte = 1 << 20;
    double seconds = results->elapsed_seconds, whole = floor(seconds);
    (void)options;
    str_append(text, "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_"
                     "time\n");
    str_printf(text, "%.4f\t%.0f:%02.0f:%02.0f", seconds, floor(whole / 3600),
        floor(fmod(whole, 3600) / 60), fmod(whole, 60));
    append_cell(text, peak_ram_bytes(results) / mebibyte);
    append_cell(text, NAN);
    append_cell(text, results->max[GPUT_COMBINED_PRIVATE_RAM] / mebibyte);
    append_cell(text, results->max[GPUT_COMBINED_RAM] / mebibyte);
    append_cell(text, results->accounting.storage_read_bytes / mebibyte);
    append_cell(text, results->accounting.storage_write_bytes / mebibyte);
    append_cell(text, mean_cpu_percent(results));
    append_cell(text, results->accounting.kernel_cpu_seconds);
    str_append_char(text, '\n');
}
