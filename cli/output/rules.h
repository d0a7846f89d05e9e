/*
 * The rules of --fail-if: which hold, which cannot be checked, and the exit status that follows.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/error.h>

#include <stdbool.h>

/* The exit status where a rule holds. */
#define EXIT_RULE_BROKEN 3

/* Checks one rule of `subject`. Where it holds, `said` names what broke it. GPUT_ERROR_STATE: it
 * cannot be checked, and `said` has the reason. */
typedef int rule_check(const void *subject, const char *rule, bool *holds, struct gput_error *said);

/*
 * Checks each rule that the option was given with, and prints a line for each that holds or cannot
 * be checked; `*status` is then EXIT_RULE_BROKEN, or EXIT_FAILURE where none holds. Errors: those
 * of `check` but GPUT_ERROR_STATE.
 */
int rules_check(const struct arguments *arguments, enum option_id option, rule_check *check,
    const void *subject, int *status, struct gput_error *error);
