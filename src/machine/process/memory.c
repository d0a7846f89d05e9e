#include "machine/process/memory.h"

#include "base/array.h"
#include "base/order.h"
#include "machine/os/proc_smaps.h"
#include "machine/process/bytes.h"

#include <stdlib.h>
#include <string.h>

void memory_finish(struct memory *memory)
{
    free(memory->ranges);
    *memory = (struct memory){0};
}

void memory_reset(struct memory *memory)
{
    struct shared_range *ranges = memory->ranges;
    size_t capacity = memory->range_capacity;
    *memory = (struct memory){.ranges = ranges, .range_capacity = capacity};
}

/* Sets the fast reading as the counters have it. */
static void set_counted(struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes)
{
    memory->resident_bytes = resident_bytes;
    memory->file_bytes = bytes_min(file_bytes, resident_bytes);
}

void memory_set_fast(struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes)
{
    struct unmapped *unmapped = &memory->unmapped;
    unmapped->bytes =
        bytes_min(unmapped->bytes, bytes_minus(resident_bytes, memory->exact_resident_bytes));
    unmapped->file_bytes = bytes_min(bytes_min(unmapped->file_bytes, unmapped->bytes),
        bytes_minus(file_bytes, memory->exact_file_bytes));
    set_counted(memory, resident_bytes - unmapped->bytes, file_bytes - unmapped->file_bytes);
}

/* Sums of one pass over smaps. */
struct reading {
    struct shared_range *ranges;
    size_t range_count, range_capacity;
    struct rss rss;
    uint64_t anonymous_bytes, anonymous_private_bytes, anonymous_pss_bytes;
    uint64_t hugetlb_bytes, ranges_hugetlb_bytes;
    bool failed;
};

/* A reading in another thread, with copies of everything that it needs. */
struct exact_call {
    struct bounded_call call;
    char *root;
    pid_t pid;
    bool is_rollup;
    struct proc_smaps_rollup rollup;
    struct reading reading;
    int code;
};

static bool is_adjacent(const struct shared_range *range, const struct shared_range *next)
{
    return range->device == next->device && range->inode == next->inode &&
           range->end == next->start;
}

static struct shared_range *append_range(struct reading *reading)
{
    if (!ARRAY_RESERVE(reading->ranges, reading->range_count, reading->range_capacity)) {
        reading->failed = true;
        return NULL;
    }
    return &reading->ranges[reading->range_count++];
}

/* Adds a range of a shared object, or extends the last one. */
static void add_range(struct reading *reading, const struct shared_range *range)
{
    struct shared_range *last =
        reading->range_count ? &reading->ranges[reading->range_count - 1] : NULL;
    if (last && is_adjacent(last, range)) {
        last->end = range->end;
        last->private_bytes += range->private_bytes;
        last->shared_bytes += range->shared_bytes;
        last->pss_bytes += range->pss_bytes;
        return;
    }
    last = append_range(reading);
    if (last)
        *last = *range;
}

/* The part of a mapping's Pss that its shared anonymous bytes have. */
static uint64_t pss_of_copies(const struct memory_mapping *mapping, uint64_t anonymous_shared)
{
    if (anonymous_shared == 0 || mapping->shared_bytes == 0)
        return 0;
    double pss_of_shared = (double)bytes_minus(mapping->pss_bytes, mapping->private_bytes);
    double part = (double)anonymous_shared / (double)mapping->shared_bytes;
    return (uint64_t)(pss_of_shared * (part < 1 ? part : 1));
}

/*
 * A private mapping of a file holds pages of the file and, where it was written to, anonymous
 * copies. The kernel does not say which of them are private: copies nearly always are, so they come
 * first.
 */
static void visit_mapping(void *user, const struct memory_mapping *mapping)
{
    struct reading *reading = user;
    uint64_t anonymous = mapping->is_shared ? 0 : mapping->anonymous_bytes;
    uint64_t anonymous_private = bytes_min(anonymous, mapping->private_bytes);
    uint64_t anonymous_shared = anonymous - anonymous_private;

    /* Pages of hugetlbfs are in no other line. Private mappings have copies of their own. */
    uint64_t private_hugetlb = mapping->is_shared ? mapping->private_hugetlb_bytes : 0;
    uint64_t hugetlb = private_hugetlb + mapping->shared_hugetlb_bytes;
    reading->rss.private += mapping->private_bytes + mapping->private_hugetlb_bytes;
    reading->rss.shared += mapping->shared_bytes + mapping->shared_hugetlb_bytes;
    reading->hugetlb_bytes += mapping->private_hugetlb_bytes + mapping->shared_hugetlb_bytes;
    reading->ranges_hugetlb_bytes += hugetlb;
    reading->anonymous_bytes += anonymous;
    reading->anonymous_private_bytes += anonymous_private;
    if (!mapping->is_file_or_shared) {
        reading->anonymous_pss_bytes += mapping->pss_bytes;
        return;
    }

    /* Copies do not belong to the file, and so not to its Pss either. */
    uint64_t copies_pss = anonymous_private + pss_of_copies(mapping, anonymous_shared);
    reading->anonymous_pss_bytes += copies_pss;
    if (mapping->rss_bytes + hugetlb == 0)
        return;
    add_range(
        reading, &(struct shared_range){
                     .device = mapping->device,
                     .inode = mapping->inode,
                     .start = mapping->offset,
                     .end = mapping->offset + (mapping->end - mapping->start),
                     .private_bytes = mapping->private_bytes - anonymous_private + private_hugetlb,
                     .shared_bytes = bytes_minus(mapping->shared_bytes, anonymous_shared) +
                                     mapping->shared_hugetlb_bytes,
                     .pss_bytes = bytes_minus(mapping->pss_bytes, copies_pss) + private_hugetlb,
                 });
}

/* Makes the last fast reading, as the counters have it, that of the moment of an exact one. */
static void set_reference(struct memory *memory)
{
    set_counted(memory, memory->resident_bytes + memory->unmapped.bytes,
        memory->file_bytes + memory->unmapped.file_bytes);
    memory->unmapped = (struct unmapped){0};
    memory->has_exact = true;
    memory->refused = memory->unanswered = false;
    memory->exact_resident_bytes = memory->resident_bytes;
    memory->exact_file_bytes = memory->file_bytes;
    memory->exact_hugetlb_bytes = memory->hugetlb_bytes;
}

/* Sets what smaps gave, and gives the ranges before in exchange. */
static void take_smaps(struct memory *memory, struct reading *reading)
{
    struct shared_range *before = memory->ranges;
    memory->ranges = reading->ranges;
    memory->range_count = reading->range_count;
    memory->range_capacity = reading->range_capacity;
    reading->ranges = before;
    memory->exact = reading->rss;
    memory->exact.total = reading->rss.private + reading->rss.shared;
    memory->anonymous_bytes = reading->anonymous_bytes;
    memory->anonymous_private_bytes = reading->anonymous_private_bytes;
    memory->anonymous_pss_bytes = reading->anonymous_pss_bytes;
    memory->hugetlb_bytes = reading->hugetlb_bytes;
    memory->ranges_hugetlb_bytes = reading->ranges_hugetlb_bytes;
    memory->has_ranges = true;
    memory->has_inherited_files = false;
    memory->ranges_readings++;
    set_reference(memory);
    memory->ranges_file_bytes = memory->file_bytes;
}

static uint64_t ranges_private_bytes(const struct memory *memory)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < memory->range_count; i++)
        bytes += memory->ranges[i].private_bytes;
    return bytes;
}

/* Sets what smaps_rollup gave; the ranges stay those of the last smaps. */
static void take_rollup(struct memory *memory, const struct proc_smaps_rollup *rollup)
{
    memory->exact.private = rollup->private_bytes + rollup->private_hugetlb_bytes;
    memory->exact.shared = rollup->shared_bytes + rollup->shared_hugetlb_bytes;
    memory->exact.total = memory->exact.private + memory->exact.shared;
    memory->anonymous_bytes = rollup->anonymous_bytes;
    memory->anonymous_private_bytes = bytes_min(
        rollup->anonymous_bytes, bytes_minus(rollup->private_bytes, ranges_private_bytes(memory)));
    memory->anonymous_pss_bytes =
        rollup->has_pss_parts ? rollup->pss_anonymous_bytes : memory->anonymous_private_bytes;
    memory->files_pss_bytes = rollup->has_pss_parts ? rollup->pss_file_bytes : UINT64_MAX;
    memory->hugetlb_bytes = rollup->private_hugetlb_bytes + rollup->shared_hugetlb_bytes;
    set_reference(memory);
}

bool memory_inherit_files(struct memory *memory)
{
    memory->has_inherited_files = memory->hugetlb_bytes == 0 && !memory->has_ranges &&
                                  memory->files_pss_bytes <= memory->resident_bytes / 100;
    if (memory->has_inherited_files)
        memory->ranges_file_bytes = memory->file_bytes;
    return memory->has_inherited_files;
}

/* Reads one of the two files, in another thread. */
static void run_exact(struct bounded_call *call)
{
    struct exact_call *exact = (struct exact_call *)call;
    if (exact->is_rollup)
        exact->code = proc_smaps_rollup_read(exact->root, exact->pid, &exact->rollup, NULL);
    else
        exact->code =
            proc_smaps_read(exact->root, exact->pid, visit_mapping, &exact->reading, NULL);
    if (exact->code == GPUT_OK && exact->reading.failed)
        exact->code = GPUT_ERROR_MEMORY;
}

static void destroy_exact(struct bounded_call *call)
{
    struct exact_call *exact = (struct exact_call *)call;
    free(exact->reading.ranges);
    free(exact->root);
    free(exact);
}

/* Has one of the two files read, and sets what it gave. GPUT_ERROR_IO: it has not answered. */
static int read_one(
    struct memory *memory, struct bounded_calls *calls, const char *root, pid_t pid, bool rollup)
{
    struct exact_call *exact = calloc(1, sizeof *exact);
    if (!exact || !(exact->root = strdup(root))) {
        free(exact);
        return GPUT_ERROR_MEMORY;
    }
    exact->call = (struct bounded_call){.run = run_exact, .destroy = destroy_exact};
    exact->pid = pid;
    exact->is_rollup = rollup;
    if (!rollup) {
        memory->has_ranges = memory->has_inherited_files = false;
        memory->range_count = 0;
    }
    if (!bounded_calls_make(calls, pid, &exact->call))
        return GPUT_ERROR_IO;
    int code = exact->code;
    if (code == GPUT_OK && rollup)
        take_rollup(memory, &exact->rollup);
    else if (code == GPUT_OK)
        take_smaps(memory, &exact->reading);
    destroy_exact(&exact->call);
    return code;
}

int memory_read_exact(
    struct memory *memory, struct bounded_calls *calls, const char *root, pid_t pid, bool rollup)
{
    int code = read_one(memory, calls, root, pid, rollup);
    if (rollup && code == GPUT_ERROR_UNSUPPORTED)
        code = read_one(memory, calls, root, pid, false);
    memory->refused |= code == GPUT_ERROR_PERMISSION;
    memory->unanswered |= code == GPUT_ERROR_IO;
    return code;
}

/* The value between `a` and `b` that is nearest to `value`. */
static uint64_t nearest(uint64_t value, uint64_t a, uint64_t b)
{
    uint64_t low = bytes_min(a, b), high = a > b ? a : b;
    return value < low ? low : bytes_min(value, high);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

void memory_reconcile(
    struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes, uint64_t lag_bytes)
{
    uint64_t resident_before = memory->exact_resident_bytes;
    uint64_t file_before = memory->exact_file_bytes;
    bool ranges_were_read = (memory->has_ranges || memory->has_inherited_files) &&
                            memory->ranges_file_bytes == file_before;
    uint64_t exact = bytes_minus(memory->exact.total, memory->exact_hugetlb_bytes),
             file_exact = bytes_minus(exact, memory->anonymous_bytes);

    set_counted(memory, resident_bytes, file_bytes);
    uint64_t resident = nearest(exact, resident_before, memory->resident_bytes);
    uint64_t file = nearest(file_exact, file_before, memory->file_bytes);
    bool is_unmapping = bytes_minus(resident, exact) > lag_bytes;
    if (distance(exact, resident) > lag_bytes) {
        resident = exact;
        file = file_exact;
    }
    memory->exact_resident_bytes = resident;
    memory->exact_file_bytes = bytes_min(file, resident);
    if (is_unmapping) {
        memory->unmapped = (struct unmapped){resident_bytes, file_bytes};
        memory_set_fast(memory, resident_bytes, file_bytes);
    }
    if (ranges_were_read)
        memory->ranges_file_bytes = memory->exact_file_bytes;
}

uint64_t memory_anonymous_bytes(const struct memory *memory)
{
    return memory->resident_bytes - memory->file_bytes;
}

/* `then`, plus the change from `before` to `now`. */
static uint64_t shifted(uint64_t then, uint64_t before, uint64_t now)
{
    return now >= before ? then + (now - before) : bytes_minus(then, before - now);
}

uint64_t memory_hugetlb_alone_bytes(const struct memory *memory)
{
    return bytes_minus(
        memory->hugetlb_bytes, memory->has_ranges ? memory->ranges_hugetlb_bytes : 0);
}

struct rss memory_rss(const struct memory *memory)
{
    struct rss rss = {.total = memory->resident_bytes + memory->hugetlb_bytes};
    if (!memory->has_exact) {
        rss.private = memory_anonymous_bytes(memory) + memory->hugetlb_bytes;
        rss.shared = memory->file_bytes;
        return rss;
    }
    rss.total = shifted(
        memory->exact.total, memory->exact_resident_bytes + memory->exact_hugetlb_bytes, rss.total);
    /* New anonymous memory is private; new file pages are private in the same proportion as before.
     */
    uint64_t anonymous_then = memory->exact_resident_bytes - memory->exact_file_bytes;
    uint64_t file_private = bytes_minus(memory->exact.private, memory->anonymous_private_bytes);
    uint64_t file =
        file_private + bytes_minus(memory->exact.shared, memory_anonymous_shared_bytes(memory));
    double private_part = file ? (double)file_private / (double)file : 0;
    double file_moved = (double)memory->file_bytes - (double)memory->exact_file_bytes;

    rss.private = shifted(memory->exact.private, anonymous_then + memory->exact_hugetlb_bytes,
        memory_anonymous_bytes(memory) + memory->hugetlb_bytes);
    double private_bytes = (double)rss.private + file_moved * private_part;
    rss.private = private_bytes > 0 ? bytes_min((uint64_t)private_bytes, rss.total) : 0;
    rss.shared = rss.total - rss.private;
    return rss;
}

void memory_set_growth(const struct memory *memory, struct shared_range *ranges)
{
    double grown = (double)bytes_minus(memory->file_bytes, memory->ranges_file_bytes);
    double bytes = 0;
    for (size_t i = 0; i < memory->range_count; i++)
        bytes += (double)(ranges[i].private_bytes + ranges[i].shared_bytes);
    for (size_t i = 0; bytes > 0 && i < memory->range_count; i++) {
        struct shared_range *range = &ranges[i];
        uint64_t space =
            bytes_minus(range->end - range->start, range->private_bytes + range->shared_bytes);
        range->grown_bytes =
            bytes_min((uint64_t)(grown * (double)range->private_bytes / bytes), space);
    }
}

uint64_t memory_anonymous_shared_bytes(const struct memory *memory)
{
    return bytes_minus(memory->anonymous_bytes, memory->anonymous_private_bytes);
}

uint64_t memory_anonymous_share_bytes(const struct memory *memory)
{
    if (!memory->has_exact)
        return 0;
    uint64_t then = memory->exact_resident_bytes - memory->exact_file_bytes;
    return shifted(memory->anonymous_pss_bytes, then, memory_anonymous_bytes(memory));
}

static bool differs(uint64_t a, uint64_t b, uint64_t whole)
{
    return distance(a, b) * 100 > whole;
}

bool memory_has_changed(const struct memory *memory)
{
    return !memory->has_exact || memory->unmapped.bytes > 0 ||
           differs(memory->resident_bytes, memory->exact_resident_bytes, memory->resident_bytes) ||
           differs(memory->file_bytes, memory->exact_file_bytes, memory->resident_bytes) ||
           differs(memory->hugetlb_bytes, memory->exact_hugetlb_bytes, memory->resident_bytes);
}

bool memory_ranges_have_changed(const struct memory *memory)
{
    return !(memory->has_ranges || memory->has_inherited_files) ||
           differs(memory->file_bytes, memory->ranges_file_bytes, memory->resident_bytes) ||
           differs(memory->hugetlb_bytes, memory->exact_hugetlb_bytes, memory->resident_bytes);
}

static int by_object_start_owner(const void *left, const void *right)
{
    const struct shared_range *a = left, *b = right;
    ORDER_BY(a->device, b->device);
    ORDER_BY(a->inode, b->inode);
    ORDER_BY(a->start, b->start);
    return ORDER(a->owner, b->owner);
}

static bool same_object(const struct shared_range *a, const struct shared_range *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Bytes of an object or a part of it, of all owners or of all except 0. */
struct sums {
    uint64_t unique_bytes;   /* each page once */
    uint64_t at_least_bytes; /* a lower bound */
    uint64_t pss_bytes;      /* less than unique_bytes where untracked processes map the same */
};

static int by_moment_owner(const void *left, const void *right)
{
    const struct shared_range *a = left, *b = right;
    ORDER_BY(a->read_ns, b->read_ns);
    return ORDER(a->owner, b->owner);
}

/* The bytes of one owner in a cluster. */
struct part {
    uint64_t private_bytes, shared_bytes;
    uint64_t shared_pss_bytes; /* its proportional share of the shared ones */
    uint64_t grown_bytes;
};

/* Sums of the owner of the first range. Returns how many ranges it has. */
static size_t add_part(const struct shared_range *ranges, size_t count, struct part *part)
{
    size_t i = 0;
    *part = (struct part){0};
    for (; i < count && ranges[i].owner == ranges[0].owner; i++) {
        part->private_bytes += ranges[i].private_bytes;
        part->shared_bytes += ranges[i].shared_bytes;
        part->shared_pss_bytes += bytes_minus(ranges[i].pss_bytes, ranges[i].private_bytes);
        part->grown_bytes += ranges[i].grown_bytes;
    }
    return i;
}

/*
 * Sums of overlapping ranges, sorted by moment and owner, of owners from `first_owner` on. They
 * span `length` bytes, and no more can be in RAM.
 *
 * The lower bound: what was private to each; and, of what was shared at one moment, what cannot
 * have been private at an earlier one. It is also the estimate where a reading is stale: as a rule
 * what others share since then is what that process had alone.
 */
static struct sums sum_cluster(
    const struct shared_range *ranges, size_t count, uint64_t length, uint32_t first_owner)
{
    uint64_t private_bytes = 0, shared_bytes = 0, pss_bytes = 0, grown_bytes = 0;
    uint64_t earlier_bytes = 0, moment_pss_bytes = 0, certain_bytes = 0;
    bool any_is_stale = false;
    int64_t moment_ns = ranges[0].read_ns;
    struct part part;
    for (size_t i = 0, next; i < count; i = next) {
        next = i + add_part(ranges + i, count - i, &part);
        if (ranges[i].owner < first_owner)
            continue;
        if (ranges[i].read_ns != moment_ns) {
            moment_ns = ranges[i].read_ns;
            earlier_bytes = private_bytes;
            moment_pss_bytes = 0;
        }
        /* The proportional shares of one moment count each page at most once. */
        moment_pss_bytes += part.shared_pss_bytes;
        uint64_t of_moment = bytes_max(moment_pss_bytes, part.shared_bytes);
        certain_bytes = bytes_max(certain_bytes, bytes_minus(of_moment, earlier_bytes));
        private_bytes += part.private_bytes;
        shared_bytes = bytes_max(shared_bytes, part.shared_bytes);
        pss_bytes += part.private_bytes + part.shared_pss_bytes;
        grown_bytes += part.grown_bytes;
        any_is_stale |= ranges[i].is_stale && part.private_bytes > 0;
    }
    uint64_t at_least_bytes = private_bytes + certain_bytes;
    uint64_t unique_bytes =
        any_is_stale ? at_least_bytes : bytes_max(private_bytes + shared_bytes, pss_bytes);
    return (struct sums){.unique_bytes = bytes_min(unique_bytes + grown_bytes, length),
        .at_least_bytes = bytes_min(at_least_bytes, length),
        .pss_bytes = bytes_min(pss_bytes, length)};
}

static void add_sums(struct sums *sums, struct sums cluster)
{
    sums->unique_bytes += cluster.unique_bytes;
    sums->at_least_bytes += cluster.at_least_bytes;
    sums->pss_bytes += cluster.pss_bytes;
}

/* Adds the ranges of one object to the totals. Ranges that overlap are one cluster, whose pages
 * count once. */
static void add_object(struct shared_range *ranges, size_t count, struct shared_totals *totals)
{
    struct sums all = {0}, others = {0};
    uint64_t main_private = 0;

    for (size_t start = 0, end; start < count; start = end) {
        uint64_t reach = ranges[start].end;
        for (end = start + 1; end < count && ranges[end].start < reach; end++)
            reach = bytes_max(reach, ranges[end].end);
        struct shared_range *cluster = ranges + start;
        uint64_t length = reach - cluster->start;
        if (end - start > 1)
            qsort(cluster, end - start, sizeof *cluster, by_moment_owner);
        add_sums(&all, sum_cluster(cluster, end - start, length, 0));
        add_sums(&others, sum_cluster(cluster, end - start, length, 1));
        for (size_t i = start; i < end; i++)
            main_private += ranges[i].owner == 0 ? ranges[i].private_bytes : 0;
    }

    uint64_t descendants = others.unique_bytes;
    /*
     * When the proportional shares add up to the whole, no untracked process shares the object.
     * Then the descendants have everything but what main alone has, even where each maps another
     * part.
     */
    bool is_complete = all.pss_bytes + all.pss_bytes / 100 >= all.unique_bytes;
    if (is_complete && others.pss_bytes > 0)
        descendants = bytes_max(descendants, bytes_minus(all.unique_bytes, main_private));
    totals->combined_bytes += all.unique_bytes;
    totals->at_least_bytes += all.at_least_bytes;
    totals->descendants_bytes += descendants;
}

struct shared_totals shared_ranges_total(struct shared_range *ranges, size_t count)
{
    struct shared_totals totals = {0};
    if (count > 1)
        qsort(ranges, count, sizeof *ranges, by_object_start_owner);
    for (size_t start = 0, end; start < count; start = end) {
        end = start + 1;
        while (end < count && same_object(&ranges[start], &ranges[end]))
            end++;
        add_object(ranges + start, end - start, &totals);
    }
    return totals;
}
