#include "machine/process/shared_ranges.h"

#include "base/order.h"
#include "machine/process/bytes.h"

#include <stdlib.h>

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

/* What one owner has in a cluster. */
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
