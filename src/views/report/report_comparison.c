#include "views/report/report_comparison.h"

#include "analysis/analyze/analysis.h"
#include "analysis/analyze/comparison.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/names.h"
#include "base/table.h"
#include "model/measurement_list.h"
#include "views/report/document/report_payload.h"
#include "views/report/loaders/report_analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than these are counted. */
#define MAX_NAMED 5

struct block_use {
    size_t run_count;
    const char *session; /* the first that has it */
};

struct block_uses {
    struct names names;
    struct block_use *uses; /* by number of the name; owned */
    size_t run_count;       /* of all sessions */
    size_t common_count;
};

/* Whether all runs have a code block. */
static bool is_common(const struct block_uses *uses, uint32_t number)
{
    return uses->uses[number].run_count == uses->run_count;
}

/* Counts in how many runs each code block is. */
static int count_uses(
    const struct gput_comparison *comparison, struct block_uses *uses, struct gput_error *error)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; k < session->n_runs; k++) {
            const struct gput_analysis *run = session->runs[k];
            uses->run_count++;
            for (size_t b = 0; b < run->n_blocks; b++) {
                const char *name = run->blocks[b].name;
                uint32_t count = uses->names.count;
                uint32_t number = names_add(&uses->names, name, strlen(name));
                if (number == NAMES_NONE || (number == count && !ARRAY_EXTEND(uses->uses, count)))
                    return error_memory(error);
                if (number == count)
                    uses->uses[number] = (struct block_use){.session = session->name};
                uses->uses[number].run_count++;
            }
        }
    }
    for (uint32_t i = 0; i < uses->names.count; i++)
        uses->common_count += is_common(uses, i);
    return GPUT_OK;
}

/* Drops the code blocks of a run that not all sessions have. */
static int leave_common(
    const struct block_uses *uses, struct gput_analysis *run, struct gput_error *error)
{
    struct gput_code_block *rest = malloc((run->n_blocks + 1) * sizeof *rest);
    size_t kept_count = 0, rest_count = 0;
    if (!rest)
        return error_memory(error);
    for (size_t i = 0; i < run->n_blocks; i++) {
        const char *name = run->blocks[i].name;
        if (is_common(uses, names_find(&uses->names, name, strlen(name))))
            run->blocks[kept_count++] = run->blocks[i];
        else
            rest[rest_count++] = run->blocks[i];
    }
    run->n_blocks = kept_count;
    analysis_destroy_blocks(rest, rest_count);
    return GPUT_OK;
}

/* Leaves these in all runs, and appends what was left out, in words, to `rest`. Where there is no
 * such block, all stay. Errors: GPUT_ERROR_MEMORY. */
static int keep_common_blocks(
    struct gput_comparison *comparison, struct str *rest, struct gput_error *error)
{
    struct block_uses uses = {0};
    int code = count_uses(comparison, &uses, error);
    for (size_t i = 0; uses.common_count > 0 && i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; code == GPUT_OK && k < session->n_runs; k++)
            code = leave_common(&uses, session->runs[k], error);
    }
    if (code == GPUT_OK && uses.common_count > 0) {
        /* Say which code blocks are not compared. */
        size_t named_count = 0, rest_count = uses.names.count - uses.common_count;
        str_append(rest, "Code blocks that not all sessions have are not compared: ");
        for (uint32_t i = 0; i < uses.names.count && named_count < MAX_NAMED; i++) {
            if (is_common(&uses, i))
                continue;
            str_printf(rest, "%s\"%.120s\" (in %.60s)", named_count > 0 ? ", " : "",
                names_text(&uses.names, i), uses.uses[i].session);
            named_count++;
        }
        if (rest_count > named_count)
            str_printf(rest, " and %zu more", rest_count - named_count);
        str_append(rest, ".");
    }
    names_finish(&uses.names);
    free(uses.uses);
    return code == GPUT_OK && rest->failed ? error_memory(error) : code;
}

/* Bytes are whole. */
static double scaled(double value, double factor)
{
    return factor == 1 ? value : round(value * factor);
}

/* Converts statistics to base units. */
static void scale(struct gput_statistics *statistics, double factor)
{
    statistics->min = scaled(statistics->min, factor);
    statistics->max = scaled(statistics->max, factor);
    statistics->mean = scaled(statistics->mean, factor);
    statistics->std = scaled(statistics->std, factor);
}

int report_comparison_add(
    struct gput_comparison *comparison, struct report_session *session, struct gput_error *error)
{
    if (!session->analysis)
        TRY(report_analysis_make(session, NULL, error));
    struct gput_analysis *analysis = session->analysis;
    session->analysis = NULL;
    if (!analysis)
        return GPUT_OK;

    /* Bring an analysis into bytes, as files may have different units. Files have zeros for GPUs
     * that are not there: what has no curve is not known. */
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        const char *name = analysis->measurements[i];
        double factor = report_session_curve(session, name)
                            ? report_analysis_factor(&session->static_data, name)
                            : NAN;
        scale(&analysis->overall[i], factor);
        /* Rows can be far apart where the tracker or the machine stood still: rates of the session
         * as a whole are means over its time, as its cards are. */
        const struct gput_measurement *measurement = gput_measurement_find(name);
        if (!isnan(analysis->overall[i].mean) && measurement &&
            measurement_curves[measurement->id].is_of_interval)
            analysis->overall[i].mean = session->mean[measurement->id];
        for (size_t k = 0; k < analysis->n_blocks; k++)
            scale(&analysis->blocks[k].resource_usage[i], factor);
    }
    doc_destroy(analysis->static_data); /* has the units of the file */
    analysis->static_data = NULL;
    return comparison_add(comparison, session->name, analysis, error);
}

/* Drops the code blocks of all sessions: those of different programs have none in common, and are
 * compared as a whole. */
static void forget_blocks(struct gput_comparison *comparison)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        for (size_t k = 0; k < comparison->sessions[i].n_runs; k++) {
            struct gput_analysis *run = comparison->sessions[i].runs[k];
            analysis_destroy_blocks(run->blocks, run->n_blocks);
            run->blocks = NULL;
            run->n_blocks = 0;
        }
    }
}

/* Compares the code blocks that all sessions have, where not all blocks match; where there is none,
 * no block. The page says which blocks are not compared: sessions need not be of one program. */
static int match_some(struct gput_comparison *comparison, struct report_payload *payload,
    const char *reason, struct gput_error *error)
{
    CLEANUP_STR struct str rest = {0};
    int code = keep_common_blocks(comparison, &rest, error);
    if (code == GPUT_OK && rest.length > 0)
        code = comparison_match(comparison, NULL, NULL, error);
    if (code == GPUT_ERROR_MEMORY)
        return code;
    bool has_matched = code == GPUT_OK && rest.length > 0;
    report_payload_warn(payload, has_matched ? str_text(&rest) : reason);
    if (has_matched)
        return GPUT_OK;
    forget_blocks(comparison);
    return comparison_match(comparison, NULL, NULL, error);
}

static void keep_warning(void *user, const char *message)
{
    doc_add_string(user, NULL, message);
}

/* Matches the code blocks of all sessions, as far as there are any in each. */
static int match(struct gput_comparison *comparison, struct report_payload *payload,
    const struct gput_report_options *options, struct gput_error *error)
{
    struct gput_error reason;
    struct doc *warnings = doc_create_array();
    bool all_have_blocks = true;
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        for (size_t k = 0; k < comparison->sessions[i].n_runs; k++)
            all_have_blocks &= comparison->sessions[i].runs[k]->n_blocks > 0;
    }
    if (!all_have_blocks)
        forget_blocks(comparison);
    int code = comparison_match(comparison, keep_warning, warnings, &reason);
    const struct doc *warning = warnings && code == GPUT_OK ? warnings->first : NULL;
    for (; warning && options->warn; warning = warning->next)
        options->warn(options->user, doc_string(warning));
    bool has_failed = code == GPUT_ERROR_MEMORY || !warnings || doc_failed(warnings);
    doc_destroy(warnings);
    if (has_failed)
        return error_memory(error);
    return code == GPUT_OK ? GPUT_OK : match_some(comparison, payload, reason.message, error);
}

/* Whether any run has values of a measurement. */
static bool is_known(const struct gput_comparison *comparison, const char *measurement)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        for (size_t k = 0; k < comparison->sessions[i].n_runs; k++) {
            const struct gput_analysis *run = comparison->sessions[i].runs[k];
            size_t found = analysis_find_measurement(run, measurement);
            if (found == run->n_measurements || !isnan(run->overall[found].mean))
                return true;
        }
    }
    return false;
}

/* The measurements of the first run, and which of them some session has: others have no rows. */
struct known {
    const struct gput_analysis *first;
    const bool *measurements;
};

/* Whether some session knows the measurement of a row. */
static bool is_row_known(const struct gput_table *table, size_t row, const void *user)
{
    const struct known *known = user;
    const char *name = table_cells_text(table, row, table_cells_find(table, "measurement"));
    size_t found = analysis_find_measurement(known->first, name);
    return found == known->first->n_measurements || known->measurements[found];
}

/* Adds the table of one statistic. */
static int add_table(struct gput_comparison *comparison, enum gput_statistic statistic,
    const struct known *known, struct doc *list, struct gput_error *error)
{
    struct gput_comparison_options options = gput_comparison_options_default();
    struct gput_tables *tables;
    char title[64];
    options.statistic = statistic;
    options.relative = true;
    TRY(gput_comparison_tables(comparison, &options, &tables, error));
    snprintf(title, sizeof title, "Comparison: %s", gput_statistic_name(statistic));
    report_table_add(list, gput_statistic_name(statistic), title,
        gput_tables_find(tables, "comparison"), is_row_known, known);
    gput_tables_destroy(tables);
    return GPUT_OK;
}

int report_comparison_end(struct gput_comparison *comparison, struct report_payload *payload,
    const struct gput_report_options *options, struct gput_error *error)
{
    if (comparison->n_sessions < 2)
        return GPUT_OK;
    int code = match(comparison, payload, options, error);
    if (code != GPUT_OK) /* a measurement that a file lacks */
        return code == GPUT_ERROR_MEMORY ? code : GPUT_OK;

    const struct gput_analysis *first = comparison->sessions[0].runs[0];
    CLEANUP_FREE bool *are_known = calloc(first->n_measurements + 1, sizeof *are_known);
    if (!are_known)
        return error_memory(error);
    for (size_t i = 0; i < first->n_measurements; i++)
        are_known[i] = is_known(comparison, first->measurements[i]);
    const struct known known = {first, are_known};
    struct doc *list = doc_add_array(payload->root, "comparison");
    TRY(add_table(comparison, GPUT_STATISTIC_MEAN, &known, list, error));
    return add_table(comparison, GPUT_STATISTIC_MAX, &known, list, error);
}
