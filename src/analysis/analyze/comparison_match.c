/*
 * Matches the code blocks of several sessions.
 */
#include "analysis/analyze/comparison.h"
#include "base/array.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the line number of "file:line" begins; NULL when the name has none. */
static const char *line_number(const char *name)
{
    const char *colon = strrchr(name, ':');
    if (!colon || colon[1] == '\0')
        return NULL;
    for (const char *digit = colon + 1; *digit; digit++) {
        if (!isdigit((unsigned char)*digit))
            return NULL;
    }
    return colon + 1;
}

struct sorted_block {
    char *key; /* the name, its line number filled up with zeroes; owned */
    struct gput_code_block block;
};

static int compare_blocks(const void *left, const void *right)
{
    return strcmp(
        ((const struct sorted_block *)left)->key, ((const struct sorted_block *)right)->key);
}

/* Makes a key by which names are sorted, their line numbers as numbers. NULL without memory. */
static char *sort_key(const char *name, size_t width)
{
    const char *line = line_number(name);
    if (!line)
        return strdup(name);
    size_t digits = strlen(line);
    size_t before = (size_t)(line - name);
    char *key = malloc(before + width + 1);
    if (!key)
        return NULL;
    memcpy(key, name, before);
    memset(key + before, '0', width - digits);
    strcpy(key + before + width - digits, line);
    return key;
}

/* Sorts the code blocks of a run by name, line numbers as numbers. */
static int sort_blocks(struct gput_analysis *run, struct gput_error *error)
{
    size_t width = 0;
    for (size_t i = 0; i < run->n_blocks; i++) {
        const char *line = line_number(run->blocks[i].name);
        size_t digits = line ? strlen(line) : 0;
        width = digits > width ? digits : width;
    }
    struct sorted_block *sorted = calloc(run->n_blocks + 1, sizeof *sorted);
    bool whole = sorted != NULL;
    for (size_t i = 0; whole && i < run->n_blocks; i++) {
        sorted[i].key = sort_key(run->blocks[i].name, width);
        sorted[i].block = run->blocks[i];
        whole = sorted[i].key != NULL;
    }
    if (whole) {
        qsort(sorted, run->n_blocks, sizeof *sorted, compare_blocks);
        for (size_t i = 0; i < run->n_blocks; i++)
            run->blocks[i] = sorted[i].block;
    }
    for (size_t i = 0; sorted && i < run->n_blocks; i++)
        free(sorted[i].key);
    free(sorted);
    return whole ? GPUT_OK : error_memory(error);
}

struct matching {
    const struct gput_analysis *first;
    const char *first_name;
    void (*warn)(void *user, const char *message);
    void *user;
    struct gput_error *error;
};

/* Matches the blocks of a run with those of the first. Names may differ by their line numbers, of
 * which the user is warned. */
static int match_run(const struct matching *matching, const struct comparison_session *session,
    const struct gput_analysis *run)
{
    const struct gput_analysis *first = matching->first;
    if (run->n_blocks != first->n_blocks)
        return error_set(matching->error, GPUT_ERROR_INVALID,
            "All sub-tracking results must have the same number of code blocks. The first has %zu "
            "code blocks but tracking session \"%.200s\" has %zu code blocks.",
            first->n_blocks, session->name, run->n_blocks);
    for (size_t i = 0; i < first->n_blocks; i++) {
        const char *name1 = first->blocks[i].name, *name2 = run->blocks[i].name;
        const char *line1 = line_number(name1), *line2 = line_number(name2);
        if (strcmp(name1, name2) == 0)
            continue;
        bool differ_by_line = line1 && line2 && line1 - name1 == line2 - name2 &&
                              memcmp(name1, name2, (size_t)(line1 - name1)) == 0;
        if (!differ_by_line)
            return error_set(matching->error, GPUT_ERROR_INVALID,
                "Code block name \"%.120s\" of tracking session \"%.60s\" does not match code "
                "block name \"%.120s\" of tracking session \"%.60s\"",
                name1, matching->first_name, name2, session->name);
        char message[1024];
        snprintf(message, sizeof message,
            "Code block name \"%.250s\" of tracking session \"%.100s\" matched with code block "
            "name \"%.250s\" of tracking session \"%.100s\" but they differ by line number. If "
            "these code blocks were not meant to match, their comparison will not be valid and "
            "their names must be disambiguated.",
            name1, matching->first_name, name2, session->name);
        if (matching->warn)
            matching->warn(matching->user, message);
    }
    return GPUT_OK;
}

/* The distinct names of a block, sorted: "a -> b". NULL without memory. */
static char *joined_names(const struct gput_comparison *comparison, size_t block)
{
    struct str text = {0};
    const char *last = NULL;
    for (;;) {
        const char *next = NULL;
        for (size_t i = 0; i < comparison->n_sessions; i++) {
            for (size_t k = 0; k < comparison->sessions[i].n_runs; k++) {
                const char *name = comparison->sessions[i].runs[k]->blocks[block].name;
                if ((!last || strcmp(name, last) > 0) && (!next || strcmp(name, next) < 0))
                    next = name;
            }
        }
        if (!next)
            return str_steal(&text);
        if (last)
            str_append(&text, " -> ");
        str_append(&text, next);
        last = next;
    }
}

/* Adds the measurements that are new. A session that lacks one has no value of it: another version
 * of gpu-tracker, or another tool, may not know it. */
static int add_measurements(
    struct gput_comparison *comparison, const struct gput_analysis *run, struct gput_error *error)
{
    for (size_t i = 0; i < run->n_measurements; i++) {
        if (comparison_find_measurement(comparison, run->measurements[i]))
            continue;
        if (!ARRAY_EXTEND(comparison->measurements, comparison->n_measurements))
            return error_memory(error);
        comparison->measurements[comparison->n_measurements++] = run->measurements[i];
    }
    return GPUT_OK;
}

int comparison_match(struct gput_comparison *comparison,
    void (*warn)(void *user, const char *message), void *user, struct gput_error *error)
{
    struct matching matching = {.warn = warn, .user = user, .error = error};
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; k < session->n_runs; k++)
            TRY(sort_blocks(session->runs[k], error));
        if (!matching.first || strcmp(session->name, matching.first_name) < 0) {
            matching.first = session->runs[0];
            matching.first_name = session->name;
        }
    }
    if (!matching.first)
        return error_set(error, GPUT_ERROR_INVALID,
            "A mapping of tracking session name to file path must be provided.");
    TRY(add_measurements(comparison, matching.first, error));
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; k < session->n_runs; k++) {
            if (session->runs[k] == matching.first)
                continue;
            TRY(match_run(&matching, session, session->runs[k]));
            TRY(add_measurements(comparison, session->runs[k], error));
        }
    }
    comparison->first = matching.first;
    comparison->block_names = calloc(matching.first->n_blocks + 1, sizeof *comparison->block_names);
    if (!comparison->block_names)
        return error_memory(error);
    for (; comparison->n_blocks < matching.first->n_blocks; comparison->n_blocks++) {
        comparison->block_names[comparison->n_blocks] =
            joined_names(comparison, comparison->n_blocks);
        if (!comparison->block_names[comparison->n_blocks])
            return error_memory(error);
    }
    return GPUT_OK;
}
