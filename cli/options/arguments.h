/*
 * What a command was given: its options and operands. parse_arguments.h fills it.
 */
#pragma once

#include "base/nearest.h"
#include "commands/command.h"
#include "options/option.h"

#include <gputracker/error.h>
#include <gputracker/timeline.h>
#include <gputracker/words.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_use {
    enum option_id id;
    const char *value; /* inside argv; "" for a flag */
    const char *typed; /* inside argv: a long option as it was given, "--interval=1"; or NULL */
};

struct arguments {
    const struct command *command;
    const char *family;    /* help was asked for the commands that begin with this word; or NULL */
    bool wants_short_help; /* -h, not --help */
    struct option_use *uses; /* in the order given; owned */
    size_t n_uses;
    size_t capacity;
    char **added; /* the values that arguments_add() copied; owned */
    size_t n_added;
    /* What is not an option, NULL at the end; the array is owned, the texts are argv's. */
    char **operands;
    int n_operands;
    int n_before_dashes; /* operands before "--"; -1: there is none */
};

void arguments_finish(struct arguments *arguments);

/* Adds a use of an option after those given; the value must stay. Errors: GPUT_ERROR_MEMORY. */
int arguments_add_borrowed(
    struct arguments *arguments, enum option_id id, const char *value, struct gput_error *error);

/* The same; the value is copied. Errors: GPUT_ERROR_MEMORY. */
int arguments_add(
    struct arguments *arguments, enum option_id id, const char *value, struct gput_error *error);

/* True when the option was given. */
bool arguments_have(const struct arguments *arguments, enum option_id id);

/* The value last given to an option, or NULL. */
const char *arguments_value(const struct arguments *arguments, enum option_id id);

/* For repeatable options: the next value from use number *position on, which moves after it; NULL
 * at the end. Start at 0. */
const char *arguments_next(const struct arguments *arguments, enum option_id id, size_t *position);

/*
 * The moment given to an option: how long ago, as "30d", or a date, in seconds since the epoch.
 * *seconds stays as it is when the option was not given. Errors: GPUT_ERROR_INVALID.
 */
int arguments_read_since(const struct arguments *arguments, enum option_id id, double *seconds,
    struct gput_error *error);

/*
 * The word last given to an option that takes one of a list: *choice is its position there, and
 * stays as it is when the option was not given. `noun` is what messages call the value. Errors:
 * those of choice_read().
 */
int arguments_read_choice(const struct arguments *arguments, enum option_id id, const char *noun,
    int *choice, struct gput_error *error);

/* How many cores read: what -j says, else all that this process may use. Errors:
 * GPUT_ERROR_INVALID.
 */
int arguments_read_cores(
    const struct arguments *arguments, unsigned *cores, struct gput_error *error);

/*
 * One word out of a list: the values of an option, commands, topics. What is not in the list is
 * refused with the names nearest to it and all valid ones.
 */

/* Lists of words are texts with a blank between two: "text json csv". */

/* The position of a word in a list; -1: it is not there. */
int choice_find(const char *words, const char *word);

/*
 * Writes at most two words of the list that have a part between dashes in common with `word`, as
 * --limit-ram and --limit have: "--limit or --limit-x". "" when there is none.
 */
void choice_suggest_by_part(const char *words, const char *word, char text[GPUT_NEAREST_SIZE]);

/*
 * Reads the word given to an option: *choice is its position in the option's list. `noun` is what
 * messages call the value. Errors: GPUT_ERROR_INVALID, `"jsno" is not a valid format: did you mean
 * "json"? Valid values are "text", "json" or "csv".`
 */
int choice_read(
    enum option_id id, const char *word, const char *noun, int *choice, struct gput_error *error);

/*
 * The part of a trace or a training profile that a command reads: --start, --end, --steps.
 */

struct window {
    enum gput_timeline_unit unit;
    int64_t start; /* microseconds since the epoch, or the first step; INT64_MIN: no bound */
    int64_t end;   /* as `start`; INT64_MAX: no bound */
};

/* Reads the options. With the older `--unit step`, --start and --end are steps. Errors:
 * GPUT_ERROR_INVALID. */
int window_read(const struct arguments *arguments, struct window *window, struct gput_error *error);

/* --steps alone, "10-12" or "10": sets unit, start and end if it was given. Errors:
 * GPUT_ERROR_INVALID, also where another option selects too. */
int window_read_steps(
    const struct arguments *arguments, struct window *window, struct gput_error *error);
