/*
 * The lines of smaps and smaps_rollup, "Private_Clean:         84 kB", which both readers share.
 * Internal to src/os.
 */
#pragma once

#include "machine/os/scan.h"

#include <string.h>

enum smaps_key {
    SMAPS_RSS,
    SMAPS_PSS,
    SMAPS_PSS_ANONYMOUS,
    SMAPS_PSS_FILE,
    SMAPS_PSS_SHMEM,
    SMAPS_PRIVATE, /* Private_Clean and Private_Dirty: values of one key are added up */
    SMAPS_SHARED,
    SMAPS_ANONYMOUS,
    SMAPS_PRIVATE_HUGETLB,
    SMAPS_SHARED_HUGETLB,
    SMAPS_KEY_COUNT,
    SMAPS_OTHER = SMAPS_KEY_COUNT,
};

/* The keys found, and the bytes of each. */
struct smaps_fields {
    unsigned seen; /* bit 1 << key */
    uint64_t bytes[SMAPS_KEY_COUNT];
};

/* A comparison with eight fixed bytes is one machine instruction. */
#define SMAPS_STARTS(line, eight_bytes) (memcmp((line), (eight_bytes), 8) == 0)

/* The part of a line that smaps_key_of() reads. */
#define SMAPS_SHORTEST_LINE 9

/* The kernel pads keys to 16 columns: eight bytes, and once the ninth, distinguish them. */
static inline enum smaps_key smaps_key_of(const char *line)
{
    switch (line[0]) {
    case 'R':
        return SMAPS_STARTS(line, "Rss:    ") ? SMAPS_RSS : SMAPS_OTHER;
    case 'P':
        if (SMAPS_STARTS(line, "Pss:    "))
            return SMAPS_PSS;
        if (SMAPS_STARTS(line, "Private_"))
            return line[8] == 'H' ? SMAPS_PRIVATE_HUGETLB : SMAPS_PRIVATE;
        if (SMAPS_STARTS(line, "Pss_Anon"))
            return SMAPS_PSS_ANONYMOUS;
        if (SMAPS_STARTS(line, "Pss_File"))
            return SMAPS_PSS_FILE;
        return SMAPS_STARTS(line, "Pss_Shme") ? SMAPS_PSS_SHMEM : SMAPS_OTHER;
    case 'S':
        if (SMAPS_STARTS(line, "Shared_C") || SMAPS_STARTS(line, "Shared_D"))
            return SMAPS_SHARED;
        return SMAPS_STARTS(line, "Shared_H") ? SMAPS_SHARED_HUGETLB : SMAPS_OTHER;
    case 'A':
        return SMAPS_STARTS(line, "Anonymou") ? SMAPS_ANONYMOUS : SMAPS_OTHER;
    default:
        return SMAPS_OTHER;
    }
}

/* Mappings begin with an address, fields with a capital letter. */
static inline bool smaps_is_header(char first)
{
    return scan_is_digit(first) || (first >= 'a' && first <= 'f');
}

/*
 * One line, "Rss: 1612 kB". Returns the byte after it, or NULL when it is truncated. Its number
 * begins at `*number`.
 *
 * The kernel aligns numbers of up to eight digits, so that the newline is nearly always in the same
 * column; checking there first is much faster than a search.
 */
static inline const char *smaps_scan_line(const char *line, const char *end, const char **number)
{
    if (end - line >= 28 && memcmp(line + 24, " kB\n", 4) == 0) {
        *number = line + 16;
        return line + 28;
    }
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    if (!newline)
        return NULL;
    *number = line;
    while (**number != '\n' && *(*number)++ != ':')
        ;
    return newline + 1;
}

/*
 * Adds up the fields of one mapping, from `position` to the next mapping or the end. Returns where
 * it stopped; `end` when the rest is truncated.
 */
static inline const char *smaps_scan_fields(
    const char *position, const char *end, struct smaps_fields *fields)
{
    while (position < end && !smaps_is_header(*position)) {
        const char *number;
        const char *next = smaps_scan_line(position, end, &number);
        if (!next)
            return end;
        enum smaps_key key =
            next - position >= SMAPS_SHORTEST_LINE ? smaps_key_of(position) : SMAPS_OTHER;
        uint64_t kib;
        if (key != SMAPS_OTHER && scan_uint64(scan_blanks(number), &kib)) {
            fields->bytes[key] += kib * 1024;
            fields->seen |= 1u << key;
        }
        position = next;
    }
    return position;
}
