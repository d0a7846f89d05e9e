#include "views/report/document/report_rank.h"

#include "base/cleanup.h"
#include "base/order.h"
#include "model/results_identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

long report_rank_of(const char *name)
{
    double rank = results_identity_rank_of(name);
    return isnan(rank) ? REPORT_NO_RANK : (long)rank;
}

static int compare(const void *left, const void *right)
{
    const long *a = left, *b = right;
    return ORDER(*a, *b);
}

bool report_ranks_of(const char *const *names, size_t count, long *ranks)
{
    bool are_ranks = count > 1;
    CLEANUP_FREE long *sorted = malloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        ranks[i] = report_rank_of(names[i]);
    if (!sorted)
        return false;
    memcpy(sorted, ranks, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++)
        are_ranks &= sorted[i] != REPORT_NO_RANK && (i == 0 || sorted[i] != sorted[i - 1]);
    return are_ranks;
}

bool report_are_ranks(const struct doc *sessions)
{
    size_t count = 0;
    bool are_ranks = sessions->count > 1;
    CLEANUP_FREE long *ranks = calloc(sessions->count + 1, sizeof *ranks);
    for (const struct doc *session = sessions->first; session && ranks; session = session->next) {
        double rank = doc_get_number(doc_get(session, "identity"), "rank");
        are_ranks &= !isnan(rank);
        ranks[count++] = are_ranks ? (long)rank : REPORT_NO_RANK;
    }
    if (!ranks || !are_ranks)
        return false;
    qsort(ranks, count, sizeof *ranks, compare);
    for (size_t i = 1; i < count; i++)
        are_ranks &= ranks[i] != ranks[i - 1];
    return are_ranks;
}
