/*
 * What the commands that analyze have in common: progress and output.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/summary.h>

#include <gputracker/error.h>
#include <gputracker/results.h>

#include <stdbool.h>

/* The exit status where a rule holds. */
#define EXIT_RULE_BROKEN 3

/* Checks one rule of `subject`. Where it holds, `said` names what broke it. GPUT_ERROR_STATE: it
 * cannot be checked, and `said` has the reason. */
typedef int rule_check(const void *subject, const char *rule, bool *holds, struct gput_error *said);

/* What is rendered for a format: the JSON that a pickle is made of, else the format itself. */
enum gput_format analysis_rendered_format(enum gput_format format);

/* Writes what was rendered where -o says: whole or not at all; else to the standard output, where
 * text ends with a line end. `kind` is that of pickles_make(). */
int analysis_write(const struct arguments *arguments, const char *kind, enum gput_format format,
    const char *bytes, size_t length, struct gput_error *error);

/* Shows on a terminal how far reading is. Has the form of gput_analysis_options.progress; `user` is
 * an int, 0 at first. */
void analysis_show_progress(void *user, double done);

/* Wipes what it showed. */
void analysis_end_progress(int *shown);

/* Prints a warning where progress may be shown; `user` is that int. */
void analysis_warn(void *user, const char *message);

/* For people on a terminal, else the text of the older command, which scripts read. */
enum gput_format analysis_usual_format(const struct arguments *arguments);

/* How a summary is laid out: as wide as the terminal that it goes to, and --all. */
struct gput_summary_options analysis_summary_options(const struct arguments *arguments);

/*
 * Checks each rule that the option was given with, and prints a line for each that holds or cannot
 * be checked; `*status` is then EXIT_RULE_BROKEN, or EXIT_FAILURE where none holds. Errors: those
 * of `check` but GPUT_ERROR_STATE.
 */
int rules_check(const struct arguments *arguments, enum option_id option, rule_check *check,
    const void *subject, int *status, struct gput_error *error);
