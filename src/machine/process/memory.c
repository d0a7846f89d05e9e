#include "machine/process/memory.h"

#include "base/array.h"
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

void memory_set_fast(struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes)
{
    memory->resident_bytes = resident_bytes;
    memory->file_bytes = file_bytes < resident_bytes ? file_bytes : resident_bytes;
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

/* What another thread reads: it has copies of all that it needs. */
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

static void set_reference(struct memory *memory)
{
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
    memory->ranges_file_bytes = memory->file_bytes;
    memory->ranges_hugetlb_bytes = reading->ranges_hugetlb_bytes;
    memory->has_ranges = true;
    memory->has_inherited_files = false;
    memory->ranges_readings++;
    set_reference(memory);
}

static uint64_t ranges_private_bytes(const struct memory *memory)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < memory->range_count; i++)
        bytes += memory->ranges[i].private_bytes;
    return bytes;
}

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

    memory_set_fast(memory, resident_bytes, file_bytes);
    uint64_t resident = nearest(exact, resident_before, memory->resident_bytes);
    uint64_t file = nearest(file_exact, file_before, memory->file_bytes);
    if (distance(exact, resident) > lag_bytes) {
        resident = exact;
        file = file_exact;
    }
    memory->exact_resident_bytes = resident;
    memory->exact_file_bytes = bytes_min(file, resident);
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
    return !memory->has_exact ||
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
