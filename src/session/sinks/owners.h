/*
 * Adds up what users and jobs of a machine use, from snapshots that list all of its processes. The
 * sampling thread adds; any thread reads.
 */
#pragma once

#include "model/owners.h"
#include "session/sampler/snapshot.h"

#include <stddef.h>

struct owners;

/* `procfs_root` is copied, and `calls` borrowed. The caller calls owners_destroy(). NULL without
 * memory. */
struct owners *owners_create(const char *procfs_root, struct bounded_calls *calls);

/* Adds what was used since the snapshot before. Without memory that is skipped. */
void owners_add(struct owners *owners, const struct snapshot *snapshot);

/* Copies the figures of all that had processes to `figures`; returns how many. */
size_t owners_read(struct owners *owners, struct owner_figures figures[2 * OWNERS_MAX]);

void owners_destroy(struct owners *owners); /* NULL is fine */
