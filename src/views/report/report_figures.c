#include "views/report/report_figures.h"

#include "analysis/analyze/student.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/doubles.h"
#include "base/names.h"
#include "base/spans.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One figure, of all sessions: by their cards, or what stands in for one. */
struct figure {
    const struct doc *card; /* the first of its kind; NULL: the wall time, or how sessions ended */
    const char *id, *label, *unit;
    const struct doc **values; /* one a session; NULL: it lacks it; owned */
    bool is_main;              /* one of the few that say most of a session */
    double change;             /* the largest against the first, in percent; 0: none, or noise */
    size_t place;              /* before they are sorted */
};

struct figures {
    const struct doc *sessions;
    bool are_ranks;
    struct figure *items; /* owned */
    size_t count;
};

static void figures_finish(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        free(figures->items[i].values);
    free(figures->items);
}

/* Whether a session did not end well, by the `ending` that it has. */
static bool has_ended_badly(const struct doc *session)
{
    const struct doc *is_good = doc_get(doc_get(session, "ending"), "is_good");
    return is_good && !is_good->boolean;
}

/* ---- Which figures there are ---- */

static bool is_number(const struct doc *value)
{
    return value && (value->kind == DOC_INT || value->kind == DOC_DOUBLE);
}

/* Cards of one kind are compared; energy of other parts of the machine is another figure. */
static bool is_same_kind(const struct doc *a, const struct doc *b)
{
    const char *id = doc_get_string(a, "id");
    return strcmp(id, doc_get_string(b, "id")) == 0 &&
           (strcmp(id, "energy_machine") != 0 ||
               strcmp(doc_get_string(a, "label"), doc_get_string(b, "label")) == 0);
}

/* What a session has of a figure; NULL: it lacks it. */
static const struct doc *find_value(const struct doc *session, const struct figure *figure)
{
    const struct doc *cards = doc_get(session, "cards");
    const struct doc *value = NULL;
    if (!figure->card)
        value = strcmp(figure->id, "end") == 0 ? doc_get(doc_get(session, "ending"), "text")
                                               : doc_get(doc_get(session, "identity"), "seconds");
    for (const struct doc *card = cards && figure->card ? cards->first : NULL; card;
         card = card->next) {
        if (!is_same_kind(card, figure->card))
            continue;
        value = doc_get(card, "value");
        break;
    }
    return value && value->kind != DOC_NULL ? value : NULL;
}

/* Adds a figure, unless no session has anything of it. */
static int add_figure(struct figures *figures, struct figure figure, struct gput_error *error)
{
    bool is_telling = false;
    size_t i = 0;
    figure.is_main =
        !figure.card ? strcmp(figure.id, "wall") == 0 : doc_get(figure.card, "is_main") != NULL;
    figure.values = calloc(figures->sessions->count, sizeof *figure.values);
    if (!figure.values || !ARRAY_EXTEND(figures->items, figures->count)) {
        free(figure.values);
        return error_memory(error);
    }
    for (const struct doc *session = figures->sessions->first; session; session = session->next) {
        figure.values[i] = find_value(session, &figure);
        const struct doc *value = figure.values[i++];
        is_telling |= value && !(is_number(value) && doc_number(value) == 0);
    }
    if (is_telling)
        figures->items[figures->count++] = figure;
    else
        free(figure.values);
    return GPUT_OK;
}

/* The kinds of cards, in the order in which sessions have them. */
static int list_cards(struct figures *figures, struct gput_error *error)
{
    CLEANUP_FREE const struct doc **kinds = NULL;
    size_t n_kinds = 0;
    bool has_wall = false, has_bad_end = false;
    for (const struct doc *session = figures->sessions->first; session; session = session->next) {
        has_bad_end |= has_ended_badly(session);
        for (const struct doc *card = doc_first(doc_get(session, "cards")); card;
             card = card->next) {
            size_t k = 0;
            while (k < n_kinds && !is_same_kind(card, kinds[k]))
                k++;
            /* How much of the CPU time samples saw says nothing of the programs. */
            if (k < n_kinds || strcmp(doc_get_string(card, "id"), "cpu_captured") == 0)
                continue;
            if (!ARRAY_EXTEND(kinds, n_kinds))
                return error_memory(error);
            kinds[n_kinds++] = card;
            const char *id = doc_get_string(card, "id");
            has_wall |= text_begins_with(id, "wall") || text_begins_with(id, "time") ||
                        text_begins_with(id, "duration") || text_begins_with(id, "elapsed");
        }
    }
    if (!has_wall)
        TRY(add_figure(figures,
            (struct figure){.id = "wall", .label = "Wall time", .unit = "seconds"}, error));
    for (size_t k = 0; k < n_kinds; k++) {
        struct figure figure = {.card = kinds[k],
            .id = doc_get_string(kinds[k], "id"),
            .label = doc_get_string(kinds[k], "label"),
            .unit = doc_get_string(kinds[k], "unit")};
        TRY(add_figure(figures, figure, error));
    }
    if (has_bad_end)
        TRY(add_figure(figures, (struct figure){.id = "end", .label = "End", .unit = ""}, error));
    return GPUT_OK;
}

static bool are_equal(const struct doc *a, const struct doc *b)
{
    return a && b && doc_number(a) == doc_number(b);
}

/* Where no session had another process, main is all: its peak says nothing more. */
static bool repeats_total(const struct figures *figures, const struct figure *figure)
{
    const struct figure *total = NULL;
    for (size_t i = 0; i < figures->count; i++) {
        if (strcmp(figures->items[i].id, "ram") == 0)
            total = &figures->items[i];
    }
    if (!total || strcmp(figure->id, "ram_main") != 0)
        return false;
    for (size_t i = 0; i < figures->sessions->count; i++) {
        if (figure->values[i] && !are_equal(figure->values[i], total->values[i]))
            return false;
    }
    return true;
}

/* What sessions are held against: the first one, or the median of ranks. NaN: nothing. */
static int find_base(const struct figures *figures, const struct figure *figure, double *base,
    struct gput_error *error)
{
    size_t n_sessions = figures->sessions->count, count = 0;
    *base = is_number(figure->values[0]) ? doc_number(figure->values[0]) : NAN;
    if (!figures->are_ranks)
        return GPUT_OK;
    CLEANUP_FREE double *values = calloc(n_sessions, sizeof *values);
    if (!values)
        return error_memory(error);
    for (size_t i = 0; i < n_sessions; i++) {
        if (is_number(figure->values[i]))
            values[count++] = doc_number(figure->values[i]);
    }
    *base = doubles_median(values, count);
    return GPUT_OK;
}

/* ---- What ranks have together ---- */

/* What ranks may share of their machine: "" where the figure is of the rank alone, NULL where it is
 * not known who shares it. */
static const char *shared_by(const struct figure *figure, const struct doc *session)
{
    const struct doc *machine = doc_get(doc_get(session, "identity"), "boot_id");
    unsigned gpu;
    int length = 0;
    bool is_gpu = sscanf(figure->id, "gpu%u_power%n", &gpu, &length) == 1 && length > 0 &&
                  !figure->id[length];
    if (!is_gpu && strcmp(figure->id, "energy_machine") != 0 &&
        strcmp(figure->id, "energy_platform") != 0)
        return "";
    return doc_string(machine);
}

/* When a session ran; at any time, where that is not known. */
static struct span span_of(const struct doc *session, double value)
{
    const struct doc *identity = doc_get(session, "identity");
    double start = doc_get_number(identity, "start_timestamp");
    double end = doc_get_number(identity, "end_s");
    end = start + (isnan(end) ? doc_get_number(identity, "seconds") : end);
    if (!(end > start))
        return (struct span){-INFINITY, INFINITY, value};
    return (struct span){start, end, value};
}

/* A counter of the machine is read by those that take turns until they end. */
static struct span reading_of(const struct doc *session, double value)
{
    struct span span = span_of(session, value);
    double seconds = doc_get_number(doc_get(session, "identity"), "node_seconds");
    if (!isinf(span.end) && !isnan(seconds))
        span.start = fmax(span.start, span.end - seconds);
    return span;
}

/* Cores that were busy on average, from the first start to the last end. */
static double mean_cores(struct span *spans, size_t count)
{
    double start = INFINITY, end = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) {
        start = fmin(start, spans[i].start);
        end = fmax(end, spans[i].end);
    }
    for (size_t i = 0; i < count; i++)
        sum += isinf(end) ? spans[i].value
                          : spans[i].value * (spans[i].end - spans[i].start) / (end - start);
    return sum;
}

/* Returns the highest value of all spans. */
static double highest_of(struct span *spans, size_t count)
{
    double highest = NAN;
    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, spans[i].value);
    return highest;
}

/* Returns the sum of all spans. */
static double sum_of(struct span *spans, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += spans[i].value;
    return sum;
}

typedef double sum_spans(struct span *spans, size_t count);

/* How the values of ranks become one. `word` says what it is. NULL: they are not added up. */
static sum_spans *how_together(const struct figure *figure, bool is_shared, const char **word)
{
    *word = "sum";
    if (strcmp(figure->unit, "percent") == 0)
        return NULL;
    if (is_shared)
        return strcmp(figure->unit, "joules") == 0 ? spans_sum_covered_once : highest_of;
    if (strcmp(figure->unit, "cores") == 0) {
        *word = "mean";
        return mean_cores;
    }
    if (strcmp(figure->unit, "seconds") == 0 && !strstr(figure->id, "cpu")) {
        *word = "longest";
        return highest_of;
    }
    if (strstr(figure->id, "ram") || strstr(figure->id, "power")) {
        *word = "at_most"; /* peaks of different times */
        return spans_highest_at_once;
    }
    return sum_of;
}

/* A rank's value, and the machine or GPU that it is of. */
struct part {
    uint32_t group;
    struct span span;
};

static int compare_groups(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return (a->group > b->group) - (a->group < b->group);
}

/* The sum over the groups of what each of them has. */
static double sum_of_groups(
    struct part *parts, size_t count, struct span *spans, sum_spans *sum_group)
{
    double sum = 0;
    qsort(parts, count, sizeof *parts, compare_groups);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && parts[next].group == parts[i].group; next++)
            spans[next - i] = parts[next].span;
        sum += sum_group(spans, next - i);
    }
    return sum;
}

/* Adds what ranks have of a figure together: bytes and joules add up, each machine and GPU once;
 * RAM and cores of those that ran at the same time. Times do not. */
static int add_together(struct doc *object, const struct figures *figures,
    const struct figure *figure, struct gput_error *error)
{
    const char *owner = shared_by(figure, figures->sessions->first), *word;
    bool is_shared = !owner || owner[0];
    sum_spans *sum_group = how_together(figure, is_shared, &word);
    size_t count = 0, n_sessions = figures->sessions->count, i = 0;
    if (!sum_group)
        return GPUT_OK;
    CLEANUP(names_finish) struct names groups = {0};
    CLEANUP_STR struct str group = {0};
    CLEANUP_FREE struct part *parts = calloc(n_sessions, sizeof *parts);
    CLEANUP_FREE struct span *spans = calloc(2 * n_sessions, sizeof *spans);
    if (!parts || !spans)
        return error_memory(error);
    bool is_by_machine = is_shared || sum_group == mean_cores || sum_group == spans_highest_at_once;
    for (const struct doc *session = figures->sessions->first; session; session = session->next) {
        const struct doc *value = figure->values[i++];
        if (!value && is_shared)
            continue; /* what ranks share, one reads for the others */
        if (!is_number(value) || (is_shared && !shared_by(figure, session)))
            return GPUT_OK;
        str_clear(&group);
        if (is_by_machine) {
            /* The machine, and for power of a GPU which one. Times of different machines are by
             * different clocks. */
            const struct doc *identity = doc_get(session, "identity");
            const char *machine = doc_get_string(identity, "boot_id");
            str_append(&group, machine[0] ? machine : doc_get_string(identity, "host"));
            if (text_begins_with(figure->id, "gpu") && shared_by(figure, session)) {
                const struct doc *gpu =
                    doc_item(doc_get(session, "gpus"), strtoul(figure->id + 3, NULL, 10));
                const char *uuid = doc_get_string(gpu, "uuid");
                if (text_ends_with(figure->id, "_power"))
                    str_printf(&group, " %s", uuid[0] ? uuid : figure->id);
            }
        }
        parts[count].group = names_add(&groups, str_text(&group), group.length);
        if (group.failed || parts[count].group == NAMES_NONE)
            return error_memory(error);
        parts[count++].span = is_shared ? reading_of(session, doc_number(value))
                                        : span_of(session, doc_number(value));
    }
    if (count == 0)
        return GPUT_OK;
    struct doc *together = doc_add_object(object, "together");
    doc_add_double(together, "value", sum_of_groups(parts, count, spans, sum_group));
    doc_add_string(together, "is", word);
    return GPUT_OK;
}

/* ---- Means of runs ---- */

/* Several runs of one thing, and the mean of a figure of theirs. */
struct mean {
    double value, variance; /* of the mean, not of a run; NaN: one run */
    size_t runs;
};

/* The mean of those sessions that are of the group; NaN where one of them lacks the figure. */
static struct mean mean_of(
    const struct figure *figure, const uint32_t *groups, size_t n_sessions, uint32_t group)
{
    struct mean mean = {.variance = NAN};
    double squares = 0;
    for (size_t i = 0; i < n_sessions; i++) {
        if (groups[i] != group)
            continue;
        mean.value += is_number(figure->values[i]) ? doc_number(figure->values[i]) : NAN;
        mean.runs++;
    }
    mean.value /= (double)mean.runs;
    for (size_t i = 0; i < n_sessions && mean.runs > 1; i++) {
        if (groups[i] == group)
            squares += pow(doc_number(figure->values[i]) - mean.value, 2);
    }
    if (mean.runs > 1)
        mean.variance = squares / (double)(mean.runs - 1) / (double)mean.runs;
    return mean;
}

/* The change of a mean against the first one, in percent. */
struct change {
    double percent;
    double half; /* of its 95 % interval (Welch); NaN: one run */
    bool is_noise;
};

/* Computes the change of a mean against the first one. */
static struct change change_of(const struct mean *first, const struct mean *mean)
{
    double variance = first->variance + mean->variance;
    double difference = mean->value - first->value;
    struct change change = {
        .percent = (mean->value / first->value - 1) * 100, .half = variance == 0 ? 0 : NAN};
    if (first->value == 0) {
        change.percent = mean->value == 0 ? 0 : NAN;
    } else if (variance > 0) {
        double freedom =
            student_welch_freedom(first->variance, first->runs, mean->variance, mean->runs);
        double quantile = student_quantile_975(freedom), ratio = mean->value / first->value;
        change.is_noise = fabs(difference) <= quantile * sqrt(variance);
        /* The relative variances of both add up in a quotient. */
        change.half = quantile * sqrt(mean->variance + first->variance * ratio * ratio) /
                      fabs(first->value) * 100;
    }
    return change;
}

/* Which sessions are runs of one thing: those of one name. */
struct groups {
    uint32_t *of; /* one a session; owned */
    uint32_t count;
};

/* Orders main figures first, then by how much they changed. */
static int compare_changes(const void *left, const void *right)
{
    const struct figure *a = left, *b = right;
    if (a->is_main != b->is_main)
        return a->is_main ? -1 : 1;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Sorts the main figures, then the others, by how much they changed: what a comparison is read for
 * comes first. */
static void sort_by_change(struct figures *figures, const struct groups *groups)
{
    for (size_t i = 0; i < figures->count; i++) {
        struct figure *figure = &figures->items[i];
        figure->place = i;

        /* The largest change of a figure that is more than chance, infinite from 0; 0: there is
         * none. */
        struct mean first = mean_of(figure, groups->of, figures->sessions->count, 0);
        double largest = 0;
        for (uint32_t group = 1; group < groups->count; group++) {
            struct mean mean = mean_of(figure, groups->of, figures->sessions->count, group);
            struct change change = change_of(&first, &mean);
            bool is_from_zero = first.value == 0 && fabs(mean.value) > 0;
            if (!change.is_noise)
                largest = fmax(largest, is_from_zero ? INFINITY : fabs(change.percent));
        }
        figure->change = largest;
    }
    if (figures->count > 0)
        qsort(figures->items, figures->count, sizeof *figures->items, compare_changes);
}

/* One list of means for each figure: a mean for each thing that was run, in the order in which the
 * sessions have them. */
static void add_means(
    struct doc *findings, const struct figures *figures, const struct groups *groups)
{
    size_t n_sessions = figures->sessions->count;
    struct doc *list = doc_add_array(findings, "means");
    for (size_t k = 0; k < figures->count; k++) {
        struct doc *means = doc_add_array(list, NULL);
        struct mean first = {.value = NAN};
        for (uint32_t group = 0; group < groups->count; group++) {
            struct mean mean = mean_of(&figures->items[k], groups->of, n_sessions, group);
            if (isnan(mean.value)) {
                doc_add_null(means, NULL);
                continue;
            }
            double quantile = student_quantile_975((double)mean.runs - 1);
            double half =
                mean.variance == 0 ? 0 : quantile * sqrt(mean.variance) / fabs(mean.value);
            struct doc *object = doc_add_object(means, NULL);
            doc_add_double(object, "value", mean.value);
            doc_add_int(object, "runs", (int64_t)mean.runs);
            doc_add_double(object, "half", half * 100);
            if (group == 0)
                first = mean;
            else if (!isnan(first.value)) {
                struct change change = change_of(&first, &mean);
                struct doc *item = doc_add_object(object, "change");
                doc_add_double(item, "percent", change.percent);
                doc_add_double(item, "half", change.half);
                doc_add_bool(item, "is_noise", change.is_noise);
            }
        }
    }
}

/* Adds the figures with their values, and what ranks have of them together. */
static int add_figures(
    struct doc *findings, const struct figures *figures, struct gput_error *error)
{
    struct doc *list = doc_add_array(findings, "figures");
    for (size_t i = 0; i < figures->count; i++) {
        const struct figure *figure = &figures->items[i];
        double base;
        TRY(find_base(figures, figure, &base, error));
        struct doc *object = doc_add_object(list, NULL);
        doc_add_string(object, "label", figure->label);
        doc_add_string(object, "unit", figure->unit);
        doc_add_double(object, "base", base);
        struct doc *values = doc_add_array(object, "values");
        for (size_t k = 0; k < figures->sessions->count; k++) {
            if (figure->values[k])
                doc_add_copy(values, NULL, figure->values[k]);
            else
                doc_add_null(values, NULL);
        }
        if (figures->are_ranks)
            TRY(add_together(object, figures, figure, error));
    }
    return GPUT_OK;
}

static void groups_finish(struct groups *groups)
{
    free(groups->of);
}

int report_figures_add(
    struct doc *findings, const struct doc *sessions, bool are_ranks, struct gput_error *error)
{
    CLEANUP(figures_finish) struct figures figures = {.sessions = sessions, .are_ranks = are_ranks};
    CLEANUP(groups_finish) struct groups groups = {0};
    TRY(list_cards(&figures, error));

    /* Take out what repeats another figure. */
    size_t kept = 0;
    for (size_t i = 0; i < figures.count; i++) {
        struct figure figure = figures.items[i];
        if (repeats_total(&figures, &figure))
            free(figure.values);
        else
            figures.items[kept++] = figure;
    }
    figures.count = kept;

    if (are_ranks)
        return add_figures(findings, &figures, error);
    CLEANUP(names_finish) struct names names = {0};
    size_t i = 0;
    groups.of = calloc(sessions->count, sizeof *groups.of);
    if (!groups.of)
        return error_memory(error);
    for (const struct doc *session = sessions->first; session; session = session->next, i++) {
        const char *name = doc_get_string(session, "name");
        groups.of[i] = names_add(&names, name, strlen(name));
        if (groups.of[i] == NAMES_NONE)
            return error_memory(error);
    }
    groups.count = names.count;

    sort_by_change(&figures, &groups);
    TRY(add_figures(findings, &figures, error));
    if (groups.count < sessions->count)
        add_means(findings, &figures, &groups);
    return GPUT_OK;
}
