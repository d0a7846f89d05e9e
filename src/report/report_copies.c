#include "report/report_copies.h"

#include "base/file.h"
#include "base/order.h"
#include "formats/tracking/tracking_samples.h"
#include "report/document/report_rank.h"
#include "report/report_origin.h"

#include <math.h>
#include <stdlib.h>

struct copy {
    size_t session; /* of the plan */
    const char *path;
    bool has_identity;
    double rank, start; /* NaN: not known */
    uint64_t hash;      /* 0: not known */
};

static void add_copy(struct copy *copy, const struct report_plan *plan, size_t session)
{
    struct report_origin origin;
    const char *path = plan->sessions[session].path;
    long rank = report_rank_of(file_base_name(path));
    report_origin_of_tracking(path, &origin);
    *copy = (struct copy){.session = session,
        .path = path,
        .has_identity = origin.session[0],
        .rank = origin.rank,
        .start = origin.start};
    if (isnan(copy->rank) && rank != REPORT_NO_RANK)
        copy->rank = (double)rank;
}

static int by_start(const void *left, const void *right)
{
    const struct copy *a = left, *b = right;
    return ORDER(a->start, b->start);
}

/* The one that knows whose samples these are is the first. */
static int by_samples(const void *left, const void *right)
{
    const struct copy *a = left, *b = right;
    ORDER_BY(a->hash, b->hash);
    ORDER_BY(b->has_identity, a->has_identity);
    return ORDER(a->session, b->session);
}

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

static bool is_copy(const struct copy *copy, const struct copy *original)
{
    return !copy->has_identity && copy->hash != 0 && copy->hash == original->hash &&
           (isnan(copy->rank) || copy->rank == original->rank);
}

/* Among files with the same first time. */
static void compare(struct copy *copies, size_t count, const char **originals)
{
    bool have_identity = true;
    for (size_t i = 0; i < count; i++)
        have_identity &= copies[i].has_identity;
    if (have_identity)
        return;
    for (size_t i = 0; i < count; i++)
        copies[i].hash = hash_of(copies[i].path);
    qsort(copies, count, sizeof *copies, by_samples);
    for (size_t i = 1, original = 0; i < count; i++) {
        if (is_copy(&copies[i], &copies[original]))
            originals[copies[i].session] = copies[original].path;
        else
            original = i;
    }
}

int report_copies_find(
    const struct report_plan *plan, const char ***originals, struct gput_error *error)
{
    size_t count = 0;
    struct copy *copies = calloc(plan->count + 1, sizeof *copies);
    *originals = calloc(plan->count + 1, sizeof **originals);
    if (!copies || !*originals) {
        free(copies);
        return error_memory(error);
    }
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->sessions[i].loader != &report_tracking_loader)
            continue;
        add_copy(&copies[count], plan, i);
        count += !isnan(copies[count].start);
    }
    qsort(copies, count, sizeof *copies, by_start);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && copies[next].start == copies[first].start;)
            next++;
        compare(copies + first, next - first, *originals);
    }
    free(copies);
    return GPUT_OK;
}
