#include "machine/process/exact_readings.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/order.h"
#include "machine/process/bytes.h"
#include "machine/process/copies.h"

#include <stdlib.h>

/* A process is stalled for at most 1 / 200 of its time. */
#define PAUSE_PER_READING 200
/* All readings together may use 1 / 100 of one core, and save up the credit of one second. */
#define CREDIT_PART 100
#define CREDIT_MAX_NS (NS_PER_SECOND / 100)
/* All of a family, where more than the credit, only after a pause of so many times the cost. */
#define PAUSE_PER_FAMILY 200
/* A member of a family is read alone if so much (percent) of the family's memory may be copied. */
#define UNKNOWN_PERCENT 1

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

/* Objects of all processes, collected when a pass first needs them: searching thousands of
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
    bool is_alone; /* true where one process has all the memory */
    int64_t now_ns;
};

/*
 * Writing to a page that a fork left shared copies it, and RSS stays the same. But each copy is a
 * minor fault: no more can have been copied since the last reading, and no more than was shared.
 */
static uint64_t copied_bytes(const struct process *process, uint64_t page_bytes)
{
    const struct polled *polled = process->polled;
    if (!process_shares_anonymous(process) || !polled->memory.has_exact)
        return 0;
    uint64_t faults = bytes_minus(polled->stat.minor_faults, polled->metered.exact.faults);
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
           copied_bytes(process, pass->tree->view.page_bytes) * 100 * group->count > group->bytes;
}

/* Copying a twentieth costs the processes about as much as reading all of them. */
static bool has_copied_much(const struct exact_group *group)
{
    return group->copied * 20 > group->bytes;
}

/* True where a reading now would stall the process for more than is allowed. A sleeping process
 * is not stalled. */
static bool must_pause(const struct process *process, int64_t now_ns)
{
    return now_ns < process->polled->metered.exact.not_before_ns && process->polled->has_run;
}

/* True where an exact reading could give new figures. */
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

/* Whether an amount is more than the 1 % that is skipped. */
static bool counts(uint64_t bytes, const struct memory *memory)
{
    return bytes * 100 > memory->resident_bytes;
}

/* Adds the mapped objects of which the process has many private pages. */
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
    metered->exact.cost_ns = cost_ns;
    metered->exact.not_before_ns = pass->now_ns + cost_ns * PAUSE_PER_READING;
    if (code == GPUT_ERROR_PERMISSION && !metered->exact.was_refused) {
        metered->exact.was_refused = true;
        readings->refused++;
    }
    if (code == GPUT_ERROR_IO)
        process_tree_note_unanswered(tree, process);
    return code;
}

/* A fork maps what its family maps: where that was read, sums are enough to see that it has next to
 * no part of files of its own. */
static bool may_inherit_files(const struct exact_group *group, const struct process *process)
{
    if (process->polled->memory.has_ranges)
        return false;
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i]->polled->memory.has_ranges)
            return true;
    return false;
}

/* Reads sums where they are enough, else all mappings. */
static int read_sums_or_ranges(
    const struct pass *pass, const struct exact_group *group, struct process *process)
{
    struct memory *memory = &process->polled->memory;
    bool is_always = pass->readings->when == EXACT_READINGS_ALWAYS;
    bool has_same_ranges = memory->has_ranges && !memory_ranges_have_changed(memory) &&
                           !process->polled->metered.ranges_are_stale;
    if (pass->is_alone || (has_same_ranges && !is_always))
        return read_at_cost(pass, process, true);
    if (!is_always && may_inherit_files(group, process)) {
        int64_t cost_ns = pass->readings->credit_ns;
        TRY(read_at_cost(pass, process, true));
        if (memory_inherit_files(memory))
            return GPUT_OK;
        cost_ns -= pass->readings->credit_ns;
        TRY(read_at_cost(pass, process, false));
        process->polled->metered.exact.cost_ns += cost_ns;
        return GPUT_OK;
    }
    return read_at_cost(pass, process, false);
}

/* Reads the memory of one process, and marks those that share it as stale. */
static void read_exact(const struct pass *pass, const struct exact_group *group,
    struct process *process, bool marks_sharers)
{
    struct exact_readings *readings = pass->readings;
    struct memory *memory = &process->polled->memory;
    struct metered *metered = &process->polled->metered;
    /* For a new process, the changed number of members has done that already. */
    marks_sharers &= memory->has_exact;

    uint64_t ranges_readings = memory->ranges_readings;
    uint64_t file_bytes = memory->file_bytes;
    if (read_sums_or_ranges(pass, group, process) != GPUT_OK)
        return;
    if (metered->exact.read_ns != pass->now_ns)
        metered->exact.mapped_bytes = 0;
    metered->exact.mapped_bytes += bytes_minus(memory->file_bytes, file_bytes);
    readings->count++;
    metered->exact.read_ns = pass->now_ns;
    metered->memory_is_stale = false;
    copies_add_reading(
        process, group->members, group->count, pass->tree->view.page_bytes, pass->now_ns);
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

/* Adds up what the processes of one exec generation have, and decides whether they are to be read.
 */
static struct exact_group group_of(const struct pass *pass, struct process **members, size_t count)
{
    struct exact_group group = {.members = members, .count = count};
    for (size_t i = 0; i < count; i++) {
        const struct memory *memory = &members[i]->polled->memory;
        group.has_main |= members[i]->is_main;
        bytes_raise(&group.highest_bytes, memory->resident_bytes);
        group.bytes += memory_anonymous_share_bytes(memory);
        group.copied += copied_bytes(members[i], pass->tree->view.page_bytes);
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

/* Whether more than is skipped may have changed of what main alone has. */
static bool main_is_unknown(
    const struct pass *pass, const struct exact_group *group, const struct process *process)
{
    return process->is_main &&
           copies_unknown(process, group->members, group->count, pass->tree->view.page_bytes) *
                   100 >
               group->bytes * UNKNOWN_PERCENT;
}

/*
 * Reads the members one by one while there is credit. Their shared anonymous memory is known
 * otherwise, so figures of different moments do no harm: a member is read for its files, and main
 * first, for what of it the others do not have. Those of which only the sharing has changed can
 * wait until half of the credit is saved up.
 */
static void read_members(const struct pass *pass, const struct exact_group *group)
{
    struct exact_readings *readings = pass->readings;
    bool has_deferred = false;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < group->count; i++) {
            struct process *process = group->members[i];
            const struct memory *memory = &process->polled->memory;
            if (process->is_main != (turn == 0) ||
                process->polled->metered.exact.read_ns == pass->now_ns ||
                !(needs_reading(pass, group, process) || main_is_unknown(pass, group, process)))
                continue;
            bool can_wait = memory->has_exact && !process->is_main && !memory_has_changed(memory) &&
                            !memory_ranges_have_changed(memory) &&
                            !process->polled->metered.ranges_are_stale;
            bool must_wait = memory->has_exact && must_pause(process, pass->now_ns);
            if (readings->credit_ns <= (can_wait ? CREDIT_MAX_NS / 2 : 0) || must_wait)
                has_deferred = true;
            else
                read_exact(pass, group, process, false);
        }
    }
    readings->has_deferred |= has_deferred;
    if (!has_deferred)
        copies_set_basis(group->members, group->count, pass->tree->view.page_bytes);
}

/* Returns what it costs to read all members that need it, estimated from earlier readings. */
static int64_t cost_of(const struct pass *pass, const struct exact_group *group)
{
    int64_t highest = 0, sum = 0;
    for (size_t i = 0; i < group->count; i++) {
        int64_t cost_ns = group->members[i]->polled->metered.exact.cost_ns;
        highest = cost_ns > highest ? cost_ns : highest;
    }
    for (size_t i = 0; i < group->count; i++) {
        int64_t cost_ns = group->members[i]->polled->metered.exact.cost_ns;
        if (needs_reading(pass, group, group->members[i]))
            sum += cost_ns ? cost_ns : highest;
    }
    return sum;
}

/*
 * Whether all members may be read now: their cost is saved up, or as much as can be saved up, and
 * the last time is long ago.
 */
static bool may_read_all(const struct pass *pass, const struct exact_group *group, bool *is_due)
{
    int64_t credit_ns = pass->readings->credit_ns, cost_ns = cost_of(pass, group);
    int64_t not_before_ns = 0;
    bool has_basis = group->count == 1;
    for (size_t i = 0; i < group->count; i++) {
        const struct metered *metered = &group->members[i]->polled->metered;
        has_basis |= metered->copies.has_basis;
        if (metered->exact.family_not_before_ns > not_before_ns)
            not_before_ns = metered->exact.family_not_before_ns;
    }
    if (not_before_ns == 0)
        not_before_ns = pass->now_ns + cost_ns * PAUSE_PER_FAMILY;
    for (size_t i = 0; i < group->count; i++)
        group->members[i]->polled->metered.exact.family_not_before_ns = not_before_ns;
    *is_due = !has_basis || pass->now_ns >= not_before_ns;
    if (group->count == 1 || !has_basis)
        return credit_ns > 0;
    return credit_ns > 0 &&
           (cost_ns <= credit_ns || (*is_due && credit_ns >= CREDIT_MAX_NS * 9 / 10));
}

/* Reads in turn, while there is credit, those members of which most is not known. */
static void read_some(const struct pass *pass, const struct exact_group *group)
{
    for (size_t n_read = 0; n_read < group->count && pass->readings->credit_ns > 0; n_read++) {
        struct process *next = NULL;
        uint64_t page_bytes = pass->tree->view.page_bytes;
        uint64_t most = group->bytes * UNKNOWN_PERCENT / 100;
        for (size_t i = 0; i < group->count; i++) {
            struct process *process = group->members[i];
            uint64_t bytes = copies_unknown(process, group->members, group->count, page_bytes);
            if (process->polled->metered.exact.read_ns == pass->now_ns || bytes <= most ||
                !process_has_memory(process) || process->polled->memory.refused ||
                (process->polled->memory.has_exact && must_pause(process, pass->now_ns)))
                continue;
            next = process;
            most = bytes;
        }
        if (!next)
            return;
        read_exact(pass, group, next, false);
        next->polled->metered.memory_is_stale = true;
    }
}

/* Reads all that need it. Their figures are of one moment then. */
static void read_all(const struct pass *pass, const struct exact_group *group)
{
    int64_t credit_ns = pass->readings->credit_ns;
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->polled->metered.exact.read_ns != pass->now_ns &&
            needs_reading(pass, group, process))
            read_exact(pass, group, process, true);
    }
    /* Read those whose sharing has changed, also while others were read. */
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->polled->metered.memory_is_stale && process_has_memory(process) &&
            !process->polled->memory.refused)
            read_exact(pass, group, process, false);
    }
    /* Where a member ended or called execve() meanwhile, others have more private memory than
     * before. */
    for (size_t i = 0; group->count > 1 && i < group->count; i++)
        process_refresh(group->members[i], &pass->tree->view);
    int64_t cost_ns = credit_ns - pass->readings->credit_ns;
    for (size_t i = 0; i < group->count; i++) {
        struct metered *metered = &group->members[i]->polled->metered;
        /* Figures of one scan are consistent. */
        if (metered->exact.read_ns == pass->now_ns)
            metered->memory_is_stale = false;
        metered->exact.family_not_before_ns = pass->now_ns + cost_ns * PAUSE_PER_FAMILY;
    }
    copies_set_basis(group->members, group->count, pass->tree->view.page_bytes);
}

/*
 * Reads all members of a family that need it while that costs little: figures of different moments
 * would count pages twice. Else some of them in turn, which say how much each copies, and all of
 * them now and then.
 */
static void read_group(const struct pass *pass, const struct exact_group *group)
{
    struct exact_readings *readings = pass->readings;
    bool is_always = readings->when == EXACT_READINGS_ALWAYS, is_due;
    if (readings->knows_anonymous && !is_always) {
        read_members(pass, group);
        return;
    }
    bool must_pause = group->must_pause && !group->is_urgent && !has_copied_much(group);
    if (is_always || (may_read_all(pass, group, &is_due) && !must_pause)) {
        read_all(pass, group);
        return;
    }
    readings->has_deferred = true;
    if (!is_due)
        read_some(pass, group);
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
    readings->credit_ns += (now_ns - readings->credit_since_ns) / CREDIT_PART;
    if (readings->credit_ns > CREDIT_MAX_NS)
        readings->credit_ns = CREDIT_MAX_NS;
    readings->credit_since_ns = now_ns;
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

void exec_generations_finish(struct exec_generations *generations)
{
    free(generations->processes);
    *generations = (struct exec_generations){0};
}

static int by_exec_generation(const void *left, const void *right)
{
    const struct process *a = *(struct process *const *)left;
    const struct process *b = *(struct process *const *)right;
    ORDER_BY(a->polled->exec_generation, b->polled->exec_generation);
    ORDER_BY(a->polled->stat.start_time_ticks, b->polled->stat.start_time_ticks);
    return ORDER(a->pid, b->pid);
}

/* A hash of a process. The sum of the hashes identifies a set of processes. */
static uint64_t hash_of(const struct process *process)
{
    uint64_t hash = process->polled->stat.start_time_ticks << 22 ^ (uint64_t)process->pid;
    hash = (hash ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

size_t exec_generations_end(const struct exec_generations *generations, size_t start)
{
    uint64_t exec_generation = generations->processes[start]->polled->exec_generation;
    size_t end = start + 1;
    while (exec_generation && end < generations->count &&
           generations->processes[end]->polled->exec_generation == exec_generation)
        end++;
    return end;
}

/*
 * Where the set of members has changed, a process that shares copy-on-write memory started or
 * ended: what was read of the others is stale. A fork may replace one that ended, so comparing the
 * number is not enough.
 */
static void set_members(struct process **members, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++)
        hash += hash_of(members[i]);
    for (size_t i = 0; i < count; i++) {
        struct process *process = members[i];
        process->polled->metered.memory_is_stale |= process->polled->metered.members_hash != hash;
        process->polled->metered.members_hash = hash;
        process->polled->metered.members = (uint32_t)count;
    }
}

int exec_generations_update(
    struct exec_generations *generations, const struct process_tree *tree, bool *has_changed)
{
    if (!ARRAY_RESERVE(generations->processes, tree->count, generations->capacity))
        return GPUT_ERROR_MEMORY;
    uint64_t hash = 0;
    generations->count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process_has_memory(process)) {
            process->polled->metered.members = 0;
            continue;
        }
        generations->processes[generations->count++] = process;
        hash += hash_of(process);
    }
    /* It also changes when a process becomes a zombie, which stays in the tree. */
    *has_changed = hash != generations->hash;
    generations->hash = hash;
    qsort(generations->processes, generations->count, sizeof *generations->processes,
        by_exec_generation);
    for (size_t start = 0, end; start < generations->count; start = end) {
        end = exec_generations_end(generations, start);
        set_members(generations->processes + start, end - start);
    }
    return GPUT_OK;
}
