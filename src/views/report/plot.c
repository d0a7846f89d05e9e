#include <gputracker/plot.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/order.h"
#include "base/sized.h"
#include "base/str.h"
#include "views/plot/chart.h"
#include "views/report/document/report_column_reader.h"
#include "views/report/document/report_payload.h"
#include "views/report/export/report_html.h"
#include "views/report/plot_figures.h"
#include "views/report/report_plan.h"
#include "views/report/report_sessions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- Code blocks as rows ---- */

#define MAX_ROWS 8
#define NO_ROW SIZE_MAX

enum { START, STOP, NAME, DEPTH, COLUMNS };

/* One code block of a session. */
struct block {
    const char *name;
    double seconds;     /* of its calls, within the time of the chart */
    double first, last; /* the earliest start, the latest stop */
    bool is_outermost;  /* its first call is inside no other */
    size_t row;         /* NO_ROW: none */
};

struct blocks {
    const struct report_payload *payload;
    const struct doc *calls;
    struct chart *chart;
    struct block *list; /* owned */
    size_t count;
};

typedef int take_call(struct blocks *blocks, const double call[COLUMNS], struct gput_error *error);

/* Hands on the calls of all code blocks, in the order of their starts. */
static int read_calls(struct blocks *blocks, take_call *take, struct gput_error *error)
{
    static const char *const keys[COLUMNS] = {"start", "stop", "name", "depth"};
    struct report_column_reader readers[COLUMNS] = {{.count = 0}};
    double call[COLUMNS];
    int code = GPUT_OK;
    for (int i = 0; i < COLUMNS && code == GPUT_OK; i++)
        code = report_column_reader_init(
            &readers[i], blocks->payload, doc_get(blocks->calls, keys[i]), error);
    while (code == GPUT_OK && !report_column_reader_at_end(&readers[START])) {
        for (int i = 0; i < COLUMNS && code == GPUT_OK; i++)
            code = report_column_reader_next(&readers[i], &call[i], error);
        if (code == GPUT_OK && call[NAME] >= 0 && call[NAME] < (double)blocks->count)
            code = take(blocks, call, error);
    }
    for (int i = 0; i < COLUMNS; i++)
        report_column_reader_finish(&readers[i]);
    return code;
}

static const struct doc *first_session(const struct report_payload *payload)
{
    return doc_get(payload->root, "sessions")->first;
}

/* Lists the code blocks of a session. */
static int begin(struct blocks *blocks, const struct doc *session, struct gput_error *error)
{
    blocks->calls = doc_get(session, "calls");
    const struct doc *names = blocks->calls ? doc_get(blocks->calls, "names") : NULL;
    size_t count = 0;
    blocks->list = calloc(names ? names->count + 1 : 1, sizeof *blocks->list);
    if (!blocks->list)
        return error_memory(error);
    for (const struct doc *name = doc_first(names); name; name = name->next)
        blocks->list[count++] = (struct block){
            .name = name->string ? name->string : "", .first = NAN, .last = NAN, .row = NO_ROW};
    blocks->count = count;
    return GPUT_OK;
}

/* ---- Times ---- */

/* Widens the time of a code block to a call. */
static int widen(struct blocks *blocks, const double call[COLUMNS], struct gput_error *error)
{
    struct block *block = &blocks->list[(size_t)call[NAME]];
    (void)error;
    block->first = fmin(block->first, call[START]);
    block->last = fmax(fmax(block->last, call[START]), call[STOP]);
    return GPUT_OK;
}

/* Widens *start and *end, NaN at first, to the calls. Errors: those of
 * report_column_reader_next(). */
static int find_block_times(
    const struct report_payload *payload, double *start, double *end, struct gput_error *error)
{
    int code = GPUT_OK;
    for (const struct doc *session = first_session(payload); session && code == GPUT_OK;
         session = session->next) {
        struct blocks blocks = {.payload = payload};
        code = begin(&blocks, session, error);
        if (code == GPUT_OK && blocks.calls)
            code = read_calls(&blocks, widen, error);
        for (size_t i = 0; i < blocks.count; i++) {
            *start = fmin(*start, blocks.list[i].first);
            *end = fmax(*end, blocks.list[i].last);
        }
        free(blocks.list);
    }
    return code;
}

/* ---- Rows ---- */

/* Adds up the time of a call within that of the chart. */
static int add_up(struct blocks *blocks, const double call[COLUMNS], struct gput_error *error)
{
    struct block *block = &blocks->list[(size_t)call[NAME]];
    double start = fmax(call[START], blocks->chart->start);
    double stop = fmin(call[STOP], blocks->chart->end); /* NaN: it has not ended */
    (void)error;
    if (!(stop >= start))
        return GPUT_OK;
    if (isnan(block->first)) {
        block->first = start;
        block->is_outermost = call[DEPTH] == 0;
    }
    block->seconds += stop - start;
    return GPUT_OK;
}

/* The code block without a row that took the most time, of equal ones the first; NULL: none. */
static struct block *find_longest(struct blocks *blocks)
{
    struct block *longest = NULL;
    for (size_t i = 0; i < blocks->count; i++) {
        struct block *block = &blocks->list[i];
        bool is_left = !isnan(block->first) && block->row == NO_ROW;
        if (is_left && (!longest || block->seconds > longest->seconds))
            longest = block;
    }
    return longest;
}

/* Orders code blocks by their first call. */
static int compare_starts(const void *left, const void *right)
{
    const struct block *a = *(struct block *const *)left, *b = *(struct block *const *)right;
    ORDER_BY(a->first, b->first);
    ORDER_BY(b->seconds, a->seconds);
    return ORDER(a, b);
}

/* Adds a row for each of the code blocks that took the most time, in the order in which they begin.
 */
static int add_rows(
    struct blocks *blocks, const char *session, bool is_alone, struct gput_error *error)
{
    struct block *shown[MAX_ROWS];
    size_t count = 0;
    while (count < MAX_ROWS && (shown[count] = find_longest(blocks)) != NULL)
        shown[count++]->row = 0;
    qsort(shown, count, sizeof *shown, compare_starts);
    for (size_t i = 0; i < count; i++) {
        struct str label = {0};
        str_append(&label, shown[i]->name);
        if (!is_alone)
            str_printf(&label, " (%s)", session);
        shown[i]->row = blocks->chart->row_count;
        /* The first look is that of the curve. */
        struct chart_row *row =
            chart_add_row(blocks->chart, str_text(&label), (unsigned)blocks->chart->row_count + 1);
        bool has_failed = label.failed || !row;
        str_finish(&label);
        if (has_failed)
            return error_memory(error);
        row->is_band = is_alone && shown[i]->is_outermost;
    }
    return GPUT_OK;
}

/* Adds a call to the row of its code block, if it has one. */
static int add_span(struct blocks *blocks, const double call[COLUMNS], struct gput_error *error)
{
    size_t row = blocks->list[(size_t)call[NAME]].row;
    if (row == NO_ROW ||
        chart_add_span(blocks->chart, &blocks->chart->rows[row], call[START], call[STOP]))
        return GPUT_OK;
    return error_memory(error);
}

/* Whether calls of two rows overlap. The spans of both are in order. */
static bool run_at_once(const struct chart_row *one, const struct chart_row *other)
{
    for (size_t i = 0, k = 0; i < one->count && k < other->count;) {
        const struct chart_span *a = &one->spans[i], *b = &other->spans[k];
        if (fmin(a->stop, b->stop) > fmax(a->start, b->start))
            return true;
        if (a->stop < b->stop)
            i++;
        else
            k++;
    }
    return false;
}

/* Adds the rows of a session, with their calls. */
static int add_session(struct blocks *blocks, const struct doc *session, bool is_alone,
    const struct gput_plot_options *options, struct gput_error *error)
{
    const struct doc *name = doc_get(session, "name");
    TRY(read_calls(blocks, add_up, error));
    TRY(add_rows(blocks, name && name->string ? name->string : "", is_alone, error));
    const struct block *rest = find_longest(blocks);
    if (rest && options->warn) {
        char text[96];
        snprintf(
            text, sizeof text, "The %d code blocks that took the most time are shown.", MAX_ROWS);
        options->warn(options->user, text);
    }
    TRY(read_calls(blocks, add_span, error));

    /* Shades over each other, as of several processes, would show neither: a moment has at most
     * one. */
    for (size_t i = 0; i < blocks->chart->row_count; i++) {
        struct chart_row *row = &blocks->chart->rows[i];
        for (size_t k = 0; k < i && row->is_band; k++)
            row->is_band =
                !blocks->chart->rows[k].is_band || !run_at_once(row, &blocks->chart->rows[k]);
    }
    return GPUT_OK;
}

/* Adds a row for each of the code blocks that took the most time. Bands are of a single session.
 * Errors: also GPUT_ERROR_MEMORY. */
static int add_blocks(const struct report_payload *payload, const struct gput_plot_options *options,
    struct chart *chart, struct gput_error *error)
{
    const struct doc *first = first_session(payload);
    bool is_alone = first && !first->next;
    int code = GPUT_OK;
    for (const struct doc *session = first; session && code == GPUT_OK; session = session->next) {
        struct blocks blocks = {.payload = payload, .chart = chart};
        code = begin(&blocks, session, error);
        if (code == GPUT_OK && blocks.calls)
            code = add_session(&blocks, session, is_alone, options, error);
        free(blocks.list);
    }
    if (code == GPUT_OK && chart->row_count == 0 && options->warn)
        options->warn(options->user, "There are no code blocks to draw.");
    return code;
}

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

/* Converts a size to points, and refuses one that is out of range. */
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

    /* Find the time from the first to the last point, and what of it is wanted. */
    double start = NAN, end = NAN;
    TRY(plot_figures_find_times(&plot->figures, plot->payload, &start, &end, error));
    if (with_blocks)
        TRY(find_block_times(plot->payload, &start, &end, error));
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

    TRY(plot_figures_add(&plot->figures, plot->payload, options, &plot->chart, error));
    return with_blocks ? add_blocks(plot->payload, options, &plot->chart, error) : GPUT_OK;
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
