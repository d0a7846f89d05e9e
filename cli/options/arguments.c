#include "options/arguments.h"

#include "base/error.h"
#include "base/number.h"
#include "options/choice.h"

#include <gputracker/cores.h>

#include <math.h>
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
    arguments->uses[arguments->n_uses++] = (struct option_use){id, value};
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

int arguments_read_moment(const struct arguments *arguments, enum option_id id, const char *name,
    int64_t *number, struct gput_error *error)
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
