#include "views/output/comparison_render.h"

static const char *session_name(
    const struct comparison_report *report, const struct comparison_value *value)
{
    return report->comparison->sessions[value->session].name;
}

/* Adds an object of the report's values, session by session. */
typedef void add_values(
    const struct comparison_report *report, struct doc *parent, const char *key);

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

/* Where the next object goes, and what is around it: parts and measurements nest. */
struct writer {
    const struct comparison_report *report;
    struct doc *levels[3];
    size_t depth;
    add_values *add;
};

static void open_object(void *user, const char *key)
{
    struct writer *writer = user;
    struct doc *parent = writer->levels[writer->depth];
    writer->levels[++writer->depth] = doc_add_object(parent, key);
}

static void close_object(void *user)
{
    struct writer *writer = user;
    writer->depth--;
}

static void write_values(void *user, const char *key)
{
    struct writer *writer = user;
    writer->add(writer->report, writer->levels[writer->depth], key);
}

/* The parts of a comparison. */
static void add_all(const struct comparison_report *report, struct doc *root, add_values *add)
{
    static const struct comparison_writer functions = {open_object, close_object, write_values};
    struct writer writer = {.report = report, .levels = {root}, .add = add};
    for (enum comparison_part part = 0; part <= COMPARISON_BLOCK_ENERGY; part++)
        comparison_walk(report, part, &functions, &writer);
}

static void add_lost_calls(const struct gput_comparison *comparison, struct doc *root)
{
    struct doc *object = doc_add_object(root, "lost_calls");
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        struct comparison_lost lost = comparison_lost_calls(&comparison->sessions[i]);
        if (lost.calls == 0 && !lost.at_least)
            continue;
        struct doc *session = doc_add_object(object, comparison->sessions[i].name);
        doc_add_int(session, "num_lost_calls", (int64_t)lost.calls);
        doc_add_bool(session, "lost_calls_at_least", lost.at_least);
    }
}

void comparison_write_json(const struct comparison_report *report, struct str *text)
{
    struct doc *root = doc_create_object();
    add_all(report, root, add_plain);
    if (report->options.relative)
        add_all(report, doc_add_object(root, "percent_change"), add_change);
    if (comparison_has_runs(report->comparison))
        add_all(report, doc_add_object(root, "confidence"), add_runs);
    if (comparison_lacks_calls(report->comparison))
        add_lost_calls(report->comparison, root);
    doc_finish_json(root, text);
}
