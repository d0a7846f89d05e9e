#include "analysis/analyze/results_read_pickle.h"

#include "base/text.h"
#include "files/import/pickle_doc.h"
#include "files/results/results_read_doc.h"
#include "model/results_columns.h"

#include <math.h>
#include <string.h>

/* A pickle of protocol 2 and later begins with this byte. */
#define PICKLE_START '\x80'

#define MODULE "gpu_tracker.tracker"

enum { RESOURCE_USAGE, PART };

static const struct pickle_class classes[] = {
    {MODULE, "ResourceUsage", RESOURCE_USAGE},
    {MODULE, "MaxRAM", PART},
    {MODULE, "RSSValues", PART},
    {MODULE, "MaxGPURAM", PART},
    {MODULE, "CPUUtilization", PART},
    {MODULE, "ProcessingUnitPercentages", PART},
    {MODULE, "GPUUtilization", PART},
    {MODULE, "ComputeTime", PART},
    {NULL, NULL, 0},
};

static int refuse(const char *name, const char *what, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_FORMAT,
        "Pickle file %s does not hold the resource usage of a session: %s.", name, what);
}

/* Versions before 4 write "descendents", and "descendents_n_threads". */
static void rename_descendants(struct doc *doc)
{
    for (struct doc *child = doc->first; child; child = child->next) {
        if (text_begins_with(child->key, "descendents"))
            child->key[sizeof "descend" - 1] = 'a';
        rename_descendants(child);
    }
}

static struct gput_peak unknown_peak(void)
{
    return (struct gput_peak){NAN, NAN, "not in this file"};
}

/* What the file does not have. */
static void complete(struct gput_results *results)
{
    results->peaks.main = results->peaks.descendants = unknown_peak();
    results->peaks.combined = results->peaks.control_group = unknown_peak();
    results->peaks.limit_group = unknown_peak();
    text_fit(results->accounting.processes_missed_reason,
        sizeof results->accounting.processes_missed_reason, "not in this file");
    text_fit(results->accounting.oom_killed_reason, sizeof results->accounting.oom_killed_reason,
        "not in this file");
    results->n_sources = 1;
    results->sources[0] = (struct gput_source){RESULTS_OLDER_FILE, GPUT_SOURCE_SAMPLED,
        "from the Python package gpu_tracker, which counts MiB of GPU RAM as MB; only its figures "
        "are known"};
}

static int read_usage(const struct pickle_value *usage, const char *name,
    struct pickle_budget budget, struct doc *root, struct gput_results *results,
    struct gput_error *error)
{
    struct gput_error reason;
    if (!pickle_is_object(usage, RESOURCE_USAGE))
        return refuse(name, "it is not a ResourceUsage object", error);
    if (pickle_add_to_doc(usage, &budget, root, "usage", &reason) != GPUT_OK)
        return refuse(name, reason.message, error);
    if (doc_failed(root))
        return error_memory(error);
    if (!results_doc_is_report(root->first))
        return refuse(name, "a part of it is missing", error);
    rename_descendants(root->first);
    TRY(results_read_doc(root->first, results, error));
    complete(results);
    return GPUT_OK;
}

bool results_is_pickle(const char *bytes, size_t length)
{
    return length > 0 && bytes[0] == PICKLE_START;
}

int results_read_pickle(const char *bytes, size_t length, const char *name,
    struct gput_results *results, struct gput_error *error)
{
    struct pickle *pickle;
    memset(results, 0, sizeof *results);
    TRY(pickle_read(bytes, length, name, classes, &pickle, error));
    struct doc *root = doc_create_object();
    int code =
        root ? read_usage(pickle_root(pickle), name, pickle_budget_of(length), root, results, error)
             : error_memory(error);
    doc_destroy(root);
    pickle_destroy(pickle);
    return code;
}
