#include "analysis/analyze/analysis_load.h"
#include "analysis/analyze/analysis_read_doc.h"

#include "files/import/pickle_doc.h"

#include <gputracker/comparison.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cost of looking up all keys of a code block. */
#define COST_BLOCK 256

/* Only our own pickles have joules, exact figures and what is missing or lost. */
static const struct pickle_member result_members[] = {
    {"overall", PICKLE_MANY_ROWS},
    {"static_data", PICKLE_ONE_ROW},
    {"energy", PICKLE_VALUE},
    {"missing_timepoints", PICKLE_VALUE},
    {"num_lost_calls", PICKLE_VALUE},
    {"lost_calls_at_least", PICKLE_VALUE},
    {0},
};

static const struct pickle_member block_members[] = {
    {"name", PICKLE_VALUE},
    {"num_timepoints", PICKLE_VALUE},
    {"num_calls", PICKLE_VALUE},
    {"num_non_empty_calls", PICKLE_VALUE},
    {"num_outside_calls", PICKLE_VALUE},
    {"compute_time", PICKLE_ONE_ROW},
    {"resource_usage", PICKLE_MANY_ROWS},
    {"energy", PICKLE_VALUE},
    {"exact", PICKLE_VALUE},
    {"missing_timepoints", PICKLE_VALUE},
    {0},
};

/* Says of a failure whose it is, but for a lack of memory. */
static int pass(const struct analysis_reader *reader, int code, const struct gput_error *reason)
{
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(reader->error);
    return code == GPUT_OK ? GPUT_OK : analysis_reader_refuse(reader, reason->message);
}

/* Older versions of the Python tool store and show the extremes of thread counts as integers. */
static int mark_integers(const struct analysis_reader *reader, const struct doc *overall)
{
    unsigned char *integers = calloc(overall->count + 1, 1);
    if (!integers)
        return error_memory(reader->error);
    reader->analysis->overall_integers = integers;
    for (const struct doc *row = overall->first; row; row = row->next, integers++) {
        for (int i = GPUT_STATISTIC_MIN; i <= GPUT_STATISTIC_STD; i++) {
            const struct doc *cell = doc_get(row, gput_statistic_name((enum gput_statistic)i));
            if (cell && cell->kind == DOC_INT && fabs((double)cell->integer) < 0x1p53)
                *integers |= (unsigned char)(1u << i);
        }
    }
    return GPUT_OK;
}

static int read_head(
    struct analysis_reader *reader, const struct pickle_value *state, struct pickle_budget *budget)
{
    struct gput_error reason;
    struct doc *root = doc_create_object();
    int code = root ? pickle_add_members_to_doc(state, result_members, budget, root, &reason)
                    : GPUT_ERROR_MEMORY;
    code = pass(reader, code, &reason);
    if (code == GPUT_OK)
        code = analysis_read_doc(reader, root);
    if (code == GPUT_OK)
        code = mark_integers(reader, doc_get(root, "overall"));
    doc_destroy(root);
    return code;
}

/* Measurements are in the order of the whole session; what is not must be searched for. */
static uint64_t cost_of_search(const struct gput_analysis *analysis, const struct doc *usage)
{
    size_t i = 0, misplaced = 0;
    for (const struct doc *row = usage->first; row; row = row->next, i++)
        misplaced +=
            i >= analysis->n_measurements || strcmp(row->key, analysis->measurements[i]) != 0;
    return misplaced * (uint64_t)analysis->n_measurements;
}

static int read_block(struct analysis_reader *reader, const struct pickle_value *object,
    struct pickle_budget *budget, struct gput_code_block *block)
{
    struct gput_error reason;
    if (!pickle_is_object(object, PICKLE_CODE_BLOCK))
        return analysis_reader_refuse(reader, "its list of code blocks has something else in it");
    TRY(pass(reader, pickle_spend_or_say(budget, COST_BLOCK, &reason), &reason));
    struct doc *doc = doc_create_object();
    int code =
        doc ? pickle_add_members_to_doc(object->object.state, block_members, budget, doc, &reason)
            : GPUT_ERROR_MEMORY;
    if (code == GPUT_OK)
        code = pickle_spend_or_say(
            budget, cost_of_search(reader->analysis, doc_get(doc, "resource_usage")), &reason);
    code = pass(reader, code, &reason);
    if (code == GPUT_OK)
        code = analysis_read_block_doc(reader, doc, block);
    doc_destroy(doc);
    return code;
}

static int read_results(struct analysis_reader *reader, const struct pickle_value *results,
    struct pickle_budget *budget)
{
    struct gput_error reason;
    if (!pickle_is_object(results, PICKLE_RESULTS))
        return analysis_reader_refuse(reader, "it is not a SubTrackingResults object");
    TRY(read_head(reader, results->object.state, budget));
    const struct pickle_value *blocks = pickle_get(results->object.state, "code_block_results");
    if (!blocks || blocks->kind != PICKLE_LIST)
        return analysis_reader_refuse(reader, "it has no list of code blocks");
    size_t count = blocks->list.count;
    uint64_t cost = count * 4 * (reader->analysis->n_measurements + 4);
    TRY(pass(reader, pickle_spend_or_say(budget, cost, &reason), &reason));
    TRY(analysis_reader_make_blocks(reader, count));
    for (size_t i = 0; i < count; i++)
        TRY(read_block(reader, blocks->list.items[i], budget, &reader->analysis->blocks[i]));
    return GPUT_OK;
}

int analysis_read_pickle(const char *bytes, size_t length, const char *name,
    struct gput_analysis **analysis, struct gput_error *error)
{
    struct analysis_reader reader = {.kind = "Pickle file", .name = name, .error = error};
    struct pickle_budget budget = pickle_budget_of(length);
    struct pickle *pickle;
    *analysis = NULL;
    TRY(pickle_read(bytes, length, name, pickle_result_classes, &pickle, error));
    int code = read_results(&reader, pickle_root(pickle), &budget);
    pickle_destroy(pickle);
    if (code != GPUT_OK)
        gput_analysis_destroy(reader.analysis);
    else
        *analysis = reader.analysis;
    return code;
}
