#include "views/report/plot_figures.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/text.h"
#include "views/report/document/report_column_reader.h"
#include "views/report/document/report_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than these are not distinguished, or do not fit a page. */
#define MAX_LINES 12
#define MAX_PANELS 8

/* Charts of a session that are shown unless others are named, and what they are called. */
static const struct known_group {
    const char *group, *name;
    bool is_usual;
} known_groups[] = {
    {"ram", "RAM", true},
    {"gpu_ram", "GPU RAM", true},
    {"cpu", "CPU", true},
    {"gpu", "GPU utilization", true},
    {"power", "Power", true},
    {"cpu_hardware", "CPU, of all cores", false},
    {"cpu_time", "CPU time per second", false},
    {"shares", "Shares of all CPU time and RAM in use", false},
    {"time_went", "Where the time went", false},
    {"threads", "Threads", false},
    {"io", "I/O", false},
};
#define KNOWN_GROUPS (sizeof known_groups / sizeof *known_groups)

/* ---- What there is ---- */

/* Adds a curve to the list. */
static int add_series(
    struct plot_figures *figures, const struct plot_series *series, struct gput_error *error)
{
    if (!ARRAY_EXTEND(figures->series, figures->count))
        return error_memory(error);
    figures->series[figures->count++] = *series;
    return GPUT_OK;
}

/* Lists the curves of a session. */
static int list_session(struct plot_figures *figures, const struct doc *session, size_t number,
    struct gput_error *error)
{
    const struct doc *times = doc_get(session, "times");
    const struct doc *gpus = doc_get(session, "gpus");
    for (const struct doc *item = doc_first(doc_get(session, "series")); item; item = item->next) {
        const struct doc *values = doc_get(item, "values");
        const struct plot_series series = {
            .session = number,
            .id = doc_get_string(item, "id"),
            .group = doc_get_string(item, "group"),
            .scope = doc_get_string(item, "scope"),
            .label = doc_get_string(item, "label"),
            .unit = doc_get_string(item, "unit"),
            .limit = doc_get_number(item, "limit"),
            .times = doc_item(times, (size_t)doc_get_int(item, "time")),
            .values = values,
            .of_interval = doc_get(item, "of_interval") != NULL,
            .is_used = fabs(doc_get_number(item, "max")) > 0, /* false where it is missing, too */
            .has_gpus = gpus && gpus->count > 1,
        };
        if (series.times)
            TRY(add_series(figures, &series, error));
    }
    return GPUT_OK;
}

void gput_plot_curve_init(struct gput_plot_curve *curve, size_t size)
{
    static const struct gput_plot_curve usual = {.limit = NAN};
    sized_init(curve, size, &usual, sizeof usual);
}

/* Whether a curve of the caller has a value other than 0. */
static bool is_any_used(const struct gput_plot_curve *curve)
{
    for (size_t i = 0; i < curve->n_points; i++) {
        if (curve->values[i] != 0 && !isnan(curve->values[i]))
            return true;
    }
    return false;
}

int plot_figures_list(struct plot_figures *figures, const struct report_payload *payload,
    const struct gput_plot_options *options, struct gput_error *error)
{
    const struct doc *sessions = doc_get(payload->root, "sessions");
    *figures = (struct plot_figures){0};
    for (const struct doc *item = sessions->first; item; item = item->next)
        TRY(list_session(figures, item, figures->n_sessions++, error));

    figures->curves = calloc(options->n_curves + 1, sizeof *figures->curves);
    if (!figures->curves)
        return error_memory(error);
    for (size_t i = 0; i < options->n_curves; i++) {
        struct gput_plot_curve *curve = &figures->curves[i];
        *curve = gput_plot_curve_default();
        TRY(sized_read(curve, sizeof *curve, options->curves[i], error));
        const struct plot_series series = {
            .session = figures->n_sessions,
            .id = curve->label,
            .group = curve->figure,
            .scope = "",
            .label = curve->label,
            .unit = curve->unit ? curve->unit : "",
            .limit = curve->limit,
            .given = curve,
            .is_used = is_any_used(curve),
        };
        TRY(add_series(figures, &series, error));
    }
    return GPUT_OK;
}

void plot_figures_finish(struct plot_figures *figures)
{
    free(figures->series);
    free(figures->curves);
    *figures = (struct plot_figures){0};
}

/* ---- What is shown ---- */

static bool is_group(const struct plot_series *series, const char *group)
{
    return strcmp(series->group, group) == 0;
}

/* Whether the curve of all GPUs of a power recording is the curve of its only GPU. */
static bool is_of_one_gpu(const struct plot_figures *figures, const struct plot_series *series)
{
    size_t count = 0, length = strlen(series->id);
    for (size_t i = 0; i < figures->count; i++) {
        const struct plot_series *other = &figures->series[i];
        count += other->session == series->session && text_begins_with(other->id, "per_gpu_") &&
                 strncmp(other->id + 8, series->id, length) == 0 && other->id[8 + length] == ':';
    }
    return count == 1;
}

/* Whether its GPU was not used: power at rest says nothing of the session. As in reports, what
 * others have in its memory does not count. */
static bool is_of_unused_gpu(const struct plot_figures *figures, const struct plot_series *series)
{
    bool is_any = false;
    for (size_t i = 0; i < figures->count && series->has_gpus; i++) {
        const struct plot_series *other = &figures->series[i];
        if (other->session != series->session || strcmp(other->scope, series->scope) != 0 ||
            text_ends_with(other->id, "_ram_used") || text_ends_with(other->id, "_power_watts"))
            continue;
        if (other->is_used)
            return false;
        is_any = true;
    }
    return is_any && text_begins_with(series->scope, "gpu");
}

/* Whether a curve is one of those that say most: what the session used in all, and each of
 * several GPUs. */
static bool is_main(const struct plot_figures *figures, const struct plot_series *series)
{
    static const char *const of_gpus[] = {"_combined_ram", "_utilization_percent", "_power_watts"};
    bool is_of_gpu = false, has_combined = false;
    if (series->given)
        return true;
    if (is_of_one_gpu(figures, series))
        return false;
    for (size_t i = 0; i < sizeof of_gpus / sizeof *of_gpus; i++)
        is_of_gpu = is_of_gpu || (text_begins_with(series->scope, "gpu") &&
                                     text_ends_with(series->id, of_gpus[i]));
    if (is_group(series, "power") && (is_of_gpu || strcmp(series->scope, "system") == 0))
        return true;
    if (series->has_gpus && (is_group(series, "gpu_ram") || is_group(series, "gpu")))
        return is_of_gpu;
    for (size_t i = 0; i < figures->count; i++) {
        const struct plot_series *other = &figures->series[i];
        has_combined =
            has_combined ||
            (other->session == series->session && is_group(other, series->group) &&
                (strcmp(other->scope, "combined") == 0 || strcmp(other->scope, "hardware") == 0));
    }
    return !has_combined || strcmp(series->scope, "combined") == 0 ||
           strcmp(series->scope, "hardware") == 0;
}

/* Whether there was any. */
static bool choose_group(struct plot_figures *figures, const char *group, bool used_only)
{
    bool is_any = false;
    for (size_t i = 0; i < figures->count; i++) {
        struct plot_series *series = &figures->series[i];
        if (!is_group(series, group) || !is_main(figures, series) ||
            (used_only && (!series->is_used || is_of_unused_gpu(figures, series))))
            continue;
        series->is_chosen = is_any = true;
    }
    return is_any;
}

/* Chooses the curve of that id in all sessions. False: there is none. */
static bool choose_id(struct plot_figures *figures, const char *id)
{
    bool is_any = false;
    for (size_t i = 0; i < figures->count; i++) {
        if (strcmp(figures->series[i].id, id) == 0)
            figures->series[i].is_chosen = is_any = true;
    }
    return is_any;
}

/* Lists the names of all charts, or of all curves, each once. */
static void list_names(const struct plot_figures *figures, bool is_id, struct str *text)
{
    for (size_t i = 0; i < figures->count; i++) {
        const struct plot_series *series = &figures->series[i];
        const char *name = is_id ? series->id : series->group;
        bool is_repeated = false;
        for (size_t k = 0; k < i && !is_repeated; k++) {
            const struct plot_series *before = &figures->series[k];
            is_repeated = strcmp(is_id ? before->id : before->group, name) == 0;
        }
        if (!is_repeated)
            str_printf(text, "%s%.60s", text->length > 0 ? ", " : "", name);
    }
}

static bool is_of_panel(const struct plot_series *series, const struct plot_series *first)
{
    return series->is_chosen && is_group(series, first->group) &&
           strcmp(series->unit, first->unit) == 0;
}

int plot_figures_choose(
    struct plot_figures *figures, const struct gput_plot_options *options, struct gput_error *error)
{
    bool is_any = options->n_figures > 0;
    for (size_t i = 0; i < options->n_figures; i++) {
        const char *name = options->figures[i];
        if (!choose_group(figures, name, false) && !choose_id(figures, name)) {
            /* Refuse a name that is neither a chart nor a curve, and say which there are. */
            CLEANUP_STR struct str charts = {0};
            CLEANUP_STR struct str curves = {0};
            list_names(figures, false, &charts);
            list_names(figures, true, &curves);
            char near[GPUT_NEAREST_SIZE], question[NEAREST_QUESTION_SIZE];
            bool is_chart = gput_nearest_words(str_text(&charts), name, near) > 0;
            nearest_question(str_text(is_chart ? &charts : &curves), name, question);
            return error_set(error, GPUT_ERROR_INVALID,
                "There is no figure \"%.60s\"%s There are the charts %s, and the curves %s.", name,
                question, str_text(&charts), str_text(&curves));
        }
    }
    /* Unless some are named, the usual charts are shown; all, where there is none of them. */
    for (size_t i = 0; i < KNOWN_GROUPS && options->n_figures == 0; i++) {
        if (known_groups[i].is_usual)
            is_any = choose_group(figures, known_groups[i].group, true) || is_any;
    }
    for (size_t i = 0; i < figures->count && !is_any; i++)
        choose_group(figures, figures->series[i].group, false);

    /* A panel with enough curves has no more. */
    for (size_t i = 0; i < figures->count; i++) {
        struct plot_series *series = &figures->series[i];
        size_t before = 0;
        for (size_t k = 0; k < i; k++)
            before += is_of_panel(&figures->series[k], series);
        if (!series->is_chosen || before < MAX_LINES)
            continue;
        series->is_chosen = false;
        figures->left_out++;
    }
    return GPUT_OK;
}

/* ---- Their points ---- */

/* What takes the points of a curve, in order. */
typedef void take_point(void *user, double time, double value);

/* Hands on the points of a curve, in order. */
static int read_points(const struct plot_series *series, const struct report_payload *payload,
    take_point *take, void *user, struct gput_error *error)
{
    struct report_column_reader times, values = {0};
    double time, value;
    for (size_t i = 0; series->given && i < series->given->n_points; i++)
        take(user, series->given->seconds[i], series->given->values[i]);
    if (series->given)
        return GPUT_OK;
    int code = report_column_reader_init(&times, payload, series->times, error);
    if (code == GPUT_OK)
        code = report_column_reader_init(&values, payload, series->values, error);
    while (code == GPUT_OK && !report_column_reader_at_end(&times) &&
           !report_column_reader_at_end(&values)) {
        code = report_column_reader_next(&times, &time, error);
        if (code == GPUT_OK)
            code = report_column_reader_next(&values, &value, error);
        if (code == GPUT_OK)
            take(user, time, value);
    }
    report_column_reader_finish(&times);
    report_column_reader_finish(&values);
    return code;
}

/* Widens a range of time to a point. */
static void widen(void *user, double time, double value)
{
    double *range = user;
    if (!isfinite(time) || !isfinite(value))
        return;
    range[0] = fmin(range[0], time);
    range[1] = fmax(range[1], time);
}

int plot_figures_find_times(const struct plot_figures *figures,
    const struct report_payload *payload, double *start, double *end, struct gput_error *error)
{
    double range[2] = {*start, *end};
    for (size_t i = 0; i < figures->count; i++) {
        if (figures->series[i].is_chosen)
            TRY(read_points(&figures->series[i], payload, widen, range, error));
    }
    *start = range[0];
    *end = range[1];
    return GPUT_OK;
}

/* ---- Charts ---- */

/* The folders that all names of sessions begin with. */
static size_t shared_folders(const struct doc *sessions)
{
    const char *first = doc_get_string(sessions->first, "name");
    size_t length = strlen(first);
    for (const struct doc *item = sessions->first->next; item; item = item->next) {
        const char *name = doc_get_string(item, "name");
        size_t same = 0;
        while (same < length && name[same] == first[same])
            same++;
        length = same;
    }
    while (length > 0 && first[length - 1] != '/')
        length--;
    return length;
}

/* Whether all curves of a panel are of one kind, one of each session. */
static bool is_one_kind(const struct plot_figures *figures, const struct plot_series *first)
{
    for (size_t i = 0; i < figures->count; i++) {
        const struct plot_series *series = &figures->series[i];
        if (is_of_panel(series, first) && strcmp(series->id, first->id) != 0)
            return false;
    }
    return true;
}

/* A panel of one kind of curve is called as the curve is, if that is not the main one, or is of one
 * of several GPUs. */
static const char *panel_name(const struct plot_figures *figures, const struct plot_series *first)
{
    bool is_of_gpu = first->has_gpus && text_begins_with(first->scope, "gpu");
    bool is_named = is_one_kind(figures, first) && (is_of_gpu || !is_main(figures, first));
    for (size_t i = 0; i < KNOWN_GROUPS && !is_named; i++) {
        if (is_group(first, known_groups[i].group))
            return known_groups[i].name;
    }
    return is_named || is_one_kind(figures, first) ? first->label : first->group;
}

static void take_into_curve(void *user, double time, double value)
{
    curve_add(user, time, value);
}

/* Adds a curve to a panel, with a label that says what the panel does not. */
static int add_line(const struct plot_figures *figures, const struct plot_series *series,
    const struct report_payload *payload, struct chart *chart, struct chart_panel *panel,
    struct gput_error *error)
{
    bool is_one = is_one_kind(figures, series), is_compared = figures->n_sessions > 1;
    struct str label = {0};
    if (is_compared && !series->given) {
        /* "rank 3", or its name without the folders that all have. */
        const struct doc *sessions = doc_get(payload->root, "sessions");
        const struct doc *session = doc_item(sessions, series->session);
        if (report_are_ranks(sessions))
            str_printf(&label, "rank %.0f", doc_get_number(doc_get(session, "identity"), "rank"));
        else if (session)
            str_append(&label, doc_get_string(session, "name") + shared_folders(sessions));
    }
    bool is_named = label.length > 0;
    if (is_named && !is_one)
        str_printf(&label, ": %s", series->label);
    else if (!is_named && !(is_compared && is_one))
        str_append(&label, is_one ? panel->name : series->label);
    unsigned look = is_compared && is_one ? (unsigned)series->session : (unsigned)panel->count;
    struct chart_line *line = chart_add_line(chart, panel, str_text(&label), look);
    bool has_failed = label.failed || !line;
    str_finish(&label);
    if (has_failed)
        return error_memory(error);
    line->limit = series->limit;
    line->curve.is_of_intervals = series->of_interval;
    TRY(read_points(series, payload, take_into_curve, &line->curve, error));
    curve_end(&line->curve);
    return GPUT_OK;
}

/* Adds a panel with all curves of the group of the first one. */
static int add_panel(const struct plot_figures *figures, const struct plot_series *first,
    const struct report_payload *payload, struct chart *chart, struct gput_error *error)
{
    struct chart_panel *panel = chart_add_panel(chart, panel_name(figures, first), first->unit);
    if (!panel)
        return error_memory(error);
    for (size_t i = 0; i < figures->count; i++) {
        const struct plot_series *series = &figures->series[i];
        if (is_of_panel(series, first))
            TRY(add_line(figures, series, payload, chart, panel, error));
    }
    return GPUT_OK;
}

/* Whether it is the first one of its panel. */
static bool is_first(const struct plot_figures *figures, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (is_of_panel(&figures->series[i], &figures->series[index]))
            return false;
    }
    return figures->series[index].is_chosen;
}

/* The panels of a group, or, with NULL, of all groups that are not known. */
static int add_group(const struct plot_figures *figures, const char *group,
    const struct report_payload *payload, struct chart *chart, size_t *left_out,
    struct gput_error *error)
{
    for (size_t i = 0; i < figures->count; i++) {
        const struct plot_series *series = &figures->series[i];
        bool is_known = false;
        for (size_t k = 0; k < KNOWN_GROUPS && !group; k++)
            is_known = is_known || is_group(series, known_groups[k].group);
        if (!is_first(figures, i) || (group ? !is_group(series, group) : is_known))
            continue;
        if (chart->panel_count < MAX_PANELS)
            TRY(add_panel(figures, series, payload, chart, error));
        else
            ++*left_out;
    }
    return GPUT_OK;
}

/* Whether there are sessions, and all of them are recordings of power. */
static bool is_of_power(const struct report_payload *payload)
{
    const struct doc *session = doc_get(payload->root, "sessions")->first;
    bool is_any = session != NULL;
    for (; session; session = session->next)
        is_any = is_any && strcmp(doc_get_string(session, "kind"), "power") == 0;
    return is_any;
}

int plot_figures_add(const struct plot_figures *figures, const struct report_payload *payload,
    const struct gput_plot_options *options, struct chart *chart, struct gput_error *error)
{
    const char *before = is_of_power(payload) ? "power" : NULL;
    size_t left_out = figures->left_out;
    if (before)
        TRY(add_group(figures, before, payload, chart, &left_out, error));
    for (size_t i = 0; i < KNOWN_GROUPS; i++) {
        if (!before || strcmp(known_groups[i].group, before) != 0)
            TRY(add_group(figures, known_groups[i].group, payload, chart, &left_out, error));
    }
    TRY(add_group(figures, NULL, payload, chart, &left_out, error));
    if (left_out > 0 && options->warn)
        options->warn(options->user,
            "There are more curves than a picture can show, 12 in a chart: the first ones are "
            "drawn.");
    return GPUT_OK;
}
