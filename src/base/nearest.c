#include "base/nearest.h"

#include "base/error.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_LENGTH = 32, /* of words that are compared */
    LONG_ENOUGH = 7, /* of words that may have more than one slip */
};

static int smaller_of(int left, int right)
{
    return left < right ? left : right;
}

/* Whether two letters are the same, in whatever case. */
static bool is_same(char left, char right)
{
    return tolower((unsigned char)left) == tolower((unsigned char)right);
}

/* How many letters have to be put in, taken out, changed or swapped with the next one. Their case
 * does not count. */
static int distance(const char *left, size_t n_left, const char *right, size_t n_right)
{
    int rows[MAX_LENGTH + 1][MAX_LENGTH + 1];
    for (size_t i = 0; i <= n_left; i++) {
        for (size_t j = 0; j <= n_right; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = (int)(i + j);
                continue;
            }
            int change = rows[i - 1][j - 1] + !is_same(left[i - 1], right[j - 1]);
            rows[i][j] = smaller_of(change, 1 + smaller_of(rows[i - 1][j], rows[i][j - 1]));
            if (i > 1 && j > 1 && is_same(left[i - 1], right[j - 2]) &&
                is_same(left[i - 2], right[j - 1]))
                rows[i][j] = smaller_of(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[n_left][n_right];
}

/*
 * Whether a word is near enough to be meant: at most a third of it differs, and at most one
 * letter of a short word, unless it is the beginning of the other. The dashes of options are no
 * letters.
 */
static bool is_near(
    const char *word, size_t length, const char *candidate, size_t n_candidate, int *far)
{
    if (length > MAX_LENGTH || n_candidate > MAX_LENGTH)
        return false;
    *far = distance(word, length, candidate, n_candidate);
    bool are_options = strncmp(word, "--", 2) == 0 && strncmp(candidate, "--", 2) == 0;
    size_t n_dashes = are_options ? 2 : 0, n_letters = length - n_dashes;
    if (n_letters >= 3 && length < n_candidate && strncasecmp(word, candidate, length) == 0)
        return true;
    int third = (int)((length > n_candidate ? length : n_candidate) - n_dashes) / 3;
    return *far <= (n_letters < LONG_ENOUGH ? smaller_of(third, 1) : third);
}

int gput_nearest_words(const char *words, const char *word, char text[GPUT_NEAREST_SIZE])
{
    const char *nearest[2] = {NULL, NULL};
    int far, at[2] = {MAX_LENGTH, MAX_LENGTH}, count = 0;
    size_t length = strlen(word);
    for (size_t n; *words; words += n + strspn(words + n, ", ")) {
        n = strcspn(words, ", ");
        if (!is_near(word, length, words, n, &far))
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
    if (at[1] > at[0] + 1)
        nearest[1] = NULL;
    text[0] = '\0';
    for (; count < 2 && nearest[count]; count++) {
        size_t used = strlen(text);
        snprintf(text + used, GPUT_NEAREST_SIZE - used, "%s%.*s", count ? " or " : "",
            (int)strcspn(nearest[count], ", "), nearest[count]);
    }
    return count;
}

const char *nearest_question_of(const char *near, char question[NEAREST_QUESTION_SIZE])
{
    snprintf(question, NEAREST_QUESTION_SIZE, near[0] ? ": did you mean %s?" : ".", near);
    return question;
}

const char *nearest_question(
    const char *words, const char *word, char question[NEAREST_QUESTION_SIZE])
{
    char near[GPUT_NEAREST_SIZE];
    gput_nearest_words(words, word, near);
    return nearest_question_of(near, question);
}

int nearest_refuse(const char *words, const char *word, const char *noun, struct gput_error *error)
{
    char question[NEAREST_QUESTION_SIZE];
    return error_set(error, GPUT_ERROR_INVALID, "\"%.80s\" is not a valid %s%s Valid values are %s",
        word, noun, nearest_question(words, word, question), words);
}
