#include "machine/process/ram_meter.h"

#include "base/array.h"
#include "base/clock.h"
#include "machine/os/cgroup.h"
#include "machine/os/proc_status.h"
#include "machine/process/bytes.h"
#include "machine/process/copies.h"

#include <stdlib.h>

/* Adding up file mappings stalls nothing: at most 1 / 100 of our own time. */
#define PAUSE_PER_FILES 100

/* The unread part of the highest figure is reported if it is more than this share of it. */
#define UNREAD_PART 20

/* The charge of a control group is certain enough if it is this many times its lag. */
#define GROUP_LAGS 20

void ram_meter_init(struct ram_meter *meter, enum exact_readings_when when, int64_t now_ns)
{
    *meter = (struct ram_meter){
        .files_are_stale = true, .group_lag_bytes = (uint64_t)cgroup_lag_bytes()};
    exact_readings_init(&meter->readings, when, now_ns);
}

void ram_meter_finish(struct ram_meter *meter)
{
    free(meter->ranges);
    exact_readings_finish(&meter->readings);
    exec_generations_finish(&meter->generations);
    *meter = (struct ram_meter){0};
}

/* ---- sums ---- */

/* Gathers the shared ranges of all processes in one array. */
static int gather_ranges(struct ram_meter *meter, const struct process_tree *tree, size_t *count)
{
    size_t need = 0;
    for (size_t i = 0; i < tree->count; i++)
        need += tree->processes[i]->polled->memory.range_count;
    if (!ARRAY_RESERVE(meter->ranges, need, meter->range_capacity))
        return GPUT_ERROR_MEMORY;

    *count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process_has_memory(process) || !process->polled->memory.has_ranges)
            continue;
        const struct memory *memory = &process->polled->memory;
        struct shared_range *first = meter->ranges + *count;
        for (size_t k = 0; k < memory->range_count; k++) {
            struct shared_range *range = &meter->ranges[(*count)++];
            *range = memory->ranges[k];
            range->owner = process->is_main ? 0 : (uint32_t)i + 1;
            range->read_ns = process->polled->metered.exact.ranges_read_ns;
            range->is_stale = process->polled->metered.ranges_are_stale;
        }
        if (memory_ranges_have_changed(memory))
            memory_set_growth(memory, first);
    }
    return GPUT_OK;
}

/* True where readings of processes whose file and shared memory changed are delayed. */
static bool any_has_grown(const struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct memory *memory = &tree->processes[i]->polled->memory;
        if (memory->has_ranges && memory_ranges_have_changed(memory))
            return true;
    }
    return false;
}

/* Adds up the shared ranges where they may have changed, at most for a part of the time. */
static int add_files(struct ram_meter *meter, const struct process_tree *tree, int64_t now_ns)
{
    bool have_grown = any_has_grown(tree);
    bool is_due = meter->files_are_stale || meter->files_have_grown || have_grown;
    if (!is_due ||
        (meter->readings.when != EXACT_READINGS_ALWAYS && now_ns < meter->files_not_before_ns))
        return GPUT_OK;
    int64_t begin_ns = clock_thread_cpu_ns();
    size_t count;
    TRY(gather_ranges(meter, tree, &count));
    meter->files = shared_ranges_total(meter->ranges, count);
    meter->files_are_stale = false;
    meter->files_have_grown = have_grown;
    meter->files_not_before_ns = now_ns + (clock_thread_cpu_ns() - begin_ns) * PAUSE_PER_FILES;
    return GPUT_OK;
}

/* Sums over the members of a scope: main, descendants or combined. */
struct scope {
    uint64_t private_bytes;
    uint64_t anonymous_bytes; /* each page once; of members whose maps may be read */
    uint64_t certain_bytes;   /* of these, at least */
    uint64_t counted_bytes;   /* the same without regard to sharing: at most */
    uint64_t most_bytes;      /* all memory of all members without regard to sharing */
    uint64_t alone_bytes;     /* of all members: what certainly no other one has, too */
    uint64_t file_bytes;      /* the most of one member whose mappings were not read */
    uint64_t inherited_bytes; /* likewise of one that maps what others map that were read */
    uint64_t hugetlb_bytes;   /* hugetlb pages that are not in the ranges */
    uint64_t highest_rss;     /* of one member: the total cannot be less */
    size_t members;
    bool has_opaque;
    uint64_t group_lag_bytes; /* by how much anonymous_bytes may be too high for that reason */
    const struct process *only;
};

static uint64_t anonymous_alone(const struct process *process)
{
    return bytes_minus(memory_anonymous_bytes(&process->polled->memory),
        memory_anonymous_shared_bytes(&process->polled->memory));
}

/*
 * Memory that its forks may have from it though no scan saw it: VmHWM minus the peak of all scans.
 * Unlimited where VmHWM cannot be read.
 */
static uint64_t unseen_of(const struct process_tree *tree, const struct process *process)
{
    struct proc_status status;
    if (proc_status_read(tree->view.procfs_root, process->polled->memory_pid, &status, NULL) !=
            GPUT_OK ||
        !status.has_memory || /* or the process has reset it: */
        status.peak_rss_bytes + tree->view.lag_bytes < process->polled->peak_resident_bytes)
        return UINT64_MAX;
    return bytes_minus(
        status.peak_rss_bytes, process->polled->peak_resident_bytes + tree->view.lag_bytes);
}

/* Marks the processes that have forks which were not read yet. */
static void mark_forks(const struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        uint64_t bytes = memory_anonymous_bytes(&process->polled->memory);
        process->polled->metered.forks.any_unread = false;
        bytes_raise(&process->polled->metered.peak_anonymous_bytes, bytes);
    }
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        struct process *parent = process_tree_forked_from(tree, process);
        if (!parent || process->polled->memory.has_exact ||
            parent->polled->metered.forks.any_unread)
            continue;
        parent->polled->metered.forks.any_unread = true;
        parent->polled->metered.forks.unseen_bytes = unseen_of(tree, parent);
    }
}

/* Returns what a fork has certainly allocated though it was not read yet: what it has beyond the
 * peak of its parent, as long as it has no forks itself. */
static uint64_t grown_bytes(const struct process_tree *tree, const struct process *process)
{
    const struct process *parent = process_tree_forked_from(tree, process);
    if (!parent || !parent->polled->metered.forks.any_unread || process->polled->metered.forks.any)
        return 0;
    uint64_t beyond = bytes_minus(memory_anonymous_bytes(&process->polled->memory),
        parent->polled->metered.peak_anonymous_bytes);
    return bytes_minus(beyond, parent->polled->metered.forks.unseen_bytes);
}

/* Adds the memory of one process to a sum. */
static void add_member(struct scope *scope, const struct process *process)
{
    const struct polled *polled = process->polled;
    struct rss rss = memory_rss(&polled->memory);
    bytes_raise(&scope->highest_rss, rss.total);
    scope->hugetlb_bytes += memory_hugetlb_alone_bytes(&polled->memory);
    scope->only = process;
    scope->members++;
    scope->counted_bytes += memory_anonymous_bytes(&polled->memory);
    scope->most_bytes += rss.total;
    if (polled->memory.has_inherited_files)
        bytes_raise(&scope->inherited_bytes, polled->memory.file_bytes);
    else if (!polled->memory.has_ranges)
        bytes_raise(&scope->file_bytes, polled->memory.file_bytes);
    if (process_is_opaque(process)) {
        scope->has_opaque = true;
        return;
    }
    /* Before an exact reading, memory of a fork is not its own. */
    if (polled->memory.has_exact || !process_shares_anonymous(process)) {
        scope->private_bytes += rss.private;
        scope->alone_bytes += anonymous_alone(process);
    } else {
        scope->private_bytes += polled->metered.copies.grown_bytes;
        scope->alone_bytes += polled->metered.copies.grown_bytes;
    }
    if (process_shares_anonymous(process))
        return; /* its family is added as a whole */
    scope->anonymous_bytes += memory_anonymous_bytes(&polled->memory);
    scope->certain_bytes += memory_anonymous_bytes(&polled->memory);
}

/*
 * Adds what processes that may share copy-on-write memory have, each page once, and sets what main
 * has alone where it is one of them. Returns how much more it may be.
 */
static uint64_t add_families(const struct exec_generations *generations, uint64_t page_bytes,
    struct scope *descendants, struct scope *combined, uint64_t *main_alone_bytes, bool *is_unread)
{
    uint64_t unread = 0;
    for (size_t start = 0, end; start < generations->count; start = end) {
        struct process *const *members = generations->processes + start;
        end = exec_generations_end(generations, start);
        if (end - start == 1)
            continue;
        struct family_memory family = family_memory_of(members, end - start, page_bytes);
        combined->anonymous_bytes += family.bytes;
        combined->certain_bytes += family.certain_bytes;
        descendants->anonymous_bytes +=
            family.bytes; /* if main is one of them, add_up() corrects */
        unread += bytes_minus(family.highest_bytes, family.bytes);
        *is_unread |= family.is_unread;
        for (size_t i = 0; i < end - start; i++)
            if (members[i]->is_main)
                *main_alone_bytes =
                    copies_alone_bytes(members[i], members, end - start, page_bytes);
    }
    return unread;
}

/*
 * The root of a family: the process that called execve and that the others were forked from. Other
 * families have none of its memory. NULL where a parent between has ended.
 */
static struct process *family_of(const struct process_tree *tree, struct process *process)
{
    while (process && proc_stat_is_fork(&process->polled->stat) && !process->is_main)
        process = process_tree_get(tree, process->polled->stat.ppid);
    return process;
}

/*
 * Adds processes whose maps may not be read. All memory of a family may be shared, so it has at
 * least what its largest member has. Memory of an orphan may be shared with any process.
 */
static void add_opaque(struct scope *scope, const struct process_tree *tree, bool with_main)
{
    for (size_t i = 0; i < tree->count; i++)
        tree->processes[i]->polled->metered.forks.family_bytes = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process_has_memory(process) || !process_is_opaque(process) ||
            (process->is_main && !with_main))
            continue;
        struct process *family = family_of(tree, process);
        if (family)
            bytes_raise(&family->polled->metered.forks.family_bytes,
                memory_anonymous_bytes(&process->polled->memory));
    }
    for (size_t i = 0; i < tree->count; i++) {
        scope->private_bytes += tree->processes[i]->polled->metered.forks.family_bytes;
        scope->alone_bytes += tree->processes[i]->polled->metered.forks.family_bytes;
    }
}

/* Returns the RAM of a sum as total, private and shared. */
static struct rss scope_rss(const struct scope *scope, uint64_t file_bytes)
{
    if (scope->members == 0)
        return (struct rss){0};
    if (scope->members == 1)
        return memory_rss(&scope->only->polled->memory);
    struct rss rss = {0};
    uint64_t anonymous = scope->anonymous_bytes;
    if (scope->has_opaque)
        anonymous = bytes_max(anonymous, scope->alone_bytes);
    rss.total =
        bytes_max(anonymous + bytes_max(file_bytes, scope->file_bytes) + scope->hugetlb_bytes,
            scope->highest_rss);
    /* Where a member has ended or freed memory, what was read of all before may be more. */
    rss.total = bytes_min(rss.total, scope->most_bytes);
    /* Pages that were private when they were read may be shared by now. */
    rss.private = bytes_min(scope->private_bytes, rss.total);
    rss.shared = rss.total - rss.private;
    return rss;
}

/* File and shared memory of members that were not read; forks map what the others map. */
static uint64_t unread_files(struct process *const *members, size_t count)
{
    uint64_t read = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct memory *memory = &members[i]->polled->memory;
        if (memory->has_ranges)
            bytes_raise(&read, memory->file_bytes);
    }
    for (size_t i = 0; i < count; i++) {
        const struct memory *memory = &members[i]->polled->memory;
        bool is_counted_apart = memory->refused || memory->unanswered;
        if (!is_counted_apart && !memory->has_ranges && !memory->has_inherited_files)
            bytes += bytes_minus(memory->file_bytes, read);
    }
    return bytes;
}

/*
 * How much the highest figure may lack because readings were delayed: files of processes that were
 * not read, and what members of families may have copied. That another scan lacks something does
 * not matter as long as it is below the highest.
 */
static void estimate_unread(struct ram_meter *meter)
{
    uint64_t bytes = meter->uses_group ? 0 : meter->uncopied_bytes;
    const struct exec_generations *generations = &meter->generations;
    for (size_t start = 0, end; start < generations->count; start = end) {
        end = exec_generations_end(generations, start);
        bytes += unread_files(generations->processes + start, end - start);
    }
    bytes_raise(&meter->highest_bytes, meter->figures.combined.total);
    bytes += meter->figures.combined.total;
    /* A later reading of the members shows what was unknown when a family began. */
    if (meter->is_unread)
        bytes_raise(&meter->highest_unread_bytes, bytes);
    else
        meter->highest_unread_bytes = 0;
    if (!meter->is_unread)
        bytes_raise(&meter->highest_possible_bytes, bytes);
    uint64_t possible = bytes_max(meter->highest_possible_bytes, meter->highest_unread_bytes);
    uint64_t lacking = bytes_minus(possible, meter->highest_bytes);
    meter->unread_bytes = lacking > meter->highest_bytes / UNREAD_PART ? lacking : 0;
}

/* Returns by how much the last reading of a process may be too high by now: its file and shared
 * memory has shrunk since, and counters may lag. */
static uint64_t uncertainty_of(const struct process_tree *tree, const struct process *process)
{
    const struct memory *memory = &process->polled->memory;
    bool is_unchanged = memory->has_exact &&
                        memory->resident_bytes == memory->exact_resident_bytes &&
                        memory->file_bytes == memory->exact_file_bytes;
    uint64_t lost =
        memory->has_ranges ? bytes_minus(memory->ranges_file_bytes, memory->file_bytes) : 0;
    return lost + (is_unchanged ? 0 : 2 * tree->view.lag_bytes);
}

/*
 * Lower bounds of what all had together. One thing is not recognized: of the pages that two
 * processes map of one object, as many change hands in both directions between the readings of the
 * two (docs/accuracy.md).
 */
static void set_at_least(
    struct ram_meter *meter, const struct process_tree *tree, const struct scope *combined)
{
    uint64_t uncertainty = 0, largest = 0, largest_files = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process_has_memory(process))
            continue;
        /* Memory that it mapped during the scan may have been another's alone when that was
         * read. */
        uncertainty += uncertainty_of(tree, process) + process->polled->metered.exact.mapped_bytes;
        largest = bytes_max(largest,
            bytes_minus(memory_rss(&process->polled->memory).total, uncertainty_of(tree, process)));
        largest_files = bytes_max(
            largest_files, bytes_minus(process->polled->memory.file_bytes, tree->view.lag_bytes));
    }
    bool has_files = combined->members > 1 && !meter->files_are_stale;
    uint64_t files = has_files ? meter->files.at_least_bytes : 0;
    struct scope certain = *combined;
    certain.anonymous_bytes = combined->certain_bytes;
    meter->figures.at_least_bytes = bytes_max(
        bytes_minus(scope_rss(&certain, files).total, uncertainty + combined->group_lag_bytes),
        largest);
    meter->figures.files_at_least_bytes = bytes_max(bytes_minus(files, uncertainty), largest_files);
}

/*
 * While readings are deferred, what members of a family have copied is estimated. The control group
 * has the anonymous memory of all, each page once, so it takes the place of that. It may lag, so it
 * must be large against that.
 */
static bool knows_anonymous(const struct ram_meter *meter)
{
    return meter->group_anonymous_bytes > GROUP_LAGS * meter->group_lag_bytes;
}

/* Adds RAM up for main, descendants and both, with memory that several have counted once. */
static void add_up(struct ram_meter *meter, const struct process_tree *tree)
{
    struct scope main = {0}, descendants = {0}, combined = {0};
    mark_forks(tree);
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process_has_memory(process))
            continue;
        process->polled->metered.copies.grown_bytes =
            process->polled->memory.has_exact ? 0 : grown_bytes(tree, process);
        bytes_raise(&meter->hugetlb_bytes, process->polled->memory.hugetlb_bytes);
        add_member(process->is_main ? &main : &descendants, process);
        add_member(&combined, process);
    }
    uint64_t main_alone = main.only ? anonymous_alone(main.only) : 0;
    meter->is_unread = false;
    meter->uncopied_bytes = add_families(&meter->generations, tree->view.page_bytes, &descendants,
        &combined, &main_alone, &meter->is_unread);
    meter->uses_group = meter->readings.knows_anonymous && meter->readings.has_deferred;
    if (meter->uses_group) {
        /* A process that has left the group is not in it. */
        combined.anonymous_bytes = bytes_max(meter->group_anonymous_bytes, combined.alone_bytes);
        combined.certain_bytes = combined.anonymous_bytes;
        combined.group_lag_bytes = meter->group_lag_bytes;
    }
    /*
     * The descendants have everything but the pages that main alone has, and no more than they have
     * without regard to sharing.
     */
    if (main.only && (meter->uses_group || process_shares_anonymous(main.only)))
        descendants.anonymous_bytes =
            bytes_min(bytes_minus(combined.anonymous_bytes, main_alone), descendants.counted_bytes);

    if (combined.has_opaque) {
        add_opaque(&descendants, tree, false);
        add_opaque(&combined, tree, true);
    }
    meter->figures.main = scope_rss(&main, 0);
    /* Descendants that were read by their sums map no more than what the ranges of all have. */
    uint64_t inherited = bytes_min(descendants.inherited_bytes, meter->files.combined_bytes);
    meter->figures.descendants =
        scope_rss(&descendants, bytes_max(meter->files.descendants_bytes, inherited));
    meter->figures.combined = scope_rss(&combined, meter->files.combined_bytes);
    set_at_least(meter, tree, &combined);
}

static bool any_has_run(const struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->processes[i]->polled->has_run)
            return true;
    }
    return false;
}

int ram_meter_measure(struct ram_meter *meter, struct process_tree *tree, int64_t now_ns)
{
    bool changed = tree->generation != meter->generation;
    if (!changed && meter->readings.when != EXACT_READINGS_ALWAYS &&
        !meter->readings.has_deferred && !meter->files_are_stale && !any_has_run(tree))
        return GPUT_OK;

    /* Exec generations change without a change of the tree. */
    bool has_changed;
    TRY(exec_generations_update(&meter->generations, tree, &has_changed));
    meter->files_are_stale |= has_changed;
    meter->generation = tree->generation;
    meter->readings.knows_anonymous = knows_anonymous(meter);
    /* Before the readings: finds which processes have forks, and what the forks begin with. */
    for (size_t i = 0; i < tree->count; i++)
        tree->processes[i]->polled->metered.forks.any = false;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *parent = process_tree_forked_from(tree, tree->processes[i]);
        copies_begin(tree->processes[i], parent);
        if (parent)
            parent->polled->metered.forks.any = true;
    }
    if (meter->skip_exact)
        meter->readings.has_deferred = true;
    else
        exact_readings_take(&meter->readings, tree, &meter->generations, now_ns);
    meter->files_are_stale |= meter->readings.has_new_ranges;
    meter->readings.has_new_ranges = false;

    bool is_alone = meter->generations.count <= 1;
    if (!is_alone)
        TRY(add_files(meter, tree, now_ns));
    add_up(meter, tree);
    if (!is_alone && !meter->skip_exact)
        estimate_unread(meter);
    return GPUT_OK;
}
