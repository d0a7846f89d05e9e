/*
 * /proc/PID/mountinfo: what is mounted where, as that process sees it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A piece of the text that is read; not terminated. */
struct mountinfo_piece {
    const char *start;
    size_t length;
};

struct mountinfo_entry {
    struct mountinfo_piece root;        /* the mounted part of the file system: "/" is all of it */
    struct mountinfo_piece mount_point; /* both are escaped: see mountinfo_unescape() */
    struct mountinfo_piece type;        /* "cgroup2" */
    struct mountinfo_piece options;     /* of the file system: "rw,cpu,cpuacct" */
};

/* The next mount of the text from `*position` to `end`; false after the last. Invalid lines are
 * skipped. */
bool mountinfo_next(const char **position, const char *end, struct mountinfo_entry *entry);

/* The piece as a string that the caller frees, with escapes such as \040 decoded. NULL without
 * memory. */
char *mountinfo_unescape(struct mountinfo_piece piece);

/* Whether a list such as "rw,cpu,cpuacct" contains that word. */
bool mountinfo_has_option(struct mountinfo_piece options, const char *option);

/* Whether the piece is that text. */
bool mountinfo_is(struct mountinfo_piece piece, const char *text);
