/*
 * A table that gives each distinct string a number, from 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct names {
    char **texts; /* by number, each terminated */
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* number + 1, 0: free; a power of two of them */
    uint32_t slot_count;
    uint64_t *hashes; /* by number */
};

#define NAMES_NONE UINT32_MAX

/* An empty table is all zeroes. */

/* The number of a text; a new text is added. NAMES_NONE without memory. */
uint32_t names_add(struct names *names, const char *text, size_t length);

/* The number of a text, NAMES_NONE when it was never added. */
uint32_t names_find(const struct names *names, const char *text, size_t length);

/* The text of a number. Valid as long as the table. */
static inline const char *names_text(const struct names *names, uint32_t number)
{
    return names->texts[number];
}

void names_finish(struct names *names);

/* A hash of bytes that is the same in every run. */
uint64_t names_hash(const void *bytes, size_t length);
