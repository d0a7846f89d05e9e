/*
 * A command's output as lines that begin phases: the first line is the expression. The fast search
 * finds what matching line by line finds, in whatever parts the output comes.
 */
#include "../../cli/phases/phase_lines.h"

#include "fuzz_text.h"

struct seen {
    uint64_t count;
    uint64_t hash;
};

static void found(void *user, const char *name, bool is_redrawn)
{
    struct seen *seen = user;
    if (!name[0] || strlen(name) >= PHASE_NAME_SIZE)
        abort();
    seen->count++;
    for (; *name; name++)
        seen->hash = seen->hash * 31 + (unsigned char)*name;
    seen->hash = seen->hash * 2 + is_redrawn;
}

static struct seen search(
    const struct phase_matcher *matcher, const char *text, size_t length, size_t part)
{
    static struct phase_lines lines;
    struct seen seen = {0};
    phase_lines_init(&lines, matcher, found, &seen);
    for (size_t at = 0; at < length; at += part)
        phase_lines_add(&lines, text + at, length - at < part ? length - at : part);
    phase_lines_end(&lines);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct phase_matcher matcher;
    struct gput_error error;
    char pattern[24];
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t length = end ? (size_t)(end - data) : 0;
    /* Numbers of repetitions may take all memory: that is regcomp()'s. */
    if (length == 0 || length >= sizeof pattern || memchr(data, '{', length))
        return 0;
    memcpy(pattern, data, length);
    pattern[length] = '\0';
    if (phase_matcher_init(&matcher, pattern, &error) != GPUT_OK)
        return 0;
    size = size < 4096 ? size : 4096;
    char *text = fuzz_text(data, size);
    struct seen whole = search(&matcher, text, size, size), parts = search(&matcher, text, size, 7);
    line_search_close(&matcher.search);
    struct seen without_library = search(&matcher, text, size, size);
    matcher.literal_length = 0;
    matcher.is_anchored = false;
    struct seen slow = search(&matcher, text, size, size);
    if (memcmp(&whole, &parts, sizeof whole) || memcmp(&whole, &slow, sizeof whole) ||
        memcmp(&without_library, &slow, sizeof slow))
        abort();
    phase_matcher_finish(&matcher);
    free(text);
    return 0;
}
