/*
 * Who a session is, for stores of metrics: a few short labels, the same from its start to its end.
 * What is known at the end alone, and times, are metrics.
 */
#pragma once

#include "model/results.h"

#include <stdbool.h>
#include <stddef.h>

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
