#include "choice.h"

#include "message.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_LENGTH 32 /* of words that are compared; longer ones suggest nothing */

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

static int smaller_of(int left, int right)
{
    return left < right ? left : right;
}

/* How many letters have to be put in, taken out, changed or swapped with the next one. */
static int distance(const char *left, size_t n_left, const char *right, size_t n_right)
{
    int rows[MAX_LENGTH + 1][MAX_LENGTH + 1];
    for (size_t i = 0; i <= n_left; i++) {
        for (size_t j = 0; j <= n_right; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = (int)(i + j);
                continue;
            }
            int change = rows[i - 1][j - 1] + (left[i - 1] != right[j - 1]);
            rows[i][j] = smaller_of(change, 1 + smaller_of(rows[i - 1][j], rows[i][j - 1]));
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                rows[i][j] = smaller_of(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[n_left][n_right];
}

/* What is more than a third wrong was hardly meant, but for the beginning of a word. */
static bool is_near(
    const char *word, size_t length, const char *candidate, size_t n_candidate, int *far)
{
    if (length > MAX_LENGTH || n_candidate > MAX_LENGTH)
        return false;
    *far = distance(word, length, candidate, n_candidate);
    if (length >= 3 && length < n_candidate && strncmp(word, candidate, length) == 0)
        return true;
    return *far <= (int)(length > n_candidate ? length : n_candidate) / 3;
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

void choice_suggest_by_part(const char *words, const char *word, char *text, size_t size)
{
    size_t length = strlen(word);
    text[0] = '\0';
    for (int found = 0; *words && found < 2; words = skip_word(words)) {
        size_t used = strlen(text), n = strcspn(words, " ");
        if (have_a_part_in_common(word, length, words, n))
            snprintf(text + used, size - used, "%s%.*s", found++ ? " or " : "", (int)n, words);
    }
}

void choice_suggest(
    const char *words, const char *word, const char *prefix, char *text, size_t size)
{
    const char *nearest[2] = {NULL, NULL};
    int far, at[2] = {MAX_LENGTH, MAX_LENGTH};
    size_t length = strlen(word);
    for (; *words; words = skip_word(words)) {
        if (!is_near(word, length, words, strcspn(words, " "), &far))
            continue;
        int place = far < at[0] ? 0 : 1;
        if (far >= at[place])
            continue;
        if (place == 0) {
            nearest[1] = nearest[0];
            at[1] = at[0];
        }
        nearest[place] = words;
        at[place] = far;
    }
    text[0] = '\0';
    for (int i = 0; i < 2 && nearest[i]; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s%.*s", i ? " or " : "", prefix,
            (int)strcspn(nearest[i], " "), nearest[i]);
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
    char list[256] = "", near[128], question[160] = ".";
    quote_all(words, list, sizeof list);
    choice_suggest(words, word, "", near, sizeof near);
    if (near[0])
        snprintf(question, sizeof question, ": did you mean %s?", near);
    return fail(error, GPUT_ERROR_INVALID, "\"%.64s\" is not a valid %s%s Valid values are %s.",
        word, noun, question, list);
}
