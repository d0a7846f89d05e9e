#include "base/limit_rule.h"

#include "testing.h"

#include <math.h>

TEST(a_rule_has_an_operator_and_a_limit)
{
    struct limit_rule rule;
    assert_null(limit_rule_parse(" > +5%", &rule));
    assert_true(rule.is_above && !rule.is_or_at && rule.is_percent && rule.limit == 5);
    assert_null(limit_rule_parse("<= -2.5 ", &rule));
    assert_true(!rule.is_above && rule.is_or_at && !rule.is_percent && rule.limit == -2.5);
}

TEST(what_is_wrong_is_said)
{
    struct limit_rule rule;
    assert_string_equal(limit_rule_parse("= 5", &rule), "> or < has to follow the figure");
    assert_string_equal(limit_rule_parse("", &rule), "> or < has to follow the figure");
    assert_string_equal(limit_rule_parse("> x", &rule), "its limit is not a number");
    assert_string_equal(limit_rule_parse(">", &rule), "its limit is not a number");
    assert_string_equal(limit_rule_parse("> nan", &rule), "its limit is not a number");
    assert_string_equal(limit_rule_parse("> 5 %%", &rule), "something follows its limit");
}

TEST(only_what_is_known_can_be_beyond_a_limit)
{
    struct limit_rule rule;
    assert_null(limit_rule_parse("> 5", &rule));
    assert_true(limit_rule_holds(&rule, 5.1));
    assert_false(limit_rule_holds(&rule, 5));
    assert_false(limit_rule_holds(&rule, NAN));
    assert_null(limit_rule_parse("<= 5", &rule));
    assert_true(limit_rule_holds(&rule, 5));
    assert_false(limit_rule_holds(&rule, 5.1));
    assert_false(limit_rule_holds(&rule, NAN));
}

RUN_TESTS(NULL, NULL)
