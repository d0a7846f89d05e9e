#include "machine/gpu/call_pace.h"

#include "base/clock.h"

/* A call makes a pause necessary of so many times its CPU time, up to a limit. */
#define PAUSE_PER_COST 200
#define MAX_PAUSE_NS NS_PER_SECOND
/* Calls that cost less need none. */
#define CHEAP_NS (NS_PER_SECOND / 10000)

bool call_pace_is_due(const struct call_pace *pace, int64_t now_ns)
{
    return now_ns >= pace->due_ns;
}

void call_pace_spend(struct call_pace *pace, int64_t began_ns, int64_t cost_ns, uint32_t n_gpus)
{
    int64_t pause_ns = cost_ns < CHEAP_NS ? 0 : cost_ns * PAUSE_PER_COST * n_gpus;
    pace->due_ns = began_ns + (pause_ns < MAX_PAUSE_NS ? pause_ns : MAX_PAUSE_NS);
}

void call_pace_begin(struct call_pace *pace, int64_t now_ns)
{
    pace->began_ns = now_ns;
    pace->began_cpu_ns = clock_thread_cpu_ns();
}

void call_pace_end(struct call_pace *pace, uint32_t n_gpus)
{
    call_pace_spend(pace, pace->began_ns, clock_thread_cpu_ns() - pace->began_cpu_ns, n_gpus);
}

/* ---- Lists of processes ---- */

/* A list of that cost makes this many times as long a pause necessary. */
#define PAUSE_PER_LIST_COST 20
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
    int64_t paid_ns = saved_ns + PAUSE_PER_LIST_COST * cost_ns;
    int64_t latest_ns = start_ns + max_ns(MAX_USUAL_PAUSE_NS, PAUSE_PER_HIGH_COST * cost_ns);
    budget->paid_until_ns = paid_ns < latest_ns ? paid_ns : latest_ns;
}
