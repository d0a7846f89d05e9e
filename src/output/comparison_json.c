#include "output/comparison_render.h"

#include <math.h>

/* Adds an object of the report's values, session by session. */
typedef void add_values(
    const struct comparison_report *report, struct doc *parent, const char *key);

static const char *session_name(
    const struct comparison_report *report, const struct comparison_value *value)
{
    return report->comparison->sessions[value->session].name;
}

static void add_plain(const struct comparison_report *report, struct doc *parent, const char *key)
{
    size_t n = report->comparison->n_sessions;
    bool integers = comparison_are_integers(report->values, n);
    struct doc *object = doc_add_object(parent, key);
    for (size_t i = 0; i < n; i++) {
        const struct comparison_value *value = &report->values[i];
        if (integers)
            doc_add_int(object, session_name(report, value), (int64_t)value->value);
        else
            doc_add_double(object, session_name(report, value), value->value);
    }
}

/* The change from the first session in percent. */
static void add_change(const struct comparison_report *report, struct doc *parent, const char *key)
{
    struct doc *object = doc_add_object(parent, key);
    for (size_t i = 0; i < report->comparison->n_sessions; i++) {
        const struct comparison_value *value = &report->values[i];
        doc_add_double(object, session_name(report, value), value->change);
    }
}

/* What several runs say about the mean. */
static void add_runs(const struct comparison_report *report, struct doc *parent, const char *key)
{
    struct doc *object = doc_add_object(parent, key);
    for (size_t i = 0; i < report->comparison->n_sessions; i++) {
        const struct comparison_value *value = &report->values[i];
        struct doc *session = doc_add_object(object, session_name(report, value));
        doc_add_int(session, "runs", (int64_t)report->comparison->sessions[value->session].n_runs);
        doc_add_double(session, "low", value->low);
        doc_add_double(session, "high", value->high);
        doc_add_bool(session, "within_noise", value->noise);
    }
}

static void add_blocks(const struct comparison_report *report, struct doc *object,
    const char *measurement, add_values *add)
{
    for (size_t block = 0; block < report->comparison->n_blocks; block++) {
        comparison_report_values(report, measurement, block);
        add(report, object, report->comparison->block_names[block]);
    }
}

/* Joules, where some session has them. */
static void add_energy(const struct comparison_report *report, struct doc *root, add_values *add)
{
    struct doc *overall = NULL, *blocks = NULL;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        const char *measurement = comparison_energy_measurements[i];
        const char *name = gput_energy_figure_name((enum gput_energy_figure)i);
        if (!comparison_has_energy(report->comparison, (enum gput_energy_figure)i))
            continue;
        if (!overall) {
            overall = doc_add_object(root, "overall_energy");
            blocks = doc_add_object(root, "code_block_energy");
        }
        comparison_report_values(report, measurement, COMPARISON_OVERALL);
        add(report, overall, name);
        if (report->comparison->n_blocks > 0)
            add_blocks(report, doc_add_object(blocks, name), measurement, add);
    }
}

/* The parts of a comparison. */
static void add_all(const struct comparison_report *report, struct doc *root, add_values *add)
{
    const struct gput_analysis *first = report->comparison->first;
    struct doc *overall = doc_add_object(root, "overall_resource_usage");
    for (size_t i = 0; i < first->n_measurements; i++) {
        comparison_report_values(report, first->measurements[i], COMPARISON_OVERALL);
        add(report, overall, first->measurements[i]);
    }
    struct doc *blocks = doc_add_object(root, "code_block_resource_usage");
    for (size_t i = 0; report->comparison->n_blocks > 0 && i < first->n_measurements; i++)
        add_blocks(
            report, doc_add_object(blocks, first->measurements[i]), first->measurements[i], add);
    add_blocks(report, doc_add_object(root, "code_block_compute_time"), NULL, add);
    add_energy(report, root, add);
}

void comparison_write_json(const struct comparison_report *report, struct str *text)
{
    struct doc *root = doc_create_object();
    add_all(report, root, add_plain);
    if (report->options.relative)
        add_all(report, doc_add_object(root, "percent_change"), add_change);
    if (comparison_has_runs(report->comparison))
        add_all(report, doc_add_object(root, "confidence"), add_runs);
    doc_finish_json(root, text);
}
