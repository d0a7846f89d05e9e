/*
 * What one thread's marks lack in a file that could not take them (a full disk), so that its calls
 * stay whole: the stop of a start that was lost is not written either, and a stop that found no
 * space waits with its time for when there is some. All zero while nothing was lost.
 */
#ifndef BLOCKS_BLOCK_LOSSES_H
#define BLOCKS_BLOCK_LOSSES_H

#include "blocks/block_name.h"
#include "formats/marks/sub_tracking_file.h"

#include <stdbool.h>
#include <stddef.h>

/* Of each as many as blocks are open, unless starts or stops come alone. */
#define BLOCK_LOSSES_MAX 4096

struct block_waiting_stop {
    struct block_name name;
    struct sub_tracking_mark row; /* its times by the sink's clock */
};

struct block_lost_start {
    uint32_t name;
    uint32_t kept_after; /* starts of that name that came later, are kept and not stopped yet */
};

struct block_losses {
    struct block_waiting_stop *waiting; /* the first came first */
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

/* A start that is in no file. Without memory its stop will stand alone, as that of one too many. */
void block_losses_add_start(struct block_losses *losses, uint32_t name);

/* A start that is, after others that are not. */
void block_losses_note_start(struct block_losses *losses, uint32_t name);

/* Whether this stop belongs to a start that was lost, which is then forgotten. `latest`: whatever
 * came after it. */
bool block_losses_take_start(struct block_losses *losses, uint32_t name, bool latest);

/* A stop that is to be written later. False: it is lost. */
bool block_losses_add_stop(struct block_losses *losses, const struct block_name *name,
    const struct sub_tracking_mark *row);

/* Forgets the first `count` of those that wait. */
void block_losses_drop_stops(struct block_losses *losses, size_t count);

/* Forgets and frees everything. */
void block_losses_finish(struct block_losses *losses);

#endif
