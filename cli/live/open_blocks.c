#include "open_blocks.h"

#include "base/clock.h"

#include <gputracker/recorded.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MIN_PAUSE_MS 1000
/* The pause is so many times as long as the reading before. */
#define PAUSE_SHARE 100
/* Reading more would hold the view up; a session of hours has files like that. */
#define MAX_BYTES (32 << 20)

void open_blocks_finish(struct open_blocks *blocks)
{
    free(blocks->blocks);
    *blocks = (struct open_blocks){0};
}

static bool lives(const struct gput_snapshot *snapshot, int64_t process_id)
{
    const struct gput_snapshot_process *process;
    for (size_t i = 0; (process = gput_snapshot_process(snapshot, i)); i++)
        if (process->pid == process_id)
            return process->threads > 0;
    return false;
}

/* The block of that name in that process; NULL without memory. */
static struct open_block *block_of(
    struct open_blocks *blocks, const char *name, int64_t process_id, double start)
{
    for (size_t i = 0; i < blocks->count; i++)
        if (blocks->blocks[i].process_id == process_id &&
            strncmp(blocks->blocks[i].name, name, sizeof blocks->blocks[i].name - 1) == 0)
            return &blocks->blocks[i];
    if (blocks->count == blocks->capacity) {
        size_t capacity = blocks->capacity * 2 + 16;
        struct open_block *grown = realloc(blocks->blocks, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        blocks->blocks = grown;
        blocks->capacity = capacity;
    }
    struct open_block *block = &blocks->blocks[blocks->count++];
    *block = (struct open_block){.process_id = process_id, .start = start};
    snprintf(block->name, sizeof block->name, "%s", name);
    return block;
}

static int compare(const void *a, const void *b)
{
    const struct open_block *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* Columns of the table, in its order. */
enum { PROCESS_ID, THREAD_ID, NAME, START };

static void take_table(struct open_blocks *blocks, const struct gput_table *table,
    const struct gput_snapshot *snapshot)
{
    for (size_t row = 0; row < gput_table_row_count(table); row++) {
        int64_t process_id = gput_table_int(table, row, PROCESS_ID);
        double start = gput_table_double(table, row, START);
        if (!lives(snapshot, process_id))
            continue;
        struct open_block *block =
            block_of(blocks, gput_table_text(table, row, NAME), process_id, start);
        if (!block)
            return;
        block->calls++;
        block->start = start < block->start ? start : block->start;
    }
    if (blocks->count > 1)
        qsort(blocks->blocks, blocks->count, sizeof *blocks->blocks, compare);
}

bool open_blocks_update(
    struct open_blocks *blocks, const struct gput_snapshot *snapshot, int64_t now)
{
    struct stat info;
    struct gput_tables *tables = NULL;
    if (!blocks->path || now < blocks->due_ms)
        return false;
    blocks->count = 0;
    if (stat(blocks->path, &info) == 0 && info.st_size <= MAX_BYTES &&
        gput_recorded_open_calls(blocks->path, &tables, NULL) == GPUT_OK)
        take_table(blocks, gput_tables_find(tables, "open_calls"), snapshot);
    gput_tables_destroy(tables);
    int64_t pause = PAUSE_SHARE * (clock_monotonic_ms() - now);
    blocks->due_ms = now + (pause > MIN_PAUSE_MS ? pause : MIN_PAUSE_MS);
    return true;
}
