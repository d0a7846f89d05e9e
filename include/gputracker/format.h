/*
 * The formats in which reports and tables are rendered.
 *
 * Every gput_…_render() has the same shape: what is rendered, its options if it has some, the
 * format, and where the result goes:
 *
 *     char *bytes;
 *     size_t length;
 *     int code = gput_results_render(results, NULL, GPUT_FORMAT_JSON, &bytes, &length, &error);
 *     if (code == GPUT_OK)
 *         fwrite(bytes, 1, length, stdout);
 *     free(bytes);
 *
 * The options of gput_plot_render() and gput_python_render() name what is rendered.
 *
 * On success the caller frees `*bytes` with free(); a NUL follows the `*length` bytes, and `length`
 * may be NULL. Text, JSON and CSV end with a newline. On failure `*bytes` is NULL:
 * GPUT_ERROR_INVALID for a format that the function does not have, GPUT_ERROR_MEMORY.
 */
#ifndef GPUTRACKER_FORMAT_H
#define GPUTRACKER_FORMAT_H

#ifdef __cplusplus
extern "C" {
#endif

/** Formats of reports. Each gput_…_render() names those that it has. */
enum gput_format {
    GPUT_FORMAT_TEXT, /**< of a session: the report of the older Python gpu_tracker */
    GPUT_FORMAT_JSON,
    GPUT_FORMAT_CSV,
    GPUT_FORMAT_PICKLE,      /**< only of the command: the Python package makes it from JSON */
    GPUT_FORMAT_PROMETHEUS,  /**< Prometheus' text format, version 0.0.4 */
    GPUT_FORMAT_OPENMETRICS, /**< OpenMetrics 1.0 */
    GPUT_FORMAT_FULL,        /**< of a session: text with every figure and its source */
    GPUT_FORMAT_SUMMARY,     /**< of a session: about ten lines for people */
    GPUT_FORMAT_LINE, /**< of a session: its current figures in one line, without a newline */
    GPUT_FORMAT_SVG,  /**< of curves: a picture */
    GPUT_FORMAT_PDF,  /**< likewise, with its fonts */
    GPUT_FORMAT_PNG,  /**< likewise, as a raster image */
    GPUT_FORMAT_MARKDOWN,
    GPUT_FORMAT_ASCIIDOC,
    GPUT_FORMAT_HTML,                /**< a page that needs no other file */
    GPUT_FORMAT_HYPERFINE,           /**< of a benchmark: the JSON that hyperfine exports */
    GPUT_FORMAT_BENCHER,             /**< of a benchmark: Bencher Metric Format, JSON */
    GPUT_FORMAT_NEXTFLOW_TRACE,      /**< of a session: the .command.trace of Nextflow */
    GPUT_FORMAT_SNAKEMAKE_BENCHMARK, /**< of a session: the table of Snakemake's `benchmark:` */
};

#ifdef __cplusplus
}
#endif

#endif
