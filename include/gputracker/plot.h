/*
 * Plots: curves of sessions as a picture for papers and pages, in SVG, PDF or PNG.
 *
 *     struct gput_report_session session = gput_report_session_default();
 *     const struct gput_report_session *sessions[] = {&session};
 *     struct gput_plot_options options = gput_plot_options_default();
 *     session.path = "tracking.csv";
 *     options.sessions = sessions;
 *     options.n_sessions = 1;
 *     gput_plot_write(&options, "memory.pdf", &error);
 *
 * Curves are reduced to what the picture can show; no peak is lost. SVG is made without any other
 * library; PDF and PNG need cairo and Pango (libpangocairo-1.0.so.0), loaded when they are needed.
 */
#ifndef GPUTRACKER_PLOT_H
#define GPUTRACKER_PLOT_H

#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/report.h>
#include <gputracker/sized.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A curve in memory. Sized: see gputracker/sized.h. */
struct gput_plot_curve {
    size_t size;        /**< set by gput_plot_curve_default() */
    const char *figure; /**< chart of the curve: "ram", "cpu" or another name */
    const char *label;  /**< name of the line in the legend */
    const char *unit;   /**< "bytes", "percent", "watts", "count", or another, or "" */
    const double *seconds;
    const double *values; /**< NaN: the line is interrupted */
    size_t n_points;      /**< length of `seconds` and `values` */
    double limit;         /**< upper limit of the values; NaN, the default: none */
};

/** Sets the defaults in a struct of that size; for gput_plot_curve_default(). */
GPUT_API void gput_plot_curve_init(struct gput_plot_curve *curve, size_t size);

/** No points, no limit. */
static inline struct gput_plot_curve gput_plot_curve_default(void)
{
    struct gput_plot_curve curve;
    gput_plot_curve_init(&curve, sizeof curve);
    return curve;
}

/** Sized: see gputracker/sized.h. */
struct gput_plot_options {
    size_t size; /**< set by gput_plot_options_default() */
    /** Sessions to draw, as gput_report_write() reads them: overlaid, each from its own start.
     * None: only `curves`. */
    const struct gput_report_session *const *sessions;
    size_t n_sessions;
    const char *const *sub_tracking_files; /**< as in gput_report_options */
    size_t n_sub_tracking_files;
    const struct gput_plot_curve *const *curves;
    size_t n_curves;
    /**
     * The charts to draw. The name of a chart ("ram", "gpu_ram", "cpu", "gpu", "threads", "power"
     * …) draws it with its main curve, that of a curve ("main_ram", "gpu0_power_watts") with that
     * one. None: those of "ram", "gpu_ram", "cpu", "gpu" and "power" that were used; all charts,
     * where none of these was.
     */
    const char *const *figures;
    size_t n_figures;
    bool blocks;          /**< draw rows of code blocks, and bands where the outermost ones ran */
    bool is_inline;       /**< draw small, without a background: for a page of any colour */
    double start_seconds; /**< start of the drawn interval, counted from the start of the session;
                             NaN: no bound */
    double end_seconds;   /**< end of that interval; NaN: no bound */
    double width_mm;      /**< 0: 160 */
    double height_mm;     /**< 0: as high as the charts need */
    const char *title;    /**< NULL: none */
    /** Called with one line (no newline) for each warning. May be NULL. */
    void (*warn)(void *user, const char *message);
    /** Called now and then with the completed share of the work, 0 to 1. May be NULL. */
    void (*progress)(void *user, double done);
    void *user; /**< passed to warn() and progress() */
};

/** Sets the defaults in a struct of that size. */
GPUT_API void gput_plot_options_init(struct gput_plot_options *options, size_t size);

/** Nothing to draw yet, without bounds. */
static inline struct gput_plot_options gput_plot_options_default(void)
{
    struct gput_plot_options options;
    gput_plot_options_init(&options, sizeof options);
    return options;
}

/**
 * Draws GPUT_FORMAT_SVG, GPUT_FORMAT_PDF or GPUT_FORMAT_PNG (300 dots per inch). Result: see
 * gputracker/format.h. Memory is bounded for any number of samples; the rest goes to an unnamed
 * temporary file in /var/tmp.
 *
 * Errors: GPUT_ERROR_INVALID (nothing to draw, an unknown figure, a picture too small or
 * too large, another format), GPUT_ERROR_UNSUPPORTED (cairo or Pango is missing),
 * GPUT_ERROR_NOT_FOUND, GPUT_ERROR_FORMAT (a file of another kind), GPUT_ERROR_IO,
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_plot_render(const struct gput_plot_options *options, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error);

/**
 * The same to a file, in the format of its extension: .svg, .pdf or .png. It appears complete or
 * not at all. "-" is the standard output, as SVG. Errors: also GPUT_ERROR_INVALID for another
 * extension.
 */
GPUT_API int gput_plot_write(
    const struct gput_plot_options *options, const char *path, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
