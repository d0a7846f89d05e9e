#include "output/comparison_render.h"
#include "output/pickle_writer.h"

#include <stdlib.h>

struct writer {
    const struct comparison_report *report;
    const char **names; /* space for one a session */
    double *values;
    struct str *text;
};

static void write_values(const struct writer *writer)
{
    const struct gput_comparison *comparison = writer->report->comparison;
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_value *value = &writer->report->values[i];
        writer->names[i] = comparison->sessions[value->session].name;
        writer->values[i] = value->value;
    }
    pickle_series(writer->text, writer->names, writer->values, comparison->n_sessions,
        comparison_are_integers(writer->report->values, comparison->n_sessions));
}

static void write_blocks(const struct writer *writer, const char *measurement)
{
    pickle_dict_begin(writer->text);
    for (size_t block = 0; block < writer->report->comparison->n_blocks; block++) {
        pickle_text(writer->text, writer->report->comparison->block_names[block]);
        comparison_report_values(writer->report, measurement, block);
        write_values(writer);
    }
    pickle_dict_end(writer->text);
}

/* Joules, where some session has them. The Python tool's class does not know these, and keeps them
 * as plain attributes. */
static void write_energy(const struct writer *writer, const char *key, bool blocks)
{
    const struct gput_comparison *comparison = writer->report->comparison;
    bool any = false;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!comparison_has_energy(comparison, (enum gput_energy_figure)i))
            continue;
        if (!any) {
            pickle_text(writer->text, key);
            pickle_dict_begin(writer->text);
        }
        any = true;
        pickle_text(writer->text, gput_energy_figure_name((enum gput_energy_figure)i));
        if (blocks) {
            write_blocks(writer, comparison_energy_measurements[i]);
        } else {
            comparison_report_values(
                writer->report, comparison_energy_measurements[i], COMPARISON_OVERALL);
            write_values(writer);
        }
    }
    if (any)
        pickle_dict_end(writer->text);
}

static void write_all(const struct writer *writer)
{
    const struct gput_analysis *first = writer->report->comparison->first;
    bool blocks = writer->report->comparison->n_blocks > 0;
    pickle_begin(writer->text);
    pickle_object_begin(writer->text, "gpu_tracker.sub_tracker", "ComparisonResults");
    pickle_text(writer->text, "overall_resource_usage");
    pickle_dict_begin(writer->text);
    for (size_t i = 0; i < first->n_measurements; i++) {
        pickle_text(writer->text, first->measurements[i]);
        comparison_report_values(writer->report, first->measurements[i], COMPARISON_OVERALL);
        write_values(writer);
    }
    pickle_dict_end(writer->text);
    pickle_text(writer->text, "code_block_resource_usage");
    pickle_dict_begin(writer->text);
    for (size_t i = 0; blocks && i < first->n_measurements; i++) {
        pickle_text(writer->text, first->measurements[i]);
        write_blocks(writer, first->measurements[i]);
    }
    pickle_dict_end(writer->text);
    pickle_text(writer->text, "code_block_compute_time");
    write_blocks(writer, NULL);
    write_energy(writer, "overall_energy", false);
    if (blocks)
        write_energy(writer, "code_block_energy", true);
    pickle_object_end(writer->text);
    pickle_end(writer->text);
}

void comparison_write_pickle(const struct comparison_report *report, struct str *text)
{
    size_t count = report->comparison->n_sessions;
    struct writer writer = {report, calloc(count + 1, sizeof *writer.names),
        calloc(count + 1, sizeof *writer.values), text};
    if (writer.names && writer.values)
        write_all(&writer);
    else
        text->failed = true;
    free(writer.names);
    free(writer.values);
}
