#include "views/report/report_findings.h"

#include "base/cleanup.h"
#include "base/doubles.h"
#include "base/str.h"
#include "model/straggler.h"
#include "views/output/missing_ranks.h"
#include "views/report/document/report_column_reader.h"
#include "views/report/document/report_processes.h"
#include "views/report/document/report_session.h"
#include "views/report/report_figures.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int report_missing_warn(struct report_payload *payload, const struct gput_report_options *options,
    struct gput_error *error)
{
    const struct doc *sessions = doc_get(payload->root, "sessions");
    CLEANUP_FREE double *ranks = calloc(sessions->count + 1, sizeof *ranks);
    CLEANUP_STR struct str text = {0};
    double world_size = NAN;
    size_t count = 0;
    if (!ranks)
        return error_memory(error);
    for (const struct doc *session = sessions->first; session; session = session->next) {
        const struct doc *identity = doc_get(session, "identity");
        double rank = doc_get_number(identity, "rank");
        double size = doc_get_number(identity, "world_size");
        bool is_of_one_job = rank >= 0 && rank < size && (count == 0 || size == world_size);
        if (!is_of_one_job)
            return GPUT_OK;
        world_size = size;
        ranks[count++] = rank;
    }
    qsort(ranks, count, sizeof *ranks, doubles_compare);
    for (size_t i = 1; i < count; i++) {
        if (ranks[i] == ranks[i - 1])
            return GPUT_OK;
    }
    if (!((double)count < world_size))
        return GPUT_OK;

    double n_missing = world_size - (double)count;
    str_printf(&text, "%.0f of %.0f ranks %s missing: ", n_missing, world_size,
        n_missing > 1 ? "are" : "is");
    missing_ranks_list(ranks, count, world_size, &text);
    str_append(&text, ". They have no file.");
    report_payload_warn(payload, str_text(&text));
    if (options->warn)
        options->warn(options->user, str_text(&text));
    return text.failed ? error_memory(error) : GPUT_OK;
}

/* The busiest rank is named from this on, where there are so many with a curve. */
#define BUSIEST_FACTOR 1.15
#define MIN_CURVES 3

/* ---- How sessions ended ---- */

/* Adds how a session ended, as far as it is known. */
static void add_ending(struct doc *session)
{
    const struct doc *identity = doc_get(session, "identity");
    const struct doc *exit = doc_get(identity, "exit_status");
    int64_t signal = doc_get_int(identity, "signal");
    CLEANUP_STR struct str text = {0};
    bool is_good = false;
    if (signal > 0) {
        const char *name = report_signal_name(signal);
        str_printf(&text, "ended by signal %" PRId64, signal);
        if (name)
            str_printf(&text, " (%s)", name);
    } else if (doc_get(identity, "is_unfinished")) {
        str_append(&text, "did not finish");
    } else if (doc_string(exit)) {
        str_append(&text, doc_string(exit));
        is_good = strcmp(exit->string, "0") == 0 || strcmp(exit->string, "exit status 0") == 0;
    } else if (!isnan(doc_number(exit))) {
        str_printf(&text, "exit status %g", doc_number(exit));
        is_good = doc_number(exit) == 0;
    }
    if (text.length == 0)
        return;
    struct doc *ending = doc_add_object(session, "ending");
    doc_add_string(ending, "text", str_text(&text));
    doc_add_bool(ending, "is_good", is_good);
}

/* ---- Ranks that stand out ---- */

struct rank {
    size_t index; /* of its session */
    bool has_failed, stands_out;
    double seconds, cpu_seconds;
    double excess; /* by which factor it is above the median */
};

/* Ray and Spark end all of their workers: that is not a failure, and neither is an end that is not
 * known. */
static bool has_failed(const struct doc *identity)
{
    const char *launcher = doc_get_string(identity, "launcher");
    double exit = doc_get_number(identity, "exit_status");
    double signal = doc_get_number(identity, "signal");
    bool was_ended = (strcmp(launcher, "Ray") == 0 && exit == 1) ||
                     (strcmp(launcher, "Spark") == 0 && (exit == 143 || signal == SIGTERM));
    return !was_ended && (exit > 0 || signal > 0);
}

/* The value of a card of a session; NaN: it has no such card. */
static double card_value(const struct doc *session, const char *id)
{
    for (const struct doc *card = doc_first(doc_get(session, "cards")); card; card = card->next) {
        if (strcmp(doc_get_string(card, "id"), id) == 0)
            return doc_get_number(card, "value");
    }
    return NAN;
}

/* The median of the ranks that did not fail: these say what the work takes. */
static double median_of(const struct rank *ranks, size_t count, bool is_of_cpu, double *values)
{
    size_t n_known = 0;
    for (size_t i = 0; i < count; i++) {
        double value = is_of_cpu ? ranks[i].cpu_seconds : ranks[i].seconds;
        if (!ranks[i].has_failed && isfinite(value))
            values[n_known++] = value;
    }
    return doubles_median(values, n_known);
}

/* Orders ranks by how far they are above the median. */
static int compare_excess(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    if (a->excess != b->excess)
        return a->excess < b->excess ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Adds which ranks failed, and which ones ran or worked far longer than the others, the one that
 * does most first. False: there is neither. Sorts the ranks. */
static bool add_stragglers(struct doc *findings, struct rank *ranks, size_t count, double *values)
{
    size_t n_failed = 0, n_found = 0;
    double seconds = median_of(ranks, count, false, values);
    double cpu_seconds = median_of(ranks, count, true, values);
    struct doc *failed = NULL;
    for (size_t i = 0; i < count; i++) {
        struct rank *rank = &ranks[i];
        if (rank->has_failed && n_failed++ == 0)
            failed = doc_add_array(findings, "failed");
        if (rank->has_failed)
            doc_add_int(failed, NULL, (int64_t)rank->index);
        rank->excess = fmax(rank->seconds / seconds, rank->cpu_seconds / cpu_seconds);
        rank->stands_out = straggler_is(rank->seconds, seconds, rank->cpu_seconds, cpu_seconds);
        n_found += rank->stands_out;
    }
    if (n_found == 0 || n_failed == count)
        return n_failed > 0;
    qsort(ranks, count, sizeof *ranks, compare_excess);
    struct doc *stragglers = doc_add_object(findings, "stragglers");
    doc_add_double(stragglers, "median_seconds", seconds);
    doc_add_double(stragglers, "median_cpu_seconds", cpu_seconds);
    struct doc *list = doc_add_array(stragglers, "ranks");
    for (size_t i = 0; i < count; i++) {
        if (!ranks[i].stands_out)
            continue;
        struct doc *object = doc_add_object(list, NULL);
        doc_add_int(object, "session", (int64_t)ranks[i].index);
        doc_add_double(object, "seconds", ranks[i].seconds);
        doc_add_double(object, "cpu_seconds", ranks[i].cpu_seconds);
    }
    return true;
}

/* ---- Main curves ---- */

/* What a session is known by, best first: the total, its parts, anything else, the machine. */
static int scope_rank(const char *scope)
{
    static const char *const totals[] = {"combined", "total", "all", "", "main", "descendants"};
    int count = sizeof totals / sizeof *totals, rank = 0;
    while (rank < count && strcmp(scope, totals[rank]) != 0)
        rank++;
    return strcmp(scope, "system") == 0 ? count + 1 : rank;
}

static bool has_values(const struct doc *series)
{
    const struct doc *values = doc_get(series, "values"), *constant = doc_get(values, "value");
    return doc_get_number(values, "count") != 0 && !(constant && constant->kind == DOC_NULL);
}

/* The curve of a chart that says most of a session: the total where there is one. That of the
 * machine says something of its power alone. NULL: there is none. */
static struct doc *main_curve(const struct doc *session, const char *group, const char *unit)
{
    const struct doc *list = doc_get(session, "series");
    struct doc *found = NULL;
    for (struct doc *series = list ? list->first : NULL; series; series = series->next) {
        const char *scope = doc_get_string(series, "scope");
        bool is_of_machine = strcmp(scope, "system") == 0 && strcmp(group, "power") != 0;
        if (strcmp(doc_get_string(series, "group"), group) != 0 ||
            strcmp(doc_get_string(series, "unit"), unit) != 0 || is_of_machine ||
            !has_values(series))
            continue;
        if (!found || scope_rank(scope) < scope_rank(doc_get_string(found, "scope")))
            found = series;
    }
    return found;
}

/* ---- The busiest rank ---- */

/* The mean of a curve, by the time that each value is of where it is of an interval. The first one
 * is of as long as the second. */
static int mean_of_curve(const struct report_payload *payload, const struct doc *session,
    const struct doc *series, double *mean, struct gput_error *error)
{
    bool is_of_interval = doc_get(series, "of_interval") != NULL;
    const struct doc *times_column =
        doc_item(doc_get(session, "times"), (size_t)doc_get_int(series, "time"));
    CLEANUP(report_column_reader_finish) struct report_column_reader times = {0};
    CLEANUP(report_column_reader_finish) struct report_column_reader values = {0};
    double sum = 0, weights = 0, before = NAN, first = NAN;
    *mean = NAN;
    if (!times_column)
        return GPUT_OK;
    TRY(report_column_reader_init(&times, payload, times_column, error));
    TRY(report_column_reader_init(&values, payload, doc_get(series, "values"), error));
    for (uint64_t i = 0; !report_column_reader_at_end(&values); i++) {
        double time, value, weight = 1;
        TRY(report_column_reader_next(&times, &time, error));
        TRY(report_column_reader_next(&values, &value, error));
        if (is_of_interval) {
            weight = time > before ? time - before : 1e-9;
            before = time;
        }
        if (i == 0 && is_of_interval) {
            first = value;
            continue;
        }
        if (i == 1 && !isnan(first)) {
            sum += first * weight;
            weights += weight;
        }
        sum += isnan(value) ? 0 : value * weight;
        weights += isnan(value) ? 0 : weight;
    }
    *mean = sum / weights;
    return GPUT_OK;
}

/* Ranks that wait for each other end together: the one that the others wait for works the most
 * meanwhile. */
static int add_busiest(struct doc *findings, const struct report_payload *payload,
    const struct doc *sessions, double *means, struct gput_error *error)
{
    static const char *const groups[] = {"gpu", "cpu"};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        size_t count = 0, busiest = 0;
        double highest = -INFINITY;
        for (const struct doc *session = sessions->first; session; session = session->next) {
            const struct doc *series = main_curve(session, groups[g], "percent");
            double mean = NAN;
            if (series)
                TRY(mean_of_curve(payload, session, series, &mean, error));
            if (!isfinite(mean))
                break;
            if (mean >= highest) {
                busiest = count;
                highest = mean;
            }
            means[count++] = mean;
        }
        if (count < sessions->count || count < MIN_CURVES)
            continue;
        double usual = doubles_median(means, count);
        if (!(highest > 0) || highest < usual * BUSIEST_FACTOR)
            continue;
        struct doc *object = doc_add_object(findings, "busiest");
        doc_add_int(object, "session", (int64_t)busiest);
        doc_add_string(object, "group", groups[g]);
        doc_add_double(object, "mean", highest);
        doc_add_double(object, "median", usual);
        return GPUT_OK;
    }
    return GPUT_OK;
}

/* Adds which ranks failed or stand out, or else which one is the busiest. */
static int compare_ranks(struct doc *findings, const struct report_payload *payload,
    const struct doc *sessions, struct gput_error *error)
{
    size_t count = 0;
    CLEANUP_FREE struct rank *ranks = calloc(sessions->count, sizeof *ranks);
    CLEANUP_FREE double *values = calloc(sessions->count, sizeof *values);
    if (!ranks || !values)
        return error_memory(error);
    for (const struct doc *session = sessions->first; session; session = session->next) {
        /* What is compared of a rank. CPU time is that of its card, or of the cores that it used.
         */
        const struct doc *identity = doc_get(session, "identity");
        struct rank rank = {.index = count,
            .has_failed = has_failed(identity),
            .seconds = doc_get_number(identity, "seconds"),
            .cpu_seconds = card_value(session, "cpu")};
        if (!(rank.cpu_seconds > 0))
            rank.cpu_seconds = card_value(session, "cores") * rank.seconds;
        ranks[count] = rank;

        count++;
    }
    if (add_stragglers(findings, ranks, count, values))
        return GPUT_OK;
    return add_busiest(findings, payload, sessions, values, error);
}

int report_findings_add(struct report_payload *payload, struct gput_error *error)
{
    const struct doc *sessions = doc_get(payload->root, "sessions");
    for (struct doc *session = sessions->first; session; session = session->next)
        add_ending(session);
    if (sessions->count < 2)
        return GPUT_OK;
    for (const struct doc *session = sessions->first; session; session = session->next) {
        /* Mark the curve of each chart by which a session is compared with others. */
        const struct doc *list = doc_get(session, "series");
        for (struct doc *series = list ? list->first : NULL; series; series = series->next) {
            if (main_curve(session, doc_get_string(series, "group"),
                    doc_get_string(series, "unit")) == series)
                doc_add_bool(series, "is_main", true);
        }
    }
    bool are_ranks = report_are_ranks(sessions);
    struct doc *findings = doc_add_object(payload->root, "findings");
    TRY(report_figures_add(findings, sessions, are_ranks, error));
    return are_ranks ? compare_ranks(findings, payload, sessions, error) : GPUT_OK;
}
