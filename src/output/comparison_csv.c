/*
 * One line a figure and session. The session as a whole has no code block; compute_time is a
 * measurement of its own.
 */
#include "output/comparison_render.h"
#include "output/csv_text.h"

static void write_values(const struct comparison_report *report, const char *block,
    const char *measurement, struct str *text)
{
    const struct gput_comparison *comparison = report->comparison;
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_value *value = &report->values[i];
        const struct comparison_session *session = &comparison->sessions[value->session];
        csv_text_append(text, block);
        str_append_char(text, ',');
        csv_text_append(text, measurement);
        str_append_char(text, ',');
        str_append(text, gput_statistic_name(report->options.statistic));
        str_append_char(text, ',');
        csv_text_append(text, session->name);
        csv_text_append_number(text, value->value);
        csv_text_append_number(text, value->change);
        csv_text_append_count(text, true, (int64_t)session->n_runs);
        csv_text_append_number(text, value->low);
        csv_text_append_number(text, value->high);
        str_append(text, value->noise ? ",1\n" : ",0\n");
    }
}

/* Joules, where some session has them. */
static void write_energy(const struct comparison_report *report, size_t block, struct str *text)
{
    bool whole = block == COMPARISON_OVERALL;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!comparison_has_energy(report->comparison, (enum gput_energy_figure)i))
            continue;
        comparison_report_values(report, comparison_energy_measurements[i], block);
        write_values(report, whole ? "" : report->comparison->block_names[block],
            comparison_energy_measurements[i], text);
    }
}

void comparison_write_csv(const struct comparison_report *report, struct str *text)
{
    const struct gput_comparison *comparison = report->comparison;
    const struct gput_analysis *first = comparison->first;
    str_append(text, "code_block,measurement,statistic,session,value,percent_change,runs,low,high,"
                     "within_noise\n");
    for (size_t i = 0; i < first->n_measurements; i++) {
        comparison_report_values(report, first->measurements[i], COMPARISON_OVERALL);
        write_values(report, "", first->measurements[i], text);
    }
    write_energy(report, COMPARISON_OVERALL, text);
    for (size_t block = 0; block < comparison->n_blocks; block++) {
        comparison_report_values(report, NULL, block);
        write_values(report, comparison->block_names[block], "compute_time", text);
        for (size_t i = 0; i < first->n_measurements; i++) {
            comparison_report_values(report, first->measurements[i], block);
            write_values(report, comparison->block_names[block], first->measurements[i], text);
        }
        write_energy(report, block, text);
    }
}
