/*
 * The end of a rule such as "ram > +5%": an operator and a limit, which may be a change.
 */
#pragma once

#include <stdbool.h>

struct limit_rule {
    bool is_above, is_or_at;
    bool is_percent; /* the limit is a change in percent */
    double limit;
};

/* Reads "> +5%", "<= 2" and the like to the end of `text`. Returns NULL, or what is wrong with it,
 * as the part of a sentence. */
const char *limit_rule_parse(const char *text, struct limit_rule *rule);

/* Whether a value, or a change where the limit is one, is beyond the limit. NaN is not. */
bool limit_rule_holds(const struct limit_rule *rule, double value);
