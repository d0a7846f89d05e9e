/*
 * Names with values that belong to all figures of a session: "job=train,team=vision". As labels of
 * metrics, and in the same form as attributes and fields of requests.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct label {
    char *name, *value; /* owned */
};

/* All zeroes: none. */
struct labels {
    struct label *items; /* owned */
    size_t count;
};

enum labels_form {
    LABELS_OF_PROMETHEUS, /* names are letters, digits and _; values are taken as they are */
    LABELS_OF_OTEL,       /* names are anything; %2C and the like are decoded */
};

/*
 * Adds those of a list; a later one of the same name replaces the former. NULL and "" have none.
 * The caller calls labels_finish(), also after an error. Errors: GPUT_ERROR_INVALID,
 * GPUT_ERROR_MEMORY.
 */
int labels_add_list(
    struct labels *labels, const char *text, enum labels_form form, struct gput_error *error);

/* Adds one, or replaces it. */
int labels_set(struct labels *labels, const char *name, const char *value);

/* The value; NULL: there is none of that name. */
const char *labels_get(const struct labels *labels, const char *name);

void labels_finish(struct labels *labels);
