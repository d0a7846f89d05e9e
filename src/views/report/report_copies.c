#include "views/report/report_copies.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/order.h"
#include "files/tracking/tracking_samples.h"
#include "views/report/document/report_rank.h"
#include "views/report/report_origin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct copy {
    size_t session; /* of the plan */
    const char *path;
    struct report_origin origin;
    bool has_identity, has_samples;
    double rank, start; /* NaN: not known */
    uint64_t hash;      /* 0: not known */
};

/* What is known of a file of samples or results before its samples are read. */
static struct copy copy_of(const struct report_plan *plan, size_t session)
{
    const char *path = plan->sessions[session].path;
    long rank = report_rank_of(file_base_name(path));
    struct copy copy = {.session = session,
        .path = path,
        .has_samples = plan->sessions[session].loader == &report_tracking_loader};
    if (copy.has_samples)
        report_origin_of_tracking(path, &copy.origin);
    else
        report_origin_of_results(path, &copy.origin);
    copy.has_identity = copy.origin.session[0];
    copy.rank = copy.origin.rank;
    copy.start = copy.has_samples ? copy.origin.start : NAN;
    if (isnan(copy.rank) && rank != REPORT_NO_RANK)
        copy.rank = (double)rank;
    return copy;
}

/* Orders files by their session, the most complete one of each first. */
static int by_session(const void *left, const void *right)
{
    const struct copy *a = left, *b = right;
    ORDER_BY_TEXT(a->origin.session, b->origin.session);
    ORDER_BY(b->has_samples, a->has_samples);
    if (report_origin_is_more_complete(&a->origin, &b->origin))
        return -1;
    if (report_origin_is_more_complete(&b->origin, &a->origin))
        return 1;
    return ORDER(a->session, b->session);
}

/* Orders files by their first sample; those without one are last. */
static int by_start(const void *left, const void *right)
{
    const struct copy *a = left, *b = right;
    ORDER_BY(!!isnan(a->start), !!isnan(b->start));
    return ORDER(a->start, b->start);
}

/* Orders files so that the most complete one, which knows whose samples these are, is first. */
static int by_extent(const void *left, const void *right)
{
    const struct copy *a = left, *b = right;
    ORDER_BY(b->origin.extent, a->origin.extent);
    ORDER_BY(b->has_identity, a->has_identity);
    return ORDER(a->session, b->session);
}

/* A hash of the samples of a file; 0 where they cannot be read. */
static uint64_t hash_of(const char *path)
{
    struct tracking_reader *reader;
    struct tracking_samples samples;
    if (tracking_reader_salvage(path, &reader, NULL) != GPUT_OK)
        return 0;
    int code = tracking_samples_read(reader, &samples, NULL);
    tracking_reader_close(reader);
    return code == GPUT_OK ? tracking_samples_hash(&samples) : 0;
}

/* Whether a file has the samples of another one, or the first ones of them. Either may lack its
 * identity. */
static bool is_copy(const struct copy *copy, const struct copy *original)
{
    if ((copy->has_identity && original->has_identity) || copy->hash == 0 ||
        (copy->rank != original->rank && !isnan(copy->rank) && !isnan(original->rank)))
        return false;
    return copy->hash == original->hash || tracking_samples_begin(copy->path, original->path);
}

/* Finds copies among files that begin at the same time, by their samples. */
static void compare_samples(struct copy *copies, size_t count, const char **originals)
{
    bool have_identity = true;
    for (size_t i = 0; i < count; i++)
        have_identity &= copies[i].has_identity;
    if (have_identity)
        return;
    for (size_t i = 0; i < count; i++)
        copies[i].hash = hash_of(copies[i].path);
    qsort(copies, count, sizeof *copies, by_extent);
    for (size_t i = 1; i < count; i++) {
        const char **original = &originals[copies[i].session];
        for (size_t k = 0; k < i && !*original; k++) {
            const char *other = originals[copies[k].session];
            if (is_copy(&copies[i], &copies[k]))
                *original = other ? other : copies[k].path;
        }
    }
}

int report_copies_find(
    const struct report_plan *plan, const char ***originals, struct gput_error *error)
{
    size_t count = 0;
    CLEANUP_FREE struct copy *copies = calloc(plan->count + 1, sizeof *copies);
    *originals = calloc(plan->count + 1, sizeof **originals);
    if (!copies || !*originals)
        return error_memory(error);
    for (size_t i = 0; i < plan->count; i++) {
        const struct report_loader *loader = plan->sessions[i].loader;
        if (loader == &report_tracking_loader || loader == &report_results_loader)
            copies[count++] = copy_of(plan, i);
    }

    qsort(copies, count, sizeof *copies, by_session);
    for (size_t i = 1, original = 0; i < count; i++) {
        if (copies[i].has_identity &&
            strcmp(copies[i].origin.session, copies[original].origin.session) == 0)
            (*originals)[copies[i].session] = copies[original].path;
        else
            original = i;
    }

    qsort(copies, count, sizeof *copies, by_start);
    for (size_t first = 0, next; first < count && !isnan(copies[first].start); first = next) {
        for (next = first + 1; next < count && copies[next].start == copies[first].start;)
            next++;
        compare_samples(copies + first, next - first, *originals);
    }
    return GPUT_OK;
}
