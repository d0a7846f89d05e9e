/* A comparison for people: a row a figure, what changed most first. */
#include <gputracker/summary.h>

#include "analysis/analyze/comparison.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/sized.h"
#include "base/text.h"
#include "views/output/figure_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A figure in all sessions, in their order. */
struct compared {
    const char *measurement;
    size_t block; /* COMPARISON_OVERALL: of the session as a whole */
    struct comparison_value *values;
    size_t position;
    double
        rank; /* how far it changed at most; infinite: from 0; negative: within the noise of runs */
    bool is_little; /* it changed, but by too little to matter */
};

struct summary {
    const struct gput_comparison *comparison;
    enum gput_statistic statistic;
    struct gput_summary_options options;
    struct str *text;
    struct compared *rows; /* owned, with their values */
    size_t n_rows;
    size_t n_nothing; /* rows skipped */
    size_t n_little;
};

/* Whether a figure changed, but by too little to matter. */
static bool is_little(const struct summary *summary, const struct compared *row)
{
    const struct doc *units = comparison_base(summary->comparison)->static_data;
    for (size_t i = 1; i < summary->comparison->n_sessions; i++) {
        double difference = row->values[i].value - row->values[0].value;
        if (!row->values[i].noise && !isnan(difference) &&
            !figure_is_little(units, row->measurement, difference))
            return false;
    }
    return row->rank > 0;
}

/* Adds the row of a figure, unless it is 0 or unknown in all sessions. */
static void add_row(struct summary *summary, const char *measurement, size_t block)
{
    const struct comparison_figure figure = {measurement, block, summary->statistic};
    size_t n = summary->comparison->n_sessions;
    CLEANUP_FREE struct comparison_value *values = calloc(n, sizeof *values);
    if (!values || !ARRAY_EXTEND(summary->rows, summary->n_rows)) {
        summary->text->failed = true;
        return;
    }
    comparison_values(summary->comparison, &figure, values);
    bool is_something = summary->options.all;
    for (size_t i = 0; i < n; i++)
        is_something |= !isnan(values[i].value) && values[i].value != 0;
    if (!is_something) {
        summary->n_nothing++;
        return;
    }
    /* Find how far the figure changed at most: infinite from 0, negative within the noise, -1 if
     * unknown. */
    double rank = -1;
    for (size_t i = 1; i < n; i++) {
        double change = fabs(values[i].change);
        if (isnan(change) && values[0].value == 0 && values[i].value != 0)
            change = INFINITY;
        if (values[i].noise)
            change = -0.5;
        rank = change > rank ? change : rank;
    }
    struct compared *row = &summary->rows[summary->n_rows];
    *row = (struct compared){measurement ? measurement : "compute_time", block, STEAL(values),
        summary->n_rows, rank, false};
    row->is_little = is_little(summary, row);
    summary->n_little += row->is_little;
    summary->n_rows++;
}

/* Adds the rows of the session as a whole, or of a block. */
static void add_rows_of(struct summary *summary, size_t block)
{
    const struct gput_comparison *comparison = summary->comparison;
    if (block != COMPARISON_OVERALL)
        add_row(summary, NULL, block);
    for (size_t i = 0; i < comparison->n_measurements; i++)
        add_row(summary, comparison->measurements[i], block);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (comparison_has_energy(comparison, (enum gput_energy_figure)i))
            add_row(summary, comparison_energy_measurements[i], block);
    }
}

/* Equal ones: the session as a whole first, then blocks, in the order of the measurements. */
static int by_change_descending(const void *left, const void *right)
{
    const struct compared *a = left, *b = right;
    bool a_matters = a->rank > 0 && !a->is_little, b_matters = b->rank > 0 && !b->is_little;
    ORDER_BY(b_matters, a_matters);
    ORDER_BY(b->rank, a->rank);
    return ORDER(a->position, b->position);
}

/* Puts the change of a session from the first: "+5 %", "x 12", "from 0". */
static void put_change(struct summary *summary, const struct compared *row, size_t session)
{
    char cell[HUMAN_SIZE + 2], change[HUMAN_SIZE];
    const struct comparison_value *value = &row->values[session];
    if (isnan(value->change) && row->values[0].value == 0 && value->value != 0)
        snprintf(cell, sizeof cell, "from 0");
    else if (isnan(value->change))
        snprintf(cell, sizeof cell, value->value == row->values[0].value ? "=" : "n/a");
    else if (value->change == 0)
        snprintf(cell, sizeof cell, "=");
    else if (value->noise)
        snprintf(cell, sizeof cell, "(%s)", human_change(value->change, change));
    else if (fabs(value->change) < 9999.5)
        human_change(value->change, cell);
    else
        text_fit(cell, sizeof cell, "x %.4g", 1 + value->change / 100);
    figure_put(summary->text, cell);
}

/* Writes the rows, what changed most first, and what is to be said of all. */
static void write_table(struct summary *summary)
{
    if (summary->n_rows > 0)
        qsort(summary->rows, summary->n_rows, sizeof *summary->rows, by_change_descending);
    /* Put what the table is of, and the names of the sessions. */
    const struct gput_comparison *comparison = summary->comparison;
    bool has_noise = false;
    for (size_t i = 0; i < summary->n_rows; i++)
        for (size_t session = 1; session < comparison->n_sessions; session++)
            has_noise |= summary->rows[i].values[session].noise;
    str_printf(summary->text, "%s of each figure; what changed most first%s\n",
        gput_statistic_name(summary->statistic),
        has_noise ? "; (in brackets): within the noise of the runs" : "");
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        figure_put(summary->text, comparison->sessions[i].name);
        if (i > 0)
            figure_put(summary->text, "change");
    }
    figure_put_name(
        summary->text, 2 * comparison->n_sessions - 1, NULL, "figure", summary->options.width);
    for (size_t i = 0; i < summary->n_rows; i++) {
        /* Put the values and changes of a figure, and its name: "train: combined_ram". */
        const struct compared *row = &summary->rows[i];
        char cell[HUMAN_SIZE];
        size_t n = summary->comparison->n_sessions;
        const struct doc *units = comparison_base(summary->comparison)->static_data;
        for (size_t k = 0; k < n; k++) {
            figure_put(
                summary->text, figure_text(units, row->measurement, row->values[k].value, cell));
            if (k > 0)
                put_change(summary, row, k);
        }
        const char *block =
            row->block == COMPARISON_OVERALL ? NULL : summary->comparison->block_names[row->block];
        figure_put_name(summary->text, 2 * n - 1, block, row->measurement, summary->options.width);
    }
    if (summary->n_little > 0)
        str_printf(summary->text,
            "%zu figure%s changed by less than 1 MB, or 1 %% of a core or GPU: they follow the "
            "others\n",
            summary->n_little, summary->n_little == 1 ? "" : "s");
    if (summary->n_nothing > 0)
        str_printf(summary->text, "%zu figure%s 0 or unknown in all sessions (--all shows %s)\n",
            summary->n_nothing, summary->n_nothing == 1 ? " is" : "s are",
            summary->n_nothing == 1 ? "it" : "them");
    /* Name the sessions whose files lack calls. */
    for (size_t i = 0; i < summary->comparison->n_sessions; i++) {
        const struct comparison_session *session = &summary->comparison->sessions[i];
        struct lost_calls lost = comparison_lost_calls(session);
        char words[LOST_CALLS_TEXT_SIZE];
        const char *where =
            session->n_runs > 1 ? "its sub-tracking files" : "its sub-tracking file";
        if (lost.count > 0)
            str_printf(summary->text, "Calls of %s that are not in %s: %s\n", session->name, where,
                lost_calls_text(&lost, words));
        else if (lost.at_least)
            str_printf(summary->text, "Calls of %s may be missing in %s.\n", session->name, where);
    }
}

int gput_comparison_summarize(const struct gput_comparison *comparison,
    const struct gput_comparison_options *comparison_options,
    const struct gput_summary_options *options, char **bytes, size_t *length,
    struct gput_error *error)
{
    struct str text = {0};
    struct summary summary = {.comparison = comparison,
        .statistic = comparison_options ? comparison_options->statistic : GPUT_STATISTIC_MEAN,
        .options = gput_summary_options_default(),
        .text = &text};
    *bytes = NULL;
    TRY(sized_read(&summary.options, sizeof summary.options, options, error));
    add_rows_of(&summary, COMPARISON_OVERALL);
    for (size_t block = 0; block < comparison->n_blocks; block++)
        add_rows_of(&summary, block);
    write_table(&summary);
    for (size_t i = 0; i < summary.n_rows; i++)
        free(summary.rows[i].values);
    free(summary.rows);
    if (length)
        *length = text.length;
    *bytes = str_steal(&text);
    return *bytes ? GPUT_OK : error_memory(error);
}
