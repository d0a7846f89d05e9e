/*
 * Clocks of machines. Machines with one boot id have one clock. Others are compared by blocks that
 * their ranks exit together, or by starts and ends: launchers start all ranks of a job within
 * seconds, and most jobs end together, so where both are off by the same time, the clock is.
 */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"
#include "base/doubles.h"
#include "base/file.h"
#include "base/human.h"
#include "base/text.h"
#include "files/marks/sub_tracking_file.h"
#include "model/results_identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Marks ---- */

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

/* How far one machine's clock is ahead of another's, from blocks that their ranks leave at the same
 * time. */
struct jobs_apart {
    double seconds, doubt; /* NaN: they have no block in common */
    size_t calls;
    char block[48];
};

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
                marks[i].process_id == process && marks[i].thread_id == thread) {
                /* Keep the end of a call. If there are many calls, every second, fourth and so on
                 * is kept. */
                struct block_ends *block = &blocks[marks[i].name];
                block->step += block->step == 0;
                if (block->count == MAX_ENDS) {
                    block->count /= 2;
                    block->step *= 2;
                    for (size_t k = 0; k < block->count; k++)
                        block->ends[k] = block->ends[2 * k];
                }
                if (block->calls++ % block->step == 0)
                    block->ends[block->count++] = marks[i].timestamp;
            }
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

/* Reads the blocks of a rank with that clock. NULL: there are none. */
static struct jobs_blocks *blocks_create(const struct gput_jobs *jobs, size_t clock)
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

/* Compares the clock of another machine with the one of these blocks: by the block whose ends tell
 * it best. */
static struct jobs_apart blocks_compare(
    const struct gput_jobs *jobs, struct jobs_blocks *blocks, size_t clock)
{
    if (!blocks || !blocks->names)
        return (struct jobs_apart){.seconds = NAN, .doubt = NAN};
    read_ends(blocks->names, file_of(jobs, clock), blocks->other);

    /* Return the offset by the block whose ends agree best. Blocks that contradict it raise its
     * doubt. */
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

/* Launchers start all ranks within this time. */
#define BARRIER_SECONDS 5.0
/* Starts and ends count as equally off if they differ by no more than this part of the offset.
 * */
#define ALIKE_PART 0.02
/* Smaller offsets are not corrected. */
#define MIN_OFFSET_SECONDS 0.1

struct spread {
    double middle, width; /* NaN: there are no times */
};

/* A clock, and when ranks started and ended by it. */
struct clock {
    size_t number; /* of its first machine */
    const struct jobs_machine *machine;
    char name[96]; /* "n1", "n1 and 2 more" */
    struct spread starts, ends;
};

/* Returns the median of the starts, or ends, of the ranks with one clock, and their spread. */
static struct spread spread_of(
    const struct gput_jobs *jobs, const struct jobs_job *job, size_t clock, bool of_ends)
{
    size_t count = 0;
    CLEANUP_FREE double *times = calloc(job->count + 1, sizeof *times);
    if (!times)
        return (struct spread){NAN, NAN};
    for (size_t i = job->first; i < job->first + job->count; i++) {
        double time = of_ends ? jobs->ranks[i].end : jobs->ranks[i].start;
        if (jobs->machines[jobs->ranks[i].machine].clock == clock && !isnan(time))
            times[count++] = time;
    }
    double median = doubles_median(times, count);
    struct spread spread = {median, count ? times[count - 1] - times[0] : NAN};
    return spread;
}

/* Describes a clock, and when ranks started and ended by it. */
static struct clock clock_of(
    const struct gput_jobs *jobs, const struct jobs_job *job, size_t number)
{
    size_t machines = 0;
    struct clock clock = {.number = number, .machine = &jobs->machines[number]};
    for (size_t i = number; i < job->first_machine + job->n_machines; i++)
        machines += jobs->machines[i].clock == number;
    text_fit(clock.name, sizeof clock.name, machines > 1 ? "%s and %zu more" : "%s",
        clock.machine->name, machines - 1);
    clock.starts = spread_of(jobs, job, number, false);
    clock.ends = spread_of(jobs, job, number, true);
    return clock;
}

/* Returns the clock of the lowest rank, which is taken to be right. */
static size_t reference_of(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    size_t first = job->first;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        if (jobs->ranks[i].rank < jobs->ranks[first].rank)
            first = i;
    }
    return jobs->machines[jobs->ranks[first].machine].clock;
}

/* Describes the kernels' states of both clocks, and the offset by a block if that was not used.
 * NULL: nothing to say. */
static const char *describe(const struct clock *clock, const struct clock *reference,
    const struct jobs_apart *apart, char text[400])
{
    const char *own = clock->machine->kernel_clock, *other = reference->machine->kernel_clock;
    char kernels[220] = "", blocks[180] = "", seconds[HUMAN_SIZE], doubt[HUMAN_SIZE];
    if (own[0] && other[0])
        text_fit(kernels, sizeof kernels, "by their kernels the clock of %s is %s, that of %s %s",
            clock->name, own, reference->name, other);
    if (!isnan(apart->seconds))
        text_fit(blocks, sizeof blocks,
            "calls of block \"%s\" end %s apart (±%s): not at the same time", apart->block,
            human_seconds(fabs(apart->seconds), seconds), human_seconds(apart->doubt, doubt));
    text_fit(text, 400, "%s%s%s", kernels, kernels[0] && blocks[0] ? "; " : "", blocks);
    return text[0] ? text : NULL;
}

/* Sets the offset of all machines with that clock. */
static void set_clock_offset(struct gput_jobs *jobs, const struct jobs_job *job, size_t clock,
    const char *source, double offset, double doubt)
{
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        struct jobs_machine *machine = &jobs->machines[i];
        if (machine->clock != clock)
            continue;
        machine->clock_source = i == clock ? source : JOBS_CLOCK_BOOT;
        machine->clock_offset_seconds = offset;
        machine->clock_doubt_seconds = doubt;
    }
}

/* Moves the times of ranks by the offset of their clock. */
static void correct(struct gput_jobs *jobs, const struct jobs_job *job, size_t clock)
{
    for (size_t i = job->first; i < job->first + job->count; i++) {
        struct jobs_machine *machine = &jobs->machines[jobs->ranks[i].machine];
        if (machine->clock != clock)
            continue;
        machine->clock_is_corrected = true;
        jobs->ranks[i].start -= machine->clock_offset_seconds;
        jobs->ranks[i].end -= machine->clock_offset_seconds;
    }
}

static void find_late(struct gput_jobs *jobs, const struct jobs_job *job, const struct clock *clock,
    const struct clock *reference, const char *why, const char *evidence)
{
    double starts = clock->starts.middle - reference->starts.middle;
    jobs_add_finding(jobs, (double)(job - jobs->jobs), "late_start", evidence,
        "The ranks on %s started %.1f s %s those on %s%s", clock->name, fabs(starts),
        starts > 0 ? "after" : "before", reference->name, why);
}

static bool are_synchronized(const struct clock *clock, const struct clock *reference)
{
    return strcmp(clock->machine->kernel_clock, "synchronized") == 0 &&
           strcmp(reference->machine->kernel_clock, "synchronized") == 0;
}

/* ---- By marks ---- */

/* True where the offset is significant. Synchronized clocks are corrected only if they are off
 * by seconds. */
static bool is_to_correct(
    const struct clock *clock, const struct clock *reference, const struct jobs_apart *apart)
{
    double offset = fabs(apart->seconds);
    return offset > fmax(MIN_OFFSET_SECONDS, apart->doubt) &&
           (offset > BARRIER_SECONDS || !are_synchronized(clock, reference));
}

/* Compares a clock with the reference by the ends of a block. Returns false if these do not tell
 * the offset: ranks do not leave every block together (a stage of a pipeline), and then the ends
 * contradict the starts. */
static bool compare_by_marks(struct gput_jobs *jobs, const struct jobs_job *job,
    const struct clock *clock, const struct clock *reference, const struct jobs_apart *apart)
{
    char why[160], doubt[HUMAN_SIZE], evidence[400];
    double starts = clock->starts.middle - reference->starts.middle;
    double skew = BARRIER_SECONDS + fmax(clock->starts.width, reference->starts.width);
    bool is_late = fabs(apart->seconds - starts) > skew;
    if (!(apart->doubt <= JOBS_ALIKE_SECONDS) || (is_late && fabs(apart->seconds) > skew))
        return false;
    set_clock_offset(jobs, job, clock->number, JOBS_CLOCK_MARKS, apart->seconds, apart->doubt);
    text_fit(jobs->machines[clock->number].clock_block, sizeof apart->block, "%s", apart->block);
    human_seconds(apart->doubt, doubt);
    struct jobs_apart none = {.seconds = NAN};
    describe(clock, reference, &none, evidence);
    if (is_to_correct(clock, reference, apart)) {
        correct(jobs, job, clock->number);
        jobs_add_finding(jobs, (double)(job - jobs->jobs), "clock", evidence[0] ? evidence : NULL,
            "The clock of %s is off by %.3f s against the clock of %s (±%s): ranks exit %zu calls "
            "of block \"%s\" at the same time. Its times are corrected accordingly",
            clock->name, apart->seconds, reference->name, doubt, apart->calls, apart->block);
    }
    if (is_late) {
        text_fit(why, sizeof why, ". Its clock is right to within %s, by ends of block \"%s\"",
            doubt, apart->block);
        find_late(jobs, job, clock, reference, why, evidence[0] ? evidence : NULL);
    }
    return true;
}

/* ---- By starts and ends ---- */

/* Compares a clock with the reference by the starts and ends of ranks, which are about the same. */
static void compare_by_ends(struct gput_jobs *jobs, const struct jobs_job *job,
    const struct clock *clock, const struct clock *reference, const struct jobs_apart *apart)
{
    double starts = clock->starts.middle - reference->starts.middle;
    double ends = clock->ends.middle - reference->ends.middle;
    double width = fmax(clock->starts.width, reference->starts.width);
    double doubt = fmax(isnan(ends) ? width : fabs(starts - ends) / 2, width);
    bool are_alike =
        fabs(starts - ends) <= fmax(JOBS_ALIKE_SECONDS, ALIKE_PART * fabs(starts)) + width;
    char text[400];
    const char *evidence = describe(clock, reference, apart, text);
    set_clock_offset(jobs, job, clock->number, are_alike ? JOBS_CLOCK_ENDS : JOBS_CLOCK_STARTS,
        starts, doubt); /* only starts: ends depend on the work */
    if (!(fabs(starts) > BARRIER_SECONDS + width))
        return;
    if (are_synchronized(clock, reference)) { /* a late start is more likely then */
        find_late(jobs, job, clock, reference, "", evidence);
        return;
    }
    if (are_alike) {
        correct(jobs, job, clock->number);
        jobs_add_finding(jobs, (double)(job - jobs->jobs), "clock", evidence,
            "The clock of %s is off by %.1f s against the clock of %s (±%.1f s): starts and ends "
            "of their ranks differ by the same. Its times are corrected accordingly",
            clock->name, starts, reference->name, doubt);
        return;
    }
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++)
        jobs->machines[i].clock_is_doubtful |= jobs->machines[i].clock == clock->number;
    find_late(jobs, job, clock, reference,
        isnan(ends) ? ", or its clock is off: which of the two is not known before they end. The "
                      "job's time does not include them"
                    : ", or its clock is off: their ends differ by another amount. The job's time "
                      "does not include them",
        evidence);
}

/* ---- All of a job ---- */

void jobs_compare_clocks(struct gput_jobs *jobs, struct jobs_job *job)
{
    /* Elements of an array, tasks, steps of a workflow, workers and pods do not start together.
     * */
    bool are_compared = job->has_ranks && !job->are_independent &&
                        strcmp(jobs->ranks[job->first].launcher, "Kubernetes") != 0;

    /* Give machines of one boot the same clock. */
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        struct jobs_machine *machine = &jobs->machines[i];
        machine->clock = i;
        for (size_t k = job->first_machine; k < i && machine->boot_id[0]; k++) {
            if (strcmp(jobs->machines[k].boot_id, machine->boot_id) == 0) {
                machine->clock = k;
                break;
            }
        }
    }

    struct clock reference = clock_of(jobs, job, reference_of(jobs, job));
    struct jobs_blocks *blocks =
        are_compared && job->n_machines > 1 ? blocks_create(jobs, reference.number) : NULL;
    set_clock_offset(jobs, job, reference.number, JOBS_CLOCK_REFERENCE, 0, 0);
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        if (jobs->machines[i].clock != i || i == reference.number)
            continue;
        if (!are_compared) {
            set_clock_offset(jobs, job, i, JOBS_CLOCK_NONE, NAN, NAN);
            continue;
        }
        struct clock clock = clock_of(jobs, job, i);
        struct jobs_apart apart = blocks_compare(jobs, blocks, i);
        if (!compare_by_marks(jobs, job, &clock, &reference, &apart))
            compare_by_ends(jobs, job, &clock, &reference, &apart);
    }
    if (blocks)
        sub_tracking_names_destroy(blocks->names);
    free(blocks);
}
