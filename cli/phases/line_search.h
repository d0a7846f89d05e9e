/*
 * Finds the lines that an extended regular expression may match, in many lines at once, by PCRE2's
 * compiled code where that library is installed. A found line is a proposal; regexec() decides, so
 * that results are the same with the library and without it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_search {
    void *code; /* owned; NULL: searching is not possible */
    void *(*compile)(const unsigned char *pattern, size_t length, uint32_t options, int *code,
        size_t *offset, void *context);
    int (*compile_machine_code)(void *code, uint32_t options);
    void (*free_code)(void *code);
    void *(*create_result)(uint32_t pairs, void *context);
    void (*free_result)(void *result);
    size_t *(*offsets)(void *result);
    int (*match)(const void *code, const unsigned char *text, size_t length, size_t start,
        uint32_t options, void *result, void *context);
};

/* Prepares the search for an expression that regcomp() accepts as REG_EXTENDED. Searching is not
 * possible if PCRE2 is not installed or cannot make machine code. Nor is it for expressions with a
 * back reference or with two quantifiers in a row, or that match the empty text. The caller calls
 * line_search_close(). */
void line_search_open(struct line_search *search, const char *pattern);
void line_search_close(struct line_search *search);

/* Finds the first place where a match may begin, in complete lines without zero bytes; NULL: there
 * is none. Returns false if the search took too many steps or too much memory: nothing is then
 * known. May be called by any thread. */
bool line_search_find(
    const struct line_search *search, const char *at, const char *end, const char **found);

/* Returns the end of the bracket expression that begins at `at`. */
const char *brackets_skip(const char *at);
