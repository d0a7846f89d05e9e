/*
 * Which lines an extended regular expression may match, searched for in many lines at once by the
 * compiled code of PCRE2, where that library is installed. What is found is a proposal: regexec()
 * decides, so that results are the same with the library and without it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_search {
    void *code; /* owned; NULL: there is no search */
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

/* Of an expression that regcomp() accepts as REG_EXTENDED. There is no search where PCRE2 is not
 * installed or cannot make machine code. Nor is there one of expressions with a back reference,
 * with one quantifier after the other, or that match what is empty. To be closed. */
void line_search_open(struct line_search *search, const char *pattern);
void line_search_close(struct line_search *search);

/* The first place in whole lines without bytes of zero where a match may begin; NULL: there is
 * none. False: it took too many steps or too much memory, so nothing is known. Any thread. */
bool line_search_find(
    const struct line_search *search, const char *at, const char *end, const char **found);
