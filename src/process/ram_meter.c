#include "process/ram_meter.h"

#include "base/clock.h"
#include "os/proc_status.h"

#include <stdlib.h>
#include <string.h>

/* A process is stalled for at most 1 / 200 of its time. */
#define PAUSE_PER_READING 200
/* All readings together may use 1 / 50 of one core, and save up the credit of five seconds. */
#define CREDIT_PART 50
#define CREDIT_MAX_NS (NS_PER_SECOND / 10)
/* Adding up file mappings stalls nothing: at most 1 / 100 of our own time. */
#define PAUSE_PER_FILES 100

void ram_meter_init(struct ram_meter *meter, bool exact, int64_t now_ns)
{
    *meter = (struct ram_meter){.exact = exact,
        .credit_ns = CREDIT_MAX_NS,
        .credit_since_ns = now_ns,
        .files_are_stale = true};
}

void ram_meter_finish(struct ram_meter *meter)
{
    free(meter->ranges);
    free(meter->by_exec_generation);
    *meter = (struct ram_meter){0};
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* ---- exec generations ---- */

static int by_exec_generation(const void *left, const void *right)
{
    const struct process *a = *(struct process *const *)left;
    const struct process *b = *(struct process *const *)right;
    return (a->exec_generation > b->exec_generation) - (a->exec_generation < b->exec_generation);
}

static int reserve_by_exec_generation(struct ram_meter *meter, size_t count)
{
    if (count <= meter->by_exec_generation_capacity)
        return GPUT_OK;
    void *grown = realloc(meter->by_exec_generation, count * 2 * sizeof *meter->by_exec_generation);
    if (!grown)
        return GPUT_ERROR_MEMORY;
    meter->by_exec_generation = grown;
    meter->by_exec_generation_capacity = count * 2;
    return GPUT_OK;
}

/* A hash of a process. The sum of the hashes identifies a set of processes. */
static uint64_t hash_of(const struct process *process)
{
    uint64_t hash = process->start_time_ticks << 22 ^ (uint64_t)process->pid;
    hash = (hash ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/*
 * Counts, for each process, the members of its exec generation. Where the set has changed, a
 * process that shares copy-on-write memory started or ended: what was read of the others is stale.
 * A fork may replace one that ended, so comparing the number is not enough.
 */
static int count_exec_generations(
    struct ram_meter *meter, const struct process_tree *tree, size_t *members_with_memory)
{
    TRY(reserve_by_exec_generation(meter, tree->count));
    size_t count = 0;
    uint64_t tree_hash = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process_has_memory(process)) {
            process->exec_generation_members = 0;
            continue;
        }
        meter->by_exec_generation[count++] = process;
        tree_hash += hash_of(process);
    }
    /* Also when a process has become a zombie, which stays in the tree. */
    meter->files_are_stale |= tree_hash != meter->tree_hash;
    meter->tree_hash = tree_hash;
    qsort(meter->by_exec_generation, count, sizeof *meter->by_exec_generation, by_exec_generation);

    for (size_t start = 0, end; start < count; start = end) {
        struct process **members = meter->by_exec_generation;
        uint64_t shared = members[start]->exec_generation, hash = hash_of(members[start]);
        for (end = start + 1; shared && end < count && members[end]->exec_generation == shared;
             end++)
            hash += hash_of(members[end]);
        for (size_t i = start; i < end; i++) {
            struct process *process = members[i];
            process->memory_is_stale |= process->exec_generation_hash != hash;
            process->exec_generation_hash = hash;
            process->exec_generation_members = (uint32_t)(end - start);
        }
    }
    *members_with_memory = count;
    return GPUT_OK;
}

/* ---- exact readings ---- */

static bool shares_anonymous(const struct process *process)
{
    return process->exec_generation_members > 1;
}

/*
 * Writing to a page that a fork left shared copies it, and RSS stays the same. But each copy is a
 * minor fault: no more can have been copied since the last reading, and no more than was shared.
 */
static uint64_t max_copied(const struct ram_meter *meter, const struct process *process)
{
    if (!shares_anonymous(process) || !process->memory.has_exact)
        return 0;
    uint64_t faults = process->minor_faults - process->faults_when_read;
    return min_u64(faults * meter->page_bytes, memory_anonymous_shared_bytes(&process->memory));
}

/* Processes of one exec generation: one alone, or several that may share copy-on-write memory. */
struct group {
    struct process **members;
    size_t count;
    uint64_t bytes;  /* of all members, at least */
    uint64_t copied; /* of the shared bytes, at most */
    bool is_big;     /* some member has much memory and dominates the figures */
    bool needs_reading;
    bool is_urgent; /* members started, ended or were never read: old figures are inconsistent */
    bool must_pause;
};

/*
 * Up to 1 % of a group's memory may be copied without a new reading. When it may be more, the
 * members are read that can have copied more than their part of that.
 */
static bool has_copied(
    const struct ram_meter *meter, const struct group *group, const struct process *process)
{
    return group->copied * 100 > group->bytes &&
           max_copied(meter, process) * 100 * group->count > group->bytes;
}

/* Copying a twentieth costs the processes about as much as reading all of them. */
static bool has_copied_much(const struct group *group)
{
    return group->copied * 20 > group->bytes;
}

/* Whether a reading now would stall the process more than allowed. A sleeping one is not stalled.
 */
static bool must_pause(const struct process *process, int64_t now_ns)
{
    return now_ns < process->exact_not_before_ns && process->has_run;
}

/* Whether an exact reading could give new figures. */
static bool needs_reading(const struct ram_meter *meter, const struct group *group,
    const struct process *process, bool is_alone)
{
    const struct memory *memory = &process->memory;
    if (!process_has_memory(process) || memory->refused)
        return false;
    if (meter->exact || memory_has_changed(memory))
        return true;
    /* When its last sharer is gone, its private part has grown while its RSS is unchanged. */
    if (is_alone)
        return process->memory_is_stale;
    if (memory_ranges_have_changed(memory))
        return true;
    return process->memory_is_stale || process->ranges_are_stale ||
           has_copied(meter, group, process);
}

/* A reading that shows a change of sharing makes the figures of the sharers stale. */
static void mark_sharers_stale(struct process_tree *tree, struct process *process)
{
    uint64_t private_now = process->memory.anonymous_private_bytes;
    uint64_t before = process->private_when_marked;
    uint64_t change = private_now > before ? private_now - before : before - private_now;
    if (!shares_anonymous(process) || change * 100 <= process->memory.resident_bytes)
        return;
    process->private_when_marked = private_now;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *other = tree->processes[i];
        if (other != process && other->exec_generation == process->exec_generation)
            other->memory_is_stale = true;
    }
}

/* True when `other` has private memory in an object of which `memory` has shared memory. */
static bool contradicts(const struct memory *memory, const struct memory *other)
{
    for (size_t i = 0; i < memory->range_count; i++) {
        const struct shared_range *range = &memory->ranges[i];
        if (range->shared_bytes * 100 <= memory->resident_bytes)
            continue;
        for (size_t k = 0; k < other->range_count; k++) {
            const struct shared_range *others = &other->ranges[k];
            if (others->private_bytes * 100 > other->resident_bytes &&
                others->inode == range->inode && others->device == range->device)
                return true;
        }
    }
    return false;
}

/*
 * When a second process maps a file or segment that one process had alone, nothing changes in statm
 * of the first. Without this its private bytes of the last reading would count in addition to what
 * is shared now.
 */
static void mark_mappers_stale(
    struct ram_meter *meter, struct process_tree *tree, struct process *process)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct process *other = tree->processes[i];
        if (other == process || !other->memory.has_ranges || other->ranges_are_stale ||
            !contradicts(&process->memory, &other->memory))
            continue;
        other->ranges_are_stale = true;
        meter->has_marked = true;
    }
}

static void read_exact(struct ram_meter *meter, struct process_tree *tree, struct process *process,
    bool is_alone, bool marks_sharers, int64_t now_ns)
{
    struct memory *memory = &process->memory;
    bool rollup = is_alone || !(memory_ranges_have_changed(memory) || process->ranges_are_stale);
    if (meter->exact && !is_alone)
        rollup = false;
    /* For a new process, the changed number of members has done that already. */
    marks_sharers &= memory->has_exact;

    uint64_t ranges_readings = memory->ranges_readings;
    /* CPU time: while this thread is preempted it stalls no process. */
    int64_t begin_ns = clock_thread_cpu_ns();
    int code = process_read_exact(process, rollup, &tree->view);
    if (code == GPUT_ERROR_FILES && process_tree_close_cached_files(tree))
        code = process_read_exact(process, rollup, &tree->view);
    tree->lacks_descriptors |= code == GPUT_ERROR_FILES;
    int64_t cost_ns = clock_thread_cpu_ns() - begin_ns;

    meter->credit_ns -= cost_ns;
    process->exact_not_before_ns = now_ns + cost_ns * PAUSE_PER_READING;
    if (code == GPUT_ERROR_PERMISSION && !process->was_refused) {
        process->was_refused = true;
        meter->refused++;
    }
    if (code != GPUT_OK)
        return;
    meter->exact_readings++;
    meter->hugetlb_bytes = max_u64(meter->hugetlb_bytes, memory->hugetlb_bytes);
    process->exact_read_ns = now_ns;
    process->memory_is_stale = false;
    process->faults_when_read = process->minor_faults;
    if (memory->ranges_readings != ranges_readings) {
        process->ranges_read_ns = now_ns;
        meter->files_are_stale = true;
        process->ranges_are_stale = false;
        mark_mappers_stale(meter, tree, process);
    }
    if (marks_sharers)
        mark_sharers_stale(tree, process);
    else
        process->private_when_marked = memory->anonymous_private_bytes;
}

static void earn_credit(struct ram_meter *meter, int64_t now_ns)
{
    meter->credit_ns += (now_ns - meter->credit_since_ns) / CREDIT_PART;
    if (meter->credit_ns > CREDIT_MAX_NS)
        meter->credit_ns = CREDIT_MAX_NS;
    meter->credit_since_ns = now_ns;
}

#define BIG_BYTES (UINT64_C(16) << 20)

static struct group group_of(const struct ram_meter *meter, struct process **members, size_t count,
    bool is_alone, int64_t now_ns)
{
    struct group group = {.members = members, .count = count};
    uint64_t highest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct memory *memory = &members[i]->memory;
        highest = max_u64(highest, memory->resident_bytes);
        group.bytes += memory_anonymous_share_bytes(memory);
        group.copied += max_copied(meter, members[i]);
    }
    group.bytes = max_u64(group.bytes, highest);
    group.is_big = highest >= BIG_BYTES;
    for (size_t i = 0; i < count; i++) {
        const struct process *process = members[i];
        if (!needs_reading(meter, &group, process, is_alone))
            continue;
        group.needs_reading = true;
        group.is_urgent |=
            !process->memory.has_exact || process->memory_is_stale || process->ranges_are_stale;
        group.must_pause |= must_pause(process, now_ns);
    }
    return group;
}

/*
 * Reads all members that need it, or none: figures of different moments would count pages twice. A
 * fork costs the processes more than the readings that it makes necessary, so those are not
 * delayed; nor are those where much may have been copied.
 */
static void read_group(struct ram_meter *meter, struct process_tree *tree,
    const struct group *group, bool is_alone, int64_t now_ns)
{
    if (!group->needs_reading)
        return;
    bool must_pause = group->must_pause && !group->is_urgent && !has_copied_much(group);
    if (!meter->exact && (meter->credit_ns <= 0 || must_pause)) {
        meter->has_deferred = true;
        return;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->exact_read_ns != now_ns && needs_reading(meter, group, process, is_alone))
            read_exact(meter, tree, process, is_alone, true, now_ns);
    }
    /* Those whose sharing has changed, also while others were read. */
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->memory_is_stale && process_has_memory(process) && !process->memory.refused)
            read_exact(meter, tree, process, is_alone, false, now_ns);
    }
    /* Where a member ended or called execve() meanwhile, others have more private memory than
     * before. */
    for (size_t i = 0; group->count > 1 && i < group->count; i++)
        process_refresh(group->members[i], &tree->view);
    /* Figures of one scan are consistent. */
    for (size_t i = 0; i < group->count; i++) {
        if (group->members[i]->exact_read_ns == now_ns)
            group->members[i]->memory_is_stale = false;
    }
}

/* Groups with much memory, which dominate the figures, or all others. */
static void read_groups(struct ram_meter *meter, struct process_tree *tree, size_t members,
    bool is_alone, bool big_ones, int64_t now_ns)
{
    for (size_t start = 0, end; start < members; start = end) {
        uint64_t exec_generation = meter->by_exec_generation[start]->exec_generation;
        end = start + 1;
        while (exec_generation && end < members &&
               meter->by_exec_generation[end]->exec_generation == exec_generation)
            end++;
        struct group group =
            group_of(meter, meter->by_exec_generation + start, end - start, is_alone, now_ns);
        if (group.is_big == big_ones)
            read_group(meter, tree, &group, is_alone, now_ns);
    }
}

static void read_where_needed(struct ram_meter *meter, struct process_tree *tree, size_t members,
    bool is_alone, int64_t now_ns)
{
    if (meter->skip_exact) {
        meter->has_deferred = true;
        return;
    }
    earn_credit(meter, now_ns);
    meter->has_deferred = false;
    /* Again for those that the first pass made stale: figures of one scan must be consistent. */
    for (int pass = 0; pass < 2; pass++) {
        meter->has_marked = false;
        read_groups(meter, tree, members, is_alone, true, now_ns);
        read_groups(meter, tree, members, is_alone, false, now_ns);
        if (!meter->has_marked)
            return;
    }
    meter->has_deferred = true;
}

/* ---- sums ---- */

static int gather_ranges(struct ram_meter *meter, const struct process_tree *tree, size_t *count)
{
    size_t need = 0;
    for (size_t i = 0; i < tree->count; i++)
        need += tree->processes[i]->memory.range_count;
    if (need > meter->range_capacity) {
        void *grown = realloc(meter->ranges, need * 2 * sizeof *meter->ranges);
        if (!grown)
            return GPUT_ERROR_MEMORY;
        meter->ranges = grown;
        meter->range_capacity = need * 2;
    }

    *count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process_has_memory(process) || !process->memory.has_ranges)
            continue;
        for (size_t k = 0; k < process->memory.range_count; k++) {
            struct shared_range *range = &meter->ranges[(*count)++];
            *range = process->memory.ranges[k];
            range->owner = process->is_main ? 0 : (uint32_t)i + 1;
            range->read_ns = process->ranges_read_ns;
        }
    }
    return GPUT_OK;
}

static int add_files(struct ram_meter *meter, const struct process_tree *tree, int64_t now_ns)
{
    if (!meter->files_are_stale || (!meter->exact && now_ns < meter->files_not_before_ns))
        return GPUT_OK;
    int64_t begin_ns = clock_thread_cpu_ns();
    size_t count;
    TRY(gather_ranges(meter, tree, &count));
    meter->files = shared_ranges_total(meter->ranges, count);
    meter->files_are_stale = false;
    meter->files_not_before_ns = now_ns + (clock_thread_cpu_ns() - begin_ns) * PAUSE_PER_FILES;
    return GPUT_OK;
}

/* Sums over the members of a scope: main, descendants or combined. */
struct scope {
    uint64_t private_bytes;
    uint64_t anonymous_bytes; /* each page once; of members whose maps may be read */
    uint64_t alone_bytes;     /* of all members: what certainly no other one has, too */
    uint64_t file_bytes;      /* the most of one member whose maps may not be read */
    uint64_t highest_rss;     /* of one member: the total cannot be less */
    size_t members;
    bool has_opaque;
    const struct process *only;
};

static uint64_t anonymous_alone(const struct process *process)
{
    return minus(
        memory_anonymous_bytes(&process->memory), memory_anonymous_shared_bytes(&process->memory));
}

/*
 * Memory that its forks may have from it though no scan saw it: VmHWM minus the peak of all scans.
 * Unlimited where VmHWM cannot be read.
 */
static uint64_t unseen_of(const struct process_tree *tree, const struct process *process)
{
    struct proc_status status;
    if (proc_status_read(tree->view.procfs_root, process->memory_pid, &status, NULL) != GPUT_OK ||
        !status.has_memory)
        return UINT64_MAX;
    return minus(status.peak_rss_bytes, process->peak_resident_bytes + tree->view.lag_bytes);
}

static struct process *forked_from(const struct process_tree *tree, const struct process *process)
{
    struct process *parent = process->is_fork ? process_tree_get(tree, process->parent) : NULL;
    return parent && parent->exec_generation == process->exec_generation ? parent : NULL;
}

static void mark_forks(const struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        uint64_t bytes = memory_anonymous_bytes(&process->memory);
        process->has_forks = process->has_unread_forks = false;
        process->peak_anonymous_bytes = max_u64(process->peak_anonymous_bytes, bytes);
    }
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        struct process *parent = forked_from(tree, process);
        if (!parent)
            continue;
        parent->has_forks = true;
        if (process->memory.has_exact || parent->has_unread_forks)
            continue;
        parent->has_unread_forks = true;
        parent->unseen_bytes = unseen_of(tree, parent);
    }
}

/*
 * What a fork that was not read yet has beyond the peak of its parent is its own, as long as it has
 * no forks itself.
 */
static uint64_t grown_bytes(const struct process_tree *tree, const struct process *process)
{
    const struct process *parent = forked_from(tree, process);
    if (!parent || !parent->has_unread_forks || process->has_forks)
        return 0;
    uint64_t beyond = minus(memory_anonymous_bytes(&process->memory), parent->peak_anonymous_bytes);
    return minus(beyond, parent->unseen_bytes);
}

static void add_member(
    struct scope *scope, const struct process_tree *tree, const struct process *process)
{
    struct rss rss = memory_rss(&process->memory);
    scope->highest_rss = max_u64(scope->highest_rss, rss.total);
    scope->only = process;
    scope->members++;
    if (process_is_opaque(process)) {
        scope->has_opaque = true;
        scope->file_bytes = max_u64(scope->file_bytes, process->memory.file_bytes);
        return;
    }
    /* Before an exact reading, memory of a fork is not its own. */
    if (process->memory.has_exact || !shares_anonymous(process)) {
        scope->private_bytes += rss.private;
        scope->alone_bytes += anonymous_alone(process);
    } else {
        uint64_t grown = grown_bytes(tree, process);
        scope->private_bytes += grown;
        scope->alone_bytes += grown;
        scope->anonymous_bytes += grown;
    }
    scope->anonymous_bytes += shares_anonymous(process)
                                  ? memory_anonymous_share_bytes(&process->memory)
                                  : memory_anonymous_bytes(&process->memory);
}

/*
 * The root of a family: the process that called execve and that the others were forked from. Other
 * families have none of its memory. NULL where a parent between has ended.
 */
static struct process *family_of(const struct process_tree *tree, struct process *process)
{
    while (process && process->is_fork && !process->is_main)
        process = process_tree_get(tree, process->parent);
    return process;
}

/*
 * Adds processes whose maps may not be read. All memory of a family may be shared, so it has at
 * least what its largest member has. Memory of an orphan may be shared with any process.
 */
static void add_opaque(struct scope *scope, const struct process_tree *tree, bool with_main)
{
    for (size_t i = 0; i < tree->count; i++)
        tree->processes[i]->family_bytes = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process_has_memory(process) || !process_is_opaque(process) ||
            (process->is_main && !with_main))
            continue;
        struct process *family = family_of(tree, process);
        if (family)
            family->family_bytes =
                max_u64(family->family_bytes, memory_anonymous_bytes(&process->memory));
    }
    for (size_t i = 0; i < tree->count; i++) {
        scope->private_bytes += tree->processes[i]->family_bytes;
        scope->alone_bytes += tree->processes[i]->family_bytes;
    }
}

static struct rss scope_rss(const struct scope *scope, uint64_t file_bytes)
{
    if (scope->members == 0)
        return (struct rss){0};
    if (scope->members == 1)
        return memory_rss(&scope->only->memory);
    struct rss rss = {.private = scope->private_bytes};
    uint64_t anonymous = scope->anonymous_bytes;
    if (scope->has_opaque)
        anonymous = max_u64(anonymous, scope->alone_bytes);
    rss.total = max_u64(anonymous + max_u64(file_bytes, scope->file_bytes), scope->highest_rss);
    rss.total = max_u64(rss.total, rss.private);
    rss.shared = rss.total - rss.private;
    return rss;
}

/*
 * What the figures may lack of one of several processes because readings were delayed: what it
 * copied, or, where members started or ended since it was read, what is not counted as its own.
 */
static uint64_t unread_of(const struct ram_meter *meter, const struct process *process)
{
    const struct memory *memory = &process->memory;
    if (memory->refused)
        return 0; /* counted in `refused` */
    uint64_t files = memory->has_ranges ? 0 : memory->file_bytes;
    if (!shares_anonymous(process))
        return files;
    uint64_t copied =
        process->memory_is_stale || !memory->has_exact
            ? minus(memory_anonymous_bytes(memory), memory_anonymous_share_bytes(memory))
            : max_copied(meter, process);
    return files + copied;
}

static void estimate_unread(struct ram_meter *meter, size_t members)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < members; i++) {
        if (process_has_memory(meter->by_exec_generation[i]))
            bytes += unread_of(meter, meter->by_exec_generation[i]);
    }
    if (bytes * 100 > meter->figures.combined.total)
        meter->unread_bytes = max_u64(meter->unread_bytes, bytes);
}

/* By how much the last reading of a process may be too high by now: its file and shared memory has
 * shrunk since, by counters that may lag. */
static uint64_t uncertainty_of(const struct process_tree *tree, const struct process *process)
{
    const struct memory *memory = &process->memory;
    bool is_unchanged = memory->has_exact &&
                        memory->resident_bytes == memory->exact_resident_bytes &&
                        memory->file_bytes == memory->exact_file_bytes;
    uint64_t lost = memory->has_ranges ? minus(memory->ranges_file_bytes, memory->file_bytes) : 0;
    return lost + (is_unchanged ? 0 : 2 * tree->view.lag_bytes);
}

/* A lower bound of what all had together. */
static uint64_t at_least(
    const struct ram_meter *meter, const struct process_tree *tree, const struct scope *combined)
{
    uint64_t uncertainty = 0, largest = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process_has_memory(process))
            continue;
        uncertainty += uncertainty_of(tree, process);
        largest = max_u64(
            largest, minus(memory_rss(&process->memory).total, uncertainty_of(tree, process)));
    }
    uint64_t files = meter->files_are_stale ? 0 : meter->files.at_least_bytes;
    return max_u64(minus(scope_rss(combined, files).total, uncertainty), largest);
}

static void add_up(struct ram_meter *meter, const struct process_tree *tree)
{
    struct scope main = {0}, descendants = {0}, combined = {0};
    mark_forks(tree);
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process_has_memory(process))
            continue;
        add_member(process->is_main ? &main : &descendants, tree, process);
        add_member(&combined, tree, process);
    }
    /*
     * The proportional shares of descendants that share copy-on-write memory with main leave out
     * main's part. The descendants have everything but the pages that main alone has.
     */
    if (main.only && shares_anonymous(main.only))
        descendants.anonymous_bytes =
            minus(combined.anonymous_bytes, minus(memory_anonymous_bytes(&main.only->memory),
                                                memory_anonymous_shared_bytes(&main.only->memory)));

    if (combined.has_opaque) {
        add_opaque(&descendants, tree, false);
        add_opaque(&combined, tree, true);
    }
    meter->figures.main = scope_rss(&main, 0);
    meter->figures.descendants = scope_rss(&descendants, meter->files.descendants_bytes);
    meter->figures.combined = scope_rss(&combined, meter->files.combined_bytes);
    meter->figures.at_least_bytes = at_least(meter, tree, &combined);
}

static bool any_has_run(const struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->processes[i]->has_run)
            return true;
    }
    return false;
}

int ram_meter_measure(struct ram_meter *meter, struct process_tree *tree, int64_t now_ns)
{
    bool changed = tree->generation != meter->generation;
    if (!changed && !meter->exact && !meter->has_deferred && !meter->files_are_stale &&
        !any_has_run(tree))
        return GPUT_OK;

    /* Exec generations change without a change of the tree. */
    size_t members;
    TRY(count_exec_generations(meter, tree, &members));
    meter->page_bytes = tree->view.page_bytes;
    meter->generation = tree->generation;

    bool is_alone = members <= 1;
    read_where_needed(meter, tree, members, is_alone, now_ns);
    if (!is_alone)
        TRY(add_files(meter, tree, now_ns));
    add_up(meter, tree);
    if (!is_alone && !meter->skip_exact)
        estimate_unread(meter, members);
    return GPUT_OK;
}
