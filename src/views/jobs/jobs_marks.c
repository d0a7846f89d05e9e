/*
 * Blocks that ranks leave together, such as a barrier or a training step. The ends of their calls,
 * compared in pairs, tell how far the clocks of two machines are apart. For each clock, one rank's
 * file is read, and of that the calls of one thread. Memory does not grow with them.
 */
#include "views/jobs/jobs.h"

#include "base/doubles.h"
#include "base/file.h"
#include "base/text.h"
#include "files/marks/sub_tracking_file.h"
#include "model/results_identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum numbers of blocks, and of calls of each. If there are more calls, every second, fourth
 * and so on is kept. */
#define MAX_BLOCKS 64
#define MAX_ENDS 128
/* Fewer calls do not tell how certain the offset is. */
#define MIN_CALLS 3
/* The part of the differences that lies within the doubt. */
#define SURE_PART 0.9
/* Tolerance for a mark's time before the start and after the end of its rank. */
#define SLACK_SECONDS 1.0
#define ROWS_AT_ONCE 256

struct block_ends {
    double ends[MAX_ENDS];
    size_t count;
    uint64_t calls, step; /* the end of each `step`th call is kept */
};

struct jobs_blocks {
    struct sub_tracking_names *names; /* names of the indices of `reference` and `other` */
    struct block_ends reference[MAX_BLOCKS], other[MAX_BLOCKS];
};

/* ---- Whose marks a file has ---- */

static bool ran_at(const struct jobs_rank *rank, double time)
{
    double end = isnan(rank->seconds) ? rank->end : rank->start + rank->seconds;
    return time >= rank->start - SLACK_SECONDS && !(time > end + SLACK_SECONDS);
}

/* Finds the rank of a file of marks, by the process that marked or by the rank in the file's
 * name. JOBS_NO_RANK: none, or several. */
static size_t rank_of(
    const struct gput_jobs *jobs, const char *path, const struct sub_tracking_mark *first)
{
    size_t by_both = JOBS_NO_RANK, by_one = JOBS_NO_RANK, count = 0;
    double number = results_identity_rank_of(file_base_name(path));
    for (size_t i = 0; i < jobs->n_ranks; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        bool is_process = rank->pid == (double)first->process_id, is_rank = rank->rank == number;
        if (!(is_process || is_rank) || !ran_at(rank, first->timestamp))
            continue;
        by_one = i;
        count++;
        if (is_process && is_rank)
            by_both = i;
    }
    return by_both != JOBS_NO_RANK || count != 1 ? by_both : by_one;
}

void jobs_find_ranks_of_marks(struct gput_jobs *jobs)
{
    for (size_t i = 0; i < jobs->n_marks; i++) {
        struct jobs_marks *marks = &jobs->marks[i];
        struct sub_tracking_names *names = sub_tracking_names_create();
        struct sub_tracking_reader *reader = NULL;
        struct sub_tracking_mark first;
        size_t count = 0;
        if (names && sub_tracking_reader_salvage(marks->path, names, &reader, NULL) == GPUT_OK &&
            sub_tracking_reader_next(reader, &first, 1, &count, NULL) == GPUT_OK && count > 0)
            marks->rank = rank_of(jobs, marks->path, &first);
        sub_tracking_reader_close(reader);
        sub_tracking_names_destroy(names);
    }
}

/* Returns the file of marks of the lowest rank with that clock. NULL: there is none. */
static const char *file_of(const struct gput_jobs *jobs, size_t clock)
{
    const struct jobs_marks *best = NULL;
    for (size_t i = 0; i < jobs->n_marks; i++) {
        const struct jobs_marks *marks = &jobs->marks[i];
        if (marks->rank != JOBS_NO_RANK &&
            jobs->machines[jobs->ranks[marks->rank].machine].clock == clock &&
            (!best || jobs->ranks[marks->rank].rank < jobs->ranks[best->rank].rank))
            best = marks;
    }
    return best ? best->path : NULL;
}

/* ---- Ends ---- */

/* Keeps the end of a call. If there are many calls, every second, fourth and so on is kept. */
static void add_end(struct block_ends *block, double end)
{
    block->step += block->step == 0;
    if (block->count == MAX_ENDS) {
        block->count /= 2;
        block->step *= 2;
        for (size_t i = 0; i < block->count; i++)
            block->ends[i] = block->ends[2 * i];
    }
    if (block->calls++ % block->step == 0)
        block->ends[block->count++] = end;
}

/* Reads the ends of calls from a file of marks. A damaged file gives fewer, or none: it does not
 * stop `job`. */
static void read_ends(struct sub_tracking_names *names, const char *path, struct block_ends *blocks)
{
    struct sub_tracking_reader *reader = NULL;
    struct sub_tracking_mark marks[ROWS_AT_ONCE];
    int64_t process = SUB_TRACKING_UNKNOWN, thread = SUB_TRACKING_UNKNOWN;
    size_t count = 0;
    bool is_first = true;
    memset(blocks, 0, MAX_BLOCKS * sizeof *blocks);
    if (!path || sub_tracking_reader_salvage(path, names, &reader, NULL) != GPUT_OK)
        return;
    while (sub_tracking_reader_next(reader, marks, ROWS_AT_ONCE, &count, NULL) == GPUT_OK &&
           count > 0) {
        process = is_first ? marks[0].process_id : process;
        thread = is_first ? marks[0].thread_id : thread;
        is_first = false;
        for (size_t i = 0; i < count; i++) {
            if (marks[i].position == SUB_TRACKING_STOP && marks[i].name < MAX_BLOCKS &&
                marks[i].process_id == process && marks[i].thread_id == thread)
                add_end(&blocks[marks[i].name], marks[i].timestamp);
        }
    }
    sub_tracking_reader_close(reader);
}

/* ---- How far they are apart ---- */

/* Returns how far apart two clocks are by the ends of one block. */
static struct jobs_apart compare_block(const struct block_ends *from, const struct block_ends *to)
{
    double apart[MAX_ENDS];
    struct jobs_apart found = {.seconds = NAN, .doubt = NAN};
    uint64_t step = from->step > to->step ? from->step : to->step;
    for (size_t i = 0; step > 0 && from->step > 0 && to->step > 0; i++) {
        uint64_t a = i * step / from->step, b = i * step / to->step;
        if (a >= from->count || b >= to->count)
            break;
        apart[found.calls++] = to->ends[b] - from->ends[a];
    }
    if (found.calls < MIN_CALLS)
        return found;
    found.seconds = doubles_median(apart, found.calls);
    for (size_t i = 0; i < found.calls; i++)
        apart[i] = fabs(apart[i] - found.seconds);
    qsort(apart, found.calls, sizeof *apart, doubles_compare);
    found.doubt = apart[(size_t)ceil(SURE_PART * (double)found.calls) - 1];
    return found;
}

/* Returns the offset by the block whose ends agree best. Blocks that contradict it raise its
 * doubt. */
static struct jobs_apart compare_blocks(const struct jobs_blocks *blocks)
{
    struct jobs_apart of_block[MAX_BLOCKS], best = {.seconds = NAN, .doubt = NAN};
    double doubt;
    for (uint32_t i = 0; i < MAX_BLOCKS; i++) {
        of_block[i] = compare_block(&blocks->reference[i], &blocks->other[i]);
        if (of_block[i].doubt < best.doubt || (isnan(best.doubt) && !isnan(of_block[i].doubt))) {
            best = of_block[i];
            text_fit(
                best.block, sizeof best.block, "%s", sub_tracking_names_text(blocks->names, i));
        }
    }
    doubt = best.doubt;
    for (uint32_t i = 0; i < MAX_BLOCKS; i++) {
        double away = fabs(of_block[i].seconds - best.seconds);
        if (of_block[i].doubt <= JOBS_ALIKE_SECONDS && away > of_block[i].doubt + best.doubt)
            doubt = fmax(doubt, away);
    }
    best.doubt = doubt;
    return best;
}

struct jobs_blocks *jobs_blocks_create(const struct gput_jobs *jobs, size_t clock)
{
    const char *path = file_of(jobs, clock);
    struct jobs_blocks *blocks = path ? calloc(1, sizeof *blocks) : NULL;
    if (!blocks)
        return NULL;
    blocks->names = sub_tracking_names_create();
    if (blocks->names)
        read_ends(blocks->names, path, blocks->reference);
    return blocks;
}

struct jobs_apart jobs_blocks_compare(
    const struct gput_jobs *jobs, struct jobs_blocks *blocks, size_t clock)
{
    if (!blocks || !blocks->names)
        return (struct jobs_apart){.seconds = NAN, .doubt = NAN};
    read_ends(blocks->names, file_of(jobs, clock), blocks->other);
    return compare_blocks(blocks);
}

void jobs_blocks_destroy(struct jobs_blocks *blocks)
{
    if (blocks)
        sub_tracking_names_destroy(blocks->names);
    free(blocks);
}
