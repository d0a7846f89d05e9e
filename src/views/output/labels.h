/*
 * Names with values that belong to all figures of a session: "job=train,team=vision". As labels of
 * metrics, and in the same form as attributes and fields of requests.
 */
#pragma once

#include "base/error.h"
#include "model/results.h"

#include <stdbool.h>
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

/*
 * Who a session is, for stores of metrics: a few short labels, the same from its start to its end.
 * What is known at the end alone, and times, are metrics.
 */

/* More than there are. */
#define SESSION_LABELS 32
/* Longer values are cut; a path is longer than a name, as a rule. */
#define SESSION_LABEL_SIZE 128
#define SESSION_PATH_SIZE 512

struct session_label {
    const char *name; /* as in tracking files */
    char value[SESSION_PATH_SIZE];
    double number; /* of a whole number; NaN: a text */
};

/*
 * "n1:4711", which distinguishes sessions. A pid is unique on its machine only where it is one
 * of the machine's: containers can have the host's name, and all begin with pid 1. So in a
 * container or pod, or where `pids_are_inner` (procfs_is_inner()), the start follows:
 * "n1:2@2026-11-29T11:48:07.976222Z".
 */
void session_labels_name(
    const struct gput_identity *identity, bool pids_are_inner, char *text, size_t size);

/* What is known of them; returns how many these are. Without a host: none. */
size_t session_labels_of(
    const struct gput_results *results, struct session_label labels[SESSION_LABELS]);
