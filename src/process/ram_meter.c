#include "process/ram_meter.h"

#include "base/clock.h"
#include "os/proc_status.h"

#include <stdlib.h>
#include <string.h>

/* A process is held up for at most 1 / 200 of its time. */
#define REST_AFTER_READING 200
/* All readings together may use 1 / 50 of one core, and save up that of five seconds. */
#define CREDIT_PART 50
#define CREDIT_MAX_NS (NS_PER_SECOND / 10)
/* Adding up file mappings costs our own time only: 1 / 100 of it. */
#define REST_AFTER_FILES 100

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

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* ---- who shares memory with whom ---- */

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

/* A number for a process that is of no use but to tell sets of processes apart by their sums. */
static uint64_t mark_of(const struct process *process)
{
    uint64_t mark = process->start_time_ticks << 22 ^ (uint64_t)process->pid;
    mark = (mark ^ mark >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return mark ^ mark >> 29;
}

/*
 * Counts, for each process, how many have its image. Where others have it than before, somebody who
 * shares copy-on-write memory came or went: what was read of the others holds no more. A fork may
 * have come in the place of one that ended, so their number alone does not tell.
 */
static int count_exec_generations(
    struct ram_meter *meter, const struct process_tree *tree, size_t *members_with_memory)
{
    TRY(reserve_by_exec_generation(meter, tree->count));
    size_t count = 0;
    uint64_t tree_mark = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process_has_memory(process)) {
            process->exec_generation_members = 0;
            continue;
        }
        meter->by_exec_generation[count++] = process;
        tree_mark += mark_of(process);
    }
    /* Also where one has ended that nobody waits for: it stays in the tree. */
    meter->files_are_stale |= tree_mark != meter->tree_mark;
    meter->tree_mark = tree_mark;
    qsort(meter->by_exec_generation, count, sizeof *meter->by_exec_generation, by_exec_generation);

    for (size_t start = 0, end; start < count; start = end) {
        struct process **members = meter->by_exec_generation;
        uint64_t shared = members[start]->exec_generation, mark = mark_of(members[start]);
        for (end = start + 1; shared && end < count && members[end]->exec_generation == shared;
             end++)
            mark += mark_of(members[end]);
        for (size_t i = start; i < end; i++) {
            struct process *process = members[i];
            process->memory_is_stale |= process->exec_generation_mark != mark;
            process->exec_generation_mark = mark;
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
 * Writing to a page that a fork left shared copies it, and RSS stays as it is. But each copy is a
 * minor fault: no more can have been copied since the last reading, and no more than was shared.
 */
static uint64_t max_copied(const struct ram_meter *meter, const struct process *process)
{
    if (!shares_anonymous(process) || !process->memory.has_exact)
        return 0;
    uint64_t faults = process->minor_faults - process->faults_when_read;
    return least(faults * meter->page_bytes, memory_anonymous_shared_bytes(&process->memory));
}

/* Processes with one image: one alone, or those that may share copy-on-write memory. */
struct group {
    struct process **members;
    size_t count;
    uint64_t bytes;  /* what they have together, at least */
    uint64_t copied; /* of what they shared, at most */
    bool is_big;     /* some member has much memory: it decides the figures */
    bool wants_reading;
    bool is_urgent; /* members came, went, or were never read: old figures do not fit together */
    bool rests;
};

/*
 * A hundredth of what all of a group have may be copied unseen. When it is more, those are read who
 * can have copied more than their part of that.
 */
static bool has_copied(
    const struct ram_meter *meter, const struct group *group, const struct process *process)
{
    return group->copied * 100 > group->bytes &&
           max_copied(meter, process) * 100 * group->count > group->bytes;
}

/* To copy a twentieth costs its processes about as much as a reading of all. */
static bool has_copied_much(const struct group *group)
{
    return group->copied * 20 > group->bytes;
}

/* Whether a reading now would hold the process up more than it may. Who sleeps is not held up. */
static bool has_to_rest(const struct process *process, int64_t now_ns)
{
    return now_ns < process->exact_not_before_ns && process->has_run;
}

/* Whether an exact reading could give something new. */
static bool wants_reading(const struct ram_meter *meter, const struct group *group,
    const struct process *process, bool is_alone)
{
    const struct memory *memory = &process->memory;
    if (!process_has_memory(process) || memory->refused)
        return false;
    if (meter->exact || memory_has_moved(memory))
        return true;
    /* With nobody to share with any more, its private part has grown while its RSS stood still. */
    if (is_alone)
        return process->memory_is_stale;
    if (memory_ranges_have_moved(memory))
        return true;
    return process->memory_is_stale || process->ranges_are_stale ||
           has_copied(meter, group, process);
}

/* Readings that show other sharing than before make the others' figures old. */
static void notify_sharers(struct process_tree *tree, struct process *process)
{
    uint64_t private_now = process->memory.anonymous_private_bytes;
    uint64_t before = process->private_when_notified;
    uint64_t change = private_now > before ? private_now - before : before - private_now;
    if (!shares_anonymous(process) || change * 100 <= process->memory.resident_bytes)
        return;
    process->private_when_notified = private_now;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *other = tree->processes[i];
        if (other != process && other->exec_generation == process->exec_generation)
            other->memory_is_stale = true;
    }
}

/* True when `other` has memory of its own in an object that `process` shares with somebody. */
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
 * A file or segment that one process had alone, and that another has begun to map: nothing moves
 * in the first one. What was its own when it was last read would count next to what is shared now.
 */
static void notify_mappers(
    struct ram_meter *meter, struct process_tree *tree, struct process *process)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct process *other = tree->processes[i];
        if (other == process || !other->memory.has_ranges || other->ranges_are_stale ||
            !contradicts(&process->memory, &other->memory))
            continue;
        other->ranges_are_stale = true;
        meter->has_notified = true;
    }
}

static void read_exact(struct ram_meter *meter, struct process_tree *tree, struct process *process,
    bool is_alone, bool tells, int64_t now_ns)
{
    struct memory *memory = &process->memory;
    bool rollup = is_alone || !(memory_ranges_have_moved(memory) || process->ranges_are_stale);
    if (meter->exact && !is_alone)
        rollup = false;
    /* Who comes anew is told by the number of members. */
    tells &= memory->has_exact;

    uint64_t ranges_readings = memory->ranges_readings;
    /* CPU time: when something else runs in our place, that holds nobody up. */
    int64_t begin_ns = clock_thread_cpu_ns();
    int code = process_read_exact(process, rollup, &tree->view);
    if (code == GPUT_ERROR_FILES && process_tree_give_way(tree))
        code = process_read_exact(process, rollup, &tree->view);
    tree->lacks_files |= code == GPUT_ERROR_FILES;
    int64_t cost_ns = clock_thread_cpu_ns() - begin_ns;

    meter->credit_ns -= cost_ns;
    process->exact_not_before_ns = now_ns + cost_ns * REST_AFTER_READING;
    if (code == GPUT_ERROR_PERMISSION && !process->was_refused) {
        process->was_refused = true;
        meter->refused++;
    }
    if (code != GPUT_OK)
        return;
    meter->exact_readings++;
    meter->hugetlb_bytes = most(meter->hugetlb_bytes, memory->hugetlb_bytes);
    process->exact_read_ns = now_ns;
    process->memory_is_stale = false;
    process->faults_when_read = process->minor_faults;
    if (memory->ranges_readings != ranges_readings) {
        process->ranges_read_ns = now_ns;
        meter->files_are_stale = true;
        process->ranges_are_stale = false;
        notify_mappers(meter, tree, process);
    }
    if (tells)
        notify_sharers(tree, process);
    else
        process->private_when_notified = memory->anonymous_private_bytes;
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
        highest = most(highest, memory->resident_bytes);
        group.bytes += memory_anonymous_share_bytes(memory);
        group.copied += max_copied(meter, members[i]);
    }
    group.bytes = most(group.bytes, highest);
    group.is_big = highest >= BIG_BYTES;
    for (size_t i = 0; i < count; i++) {
        const struct process *process = members[i];
        if (!wants_reading(meter, &group, process, is_alone))
            continue;
        group.wants_reading = true;
        group.is_urgent |=
            !process->memory.has_exact || process->memory_is_stale || process->ranges_are_stale;
        group.rests |= has_to_rest(process, now_ns);
    }
    return group;
}

/*
 * All members that want it, or none: figures of different moments would count pages twice. A fork
 * costs the processes more than the readings that it makes necessary, so those do not wait for a
 * rest; nor where much may have been copied.
 */
static void read_group(struct ram_meter *meter, struct process_tree *tree,
    const struct group *group, bool is_alone, int64_t now_ns)
{
    if (!group->wants_reading)
        return;
    bool rests = group->rests && !group->is_urgent && !has_copied_much(group);
    if (!meter->exact && (meter->credit_ns <= 0 || rests)) {
        meter->is_behind = true;
        return;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->exact_read_ns != now_ns && wants_reading(meter, group, process, is_alone))
            read_exact(meter, tree, process, is_alone, true, now_ns);
    }
    /* Those whose sharing has turned out to be another, also when that was while we read. */
    for (size_t i = 0; i < group->count; i++) {
        struct process *process = group->members[i];
        if (process->memory_is_stale && process_has_memory(process) && !process->memory.refused)
            read_exact(meter, tree, process, is_alone, false, now_ns);
    }
    /* Who ended or called execve() meanwhile has left the others more than they showed before. */
    for (size_t i = 0; group->count > 1 && i < group->count; i++)
        process_refresh(group->members[i], &tree->view);
    /* Figures of one scan fit together. */
    for (size_t i = 0; i < group->count; i++) {
        if (group->members[i]->exact_read_ns == now_ns)
            group->members[i]->memory_is_stale = false;
    }
}

/* Groups with much memory, which decide the figures, or all others. */
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

static void read_where_wanted(struct ram_meter *meter, struct process_tree *tree, size_t members,
    bool is_alone, int64_t now_ns)
{
    if (meter->cheap) {
        meter->is_behind = true;
        return;
    }
    earn_credit(meter, now_ns);
    meter->is_behind = false;
    /* Again for those whose figures the first time has made old: one scan is to fit together. */
    for (int time = 0; time < 2; time++) {
        meter->has_notified = false;
        read_groups(meter, tree, members, is_alone, true, now_ns);
        read_groups(meter, tree, members, is_alone, false, now_ns);
        if (!meter->has_notified)
            return;
    }
    meter->is_behind = true;
}

/* ---- adding up ---- */

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
    meter->files_not_before_ns = now_ns + (clock_thread_cpu_ns() - begin_ns) * REST_AFTER_FILES;
    return GPUT_OK;
}

/* Sums over the members of a scope. */
struct scope {
    uint64_t private_bytes;
    uint64_t anonymous_bytes; /* each page once; of those whose maps may be read */
    uint64_t alone_bytes;     /* of all: what certainly no other member has, too */
    uint64_t file_bytes;      /* the most that one has whose maps may not be read */
    uint64_t highest_rss;     /* of one member: the whole cannot be less */
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
 * What its forks may have from it though no scan saw it: its peak as the kernel kept it (VmHWM)
 * tells. All of it where that cannot be read.
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
        process->peak_anonymous_bytes = most(process->peak_anonymous_bytes, bytes);
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
 * What a fork that could not be read yet has beyond all that its parent ever had is its own, as
 * long as it has no forks itself.
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
    scope->highest_rss = most(scope->highest_rss, rss.total);
    scope->only = process;
    scope->members++;
    if (process_is_opaque(process)) {
        scope->has_opaque = true;
        scope->file_bytes = most(scope->file_bytes, process->memory.file_bytes);
        return;
    }
    /* What a fork left is not its own as long as nothing else was read. */
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
 * The one that all of a family were forked from, and which called execve: other families have none
 * of its memory. NULL where it is not known, since a parent between has ended.
 */
static struct process *family_of(const struct process_tree *tree, struct process *process)
{
    while (process && process->is_fork && !process->is_main)
        process = process_tree_get(tree, process->parent);
    return process;
}

/*
 * Processes whose maps may not be read: of a family, all may be shared, so that it has at least
 * what the largest one has. What an orphan has may be anybody's.
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
                most(family->family_bytes, memory_anonymous_bytes(&process->memory));
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
        anonymous = most(anonymous, scope->alone_bytes);
    rss.total = most(anonymous + most(file_bytes, scope->file_bytes), scope->highest_rss);
    rss.total = most(rss.total, rss.private);
    rss.shared = rss.total - rss.private;
    return rss;
}

/*
 * What the figures may lack of one of several processes, since readings had to wait: what it
 * copied, or, where it was not read since others of its family came or went, what is not counted as
 * its.
 */
static uint64_t unread_of(const struct ram_meter *meter, const struct process *process)
{
    const struct memory *memory = &process->memory;
    if (memory->refused)
        return 0; /* that is told of apart */
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
        meter->unread_bytes = most(meter->unread_bytes, bytes);
}

/* By how much what was read of a process may be too much by now: what it has of files and shared
 * memory has become less since, and the counters that say so may be behind. */
static uint64_t doubt_of(const struct process_tree *tree, const struct process *process)
{
    const struct memory *memory = &process->memory;
    bool is_settled = memory->has_exact && memory->resident_bytes == memory->exact_resident_bytes &&
                      memory->file_bytes == memory->exact_file_bytes;
    uint64_t lost = memory->has_ranges ? minus(memory->ranges_file_bytes, memory->file_bytes) : 0;
    return lost + (is_settled ? 0 : 2 * tree->view.lag_bytes);
}

/* What all certainly had together, where some could be read exactly. */
static uint64_t at_least(
    const struct ram_meter *meter, const struct process_tree *tree, const struct scope *combined)
{
    uint64_t doubt = 0, largest = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process_has_memory(process))
            continue;
        doubt += doubt_of(tree, process);
        largest = most(largest, minus(memory_rss(&process->memory).total, doubt_of(tree, process)));
    }
    uint64_t files = meter->files_are_stale ? 0 : meter->files.at_least_bytes;
    return most(minus(scope_rss(combined, files).total, doubt), largest);
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
     * Descendants that share copy-on-write memory with main: their proportional shares leave out
     * main's. What they have is everything but the pages that main alone has.
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

static bool anything_has_run(const struct process_tree *tree)
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
    if (!changed && !meter->exact && !meter->is_behind && !meter->files_are_stale &&
        !anything_has_run(tree))
        return GPUT_OK;

    /* Images change without the tree: by execve. */
    size_t members;
    TRY(count_exec_generations(meter, tree, &members));
    meter->page_bytes = tree->view.page_bytes;
    meter->generation = tree->generation;

    bool is_alone = members <= 1;
    read_where_wanted(meter, tree, members, is_alone, now_ns);
    if (!is_alone)
        TRY(add_files(meter, tree, now_ns));
    add_up(meter, tree);
    if (!is_alone && !meter->cheap)
        estimate_unread(meter, members);
    return GPUT_OK;
}
