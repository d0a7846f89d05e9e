#include "views/output/comparison_render.h"
#include "views/output/pickle_writer.h"

#include <stdlib.h>

struct writer {
    const struct comparison_report *report;
    const char **names; /* space for one a session */
    double *values;
    struct str *text;
};

static void open_dict(void *user, const char *key)
{
    const struct writer *writer = user;
    pickle_text(writer->text, key);
    pickle_dict_begin(writer->text);
}

static void close_dict(void *user)
{
    const struct writer *writer = user;
    pickle_dict_end(writer->text);
}

static void write_values(void *user, const char *key)
{
    const struct writer *writer = user;
    const struct gput_comparison *comparison = writer->report->comparison;
    pickle_text(writer->text, key);
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_value *value = &writer->report->values[i];
        writer->names[i] = comparison->sessions[value->session].name;
        writer->values[i] = value->value;
    }
    pickle_series(writer->text, writer->names, writer->values, comparison->n_sessions,
        comparison_are_integers(writer->report->values, comparison->n_sessions));
}

static void write_lost_calls(const struct gput_comparison *comparison, struct str *text)
{
    pickle_text(text, "lost_calls");
    pickle_dict_begin(text);
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        struct comparison_lost lost = comparison_lost_calls(&comparison->sessions[i]);
        if (lost.calls == 0 && !lost.at_least)
            continue;
        pickle_text(text, comparison->sessions[i].name);
        pickle_dict_begin(text);
        pickle_text(text, "num_lost_calls");
        pickle_int(text, (int64_t)lost.calls);
        pickle_text(text, "lost_calls_at_least");
        pickle_bool(text, lost.at_least);
        pickle_dict_end(text);
    }
    pickle_dict_end(text);
}

/* The Python tool's class does not know those of energy, nor lost calls, and keeps them as plain
 * attributes. */
static void write_all(struct writer *writer)
{
    static const struct comparison_writer functions = {open_dict, close_dict, write_values};
    bool blocks = writer->report->comparison->n_blocks > 0;
    enum comparison_part last = blocks ? COMPARISON_BLOCK_ENERGY : COMPARISON_OVERALL_ENERGY;
    pickle_begin(writer->text);
    pickle_object_begin(writer->text, "gpu_tracker.sub_tracker", "ComparisonResults");
    for (enum comparison_part part = 0; part <= last; part++)
        comparison_walk(writer->report, part, &functions, writer);
    if (comparison_lacks_calls(writer->report->comparison))
        write_lost_calls(writer->report->comparison, writer->text);
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
