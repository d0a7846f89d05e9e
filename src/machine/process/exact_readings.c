#include "machine/process/exact_readings.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/order.h"
#include "machine/process/bytes.h"

#include <stdlib.h>

/* A process is stalled for at most 1 / 200 of its time. */
#define PAUSE_PER_READING 200
/* All readings together may use 1 / 100 of one core, and save up the credit of one second. */
#define CREDIT_PART 100
#define CREDIT_MAX_NS (NS_PER_SECOND / 100)
/* The family of main may owe so much: until it is read again, what a child has copied would
 * count for main as well. */
#define MAIN_LOAN_NS (NS_PER_SECOND / 10)

void exact_readings_init(
    struct exact_readings *readings, enum exact_readings_when when, int64_t now_ns)
{
    *readings = (struct exact_readings){
        .when = when, .credit_ns = CREDIT_MAX_NS, .credit_since_ns = now_ns};
}

void exact_readings_finish(struct exact_readings *readings)
{
    free(readings->groups);
    *readings = (struct exact_readings){0};
}

/* A file or segment of which a process had memory alone when it was last read. */
struct private_object {
    uint64_t device, inode;
    struct process *process;
};

/* Those of all processes, collected when a pass first needs them: to go through thousands of
 * processes for each of thousands of readings would take minutes. */
struct private_objects {
    struct private_object *objects;
    size_t count, capacity;
    bool is_collected;
    bool is_partial; /* because memory ran out */
};

/* One pass over a tree as of one scan. */
struct pass {
    struct exact_readings *readings;
    struct process_tree *tree;
    struct private_objects *private;
    bool is_alone; /* one process has all the memory */
    int64_t now_ns;
};

/*
 * Writing to a page that a fork left shared copies it, and RSS stays the same. But each copy is a
 * minor fault: no more can have been copied since the last reading, and no more than was shared.
 */
uint64_t process_copied_bytes(const struct process *process, uint64_t page_bytes)
{
    const struct polled *polled = process->polled;
    if (!process_shares_anonymous(process) || !polled->memory.has_exact)
        return 0;
    uint64_t faults = polled->stat.minor_faults - polled->metered.exact.faults;
    return bytes_min(faults * page_bytes, memory_anonymous_shared_bytes(&polled->memory));
}

/* Processes of one exec generation: one alone, or several that may share copy-on-write memory. */
struct exact_group {
    struct process **members;
    size_t count;
    uint64_t bytes;         /* of all members, at least */
    uint64_t copied;        /* of the shared bytes, at most */
    uint64_t highest_bytes; /* of one member */
    bool has_main; /* what main and descendants have depends on what main shares with the others */
    bool needs_reading;
    bool is_urgent; /* a member was never read, or old figures are inconsistent because members
                       started or ended */
    bool must_pause;
};

/*
 * Up to 1 % of a group's memory may be copied without a new reading. When it may be more, the
 * members are read that can have copied more than their part of that.
 */
static bool has_copied(
    const struct pass *pass, const struct exact_group *group, const struct process *process)
{
    return group->copied * 100 > group->bytes &&
           process_copied_bytes(process, pass->tree->view.page_bytes) * 100 * group->count >
               group->bytes;
}

/* Copying a twentieth costs the processes about as much as reading all of them. */
static bool has_copied_much(const struct exact_group *group)
{
    return group->copied * 20 > group->bytes;
}

/* Whether a reading now would stall the process more than allowed. A sleeping one is not stalled.
 */
static bool must_pause(const struct process *process, int64_t now_ns)
{
    return now_ns < process->polled->metered.exact.not_before_ns && process->polled->has_run;
}

/* Whether an exact reading could give new figures. */
static bool needs_reading(
    const struct pass *pass, const struct exact_group *group, const struct process *process)
{
    const struct polled *polled = process->polled;
    const struct memory *memory = &polled->memory;
    if (!process_has_memory(process) || memory->refused)
        return false;
    if (pass->is_alone && pass->readings->when == EXACT_READINGS_OF_SEVERAL)
        return false;
    if (pass->readings->when == EXACT_READINGS_ALWAYS || memory_has_changed(memory))
        return true;
    /* When its last sharer has ended, its private part has grown while its RSS is unchanged. */
    if (pass->is_alone)
        return polled->metered.memory_is_stale;
    if (memory_ranges_have_changed(memory))
        return true;
    return polled->metered.memory_is_stale || polled->metered.ranges_are_stale ||
           has_copied(pass, group, process);
}

/* A reading that shows a change of sharing makes the figures of the sharers stale. */
static void mark_sharers_stale(struct process_tree *tree, struct process *process)
{
    struct polled *polled = process->polled;
    uint64_t private_now = polled->memory.anonymous_private_bytes;
    uint64_t before = polled->metered.exact.private_when_marked;
    uint64_t change = private_now > before ? private_now - before : before - private_now;
    if (!process_shares_anonymous(process) || change * 100 <= polled->memory.resident_bytes)
        return;
    polled->metered.exact.private_when_marked = private_now;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *other = tree->processes[i];
        if (other != process && other->polled->exec_generation == polled->exec_generation)
            other->polled->metered.memory_is_stale = true;
    }
}

/* So little is skipped. */
static bool counts(uint64_t bytes, const struct memory *memory)
{
    return bytes * 100 > memory->resident_bytes;
}

static void add_private_objects(struct private_objects *private, struct process *process)
{
    const struct memory *memory = &process->polled->memory;
    for (size_t i = 0; memory->has_ranges && i < memory->range_count; i++) {
        const struct shared_range *range = &memory->ranges[i];
        if (!counts(range->private_bytes, memory))
            continue;
        if (!ARRAY_RESERVE(private->objects, private->count, private->capacity)) {
            private->is_partial = true;
            return;
        }
        private->objects[private->count++] =
            (struct private_object){range->device, range->inode, process};
    }
}

static bool has_private_memory_in(const struct memory *memory, uint64_t device, uint64_t inode)
{
    for (size_t i = 0; i < memory->range_count; i++) {
        const struct shared_range *range = &memory->ranges[i];
        if (range->inode == inode && range->device == device &&
            counts(range->private_bytes, memory))
            return true;
    }
    return false;
}

/* Another process has shared memory in the object: what this one had alone may now be shared. */
static void mark_mapper_stale(
    struct exact_readings *readings, struct process *process, uint64_t device, uint64_t inode)
{
    struct polled *polled = process->polled;
    if (!polled->memory.has_ranges || polled->metered.ranges_are_stale ||
        !has_private_memory_in(&polled->memory, device, inode))
        return;
    polled->metered.ranges_are_stale = true;
    readings->has_marked = true;
}

/*
 * When a second process maps a file or segment that one process had alone, nothing changes in statm
 * of the first. Without this its private bytes of the last reading would count in addition to what
 * is shared now.
 */
static void mark_mappers_stale(const struct pass *pass, struct process *process)
{
    const struct memory *memory = &process->polled->memory;
    struct private_objects *private = pass->private;
    if (private->is_collected)
        add_private_objects(private, process);
    for (size_t i = 0; !private->is_collected && i < pass->tree->count; i++)
        add_private_objects(private, pass->tree->processes[i]);
    private->is_collected = true;
    for (size_t i = 0; i < memory->range_count; i++) {
        const struct shared_range *range = &memory->ranges[i];
        if (!counts(range->shared_bytes, memory))
            continue;
        for (size_t k = 0; k < private->count; k++) {
            const struct private_object *object = &private->objects[k];
            if (object->inode == range->inode && object->device == range->device &&
                object->process != process)
                mark_mapper_stale(pass->readings, object->process, range->device, range->inode);
        }
        for (size_t k = 0; private->is_partial && k < pass->tree->count; k++)
            if (pass->tree->processes[k] != process)
                mark_mapper_stale(
                    pass->readings, pass->tree->processes[k], range->device, range->inode);
    }
}

/* CPU time so far of this thread and of those that read for it: while they are preempted they
 * stall no process. */
static int64_t cpu_ns(const struct process_view *view)
{
    return clock_thread_cpu_ns() + (view->calls ? bounded_calls_cpu_ns(view->calls) : 0);
}

/* Reads it and pays for that. */
static int read_at_cost(const struct pass *pass, struct process *process, bool rollup)
{
    struct exact_readings *readings = pass->readings;
    struct metered *metered = &process->polled->metered;
    struct process_tree *tree = pass->tree;
    int64_t begin_ns = cpu_ns(&tree->view);
    int code = process_read_exact(process, rollup, &tree->view);
    if (code == GPUT_ERROR_FILES && process_tree_close_cached_files(tree))
        code = process_read_exact(process, rollup, &tree->view);
    tree->lacks_descriptors |= code == GPUT_ERROR_FILES;
    int64_t cost_ns = cpu_ns(&tree->view) - begin_ns;

    readings->credit_ns -= cost_ns;
    metered->exact.not_before_ns = pass->now_ns + cost_ns * PAUSE_PER_READING;
    if (code == GPUT_ERROR_PERMISSION && !metered->exact.was_refused) {
        metered->exact.was_refused = true;
        readings->refused++;
    }
    if (code == GPUT_ERROR_IO)
        process_tree_note_unanswered(tree, process);
    return code;
}

static void read_exact(const struct pass *pass, struct process *process, bool marks_sharers)
{
    struct exact_readings *readings = pass->readings;
    struct memory *memory = &process->polled->memory;
    struct metered *metered = &process->polled->metered;
    bool has_same_ranges = !memory_ranges_have_changed(memory) && !metered->ranges_are_stale;
    bool rollup = pass->is_alone || (has_same_ranges && readings->when != EXACT_READINGS_ALWAYS);
    /* For a new process, the changed number of members has done that already. */
    marks_sharers &= memory->has_exact;

    uint64_t ranges_readings = memory->ranges_readings;
    uint64_t file_bytes = memory->file_bytes;
    if (read_at_cost(pass, process, rollup) != GPUT_OK)
        return;
    if (metered->exact.read_ns != pass->now_ns)
        metered->exact.mapped_bytes = 0;
    metered->exact.mapped_bytes += bytes_minus(memory->file_bytes, file_bytes);
    readings->count++;
    metered->exact.read_ns = pass->now_ns;
    metered->memory_is_stale = false;
    metered->exact.faults = process->polled->stat.minor_faults;
    if (memory->ranges_readings != ranges_readings) {
        metered->exact.ranges_read_ns = pass->now_ns;
        readings->has_new_ranges = true;
        metered->ranges_are_stale = false;
        mark_mappers_stale(pass, process);
    }
    if (marks_sharers)
        mark_sharers_stale(pass->tree, process);
    else
        metered->exact.private_when_marked = memory->anonymous_private_bytes;
}

static void earn_credit(struct exact_readings *readings, int64_t now_ns)
{
    readings->credit_ns += (now_ns - readings->credit_since_ns) / CREDIT_PART;
    if (readings->credit_ns > CREDIT_MAX_NS)
        readings->credit_ns = CREDIT_MAX_NS;
    readings->credit_since_ns = now_ns;
}

static struct exact_group group_of(const struct pass *pass, struct process **members, size_t count)
{
    struct exact_group group = {.members = members, .count = count};
    for (size_t i = 0; i < count; i++) {
        const struct memory *memory = &members[i]->polled->memory;
        group.has_main |= members[i]->is_main;
        bytes_raise(&group.highest_bytes, memory->resident_bytes);
        group.bytes += memory_anonymous_share_bytes(memory);
        group.copied += process_copied_bytes(members[i], pass->tree->view.page_bytes);
    }
    group.bytes = bytes_max(group.bytes, group.highest_bytes);
    for (size_t i = 0; i < count; i++) {
        const struct process *process = members[i];
        if (!needs_reading(pass, &group, process))
            continue;
        group.needs_reading = true;
        group.is_urgent |=
            !process->polled->memory.has_exact || process->polled->metered.memory_is_stale;
        group.must_pause |= must_pause(process, pass->now_ns);
    }
    return group;
}

/*
 * Reads the members one by one while there is credit. Their shared anonymous memory is known
 * otherwise, so figures of different moments do no harm: a member is read for its files.
 */
static void read_members(const struct pass *pass, const struct exact_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->polled->metered.exact.read_ns == pass->now_ns ||
            !needs_reading(pass, group, process))
            continue;
        bool must_wait = process->polled->memory.has_exact && must_pause(process, pass->now_ns);
        if (pass->readings->credit_ns <= 0 || must_wait)
            pass->readings->has_deferred = true;
        else
            read_exact(pass, process, false);
    }
}

/*
 * Reads all members that need it, or none: figures of different moments would count pages twice. A
 * fork costs the processes more than the readings that it makes necessary, so those are not
 * delayed; nor are those where much may have been copied.
 */
static void read_group(const struct pass *pass, const struct exact_group *group)
{
    struct exact_readings *readings = pass->readings;
    bool is_always = readings->when == EXACT_READINGS_ALWAYS;
    if (readings->knows_anonymous && !group->has_main && !is_always) {
        read_members(pass, group);
        return;
    }
    bool must_pause = group->must_pause && !group->is_urgent && !has_copied_much(group);
    int64_t may_spend_ns = readings->credit_ns + (group->has_main ? MAIN_LOAN_NS : 0);
    if (!is_always && (may_spend_ns <= 0 || must_pause)) {
        readings->has_deferred = true;
        return;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->polled->metered.exact.read_ns != pass->now_ns &&
            needs_reading(pass, group, process))
            read_exact(pass, process, true);
    }
    /* Those whose sharing has changed, also while others were read. */
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->polled->metered.memory_is_stale && process_has_memory(process) &&
            !process->polled->memory.refused)
            read_exact(pass, process, false);
    }
    /* Where a member ended or called execve() meanwhile, others have more private memory than
     * before. */
    for (size_t i = 0; group->count > 1 && i < group->count; i++)
        process_refresh(group->members[i], &pass->tree->view);
    /* Figures of one scan are consistent. */
    for (size_t i = 0; i < group->count; i++) {
        if (group->members[i]->polled->metered.exact.read_ns == pass->now_ns)
            group->members[i]->polled->metered.memory_is_stale = false;
    }
}

static int by_highest_first(const void *left, const void *right)
{
    const struct exact_group *a = left, *b = right;
    return ORDER(b->highest_bytes, a->highest_bytes);
}

/* Reads the groups that need it, those with the largest process first: it dominates the figures,
 * and as a rule maps what the others map, too. */
static int read_groups(const struct pass *pass, const struct exec_generations *generations)
{
    struct exact_readings *readings = pass->readings;
    size_t count = 0;
    for (size_t start = 0, end; start < generations->count; start = end) {
        end = exec_generations_end(generations, start);
        struct exact_group group = group_of(pass, generations->processes + start, end - start);
        if (!group.needs_reading)
            continue;
        if (!ARRAY_RESERVE(readings->groups, count, readings->group_capacity))
            return GPUT_ERROR_MEMORY;
        readings->groups[count++] = group;
    }
    if (count > 1)
        qsort(readings->groups, count, sizeof *readings->groups, by_highest_first);
    for (size_t i = 0; i < count; i++)
        read_group(pass, &readings->groups[i]);
    return GPUT_OK;
}

void exact_readings_take(struct exact_readings *readings, struct process_tree *tree,
    const struct exec_generations *generations, int64_t now_ns)
{
    struct private_objects private = {0};
    struct pass pass = {.readings = readings,
        .tree = tree,
        .private = &private,
        .is_alone = generations->count <= 1,
        .now_ns = now_ns};
    earn_credit(readings, now_ns);
    readings->has_deferred = false;
    readings->has_marked = true;
    /* Again for those that the first pass made stale: figures of one scan must be consistent. */
    for (int i = 0; i < 2 && readings->has_marked; i++) {
        readings->has_marked = false;
        read_groups(&pass, generations);
    }
    readings->has_deferred |= readings->has_marked;
    free(private.objects);
}
