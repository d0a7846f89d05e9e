/*
 * The lost marks of one thread after failed writes (a full disk). They keep calls in the file
 * complete: the stop of a lost start is not written either, and a stop that could not be written
 * waits, with its time, until there is space. All zero while nothing was lost.
 */
#pragma once

#include "files/marks/sub_tracking_file.h"
#include "files/marks/sub_tracking_names.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of lost starts and of waiting stops. Usually there are as many as open blocks. */
#define BLOCK_LOSSES_MAX 4096

struct block_waiting_stop {
    struct block_name name;
    struct sub_tracking_mark row; /* times are by the writer's clock */
};

struct block_lost_start {
    uint32_t name;
    uint32_t kept_after; /* number of later starts of that name that were written and not yet
                            stopped */
};

struct block_losses {
    struct block_waiting_stop *waiting; /* in order of time */
    size_t n_waiting;
    size_t waiting_capacity;
    struct block_lost_start *lost;
    size_t n_lost;
    size_t lost_capacity;
};

static inline bool block_losses_any(const struct block_losses *losses)
{
    return losses->n_waiting > 0 || losses->n_lost > 0;
}

/* Adds a lost start. Without memory, its stop will be written without a start. */
void block_losses_add_start(struct block_losses *losses, uint32_t name);

/* Counts a written start after lost ones of the same name. */
void block_losses_count_start(struct block_losses *losses, uint32_t name);

/* Whether this stop belongs to a lost start, which is then removed. `latest`: even if later starts
 * of that name were written. */
bool block_losses_remove_start(struct block_losses *losses, uint32_t name, bool latest);

/* Adds a stop to be written later. Returns false if it is lost. */
bool block_losses_add_stop(struct block_losses *losses, const struct block_name *name,
    const struct sub_tracking_mark *row);

/* Removes the first `count` waiting stops. */
void block_losses_drop_stops(struct block_losses *losses, size_t count);

/* Frees everything. */
void block_losses_finish(struct block_losses *losses);
