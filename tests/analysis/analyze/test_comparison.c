#include "analysis/analyze/comparison.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static char warnings[2048];

static void warn(void *user, const char *message)
{
    (void)user;
    strcat(strcat(warnings, message), "\n");
}

/* An analysis of one measurement with that mean, and code blocks of those names. */
static struct gput_analysis *analysis_of(double mean, const char *names)
{
    static const char *const measurements[] = {"main_ram"};
    char copy[256];
    struct gput_analysis *analysis = analysis_create(measurements, 1);
    analysis->overall[0] = (struct gput_statistics){mean - 1, mean + 1, mean, 0.5, 0};
    analysis->blocks = analysis_create_blocks(analysis, 8, false);
    snprintf(copy, sizeof copy, "%s", names);
    for (char *name = strtok(copy, " "); name; name = strtok(NULL, " ")) {
        struct gput_code_block *block = &analysis->blocks[analysis->n_blocks++];
        assert_int_equal(analysis_name_block(block, name, NULL), GPUT_OK);
        block->compute_time = (struct gput_statistics){1, 3, mean / 2, 0, 0};
        block->resource_usage[0] = analysis->overall[0];
    }
    for (size_t i = analysis->n_blocks; i < 8; i++) /* what was made for names that did not come */
        free(analysis->blocks[i].resource_usage);
    return analysis;
}

static void add(
    struct gput_comparison *comparison, const char *session, double mean, const char *names)
{
    assert_int_equal(comparison_add(comparison, session, analysis_of(mean, names), NULL), GPUT_OK);
}

static int match(struct gput_comparison *comparison, struct gput_error *error)
{
    warnings[0] = '\0';
    return comparison_match(comparison, warn, NULL, error);
}

TEST(blocks_match_in_order_of_their_line_numbers)
{
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "B", 2, "f.py:10 f.py:9 z f.py:100");
    add(comparison, "A", 1, "f.py:100 f.py:10 f.py:9 z");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_int_equal(comparison->n_blocks, 4);
    assert_string_equal(comparison->block_names[0], "f.py:9");
    assert_string_equal(comparison->block_names[1], "f.py:10");
    assert_string_equal(comparison->block_names[2], "f.py:100");
    assert_string_equal(comparison->block_names[3], "z");
    assert_string_equal(warnings, "");
    gput_comparison_destroy(comparison);
}

TEST(names_that_differ_by_line_match_with_a_warning)
{
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "B", 2, "f.py:12");
    add(comparison, "A", 1, "f.py:9");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_string_equal(comparison->block_names[0], "f.py:12 -> f.py:9");
    assert_string_equal(warnings,
        "Code block name \"f.py:9\" of tracking session \"A\" matched with code block name "
        "\"f.py:12\" of tracking session \"B\" but they differ by line number. If these code "
        "blocks were not meant to match, their comparison will not be valid and their names must "
        "be disambiguated.\n");
    gput_comparison_destroy(comparison);
}

TEST(blocks_that_do_not_match_are_refused)
{
    struct gput_error error;
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "B", 2, "f.py:12");
    add(comparison, "A", 1, "g.py:12");
    assert_int_equal(match(comparison, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message,
        "Code block name \"g.py:12\" of tracking session \"A\" does not match code block name "
        "\"f.py:12\" of tracking session \"B\"");
    gput_comparison_destroy(comparison);

    comparison = comparison_create();
    add(comparison, "A", 2, "a b");
    add(comparison, "B", 1, "a");
    assert_int_equal(match(comparison, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message,
        "All sub-tracking results must have the same number of code blocks. The first has 2 code "
        "blocks but tracking session \"B\" has 1 code blocks.");
    gput_comparison_destroy(comparison);

    comparison = comparison_create();
    assert_int_equal(match(comparison, &error), GPUT_ERROR_INVALID);
    gput_comparison_destroy(comparison);
}

TEST(values_are_sorted_and_equal_ones_keep_their_order)
{
    static const double means[] = {3, NAN, 1, 3, 2};
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct comparison_value values[5];
    struct gput_comparison *comparison = comparison_create();
    for (size_t i = 0; i < 5; i++)
        add(comparison, names[i], means[i], "");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    const struct comparison_figure figure = {"main_ram", COMPARISON_OVERALL, GPUT_STATISTIC_MEAN};
    comparison_sorted_values(comparison, &figure, values);
    char order[8] = "";
    for (size_t i = 0; i < 5; i++)
        strcat(order, names[values[i].session]);
    assert_string_equal(order, "ceadb");
    assert_true(fabs(values[0].change + 200.0 / 3) < 1e-9);
    assert_true(isnan(values[4].change));
    assert_true(isnan(values[0].low) && !values[0].noise);
    gput_comparison_destroy(comparison);
}

TEST(several_runs_are_compared_by_their_mean_and_spread)
{
    struct comparison_value values[3];
    struct gput_comparison *comparison = comparison_create();
    for (int run = -1; run <= 1; run++) {
        add(comparison, "A", 10 + run, "a");
        add(comparison, "B", 11 + run, "a");
        add(comparison, "C", 20 + run, "a");
    }
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_true(comparison_has_runs(comparison));
    const struct comparison_figure figure = {NULL, 0, GPUT_STATISTIC_MEAN};
    comparison_values(comparison, &figure, values);
    assert_true(fabs(values[0].value - 5) < 1e-12);
    assert_true(fabs(values[0].high - (5 + 4.30265272974946 * 0.5 / sqrt(3))) < 1e-9);
    assert_true(fabs(values[0].low - (5 - 4.30265272974946 * 0.5 / sqrt(3))) < 1e-9);
    assert_false(values[0].noise);
    assert_true(values[1].noise);
    assert_false(values[2].noise);
    gput_comparison_destroy(comparison);
}

TEST(an_interval_of_what_cannot_be_negative_begins_at_0_at_least)
{
    struct comparison_value values[1];
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "A", 1, "a");
    add(comparison, "A", 9, "a");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    const struct comparison_figure figure = {"main_ram", COMPARISON_OVERALL, GPUT_STATISTIC_MAX};
    comparison_values(comparison, &figure, values);
    assert_true(values[0].low == 0 && values[0].high > 2 * values[0].value);
    gput_comparison_destroy(comparison);
}

TEST(a_table_has_a_row_a_figure_and_session)
{
    struct gput_comparison *comparison = comparison_create();
    struct gput_comparison_options options = {
        .size = sizeof options, .statistic = GPUT_STATISTIC_MAX};
    struct gput_tables *tables;
    add(comparison, "A", 4, "a");
    add(comparison, "B", 1, "a");
    add(comparison, "B", 3, "a");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_int_equal(gput_comparison_tables(comparison, &options, &tables, NULL), GPUT_OK);
    gput_comparison_destroy(comparison);

    const struct gput_table *table = gput_tables_find(tables, "comparison");
    enum { BLOCK, MEASUREMENT, STATISTIC, SESSION, VALUE, CHANGE, RUNS, LOW };
    assert_int_equal(gput_table_row_count(table), 6);
    assert_true(gput_table_is_missing(table, 0, BLOCK));
    assert_string_equal(gput_table_text(table, 0, MEASUREMENT), "main_ram");
    assert_string_equal(gput_table_text(table, 0, STATISTIC), "max");
    assert_string_equal(gput_table_text(table, 0, SESSION), "B");
    assert_true(gput_table_double(table, 0, VALUE) == 3);
    assert_true(gput_table_double(table, 0, CHANGE) == -40);
    assert_int_equal(gput_table_int(table, 0, RUNS), 2);
    assert_false(gput_table_is_missing(table, 0, LOW));
    assert_true(gput_table_is_missing(table, 1, LOW));
    assert_string_equal(gput_table_text(table, 2, BLOCK), "a");
    assert_string_equal(gput_table_text(table, 2, MEASUREMENT), "compute_time");
    assert_string_equal(gput_table_text(table, 4, MEASUREMENT), "main_ram");
    gput_tables_destroy(tables);
}

TEST(a_table_lists_what_all_files_have_as_integers)
{
    unsigned char maximum = 1u << GPUT_STATISTIC_MAX;
    for (int statistic = GPUT_STATISTIC_MIN; statistic <= GPUT_STATISTIC_MAX; statistic++) {
        struct gput_comparison *comparison = comparison_create();
        struct gput_comparison_options options = {.size = sizeof options};
        struct gput_tables *tables;
        options.statistic = (enum gput_statistic)statistic;
        add(comparison, "A", 4, "a");
        add(comparison, "B", 1, "a");
        for (size_t i = 0; i < comparison->n_sessions; i++) {
            struct gput_analysis *analysis = comparison->sessions[i].runs[0];
            analysis->overall_integers = calloc(analysis->n_measurements, 1);
            analysis->overall_integers[0] = maximum;
        }
        assert_int_equal(match(comparison, NULL), GPUT_OK);
        assert_int_equal(gput_comparison_tables(comparison, &options, &tables, NULL), GPUT_OK);
        const struct gput_table *table = gput_tables_find(tables, "whole_numbers");
        assert_int_equal(gput_table_row_count(table), statistic == GPUT_STATISTIC_MAX);
        if (statistic == GPUT_STATISTIC_MAX)
            assert_string_equal(gput_table_text(table, 0, 0), "main_ram");
        gput_tables_destroy(tables);
        gput_comparison_destroy(comparison);
    }
}

static void assert_rule(
    const struct gput_comparison *comparison, const char *rule, const char *expected)
{
    bool holds;
    char message[256] = "";
    assert_int_equal(
        gput_comparison_check(comparison, rule, &holds, message, sizeof message, NULL), GPUT_OK);
    assert_string_equal(message, expected);
    assert_int_equal(holds, *expected != '\0');
}

TEST(rules_hold_or_not)
{
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "A", 10, "a f->g");
    add(comparison, "B", 12, "a f->g");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_rule(comparison, "mean main_ram > +20.1%", "");
    assert_rule(comparison, "mean main_ram > +19.9%",
        "mean main_ram > +19.9%: B has 12.0, A has 10.0 (+20.0 %)");
    assert_rule(
        comparison, "max main_ram>=13", "max main_ram>=13: B has 13.0, A has 11.0 (+18.2 %)");
    assert_rule(comparison, "min main_ram <= -1 %", "");
    assert_rule(comparison, "std main_ram < 0.5", "");
    assert_rule(
        comparison, "std main_ram <= 0.5", "std main_ram <= 0.5: B has 0.5, A has 0.5 (+0.0 %)");
    assert_rule(comparison, "mean compute_time > 5",
        "mean compute_time > 5: in code block \"a\" B has 6.0 seconds, A has 5.0 seconds (+20.0 "
        "%)");
    assert_rule(comparison, "mean compute_time in f->g > 5",
        "mean compute_time in f->g > 5: in code block \"f->g\" B has 6.0 seconds, A has 5.0 "
        "seconds (+20.0 %)");
    assert_rule(comparison, "mean main_ram in a > 12", "");
    gput_comparison_destroy(comparison);
}

TEST(any_rise_from_0_breaks_a_rule)
{
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "A", 0, "a");
    add(comparison, "B", 0, "a");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_rule(comparison, "mean main_ram > +0%", "");
    assert_rule(comparison, "mean main_ram < -5%", "");
    gput_comparison_destroy(comparison);

    comparison = comparison_create();
    add(comparison, "A", 0, "a");
    add(comparison, "B", 0.5, "a");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_rule(
        comparison, "mean main_ram > +5000%", "mean main_ram > +5000%: B has 0.5, A has 0.0");
    assert_rule(comparison, "mean main_ram < +5%", "");
    assert_rule(comparison, "mean main_ram > 0.2", "mean main_ram > 0.2: B has 0.5, A has 0.0");
    gput_comparison_destroy(comparison);

    comparison = comparison_create();
    add(comparison, "A", 0, "a");
    add(comparison, "B", NAN, "a");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    bool holds;
    struct gput_error error;
    assert_int_equal(
        gput_comparison_check(comparison, "mean main_ram > +5%", &holds, NULL, 0, &error),
        GPUT_ERROR_STATE);
    assert_false(holds);
    assert_string_equal(
        error.message, "The rule \"mean main_ram > +5%\" cannot be checked: B has no such figure.");
    gput_comparison_destroy(comparison);
}

TEST(a_rule_may_name_a_block_as_any_session_does)
{
    bool holds;
    char message[256];
    struct gput_error error;
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "A", 10, "f.py:9 f.py:20");
    add(comparison, "B", 12, "f.py:12 f.py:20");
    add(comparison, "C", 12, "f.py:20 f.py:28");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    static const char *const names[] = {
        "f.py:9", "f.py:12", "f.py:28", "f.py:12 -> f.py:20 -> f.py:9"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char rule[128];
        snprintf(rule, sizeof rule, "mean compute_time in %s > +5%%", names[i]);
        assert_int_equal(
            gput_comparison_check(comparison, rule, &holds, message, sizeof message, NULL),
            GPUT_OK);
        assert_true(holds);
        assert_non_null(strstr(
            message, i == 2 ? "\"f.py:20 -> f.py:28\"" : "\"f.py:12 -> f.py:20 -> f.py:9\""));
    }
    assert_int_equal(gput_comparison_check(comparison, "mean compute_time in f.py:20 > 1", &holds,
                         message, sizeof message, &error),
        GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "different code blocks under that name"));
    gput_comparison_destroy(comparison);
}

TEST(invalid_rules_are_refused)
{
    static const char *const rules[] = {"", "max main_ram", "max main_ram >", "max > 5%",
        "most main_ram > 5", "max ram > 5", "max main_ram > 5 apples", "max main_ram > 5%%",
        "max main_ram in b > 5", "max main_ram on a > 5", "max main_ram > nan"};
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "A", 10, "a");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        bool holds;
        char message[8];
        if (gput_comparison_check(comparison, rules[i], &holds, message, sizeof message, NULL) !=
            GPUT_ERROR_INVALID)
            fail_msg("\"%s\" was accepted", rules[i]);
    }
    gput_comparison_destroy(comparison);
}

TEST(noise_breaks_no_rule)
{
    struct gput_comparison *comparison = comparison_create();
    for (int run = -1; run <= 1; run++) {
        add(comparison, "A", 10 + run, "");
        add(comparison, "B", 11 + run, "");
    }
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_rule(comparison, "mean main_ram > +5%", "");
    gput_comparison_destroy(comparison);
}

TEST(a_measurement_that_one_session_lacks_is_missing_there)
{
    static const char *const newer[] = {"swap", "main_ram"};
    struct gput_comparison *comparison = comparison_create();
    struct gput_analysis *analysis = analysis_create(newer, 2);
    analysis->overall[0].mean = 7;
    analysis->overall[1].mean = 8;
    analysis->blocks = analysis_create_blocks(analysis, 0, false);
    add(comparison, "A", 1, "");
    assert_int_equal(comparison_add(comparison, "B", analysis, NULL), GPUT_OK);
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    assert_int_equal(comparison->n_measurements, 2);
    assert_string_equal(comparison->measurements[0], "main_ram");
    assert_string_equal(comparison->measurements[1], "swap");
    struct comparison_value values[2];
    const struct comparison_figure figure = {"swap", COMPARISON_OVERALL, GPUT_STATISTIC_MEAN};
    comparison_values(comparison, &figure, values);
    assert_true(isnan(values[0].value) && isnan(values[1].change));
    assert_true(values[1].value == 7);
    gput_comparison_destroy(comparison);
}

TEST(other_formats_are_refused)
{
    char *bytes;
    struct gput_error error;
    struct gput_comparison *comparison = comparison_create();
    add(comparison, "A", 1, "x");
    assert_int_equal(match(comparison, NULL), GPUT_OK);
    for (int format = GPUT_FORMAT_PICKLE; format < 100; format++)
        if (format < GPUT_FORMAT_SVG || format > GPUT_FORMAT_PNG)
            assert_int_equal(gput_comparison_render(
                                 comparison, NULL, (enum gput_format)format, &bytes, NULL, &error),
                GPUT_ERROR_INVALID);
    gput_comparison_destroy(comparison);
}

TEST(statistics_are_read_by_name)
{
    enum gput_statistic statistic;
    struct gput_error error;
    assert_int_equal(gput_statistic_parse("std", &statistic, NULL), GPUT_OK);
    assert_string_equal(gput_statistic_name(statistic), "std");
    assert_int_equal(gput_statistic_parse("foo", &statistic, &error), GPUT_ERROR_INVALID);
    assert_string_equal(
        error.message, "Invalid summary statistic 'foo'. Valid values are min max mean std.");
}

RUN_TESTS(NULL, NULL)
