#include "machine/os/mountinfo.h"

#include "machine/os/scan.h"

#include <stdlib.h>
#include <string.h>

/* Takes the next word of a line; an empty one at its end. */
static struct mountinfo_piece next_word(const char **position, const char *end)
{
    const char *start = *position;
    while (start < end && *start == ' ')
        start++;
    const char *stop = start;
    while (stop < end && *stop != ' ')
        stop++;
    *position = stop;
    return (struct mountinfo_piece){.start = start, .length = (size_t)(stop - start)};
}

/* Scans "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw"; any number of
 * words may precede the "-". */
static bool scan_entry(const struct scan_line *line, struct mountinfo_entry *entry)
{
    const char *position = line->start;

    for (int i = 0; i < 3; i++)
        next_word(&position, line->end);
    entry->root = next_word(&position, line->end);
    entry->mount_point = next_word(&position, line->end);
    struct mountinfo_piece word;
    do
        word = next_word(&position, line->end);
    while (word.length > 0 && !mountinfo_is(word, "-"));
    entry->type = next_word(&position, line->end);
    next_word(&position, line->end);
    entry->options = next_word(&position, line->end);
    return entry->options.length > 0;
}

bool mountinfo_next(const char **position, const char *end, struct mountinfo_entry *entry)
{
    struct scan_line line;

    while (scan_next_line(position, end, &line))
        if (scan_entry(&line, entry))
            return true;
    return false;
}

static bool is_octal(char byte)
{
    return byte >= '0' && byte <= '7';
}

char *mountinfo_unescape(struct mountinfo_piece piece)
{
    char *text = malloc(piece.length + 1);
    size_t length = 0;

    if (!text)
        return NULL;
    for (size_t i = 0; i < piece.length; i++) {
        const char *at = piece.start + i;
        if (*at == '\\' && piece.length - i >= 4 && is_octal(at[1]) && is_octal(at[2]) &&
            is_octal(at[3])) {
            text[length++] = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            i += 3;
        } else {
            text[length++] = *at;
        }
    }
    text[length] = '\0';
    return text;
}

bool mountinfo_is(struct mountinfo_piece piece, const char *text)
{
    return piece.length == strlen(text) && memcmp(piece.start, text, piece.length) == 0;
}

bool mountinfo_has_option(struct mountinfo_piece options, const char *option)
{
    size_t length = strlen(option);
    const char *end = options.start + options.length;

    for (const char *word = options.start; word < end;) {
        const char *comma = memchr(word, ',', (size_t)(end - word));
        const char *stop = comma ? comma : end;
        if ((size_t)(stop - word) == length && memcmp(word, option, length) == 0)
            return true;
        word = stop + 1;
    }
    return false;
}
