#include "views/output/results_progress.h"

#include "base/human.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* A part that does not fit is left out, and with it all that follows: half a number is a wrong one.
 */
__attribute__((format(printf, 4, 5))) static bool append_part(
    struct str *line, size_t width, bool is_whole, const char *format, ...)
{
    struct str part = {0};
    va_list arguments;
    va_start(arguments, format);
    str_print_list(&part, format, arguments);
    va_end(arguments);
    /* The last column would begin another line. */
    bool fits = is_whole &&
                (width <= 1 || utf8_width(str_text(line)) + utf8_width(str_text(&part)) < width);
    if (fits)
        str_append(line, str_text(&part));
    line->failed |= part.failed;
    str_finish(&part);
    return fits;
}

/* "12.3 s  1.9 cores  RAM 412 MB, peak 500 MB  GPU RAM 11.2 GB, busy 85 %" */
static void write_line(const struct gput_results *results, size_t width, struct str *line)
{
    char now[HUMAN_SIZE];
    const double *values = results->now.values;
    double cpu_percent = values[GPUT_CPU_COMBINED_SUM];
    bool fits = true;
    if (results->elapsed_seconds < 59.95)
        fits = append_part(line, width, fits, "%.1f s", results->elapsed_seconds);
    else
        fits = append_part(line, width, fits, "%s", human_seconds(results->elapsed_seconds, now));
    if (!isnan(cpu_percent))
        fits = append_part(line, width, fits, "  %.1f cores", cpu_percent / 100);
    if (!isnan(values[GPUT_COMBINED_RAM])) {
        fits =
            append_part(line, width, fits, "  RAM %s", human_bytes(values[GPUT_COMBINED_RAM], now));
        fits = append_part(
            line, width, fits, ", peak %s", human_bytes(results->max[GPUT_COMBINED_RAM], now));
    }
    if (results->n_gpus && !isnan(values[GPUT_COMBINED_GPU_RAM]))
        fits = append_part(
            line, width, fits, "  GPU RAM %s", human_bytes(values[GPUT_COMBINED_GPU_RAM], now));
    if (results->n_gpus && !isnan(values[GPUT_GPU_HARDWARE_UTILIZATION]))
        append_part(
            line, width, fits, "  GPUs busy %.0f %%", values[GPUT_GPU_HARDWARE_UTILIZATION]);
}

void results_progress_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text)
{
    struct str line = {0};
    write_line(results, options->width, &line);
    text->failed |= line.failed;
    str_append(text, str_text(&line));
    str_finish(&line);
}
