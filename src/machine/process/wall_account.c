#include "machine/process/wall_account.h"

/* Waiting for a page is storage where nothing is known of any. */
static struct wall_samples with_pages_divided(const struct wall_samples *samples)
{
    struct wall_samples known = *samples;
    double paging = (double)known.ns[WALL_PAGING];
    double both = paging + (double)known.ns[WALL_STORAGE];
    int64_t paging_ns = both > 0 ? (int64_t)((double)known.pages_ns * (paging / both)) : 0;
    known.ns[WALL_PAGING] += paging_ns;
    known.ns[WALL_STORAGE] += known.pages_ns - paging_ns;
    return known;
}

void wall_samples_subtract(struct wall_samples *samples, const struct wall_samples *earlier)
{
    samples->count -= earlier->count;
    samples->pages_ns -= earlier->pages_ns;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++)
        samples->ns[i] -= earlier->ns[i];
}

struct wall_account wall_account_of(
    int64_t wall_ns, int64_t run_ns, int64_t wait_ns, const struct wall_samples *samples)
{
    struct wall_account account = {.samples = samples->count};
    /* Time before the first sight of a thread counts, too. */
    account.wall_ns = wall_ns > run_ns + wait_ns ? wall_ns : run_ns + wait_ns;
    account.ns[WALL_COMPUTING] = run_ns;
    account.ns[WALL_CPU] = wait_ns;
    int64_t rest_ns = account.wall_ns - run_ns - wait_ns, sampled_ns = 0, given_ns = 0;
    struct wall_samples known = with_pages_divided(samples);
    for (int i = WALL_FIRST_SAMPLED; i < WALL_UNKNOWN; i++)
        sampled_ns += known.ns[i];
    for (int i = WALL_FIRST_SAMPLED; sampled_ns > 0 && i < WALL_UNKNOWN; i++) {
        account.ns[i] = (int64_t)((double)rest_ns * ((double)known.ns[i] / (double)sampled_ns));
        given_ns += account.ns[i];
    }
    account.ns[WALL_UNKNOWN] = rest_ns - given_ns;
    return account;
}

void wall_account_add(struct wall_account *account, const struct wall_account *more)
{
    account->wall_ns += more->wall_ns;
    account->samples += more->samples;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++)
        account->ns[i] += more->ns[i];
}

void wall_account_subtract(struct wall_account *account, const struct wall_account *less)
{
    account->samples -= less->samples < account->samples ? less->samples : account->samples;
    account->wall_ns = 0;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
        account->ns[i] -= less->ns[i] < account->ns[i] ? less->ns[i] : account->ns[i];
        account->wall_ns += account->ns[i];
    }
}

void wall_account_explain_child(struct wall_account *account, const struct wall_account *children)
{
    int64_t child_ns = account->ns[WALL_CHILD];
    if (child_ns <= 0 || children->wall_ns <= 0)
        return;
    double part = (double)child_ns / (double)children->wall_ns;
    int64_t given_ns = 0;
    account->ns[WALL_CHILD] = 0;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
        int64_t ns = (int64_t)((double)children->ns[i] * part);
        account->ns[i] += ns;
        given_ns += ns;
    }
    account->ns[WALL_UNKNOWN] += child_ns - given_ns;
    account->samples += children->samples;
}

void wall_account_split_quota(struct wall_account *account, double quota)
{
    int64_t ns = (int64_t)((double)account->ns[WALL_CPU] * (quota < 1 ? quota : 1));
    account->ns[WALL_QUOTA] += ns;
    account->ns[WALL_CPU] -= ns;
}
