#include "process/memory.h"

#include "os/proc_smaps.h"
#include "os/proc_smaps_rollup.h"

#include <stdlib.h>

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

void memory_set_cheap(struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes)
{
    memory->resident_bytes = resident_bytes;
    memory->file_bytes = file_bytes < resident_bytes ? file_bytes : resident_bytes;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* What one pass over smaps adds up. */
struct reading {
    struct memory *memory;
    struct rss rss;
    uint64_t anonymous_bytes, anonymous_private_bytes, anonymous_pss_bytes;
    uint64_t hugetlb_bytes;
    size_t range_count;
    bool failed;
};

static bool joins(const struct shared_range *range, const struct shared_range *next)
{
    return range->device == next->device && range->inode == next->inode &&
           range->end == next->start;
}

static struct shared_range *append_range(struct reading *reading)
{
    struct memory *memory = reading->memory;
    if (reading->range_count == memory->range_capacity) {
        size_t capacity = memory->range_capacity ? memory->range_capacity * 2 : 8;
        void *ranges = realloc(memory->ranges, capacity * sizeof *memory->ranges);
        if (!ranges) {
            reading->failed = true;
            return NULL;
        }
        memory->ranges = ranges;
        memory->range_capacity = capacity;
    }
    return &memory->ranges[reading->range_count++];
}

static void add_range(struct reading *reading, const struct shared_range *range)
{
    struct shared_range *last =
        reading->range_count ? &reading->memory->ranges[reading->range_count - 1] : NULL;
    if (last && joins(last, range)) {
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

/* Of a mapping's anonymous bytes that others map too: their part of its proportional share. */
static uint64_t pss_of_copies(const struct memory_mapping *mapping, uint64_t anonymous_shared)
{
    if (anonymous_shared == 0 || mapping->shared_bytes == 0)
        return 0;
    double pss_of_shared = (double)minus(mapping->pss_bytes, mapping->private_bytes);
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
    uint64_t anonymous_private = least(anonymous, mapping->private_bytes);
    uint64_t anonymous_shared = anonymous - anonymous_private;

    reading->rss.private += mapping->private_bytes;
    reading->rss.shared += mapping->shared_bytes;
    reading->hugetlb_bytes += mapping->private_hugetlb_bytes + mapping->shared_hugetlb_bytes;
    reading->anonymous_bytes += anonymous;
    reading->anonymous_private_bytes += anonymous_private;
    if (!mapping->is_file_or_shared) {
        reading->anonymous_pss_bytes += mapping->pss_bytes;
        return;
    }

    /* What is not the file's must not be in the file's share either. */
    uint64_t copies_pss = anonymous_private + pss_of_copies(mapping, anonymous_shared);
    reading->anonymous_pss_bytes += copies_pss;
    if (mapping->rss_bytes == 0)
        return;
    add_range(reading, &(struct shared_range){
                           .device = mapping->device,
                           .inode = mapping->inode,
                           .start = mapping->offset,
                           .end = mapping->offset + (mapping->end - mapping->start),
                           .private_bytes = mapping->private_bytes - anonymous_private,
                           .shared_bytes = minus(mapping->shared_bytes, anonymous_shared),
                           .pss_bytes = minus(mapping->pss_bytes, copies_pss),
                       });
}

static void keep_moment(struct memory *memory)
{
    memory->has_exact = true;
    memory->refused = false;
    memory->exact_resident_bytes = memory->resident_bytes;
    memory->exact_file_bytes = memory->file_bytes;
}

static int read_smaps(struct memory *memory, const char *root, pid_t pid)
{
    struct reading reading = {.memory = memory};
    memory->has_ranges = false;
    memory->range_count = 0;
    TRY(proc_smaps_read(root, pid, visit_mapping, &reading, NULL));
    if (reading.failed)
        return GPUT_ERROR_MEMORY;

    reading.rss.total = reading.rss.private + reading.rss.shared;
    memory->exact = reading.rss;
    memory->anonymous_bytes = reading.anonymous_bytes;
    memory->anonymous_private_bytes = reading.anonymous_private_bytes;
    memory->anonymous_pss_bytes = reading.anonymous_pss_bytes;
    memory->hugetlb_bytes = reading.hugetlb_bytes;
    memory->range_count = reading.range_count;
    memory->ranges_file_bytes = memory->file_bytes;
    memory->has_ranges = true;
    memory->ranges_readings++;
    keep_moment(memory);
    return GPUT_OK;
}

static uint64_t ranges_private_bytes(const struct memory *memory)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < memory->range_count; i++)
        bytes += memory->ranges[i].private_bytes;
    return bytes;
}

static int read_rollup(struct memory *memory, const char *root, pid_t pid)
{
    struct proc_smaps_rollup rollup;
    TRY(proc_smaps_rollup_read(root, pid, &rollup, NULL));

    memory->exact.private = rollup.private_bytes;
    memory->exact.shared = rollup.shared_bytes;
    memory->exact.total = rollup.private_bytes + rollup.shared_bytes;
    memory->anonymous_bytes = rollup.anonymous_bytes;
    memory->anonymous_private_bytes =
        least(rollup.anonymous_bytes, minus(rollup.private_bytes, ranges_private_bytes(memory)));
    memory->anonymous_pss_bytes =
        rollup.has_pss_parts ? rollup.pss_anonymous_bytes : memory->anonymous_private_bytes;
    memory->hugetlb_bytes = rollup.private_hugetlb_bytes + rollup.shared_hugetlb_bytes;
    keep_moment(memory);
    return GPUT_OK;
}

int memory_read_exact(struct memory *memory, const char *root, pid_t pid, bool rollup)
{
    int code = rollup ? read_rollup(memory, root, pid) : read_smaps(memory, root, pid);
    if (rollup && code == GPUT_ERROR_UNSUPPORTED)
        code = read_smaps(memory, root, pid);
    if (code == GPUT_ERROR_PERMISSION)
        memory->refused = true;
    return code;
}

/* What of the range between `a` and `b` is nearest to `value`. */
static uint64_t nearest(uint64_t value, uint64_t a, uint64_t b)
{
    uint64_t low = least(a, b), high = a > b ? a : b;
    return value < low ? low : least(value, high);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

void memory_settle(
    struct memory *memory, uint64_t resident_bytes, uint64_t file_bytes, uint64_t lag_bytes)
{
    uint64_t resident_before = memory->exact_resident_bytes;
    uint64_t file_before = memory->exact_file_bytes;
    bool ranges_were_read = memory->has_ranges && memory->ranges_file_bytes == file_before;
    uint64_t exact = memory->exact.total, file_exact = minus(exact, memory->anonymous_bytes);

    memory_set_cheap(memory, resident_bytes, file_bytes);
    uint64_t resident = nearest(exact, resident_before, memory->resident_bytes);
    uint64_t file = nearest(file_exact, file_before, memory->file_bytes);
    if (distance(exact, resident) > lag_bytes) {
        resident = exact;
        file = file_exact;
    }
    memory->exact_resident_bytes = resident;
    memory->exact_file_bytes = least(file, resident);
    if (ranges_were_read)
        memory->ranges_file_bytes = memory->exact_file_bytes;
}

uint64_t memory_anonymous_bytes(const struct memory *memory)
{
    return memory->resident_bytes - memory->file_bytes;
}

/* `then`, moved by as much as `before` has moved to `now`. */
static uint64_t moved(uint64_t then, uint64_t before, uint64_t now)
{
    return now >= before ? then + (now - before) : minus(then, before - now);
}

struct rss memory_rss(const struct memory *memory)
{
    struct rss rss = {.total = memory->resident_bytes};
    if (!memory->has_exact) {
        rss.private = memory_anonymous_bytes(memory);
        rss.shared = memory->file_bytes;
        return rss;
    }
    rss.total = moved(memory->exact.total, memory->exact_resident_bytes, memory->resident_bytes);
    /* New anonymous memory is the process's own; new file pages divide as those it had. */
    uint64_t anonymous_then = memory->exact_resident_bytes - memory->exact_file_bytes;
    uint64_t file_private = minus(memory->exact.private, memory->anonymous_private_bytes);
    uint64_t file =
        file_private + minus(memory->exact.shared, memory_anonymous_shared_bytes(memory));
    double private_part = file ? (double)file_private / (double)file : 0;
    double file_moved = (double)memory->file_bytes - (double)memory->exact_file_bytes;

    rss.private = moved(memory->exact.private, anonymous_then, memory_anonymous_bytes(memory));
    double private = (double)rss.private + file_moved * private_part;
    rss.private = private > 0 ? least((uint64_t) private, rss.total) : 0;
    rss.shared = rss.total - rss.private;
    return rss;
}

uint64_t memory_anonymous_shared_bytes(const struct memory *memory)
{
    return minus(memory->anonymous_bytes, memory->anonymous_private_bytes);
}

uint64_t memory_anonymous_share_bytes(const struct memory *memory)
{
    if (!memory->has_exact)
        return 0;
    uint64_t then = memory->exact_resident_bytes - memory->exact_file_bytes;
    return moved(memory->anonymous_pss_bytes, then, memory_anonymous_bytes(memory));
}

static bool far(uint64_t a, uint64_t b, uint64_t whole)
{
    return distance(a, b) * 100 > whole;
}

bool memory_has_moved(const struct memory *memory)
{
    return !memory->has_exact ||
           far(memory->resident_bytes, memory->exact_resident_bytes, memory->resident_bytes) ||
           far(memory->file_bytes, memory->exact_file_bytes, memory->resident_bytes);
}

bool memory_ranges_have_moved(const struct memory *memory)
{
    return !memory->has_ranges ||
           far(memory->file_bytes, memory->ranges_file_bytes, memory->resident_bytes);
}
