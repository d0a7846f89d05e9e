#include "options/arguments.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/number.h"

#include <gputracker/cores.h>
#include <gputracker/words.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* More is a typing error. */
#define MAX_CORES 1024

int arguments_add_borrowed(
    struct arguments *arguments, enum option_id id, const char *value, struct gput_error *error)
{
    if (arguments->n_uses == arguments->capacity) {
        size_t capacity = arguments->capacity ? 2 * arguments->capacity : 16;
        struct option_use *uses = realloc(arguments->uses, capacity * sizeof *uses);
        if (!uses)
            return error_memory(error);
        arguments->uses = uses;
        arguments->capacity = capacity;
    }
    arguments->uses[arguments->n_uses++] = (struct option_use){id, value, NULL};
    return GPUT_OK;
}

int arguments_add(
    struct arguments *arguments, enum option_id id, const char *value, struct gput_error *error)
{
    char **added = realloc(arguments->added, (arguments->n_added + 1) * sizeof *added);
    char *copy = strdup(value);
    if (added)
        arguments->added = added;
    if (!added || !copy) {
        free(copy);
        return error_memory(error);
    }
    arguments->added[arguments->n_added++] = copy;
    return arguments_add_borrowed(arguments, id, copy, error);
}

void arguments_finish(struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->n_added; i++)
        free(arguments->added[i]);
    free(arguments->added);
    free(arguments->uses);
    free(arguments->operands);
    *arguments = (struct arguments){0};
}

bool arguments_have(const struct arguments *arguments, enum option_id id)
{
    return arguments_value(arguments, id) != NULL;
}

const char *arguments_value(const struct arguments *arguments, enum option_id id)
{
    for (size_t i = arguments->n_uses; i-- > 0;) {
        if (arguments->uses[i].id == id)
            return arguments->uses[i].value;
    }
    return NULL;
}

const char *arguments_next(const struct arguments *arguments, enum option_id id, size_t *position)
{
    while (*position < arguments->n_uses) {
        const struct option_use *use = &arguments->uses[(*position)++];
        if (use->id == id)
            return use->value;
    }
    return NULL;
}

/*
 * A moment of a trace given to an option: microseconds since the epoch, or a step. *moment
 * stays as it is when the option was not given. `name` is the option's, for the message. Errors:
 * GPUT_ERROR_INVALID when it is not a whole number.
 */
static int arguments_read_moment(const struct arguments *arguments, enum option_id id,
    const char *name, int64_t *number, struct gput_error *error)
{
    const char *word = arguments_value(arguments, id);
    if (word && !number_read_int64(word, number))
        return error_set(error, GPUT_ERROR_INVALID,
            "--%s must be a whole number (microseconds since the epoch, or a step), not \"%s\".",
            name, word);
    return GPUT_OK;
}

int arguments_read_choice(const struct arguments *arguments, enum option_id id, const char *noun,
    int *choice, struct gput_error *error)
{
    const char *word = arguments_value(arguments, id);
    return word ? choice_read(id, word, noun, choice, error) : GPUT_OK;
}

int arguments_read_cores(
    const struct arguments *arguments, unsigned *cores, struct gput_error *error)
{
    const char *word = arguments_value(arguments, OPTION_CORES);
    int64_t number;
    *cores = gput_usable_cores();
    if (!word)
        return GPUT_OK;
    if (!number_read_int64(word, &number) || number < 1 || number > MAX_CORES)
        return error_set(error, GPUT_ERROR_INVALID,
            "-j must be a number of cores from 1 to %d, not \"%s\".", MAX_CORES, word);
    *cores = (unsigned)number;
    return GPUT_OK;
}

int arguments_read_since(
    const struct arguments *arguments, enum option_id id, double *seconds, struct gput_error *error)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    const char *text = arguments_value(arguments, id);
    char *end, name[64];
    struct tm date = {.tm_isdst = -1};
    if (!text)
        return GPUT_OK;
    double count = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (end > text && end[0] == units[i].letter && !end[1] && count >= 0 && isfinite(count)) {
            *seconds = (double)time(NULL) - count * units[i].seconds;
            return GPUT_OK;
        }
    }
    const char *rest = strptime(text, "%Y-%m-%d", &date);
    if (rest && *rest)
        rest = strptime(rest, "%n%H:%M", &date);
    if (rest && !*rest) {
        *seconds = (double)mktime(&date);
        return GPUT_OK;
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "%s=%s is not a valid time. It is how long ago, such as 90m, 12h, 30d or 4w, or a date, "
        "such as 2026-11-29.",
        option_name(option(id), name), text);
}

/* ---- Choices ---- */

static const char *skip_word(const char *words)
{
    words += strcspn(words, " ");
    return words + (*words == ' ');
}

int choice_find(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (int position = 0; *words; position++, words = skip_word(words)) {
        if (length > 0 && strcspn(words, " ") == length && strncmp(words, word, length) == 0)
            return position;
    }
    return -1;
}

/* Whether the words have a part of three letters or more in common: --limit-ram and --limit. */
static bool have_a_part_in_common(
    const char *word, size_t length, const char *candidate, size_t n_candidate)
{
    for (size_t i = 0, n = 0; i < length; i += n + 1) {
        n = strcspn(word + i, "-");
        for (size_t j = 0, m = 0; n > 2 && j < n_candidate; j += m + 1) {
            m = strcspn(candidate + j, "- ");
            if (m == n && strncmp(word + i, candidate + j, n) == 0)
                return true;
        }
    }
    return false;
}

void choice_suggest_by_part(const char *words, const char *word, char text[GPUT_NEAREST_SIZE])
{
    size_t length = strlen(word);
    text[0] = '\0';
    for (int found = 0; *words && found < 2; words = skip_word(words)) {
        size_t used = strlen(text), n = strcspn(words, " ");
        if (have_a_part_in_common(word, length, words, n))
            snprintf(text + used, GPUT_NEAREST_SIZE - used, "%s%.*s", found++ ? " or " : "", (int)n,
                words);
    }
}

/* "text json csv" as `"text", "json" or "csv"`. */
static void quote_all(const char *words, char *list, size_t size)
{
    size_t used = 0;
    for (bool first = true; *words && used + 1 < size; first = false) {
        const char *next = skip_word(words);
        const char *separator = first ? "" : *next ? ", " : " or ";
        used += (size_t)snprintf(
            list + used, size - used, "%s\"%.*s\"", separator, (int)strcspn(words, " "), words);
        words = next;
    }
}

int choice_read(
    enum option_id id, const char *word, const char *noun, int *choice, struct gput_error *error)
{
    const char *words = option(id)->words;
    *choice = choice_find(words, word);
    if (*choice >= 0)
        return GPUT_OK;
    char list[256] = "", question[NEAREST_QUESTION_SIZE];
    quote_all(words, list, sizeof list);
    return error_set(error, GPUT_ERROR_INVALID,
        "\"%.64s\" is not a valid %s%s Valid values are %s.", word, noun,
        nearest_question(words, word, question), list);
}

/* ---- Windows of time ---- */

int window_read_steps(
    const struct arguments *arguments, struct window *window, struct gput_error *error)
{
    const char *text = arguments_value(arguments, OPTION_STEPS);
    if (!text)
        return GPUT_OK;
    if (arguments_have(arguments, OPTION_START) || arguments_have(arguments, OPTION_STOP) ||
        arguments_have(arguments, OPTION_UNIT))
        return error_set(
            error, GPUT_ERROR_INVALID, "--steps cannot be combined with --start, --end or --unit.");
    const char *stop = text + strlen(text);
    const char *end = number_parse_int64(text, stop, &window->start);
    window->end = window->start;
    if (end && *end == '-')
        end = number_parse_int64(end + 1, stop, &window->end);
    if (!end || *end || window->start < 0 || window->end < window->start)
        return error_set(error, GPUT_ERROR_INVALID,
            "--steps=%.64s names no steps. Give the first and the last one, as in --steps=10-12.",
            text);
    window->unit = GPUT_TIMELINE_STEP;
    return GPUT_OK;
}

int window_read(const struct arguments *arguments, struct window *window, struct gput_error *error)
{
    *window = (struct window){GPUT_TIMELINE_TIME, INT64_MIN, INT64_MAX};
    int choice = GPUT_TIMELINE_TIME;
    TRY(arguments_read_choice(arguments, OPTION_UNIT, "unit", &choice, error));
    window->unit = (enum gput_timeline_unit)choice;
    TRY(arguments_read_moment(arguments, OPTION_START, "start", &window->start, error));
    TRY(arguments_read_moment(arguments, OPTION_STOP, "end", &window->end, error));
    return window_read_steps(arguments, window, error);
}
