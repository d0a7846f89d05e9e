#include "process/shared_ranges.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_object_start_owner(const void *left, const void *right)
{
    const struct shared_range *a = left, *b = right;
    int order = compare(a->device, b->device);
    if (order == 0)
        order = compare(a->inode, b->inode);
    if (order == 0)
        order = compare(a->start, b->start);
    return order ? order : compare(a->owner, b->owner);
}

static bool same_object(const struct shared_range *a, const struct shared_range *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Sums over one object, once for all owners and once without owner 0. */
struct sums {
    uint64_t private_bytes, pss_bytes, shared_bytes;
};

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int by_owner(const void *left, const void *right)
{
    const struct shared_range *a = left, *b = right;
    return compare(a->owner, b->owner);
}

/*
 * The shared bytes of ranges that overlap one another, sorted by owner: the most that one owner
 * from `first_owner` on has there.
 */
static uint64_t cluster_shared(
    const struct shared_range *ranges, size_t count, uint32_t first_owner)
{
    uint64_t highest = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].owner < first_owner)
            continue;
        bool goes_on = i > 0 && ranges[i].owner == ranges[i - 1].owner;
        bytes = ranges[i].shared_bytes + (goes_on ? bytes : 0);
        highest = most(highest, bytes);
    }
    return highest;
}

/*
 * Adds the ranges of one cluster. Their readings are of different moments, so that one may still
 * say "private" of what another says "shared": no more than the cluster is long can be in RAM.
 */
static void add_sums(struct sums *sums, const struct sums *cluster, uint64_t length)
{
    uint64_t shared = least(cluster->shared_bytes, length);
    sums->shared_bytes += shared;
    sums->private_bytes += least(cluster->private_bytes, length - shared);
    sums->pss_bytes += least(cluster->pss_bytes, length);
}

static void add_cluster(struct shared_range *ranges, size_t count, uint64_t length,
    struct sums *all, struct sums *others, uint64_t *main_private)
{
    if (count > 1)
        qsort(ranges, count, sizeof *ranges, by_owner);
    struct sums all_here = {.shared_bytes = cluster_shared(ranges, count, 0)};
    struct sums others_here = {.shared_bytes = cluster_shared(ranges, count, 1)};
    for (size_t i = 0; i < count; i++) {
        all_here.private_bytes += ranges[i].private_bytes;
        all_here.pss_bytes += ranges[i].pss_bytes;
        if (ranges[i].owner == 0) {
            *main_private += ranges[i].private_bytes;
            continue;
        }
        others_here.private_bytes += ranges[i].private_bytes;
        others_here.pss_bytes += ranges[i].pss_bytes;
    }
    add_sums(all, &all_here, length);
    add_sums(others, &others_here, length);
}

static uint64_t unique(const struct sums *sums)
{
    return most(sums->private_bytes + sums->shared_bytes, sums->pss_bytes);
}

static void add_object(struct shared_range *ranges, size_t count, struct shared_totals *totals)
{
    struct sums all = {0}, others = {0};
    uint64_t main_private = 0;

    for (size_t start = 0, end; start < count; start = end) {
        uint64_t reach = ranges[start].end;
        for (end = start + 1; end < count && ranges[end].start < reach; end++)
            reach = most(reach, ranges[end].end);
        add_cluster(
            ranges + start, end - start, reach - ranges[start].start, &all, &others, &main_private);
    }

    uint64_t combined = unique(&all);
    uint64_t descendants = unique(&others);
    /*
     * When the proportional shares add up to the whole, no process outside shares the object. Then
     * what main alone has not is what the descendants have, also where each maps another part.
     */
    bool closed = all.pss_bytes + all.pss_bytes / 100 >= combined;
    if (closed && others.pss_bytes > 0)
        descendants = most(descendants, combined - least(main_private, combined));
    totals->combined_bytes += combined;
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
