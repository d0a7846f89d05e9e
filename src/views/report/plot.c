#include <gputracker/plot.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/sized.h"
#include "views/plot/chart.h"
#include "views/report/export/report_html.h"
#include "views/report/plot_blocks.h"
#include "views/report/plot_figures.h"
#include "views/report/report_plan.h"
#include "views/report/report_sessions.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define POINTS_PER_MM (72 / 25.4)
#define MAX_SIZE_MM 2000.0

void gput_plot_options_init(struct gput_plot_options *options, size_t size)
{
    static const struct gput_plot_options usual = {.start_seconds = NAN, .end_seconds = NAN};
    sized_init(options, size, &usual, sizeof usual);
}

/* ---- The chart ---- */

/* Loads the curves of the sessions, if the picture has any. */
static int load(struct report_payload *payload, const struct gput_plot_options *options,
    struct gput_error *error)
{
    struct gput_report_options sessions = gput_report_options_default();
    CLEANUP(report_plan_finish) struct report_plan plan = {0};
    sessions.sessions = options->sessions;
    sessions.n_sessions = options->n_sessions;
    sessions.sub_tracking_files = options->sub_tracking_files;
    sessions.n_sub_tracking_files = options->n_sub_tracking_files;
    sessions.warn = options->warn;
    sessions.progress = options->progress;
    sessions.user = options->user;
    doc_add_array(payload->root, "sessions");
    if (options->n_sessions > 0 || options->n_curves == 0) {
        TRY(report_plan_make(&sessions, &plan, error));
        TRY(report_sessions_add(payload, &sessions, &plan, true, error));
    }
    return doc_failed(payload->root) ? error_memory(error) : GPUT_OK;
}

struct plot {
    const struct gput_plot_options *options;
    struct report_payload *payload;
    struct plot_figures figures;
    struct chart chart;
};

/* Finds the time from the first to the last point, and what of it is wanted. */
static int find_times(struct plot *plot, bool with_blocks, struct gput_error *error)
{
    const struct gput_plot_options *options = plot->options;
    double start = NAN, end = NAN;
    TRY(plot_figures_find_times(&plot->figures, plot->payload, &start, &end, error));
    if (with_blocks)
        TRY(plot_blocks_find_times(plot->payload, &start, &end, error));
    if (isnan(start))
        return error_set(error, GPUT_ERROR_INVALID,
            "There is nothing to draw: the input has neither curves nor code blocks. Keep samples "
            "with run --tf.");
    plot->chart.start = fmax(start, options->start_seconds);
    plot->chart.end = fmin(end, options->end_seconds);
    if (plot->chart.start > plot->chart.end)
        return error_set(error, GPUT_ERROR_INVALID,
            "Nothing was recorded in that range: the recording is from %.6g to %.6g seconds.",
            start, end);
    return GPUT_OK;
}

static int check_size(double millimetres, double *points, struct gput_error *error)
{
    if (!(millimetres >= 0 && millimetres <= MAX_SIZE_MM))
        return error_set(error, GPUT_ERROR_INVALID,
            "A picture cannot be %.6g mm large: at most %.0f mm.", millimetres, MAX_SIZE_MM);
    *points = millimetres * POINTS_PER_MM;
    return GPUT_OK;
}

/* Makes the chart of what was loaded. Code blocks are in it where they are wanted, or all there is.
 */
static int fill(struct plot *plot, struct gput_error *error)
{
    const struct gput_plot_options *options = plot->options;
    bool has_curves = false;
    plot->chart.is_inline = options->is_inline;
    plot->chart.title = options->title;
    TRY(check_size(options->width_mm, &plot->chart.width, error));
    TRY(check_size(options->height_mm, &plot->chart.height, error));
    TRY(plot_figures_list(&plot->figures, plot->payload, options, error));
    TRY(plot_figures_choose(&plot->figures, options, error));
    for (size_t i = 0; i < plot->figures.count; i++)
        has_curves |= plot->figures.series[i].is_chosen;
    bool with_blocks = options->blocks || !has_curves;
    TRY(find_times(plot, with_blocks, error));
    TRY(plot_figures_add(&plot->figures, plot->payload, options, &plot->chart, error));
    return with_blocks ? plot_blocks_add(plot->payload, options, &plot->chart, error) : GPUT_OK;
}

/* Loads the sessions, makes their chart, and writes it in a format. */
static int draw(const struct gput_plot_options *options, const char *folder,
    enum gput_format format, char **bytes, size_t *length, struct gput_error *error)
{
    struct report_payload payload;
    struct plot plot = {.options = options, .payload = &payload};
    int code = report_payload_init(&payload, folder, error);
    if (code == GPUT_OK)
        code = load(&payload, options, error);
    if (code == GPUT_OK)
        code = fill(&plot, error);
    if (code == GPUT_OK)
        code = chart_render(&plot.chart, format, bytes, length, error);
    chart_finish(&plot.chart);
    plot_figures_finish(&plot.figures);
    report_payload_finish(&payload);
    if (code == GPUT_OK && options->progress)
        options->progress(options->user, 1);
    return code;
}

/* ---- Where to ---- */

int gput_plot_render(const struct gput_plot_options *given, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct gput_plot_options options = gput_plot_options_default();
    CLEANUP_FREE char *folder = NULL;
    *bytes = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    if (!drawing_has_format(format))
        return error_set(error, GPUT_ERROR_INVALID, "A picture is " DRAWING_FORMATS ".");
    TRY(file_temporary_folder("/dev/null", &folder, error));
    return draw(&options, folder, format, bytes, length, error);
}

/* The format of a picture by the extension of its name; SVG without one. */
static int format_of(const char *path, enum gput_format *format, struct gput_error *error)
{
    static const struct {
        const char *extension;
        enum gput_format format;
    } extensions[] = {
        {".svg", GPUT_FORMAT_SVG}, {".pdf", GPUT_FORMAT_PDF}, {".png", GPUT_FORMAT_PNG}};
    const char *extension = strrchr(file_base_name(path), '.');
    *format = GPUT_FORMAT_SVG;
    if (strcmp(path, REPORT_STDOUT) == 0)
        return GPUT_OK;
    for (size_t i = 0; extension && i < sizeof extensions / sizeof *extensions; i++) {
        *format = extensions[i].format;
        if (strcasecmp(extension, extensions[i].extension) == 0)
            return GPUT_OK;
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "A picture is " DRAWING_FORMATS ": name it .svg, .pdf or .png, not %s", path);
}

int gput_plot_write(
    const struct gput_plot_options *given, const char *path, struct gput_error *error)
{
    struct gput_plot_options options = gput_plot_options_default();
    bool to_stdout = strcmp(path, REPORT_STDOUT) == 0;
    enum gput_format format;
    CLEANUP_FREE char *folder = NULL;
    CLEANUP_FREE char *bytes = NULL;
    size_t length;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(format_of(path, &format, error));
    TRY(to_stdout ? GPUT_OK : file_check(path, error));
    TRY(file_temporary_folder(to_stdout ? "/dev/null" : path, &folder, error));
    TRY(draw(&options, folder, format, &bytes, &length, error));
    if (to_stdout)
        return file_write_fd(STDOUT_FILENO, "to the standard output", bytes, length, error);
    return file_write_atomic(path, bytes, length, error);
}
