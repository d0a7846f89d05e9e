#include "analysis/analyze/analysis.h"
#include "analysis/analyze/comparison.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "base/number.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/text.h"
#include "views/output/figure_text.h"
#include "views/output/text_grid.h"
#include "views/plot/bars.h"
#include "views/plot/drawing.h"

#include <gputracker/table.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Picture ---- */

/* The figures that people ask for first. */
static const struct shown {
    const char *measurement, *name;
} shown[] = {
    {"combined_ram", "RAM"},
    {"combined_gpu_ram", "GPU RAM"},
    {"cpu_combined_sum_utilization_percent", "CPU"},
    {"gpu_sum_utilization_percent", "GPU utilization"},
    {"energy_combined", "Energy of the session"},
};
#define SHOWN (sizeof shown / sizeof *shown)

/* Blocks with the longest calls; more do not fit a page. */
#define MAX_BLOCKS 12

struct picture {
    const struct gput_comparison *comparison;
    enum gput_statistic statistic;
    struct comparison_value *values; /* a value for each session; owned */
    struct bars bars;
};

/* Whether some session has more than 0 of the figure. */
static bool is_used(const struct picture *picture)
{
    for (size_t i = 0; i < picture->comparison->n_sessions; i++) {
        if (picture->values[i].value > 0)
            return true;
    }
    return false;
}

/* Adds a bar a session, with its interval where several runs have one. */
static int add_bars(struct picture *picture, struct bars_panel *panel, const char *measurement,
    struct gput_error *error)
{
    bool has_failed = false;
    for (size_t i = 0; i < picture->comparison->n_sessions && !has_failed; i++) {
        const struct comparison_value *value = &picture->values[i];
        struct str text = {0};
        /* "4.2 GB (-25.0 %)" */
        char figure[HUMAN_SIZE], change[HUMAN_SIZE];
        str_append(&text, figure_text(comparison_base(picture->comparison)->static_data,
                              measurement, value->value, figure));
        if (value->noise)
            str_printf(&text, " (%s, within noise)", human_change(value->change, change));
        else if (!isnan(value->change) && value->change != 0)
            str_printf(&text, " (%s)", human_change(value->change, change));
        const struct bar bar = {.label = picture->comparison->sessions[i].name,
            .text = text.data,
            .look = (unsigned)i,
            .value = value->value,
            .low = value->low,
            .high = value->high};
        has_failed = text.failed || !bars_add(panel, &bar);
        str_finish(&text);
    }
    return has_failed ? error_memory(error) : GPUT_OK;
}

/* `block`: COMPARISON_OVERALL, or that of a compute time. */
static int add_panel(struct picture *picture, const char *measurement, size_t block,
    const char *name, struct gput_error *error)
{
    bool is_time = block != COMPARISON_OVERALL;
    const struct comparison_figure figure = {
        is_time ? NULL : measurement, block, picture->statistic};
    struct str heading = {0};
    comparison_values(picture->comparison, &figure, picture->values);
    if (!is_used(picture))
        return GPUT_OK;
    bool is_energy = comparison_energy_figure(measurement, &(enum gput_energy_figure){0});
    str_append(&heading, name);
    if (!is_energy)
        str_printf(&heading, ", %s%s", gput_statistic_name(picture->statistic),
            is_time ? " of a call" : "");
    if (picture->bars.count == 0 && comparison_has_runs(picture->comparison))
        str_append(&heading, ", with the 95 % interval of several runs");
    struct bars_panel *panel = bars_add_panel(&picture->bars, str_text(&heading));
    bool has_failed = heading.failed || !panel;
    str_finish(&heading);
    return has_failed ? error_memory(error) : add_bars(picture, panel, measurement, error);
}

/* Whether some session has that measurement or energy. */
static bool has_measurement(const struct picture *picture, const char *name)
{
    enum gput_energy_figure energy;
    if (comparison_energy_figure(name, &energy))
        return comparison_has_energy(picture->comparison, energy);
    return comparison_find_measurement(picture->comparison, name) != NULL;
}

/* Adds a panel for each main figure, and for the time of each block. */
static int add_panels(struct picture *picture, struct gput_error *error)
{
    const struct gput_comparison *comparison = picture->comparison;
    for (size_t i = 0; i < SHOWN; i++) {
        if (has_measurement(picture, shown[i].measurement))
            TRY(add_panel(picture, shown[i].measurement, COMPARISON_OVERALL, shown[i].name, error));
    }
    for (size_t i = 0; i < comparison->n_blocks && i < MAX_BLOCKS; i++)
        TRY(add_panel(picture, "compute_time", i, comparison->block_names[i], error));
    if (picture->bars.count == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "There is nothing to draw: no main figure of these sessions is known and above 0.");
    return GPUT_OK;
}

/* ---- Documents and tables ---- */

int gput_comparison_create(const struct gput_comparison_session *sessions, size_t count,
    const struct gput_comparison_options *given, struct gput_comparison **result,
    struct gput_error *error)
{
    struct gput_comparison_options options;
    *result = NULL;
    TRY(comparison_options_read(given, &options, error));
    CLEANUP(gput_comparison_destroy_pointer)
    struct gput_comparison *comparison = comparison_create();
    if (!comparison)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct gput_analysis *analysis;
        TRY(gput_analysis_load(sessions[i].path, &analysis, error));
        TRY(comparison_add(comparison, sessions[i].name, analysis, error));
    }
    TRY(comparison_match(comparison, options.warn, options.user, error));
    *result = STEAL(comparison);
    return GPUT_OK;
}

/* ---- The document ---- */

/* The parts of a comparison, each of them measurement by measurement, those of code blocks also
 * block by block. */
enum part { OVERALL_USAGE, BLOCK_USAGE, BLOCK_TIME, OVERALL_ENERGY, BLOCK_ENERGY, PARTS };

static const struct {
    const char *key;
    bool of_blocks, is_energy;
} parts[PARTS] = {
    [OVERALL_USAGE] = {"overall_resource_usage", false, false},
    [BLOCK_USAGE] = {"code_block_resource_usage", true, false},
    [BLOCK_TIME] = {"code_block_compute_time", true, false},
    [OVERALL_ENERGY] = {"overall_energy", false, true},
    [BLOCK_ENERGY] = {"code_block_energy", true, true},
};

/* A measurement of a part; of compute time both are NULL. */
struct measured {
    const char *key, *measurement;
};

struct report {
    const struct gput_comparison *comparison;
    struct gput_comparison_options options;
    struct comparison_value *values; /* space for one a session; owned */
    struct measured *measured;       /* of the part that is being written; owned */
    size_t n_measured;
};

static void report_finish(struct report *report)
{
    free(report->values);
    free(report->measured);
}

/* Lists the measurements of a part. False: no session has energy, which it is of. */
static bool list_measured(struct report *report, enum part part)
{
    const struct gput_comparison *comparison = report->comparison;
    report->n_measured = 0;
    if (part == BLOCK_TIME) {
        report->measured[report->n_measured++] = (struct measured){NULL, NULL};
        return true;
    }
    if (!parts[part].is_energy) {
        for (; report->n_measured < comparison->n_measurements; report->n_measured++) {
            const char *name = comparison->measurements[report->n_measured];
            report->measured[report->n_measured] = (struct measured){name, name};
        }
        return true;
    }
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        if (comparison_has_energy(comparison, i))
            report->measured[report->n_measured++] =
                (struct measured){gput_energy_figure_name(i), comparison_energy_measurements[i]};
    return report->n_measured > 0;
}

/* The same place in three objects of one shape: values, changes from the first session in percent,
 * and what several runs say of the mean. NULL: not requested. */
struct place {
    struct doc *values, *changes, *runs;
};

static struct place add_objects(struct place parent, const char *key)
{
    return (struct place){doc_add_object(parent.values, key), doc_add_object(parent.changes, key),
        doc_add_object(parent.runs, key)};
}

/* Adds a figure of all sessions, in ascending order. */
static void add_values(const struct report *report, struct place parent, const char *key,
    const char *measurement, size_t block)
{
    const struct gput_comparison *comparison = report->comparison;
    const struct comparison_figure figure = {measurement, block, report->options.statistic};
    comparison_sorted_values(comparison, &figure, report->values);
    bool are_integers = comparison_are_integers(report->values, comparison->n_sessions);
    struct place place = add_objects(parent, key);
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_value *value = &report->values[i];
        const struct comparison_session *session = &comparison->sessions[value->session];
        if (are_integers)
            doc_add_int(place.values, session->name, (int64_t)value->value);
        else
            doc_add_double(place.values, session->name, value->value);
        doc_add_double(place.changes, session->name, value->change);
        struct doc *runs = doc_add_object(place.runs, session->name);
        doc_add_int(runs, "runs", (int64_t)session->n_runs);
        doc_add_double(runs, "low", value->low);
        doc_add_double(runs, "high", value->high);
        doc_add_bool(runs, "within_noise", value->noise);
    }
}

/* Adds a measurement of the session, or of each block. */
static void add_measured(const struct report *report, enum part part,
    const struct measured *measured, struct place place)
{
    const struct gput_comparison *comparison = report->comparison;
    if (!parts[part].of_blocks) {
        add_values(report, place, measured->key, measured->measurement, COMPARISON_OVERALL);
        return;
    }
    if (measured->key && comparison->n_blocks > 0)
        place = add_objects(place, measured->key);
    for (size_t block = 0; block < comparison->n_blocks; block++)
        add_values(report, place, comparison->block_names[block], measured->measurement, block);
}

/* Makes objects for what was requested; without memory the values are NULL. */
static struct place create_objects(const struct report *report)
{
    return (struct place){doc_create_object(),
        report->options.relative ? doc_create_object() : NULL,
        comparison_has_runs(report->comparison) ? doc_create_object() : NULL};
}

static void destroy_objects(struct place *place)
{
    doc_destroy(place->values);
    doc_destroy(place->changes);
    doc_destroy(place->runs);
}

/* Makes the whole document: values, then changes and runs where they were requested. */
static struct doc *create_document(struct report *report)
{
    struct place root = create_objects(report);
    for (enum part part = 0; part < PARTS; part++) {
        if (!list_measured(report, part))
            continue;
        struct place place = add_objects(root, parts[part].key);
        for (size_t i = 0; i < report->n_measured; i++)
            add_measured(report, part, &report->measured[i], place);
    }
    doc_add_owned(root.values, "percent_change", root.changes);
    doc_add_owned(root.values, "confidence", root.runs);

    /* Add what the files of each session lack, where they lack calls. */
    struct doc *object = NULL;
    for (size_t i = 0; i < report->comparison->n_sessions; i++) {
        struct lost_calls lost = comparison_lost_calls(&report->comparison->sessions[i]);
        if (!lost_calls_any(&lost))
            continue;
        if (!object)
            object = doc_add_object(root.values, "lost_calls");
        lost_calls_add_to_doc(
            &lost, true, doc_add_object(object, report->comparison->sessions[i].name));
    }
    return root.values;
}

/* ---- Text, as the older gpu_tracker prints it ---- */

/* Writes the measurements, or the blocks of one, that are in a place: a title, and below it what
 * it has. Blocks are called what they are. */
static void write_place(struct place place, bool of_blocks, size_t depth, struct str *text)
{
    struct place at = {place.values->first, place.changes ? place.changes->first : NULL,
        place.runs ? place.runs->first : NULL};
    for (; at.values; at = (struct place){at.values->next, at.changes ? at.changes->next : NULL,
                          at.runs ? at.runs->next : NULL}) {
        bool has_values = at.values->first && at.values->first->kind != DOC_OBJECT;
        str_append_repeated(text, '\t', depth);
        if (of_blocks && has_values)
            str_append(text, at.values->key);
        else
            text_append_title(text, at.values->key);
        str_append(text, ":\n");
        if (has_values) {
            /* Write a figure of all sessions as a line, and one more for changes and for intervals.
             */
            CLEANUP(text_grid_finish) struct text_grid grid = {.gap = 1, .indent = (depth + 1)};
            text_grid_add_names_and_numbers(&grid, at.values->count);
            text_grid_put(&grid, "");
            for (const struct doc *value = at.values->first; value; value = value->next)
                text_grid_put_wide(&grid, value->key);
            text_grid_put(&grid, "");
            for (const struct doc *value = at.values->first; value; value = value->next) {
                char number[NUMBER_TEXT_SIZE];
                number_format_int64(value->integer, number);
                if (value->kind == DOC_INT)
                    text_grid_put_wide(&grid, number);
                else
                    text_grid_put_number(&grid, doc_number(value));
            }
            if (at.changes)
                text_grid_put(&grid, "change");
            const struct doc *runs = at.runs ? at.runs->first : NULL;
            for (const struct doc *change = at.changes ? at.changes->first : NULL; change;
                 change = change->next, runs = runs ? runs->next : NULL) {
                /* Write "+5.3 %" or "21 times", with a note where the runs' spread explains it. */
                char cell[HUMAN_SIZE + 16] = "n/a", percent[HUMAN_SIZE];
                const struct doc *noise = doc_get(runs, "within_noise");
                if (!isnan(doc_number(change)))
                    text_fit(cell, sizeof cell, "%s%s", human_change(doc_number(change), percent),
                        noise && noise->boolean ? " (noise)" : "");
                text_grid_put(&grid, cell);
            }
            if (at.runs)
                text_grid_put(&grid, "95 %");
            runs = at.runs ? at.runs->first : NULL;
            for (const struct doc *value = at.values->first; value && runs;
                 value = value->next, runs = runs->next) {
                /* Write what lies to either side of the mean of several runs. */
                char cell[2 + NUMBER_TEXT_SIZE] = "+-";
                if (isnan(doc_get_number(runs, "low")))
                    strcpy(cell, "n/a");
                else
                    number_format_rounded(
                        doc_get_number(runs, "high") - doc_number(value), 8, cell + 2);
                text_grid_put(&grid, cell);
            }
            text_grid_write(&grid, text);
        } else
            write_place(at, of_blocks, depth + 1, text);
    }
}

/* Writes the parts in the order of the older tool, a measurement at a time in memory. */
static void write_text(struct report *report, struct str *text)
{
    static const enum part order[] = {
        OVERALL_USAGE, OVERALL_ENERGY, BLOCK_USAGE, BLOCK_TIME, BLOCK_ENERGY};
    const struct gput_comparison *comparison = report->comparison;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        enum part part = order[i];
        if ((parts[part].of_blocks && comparison->n_blocks == 0) || !list_measured(report, part))
            continue;
        text_append_title(text, parts[part].key);
        str_append(text, parts[part].is_energy ? " (joules):\n" : ":\n");
        for (size_t k = 0; k < report->n_measured; k++) {
            CLEANUP(destroy_objects) struct place place = create_objects(report);
            add_measured(report, part, &report->measured[k], place);
            text->failed |= doc_failed(place.values) ||
                            (place.changes && doc_failed(place.changes)) ||
                            (place.runs && doc_failed(place.runs));
            if (text->failed)
                return;
            write_place(place, parts[part].of_blocks, 1, text);
        }
    }
    bool has_title = false;
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        char words[LOST_CALLS_TEXT_SIZE];
        struct lost_calls lost = comparison_lost_calls(&comparison->sessions[i]);
        if (!lost_calls_any(&lost))
            continue;
        str_append(text, has_title ? "" : "Lost Calls:\n");
        has_title = true;
        str_printf(text, "\t%s: %s\n", comparison->sessions[i].name, lost_calls_text(&lost, words));
    }
}

/* ---- Every format ---- */

int gput_comparison_render(const struct gput_comparison *comparison,
    const struct gput_comparison_options *given, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct gput_comparison_options options;
    *bytes = NULL;
    TRY(comparison_options_read(given, &options, error));
    if (format == GPUT_FORMAT_CSV) {
        /* Write one line a figure and session. */
        struct gput_tables *tables;
        TRY(gput_comparison_tables(comparison, &options, &tables, error));
        int code = gput_tables_select(tables, "comparison", error);
        if (code == GPUT_OK)
            code = gput_tables_render(tables, GPUT_FORMAT_CSV, bytes, length, error);
        gput_tables_destroy(tables);
        return code;
    }
    if (drawing_has_format(format)) {
        struct picture picture = {.comparison = comparison,
            .statistic = options.statistic,
            .values = calloc(comparison->n_sessions, sizeof *picture.values),
            .bars.is_inline = options.is_inline};
        int code = picture.values ? add_panels(&picture, error) : error_memory(error);
        if (code == GPUT_OK && comparison->n_blocks > MAX_BLOCKS && options.warn)
            options.warn(options.user,
                "There are more code blocks than a picture can show: the first ones are drawn.");
        if (code == GPUT_OK)
            code = bars_render(&picture.bars, format, bytes, length, error);
        bars_finish(&picture.bars);
        free(picture.values);
        return code;
    }
    if (format != GPUT_FORMAT_TEXT && format != GPUT_FORMAT_JSON)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such format of a comparison.");
    CLEANUP(report_finish) struct report report = {0};

    /* Make what writing a comparison needs; to be freed by report_finish(), after errors too. */
    size_t most = comparison->n_measurements + GPUT_ENERGY_FIGURE_COUNT;
    report.comparison = comparison;
    report.options = options;
    report.values = calloc(comparison->n_sessions, sizeof *report.values);
    report.measured = calloc(most, sizeof *report.measured);
    TRY(report.values && report.measured ? GPUT_OK : error_memory(error));

    struct str text = {0};
    if (format == GPUT_FORMAT_TEXT) {
        write_text(&report, &text);
        screen_sanitize(&text, 0);
    } else {
        doc_finish_json(create_document(&report), &text);
    }
    return str_steal_bytes(&text, bytes, length, error);
}
