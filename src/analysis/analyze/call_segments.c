#include "analysis/analyze/call_segments.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times around the epoch have that many neighbors at most between two nanoseconds of an origin. */
#define MAX_STEPS 64

/* A set of blocks. */
struct leaf {
    uint64_t hash;
    uint32_t *blocks; /* owned */
    size_t count;
};

struct walk {
    const struct call_table *table;
    call_segment_take *take;
    void *user;
    size_t next;         /* call */
    double *latest_stop; /* of each block: of its calls that have started */
    bool *runs;          /* of each block */
    uint32_t *running;
    size_t n_running;
    uint64_t hash; /* of the running blocks */
    struct leaf *leaves;
    size_t n_leaves, leaf_capacity;
    uint32_t *slots; /* index + 1; 0 is free */
    size_t n_slots;
    uint32_t leaf; /* of the latest segment */
};

/* ---- Times ---- */

/* The analysis compares time - origin; steps to the first double for which that holds. */
double call_segments_from(double origin, double time)
{
    double at = origin + time;
    for (int i = 0; i < MAX_STEPS && at - origin < time; i++)
        at = nextafter(at, INFINITY);
    for (int i = 0; i < MAX_STEPS && nextafter(at, -INFINITY) - origin >= time; i++)
        at = nextafter(at, -INFINITY);
    return at;
}

double call_segments_after(double origin, double time)
{
    double at = origin + time;
    for (int i = 0; i < MAX_STEPS && at - origin <= time; i++)
        at = nextafter(at, INFINITY);
    for (int i = 0; i < MAX_STEPS && nextafter(at, -INFINITY) - origin > time; i++)
        at = nextafter(at, -INFINITY);
    return at;
}

/* ---- Leaves ---- */

/* Returns a number that differs for each block; sums of them do not depend on the order. */
static uint64_t hash_of(uint32_t block)
{
    uint64_t hash = block + UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94D049BB133111EB);
    return hash ^ (hash >> 31);
}

/* Whether a leaf has the blocks that run now. */
static bool is_current(const struct walk *walk, const struct leaf *leaf)
{
    if (leaf->hash != walk->hash || leaf->count != walk->n_running)
        return false;
    for (size_t i = 0; i < leaf->count; i++)
        if (!walk->runs[leaf->blocks[i]])
            return false;
    return true;
}

/* Makes twice as many slots of the hash table. */
static bool grow_slots(struct walk *walk)
{
    size_t n_slots = walk->n_slots ? walk->n_slots * 4 : 64;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < walk->n_leaves; i++) {
        size_t slot = walk->leaves[i].hash & (n_slots - 1);
        while (slots[slot])
            slot = (slot + 1) & (n_slots - 1);
        slots[slot] = i + 1;
    }
    free(walk->slots);
    walk->slots = slots;
    walk->n_slots = n_slots;
    return true;
}

/* Adds the running blocks as a leaf. */
static bool add_leaf(struct walk *walk)
{
    if (!ARRAY_RESERVE(walk->leaves, walk->n_leaves, walk->leaf_capacity))
        return false;
    uint32_t *blocks = malloc((walk->n_running + 1) * sizeof *blocks);
    if (!blocks)
        return false;
    memcpy(blocks, walk->running, walk->n_running * sizeof *blocks);
    walk->leaves[walk->n_leaves++] = (struct leaf){walk->hash, blocks, walk->n_running};
    return true;
}

/* Finds the leaf of the running blocks. */
static int find_leaf(struct walk *walk, uint32_t *found, bool *is_new, struct gput_error *error)
{
    if (walk->n_leaves * 2 >= walk->n_slots && !grow_slots(walk))
        return error_memory(error);
    size_t slot = walk->hash & (walk->n_slots - 1);
    for (; walk->slots[slot]; slot = (slot + 1) & (walk->n_slots - 1)) {
        *found = walk->slots[slot] - 1;
        if (is_current(walk, &walk->leaves[*found])) {
            *is_new = false;
            return GPUT_OK;
        }
    }
    if (walk->n_leaves == UINT32_MAX - 1 || !add_leaf(walk))
        return error_memory(error);
    *found = (uint32_t)walk->n_leaves - 1;
    *is_new = true;
    walk->slots[slot] = *found + 1;
    return GPUT_OK;
}

/* ---- The walk ---- */

/* Adds the block of a call to those that run, up to its latest stop. */
static void enter(struct walk *walk, const struct call *call)
{
    uint32_t block = walk->table->lanes[call->lane].block;
    if (walk->runs[block]) {
        walk->latest_stop[block] = fmax(walk->latest_stop[block], call->stop);
        return;
    }
    walk->runs[block] = true;
    walk->latest_stop[block] = call->stop;
    walk->running[walk->n_running++] = block;
    walk->hash += hash_of(block);
}

/* When a block is entered or left next; infinity: never. */
static double next_moment(const struct walk *walk)
{
    const struct call_table *table = walk->table;
    double moment = INFINITY, latest_stop = INFINITY;
    if (walk->next < table->n_calls)
        moment = call_segments_from(table->origin, table->calls[walk->next].start);
    for (size_t i = 0; i < walk->n_running; i++)
        latest_stop = fmin(latest_stop, walk->latest_stop[walk->running[i]]);
    return isinf(latest_stop) ? moment
                              : fmin(moment, call_segments_after(table->origin, latest_stop));
}

/* Passes a segment on where other blocks run from that moment on. */
static int pass_segment(struct walk *walk, double moment, struct gput_error *error)
{
    uint32_t leaf = 0;
    bool is_new = false;
    TRY(find_leaf(walk, &leaf, &is_new, error));
    if (leaf == walk->leaf)
        return GPUT_OK;
    walk->leaf = leaf;
    const struct leaf *found = &walk->leaves[leaf];
    return walk->take(walk->user, moment, leaf, is_new ? found->blocks : NULL, found->count, error);
}

/* Walks over starts and stops in the order of time. */
static int walk_calls(struct walk *walk, struct gput_error *error)
{
    const struct call_table *table = walk->table;
    walk->leaf = UINT32_MAX;
    TRY(pass_segment(walk, -INFINITY, error));
    for (double moment; !isinf(moment = next_moment(walk));) {
        while (walk->next < table->n_calls &&
               call_segments_from(table->origin, table->calls[walk->next].start) <= moment)
            enter(walk, &table->calls[walk->next++]);
        /* Remove the blocks whose last call has stopped. */
        double origin = walk->table->origin;
        for (size_t i = 0; i < walk->n_running;) {
            uint32_t block = walk->running[i];
            if (call_segments_after(origin, walk->latest_stop[block]) > moment) {
                i++;
                continue;
            }
            walk->runs[block] = false;
            walk->hash -= hash_of(block);
            walk->running[i] = walk->running[--walk->n_running];
        }
        TRY(pass_segment(walk, moment, error));
    }
    return GPUT_OK;
}

int call_segments_walk(
    const struct call_table *table, call_segment_take *take, void *user, struct gput_error *error)
{
    struct walk walk = {.table = table,
        .take = take,
        .user = user,
        .latest_stop = calloc(table->n_blocks + 1, sizeof *walk.latest_stop),
        .runs = calloc(table->n_blocks + 1, sizeof *walk.runs),
        .running = calloc(table->n_blocks + 1, sizeof *walk.running)};
    int code = walk.latest_stop && walk.runs && walk.running ? walk_calls(&walk, error)
                                                             : error_memory(error);
    for (size_t i = 0; i < walk.n_leaves; i++)
        free(walk.leaves[i].blocks);
    free(walk.leaves);
    free(walk.slots);
    free(walk.latest_stop);
    free(walk.runs);
    free(walk.running);
    return code;
}
