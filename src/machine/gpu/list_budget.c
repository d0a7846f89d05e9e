#include "machine/gpu/list_budget.h"

#include "base/clock.h"

/* A list of that cost makes this many times as long a pause necessary. */
#define PAUSE_PER_COST 20
/* Lists that cost more than a second allows for are further apart by their cost alone. */
#define MAX_USUAL_PAUSE_NS NS_PER_SECOND
#define PAUSE_PER_HIGH_COST 2
/* Pauses that were longer than necessary count up to this. */
#define MAX_SAVED_NS NS_PER_SECOND

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void list_budget_spend(struct list_budget *budget, int64_t start_ns, int64_t cost_ns)
{
    int64_t saved_ns = max_ns(budget->paid_until_ns, start_ns - MAX_SAVED_NS);
    int64_t paid_ns = saved_ns + PAUSE_PER_COST * cost_ns;
    int64_t latest_ns = start_ns + max_ns(MAX_USUAL_PAUSE_NS, PAUSE_PER_HIGH_COST * cost_ns);
    budget->paid_until_ns = paid_ns < latest_ns ? paid_ns : latest_ns;
}
