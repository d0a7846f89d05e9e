/*
 * Rules of a comparison: "max main_ram in train > +5%".
 */
#include "analysis/analyze/comparison.h"

#include "base/cleanup.h"
#include "base/human.h"
#include "base/limit_rule.h"
#include "base/number.h"
#include "base/str.h"
#include "base/text.h"

#include <gputracker/words.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPUTE_TIME "compute_time" /* of code blocks */

struct rule {
    struct comparison_figure figure;
    bool all_blocks; /* the compute time of each code block */
    struct limit_rule limit;
};

struct parser {
    const struct gput_comparison *comparison;
    const char *text;
    struct gput_error *error;
};

static int refuse(const struct parser *parser, const char *why)
{
    return error_set(parser->error, GPUT_ERROR_INVALID,
        "The rule \"%.150s\" is not valid: %s%s A rule is like \"max main_ram > +5%%\" or \"mean "
        "compute_time in BLOCK > 2.5\".",
        parser->text, why, why[strlen(why) - 1] == '?' ? "" : ".");
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Copies the next word and returns what follows it. */
static const char *parse_word(const char *at, char *word, size_t size)
{
    at = skip_blanks(at);
    size_t length = strcspn(at, " \t<>");
    size_t kept = length < size ? length : size - 1;
    memcpy(word, at, kept);
    word[kept] = '\0';
    return at + length;
}

static bool is_name(const char *name, const char *at, size_t length)
{
    return strlen(name) == length && memcmp(name, at, length) == 0;
}

/* Whether some session has the code block under that name: "train.py:9" of "train.py:12 ->
 * train.py:9". */
static bool some_session_names(
    const struct gput_comparison *comparison, size_t block, const char *at, size_t length)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; k < session->n_runs; k++) {
            if (is_name(session->runs[k]->blocks[block].name, at, length))
                return true;
        }
    }
    return false;
}

/* The name between `at` and the operator, which may have blanks and other characters. */
static int read_block(struct parser *parser, const char *at, const char *end, struct rule *rule)
{
    const struct gput_comparison *comparison = parser->comparison;
    at = skip_blanks(at);
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    size_t length = (size_t)(end - at), found = 0;
    for (size_t i = 0; i < comparison->n_blocks; i++) {
        bool whole = is_name(comparison->block_names[i], at, length);
        if (!whole && !some_session_names(comparison, i, at, length))
            continue;
        rule->figure.block = i;
        found++;
        if (whole)
            return GPUT_OK;
    }
    if (found > 1)
        return refuse(parser, "sessions have different code blocks under that name; the name of "
                              "both sides (\"a -> b\") says which");
    return found == 1 ? GPUT_OK : refuse(parser, "there is no such code block");
}

/* Refuses a measurement that there is not, and says which name is near. */
static int refuse_measurement(struct parser *parser, const char *word)
{
    const struct gput_comparison *comparison = parser->comparison;
    char near[GPUT_NEAREST_SIZE], why[sizeof near + 64];
    struct str words = {0};
    str_append(&words, COMPUTE_TIME);
    for (size_t i = 0; i < comparison->n_measurements; i++)
        str_printf(&words, " %s", comparison->measurements[i]);
    for (size_t i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        str_printf(&words, " %s", comparison_energy_measurements[i]);
    bool is_near = gput_nearest_words(str_text(&words), word, near) > 0;
    snprintf(why, sizeof why, "there is no such measurement%s%s%s",
        is_near ? ": did you mean " : "", near, is_near ? "?" : "");
    str_finish(&words);
    return refuse(parser, why);
}

/* Reads what comes before the operator: "max main_ram in train". */
static int read_figure(struct parser *parser, const char *limit, struct rule *rule)
{
    char word[128];
    const char *at = parse_word(parser->text, word, sizeof word);
    if (gput_statistic_parse(word, &rule->figure.statistic, NULL) != GPUT_OK)
        return refuse(parser, "it does not begin with min, max, mean or std");
    at = parse_word(at, word, sizeof word);
    const char *measurement = comparison_find_measurement(parser->comparison, word);
    enum gput_energy_figure energy;
    if (measurement)
        rule->figure.measurement = measurement;
    else if (comparison_energy_figure(word, &energy))
        rule->figure.measurement = comparison_energy_measurements[energy];
    else if (strcmp(word, COMPUTE_TIME) != 0)
        return refuse_measurement(parser, word);

    const char *after = parse_word(at, word, sizeof word);
    rule->figure.block = COMPARISON_OVERALL;
    if (strcmp(word, "in") == 0)
        return read_block(parser, after, limit, rule);
    if (*word)
        return refuse(parser, "\"in\" or an operator has to follow the measurement");
    rule->all_blocks = !rule->figure.measurement;
    return GPUT_OK;
}

/* Whether a session breaks a rule. Of changes, any rise from 0 is above any limit, and one within
 * the noise breaks none; what is unknown does not, either. */
static bool breaks(const struct rule *rule, const struct comparison_value *first,
    const struct comparison_value *value)
{
    bool is_from_0 = first->value == 0 && value->value != 0 && !isnan(value->value);
    double change = is_from_0 ? copysign(INFINITY, value->value) : value->change;
    if (rule->limit.is_percent && value->noise)
        return false;
    return limit_rule_holds(&rule->limit, rule->limit.is_percent ? change : value->value);
}

/* In that the limit is given, too; with a blank before it. */
static void append_unit(
    const struct gput_comparison *comparison, const char *measurement, char *text, size_t size)
{
    enum gput_energy_figure energy;
    const char *unit = !measurement ? "seconds"
                       : comparison_energy_figure(measurement, &energy)
                           ? "joules"
                           : analysis_unit(comparison_base(comparison), measurement);
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", unit ? " " : "", unit ? unit : "");
}

/* Says which figure of a session breaks a rule, next to that of the first session. */
static void describe(const struct gput_comparison *comparison, const char *rule,
    const struct comparison_figure *figure, const struct comparison_value *values, size_t i,
    char *message, size_t size)
{
    char first[NUMBER_TEXT_SIZE + 32], value[NUMBER_TEXT_SIZE + 32], change[64] = "";
    char percent[HUMAN_SIZE];
    number_format_rounded(values[0].value, 8, first);
    number_format_rounded(values[i].value, 8, value);
    append_unit(comparison, figure->measurement, first, sizeof first);
    append_unit(comparison, figure->measurement, value, sizeof value);
    if (!isnan(values[i].change))
        text_fit(change, sizeof change, " (%s)", human_change(values[i].change, percent));
    bool whole = figure->block == COMPARISON_OVERALL;
    snprintf(message, size, "%s: %s%s%s%s has %s, %s has %s%s", rule,
        whole ? "" : "in code block \"", whole ? "" : comparison->block_names[figure->block],
        whole ? "" : "\" ", comparison->sessions[i].name, value, comparison->sessions[0].name,
        first, change);
}

/* Refuses a rule where a session lacks the figure that it needs, of a code block that the rule does
 * not name itself, too. */
static int check_known(
    const struct parser *parser, const struct rule *rule, const struct comparison_value *values)
{
    const struct gput_comparison *comparison = parser->comparison;
    const char *block = rule->all_blocks ? comparison->block_names[rule->figure.block] : "";
    for (size_t i = rule->limit.is_percent ? 0 : 1; i < comparison->n_sessions; i++)
        if (isnan(values[i].value))
            return error_set(parser->error, GPUT_ERROR_STATE,
                "The rule \"%.150s\" cannot be checked: %.150s has no such figure%s%.150s%s.",
                parser->text, comparison->sessions[i].name, *block ? " in code block \"" : "",
                block, *block ? "\"" : "");
    return GPUT_OK;
}

int gput_comparison_check(const struct gput_comparison *comparison, const char *text, bool *holds,
    char *message, size_t size, struct gput_error *error)
{
    struct parser parser = {comparison, text, error};
    struct rule rule = {0};
    *holds = false;
    /* The last operator counts: names of code blocks may contain others ("a -> b"). */
    const char *limit = NULL;
    for (const char *at = text; *at; at++)
        if (*at == '<' || *at == '>')
            limit = at;
    if (!limit)
        return refuse(&parser, "it has no >, >=, < or <=");
    TRY(read_figure(&parser, limit, &rule));
    const char *why = limit_rule_parse(limit, &rule.limit);
    if (why)
        return refuse(&parser, why);
    size_t n_figures = rule.all_blocks ? comparison->n_blocks : 1;
    if (comparison->n_sessions < 2 || n_figures == 0)
        return error_set(error, GPUT_ERROR_STATE, "The rule \"%.150s\" cannot be checked: %s.",
            text, n_figures == 0 ? "there are no code blocks" : "there is one session alone");
    int code = GPUT_OK;
    CLEANUP_FREE struct comparison_value *values = calloc(comparison->n_sessions, sizeof *values);
    if (!values)
        return error_memory(error);
    for (size_t f = 0; f < n_figures && !*holds; f++) {
        if (rule.all_blocks)
            rule.figure.block = f;
        comparison_values(comparison, &rule.figure, values);
        for (size_t i = 1; i < comparison->n_sessions && !*holds; i++) {
            *holds = breaks(&rule, &values[0], &values[i]);
            if (*holds)
                describe(comparison, text, &rule.figure, values, i, message, size);
        }
        if (code == GPUT_OK)
            code = check_known(&parser, &rule, values);
    }
    return *holds ? GPUT_OK : code;
}
