#include "base/words.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/*
 * Reads a backslash and what it protects, outside quotes or within double ones, where it protects
 * only `"`, `\`, `$`, a back quote and the end of a line. Appends to *out, returns what follows.
 */
static const char *read_escape(const char *text, bool quoted, char **out)
{
    char next = text[1];
    if (next == '\n')
        return text + 2;
    if (next == '\0' || (quoted && !strchr("\"\\$`", next))) {
        *(*out)++ = '\\';
        return text + 1;
    }
    *(*out)++ = next;
    return text + 2;
}

/* Reads text in quotes. Returns what follows the closing one, or NULL when there is none. */
static const char *read_quoted(const char *text, char **out)
{
    char quote = *text++;
    while (*text && *text != quote) {
        if (*text == '\\' && quote == '"')
            text = read_escape(text, true, out);
        else
            *(*out)++ = *text++;
    }
    return *text ? text + 1 : NULL;
}

/* Reads one word. Returns what follows it, or NULL when a quote is not closed. */
static const char *read_word(const char *text, char **out)
{
    while (text && *text && !is_blank(*text)) {
        if (*text == '\'' || *text == '"')
            text = read_quoted(text, out);
        else if (*text == '\\')
            text = read_escape(text, false, out);
        else
            *(*out)++ = *text++;
    }
    return text;
}

/* Skips blanks and escaped line ends between words. */
static const char *skip_blanks(const char *text)
{
    while (is_blank(*text) || (text[0] == '\\' && text[1] == '\n'))
        text += *text == '\\' ? 2 : 1;
    return text;
}

/*
 * One allocation holds the array and after it all texts: these are never longer than the text, and
 * there are at most half as many as it has bytes.
 */
int words_split(const char *text, char ***words, struct gput_error *error)
{
    const char *whole = text;
    size_t length = strlen(text);
    size_t max_words = length / 2 + 2;
    *words = malloc(max_words * sizeof **words + length + 1);
    if (!*words)
        return error_memory(error);
    char *out = (char *)(*words + max_words);
    size_t count = 0;
    for (text = skip_blanks(text); *text; text = skip_blanks(text)) {
        (*words)[count++] = out;
        text = read_word(text, &out);
        if (!text) {
            words_free(*words);
            *words = NULL;
            return error_set(
                error, GPUT_ERROR_INVALID, "A quote is not closed in the command: %.300s", whole);
        }
        *out++ = '\0';
    }
    (*words)[count] = NULL;
    return GPUT_OK;
}

void words_free(char **words)
{
    free(words);
}
