#include "base/limit_rule.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

const char *limit_rule_parse(const char *text, struct limit_rule *rule)
{
    const char *at = skip_blanks(text);
    if (*at != '<' && *at != '>')
        return "> or < has to follow the figure";
    rule->is_above = *at == '>';
    rule->is_or_at = at[1] == '=';
    at = skip_blanks(at + 1 + rule->is_or_at);
    at += *at == '+';
    const char *end = number_parse_double(at, at + strlen(at), &rule->limit);
    if (!end || isnan(rule->limit))
        return "its limit is not a number";
    end = skip_blanks(end);
    rule->is_percent = *end == '%';
    return *skip_blanks(end + rule->is_percent) == '\0' ? NULL : "something follows its limit";
}

bool limit_rule_holds(const struct limit_rule *rule, double value)
{
    if (value == rule->limit)
        return rule->is_or_at;
    return rule->is_above ? value > rule->limit : value < rule->limit;
}
