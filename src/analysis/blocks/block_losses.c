#include "analysis/blocks/block_losses.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void block_losses_add_start(struct block_losses *losses, uint32_t name)
{
    if (losses->n_lost < BLOCK_LOSSES_MAX &&
        ARRAY_RESERVE(losses->lost, losses->n_lost, losses->lost_capacity))
        losses->lost[losses->n_lost++] = (struct block_lost_start){.name = name};
}

/* Returns the latest lost start of that name; NULL: there is none. */
static struct block_lost_start *find(const struct block_losses *losses, uint32_t name)
{
    for (size_t i = losses->n_lost; i-- > 0;) {
        if (losses->lost[i].name == name)
            return &losses->lost[i];
    }
    return NULL;
}

void block_losses_count_start(struct block_losses *losses, uint32_t name)
{
    struct block_lost_start *lost = find(losses, name);
    if (lost)
        lost->kept_after++;
}

bool block_losses_remove_start(struct block_losses *losses, uint32_t name, bool latest)
{
    struct block_lost_start *lost = find(losses, name);
    if (!lost)
        return false;
    if (lost->kept_after > 0 && !latest) {
        lost->kept_after--;
        return false;
    }
    /* keep the order, which matters for several of one name */
    size_t after = losses->n_lost - (size_t)(lost - losses->lost) - 1;
    memmove(lost, lost + 1, after * sizeof *lost);
    losses->n_lost--;
    return true;
}

bool block_losses_add_stop(
    struct block_losses *losses, const struct block_name *name, const struct sub_tracking_mark *row)
{
    if (losses->n_waiting == BLOCK_LOSSES_MAX ||
        !ARRAY_RESERVE(losses->waiting, losses->n_waiting, losses->waiting_capacity))
        return false;
    losses->waiting[losses->n_waiting++] = (struct block_waiting_stop){*name, *row};
    return true;
}

void block_losses_drop_stops(struct block_losses *losses, size_t count)
{
    if (count == 0)
        return;
    losses->n_waiting -= count;
    memmove(losses->waiting, losses->waiting + count, losses->n_waiting * sizeof *losses->waiting);
}

void block_losses_finish(struct block_losses *losses)
{
    free(losses->waiting);
    free(losses->lost);
    *losses = (struct block_losses){0};
}
