#include "options/choice.h"

#include "base/error.h"
#include "base/nearest.h"

#include <gputracker/words.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
