/*
 * The table of topics: what one may want, which commands do it, and examples to begin with.
 */
#pragma once

#include "commands/command.h"

struct topic {
    const char *name;     /* one word: "energy" */
    const char *summary;  /* one line */
    const char *examples; /* a line each: a command line, then "# what it does" where that helps */
    const char *more;     /* where to read on */
};

const struct topic *topic(enum topic_id id);

/* The row of that name, or NULL; *id is its number. */
const struct topic *topic_find(const char *name, enum topic_id *id);
