/*
 * The code blocks that are open now: calls of a sub-tracking file whose stops have not come yet.
 * The file is read as a whole, at most 1 % of the time, while its program writes to it.
 */
#pragma once

#include <gputracker/snapshot.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct open_block {
    char name[96];
    int64_t process_id;
    double start;   /* seconds since the epoch; of the call that began first */
    unsigned calls; /* how many of this name are open in this process */
};

struct open_blocks {
    const char *path;          /* borrowed; NULL: there is no file */
    struct open_block *blocks; /* owned; the one that began first, first */
    size_t count, capacity;
    int64_t due_ms;
};

void open_blocks_finish(struct open_blocks *blocks);

/* Reads the file when that is due. A file that is not there, or cannot be read, has none; so do
 * processes that are not in the snapshot any more. True when something may have changed. */
bool open_blocks_update(
    struct open_blocks *blocks, const struct gput_snapshot *snapshot, int64_t now_ms);
