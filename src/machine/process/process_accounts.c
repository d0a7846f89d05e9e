#include "machine/process/process_accounts.h"

#include "machine/process/process_threads.h"
#include "machine/process/wait_cause.h"

#include <string.h>

/* A first thread that waits for others has run for less than this part of its time, and slept in a
 * lock (join) for more than that part. */
#define IDLE_PART 0.05
#define JOIN_PART 0.8

/* Returns the account of a program, a new one where it has none; NULL: there are too many. */
static struct program_account *program_of(struct program_accounts *accounts, const char *name)
{
    for (size_t i = 0; i < accounts->count; i++) {
        if (strcmp(accounts->programs[i].name, name) == 0)
            return &accounts->programs[i];
    }
    if (accounts->count == MAX_PROGRAMS)
        return NULL;
    struct program_account *program = &accounts->programs[accounts->count++];
    *program = (struct program_account){0};
    strcpy(program->name, name);
    return program;
}

/* All its threads together. */
static struct wall_account threads_account(const struct process *process)
{
    const struct process_threads *list = process->threads;
    struct wall_account sum = list ? list->ended : (struct wall_account){0};
    for (size_t i = 0; list && i < list->count; i++) {
        struct wall_account account = process_thread_account(process, &list->threads[i]);
        wall_account_add(&sum, &account);
    }
    return sum;
}

void program_accounts_add(struct program_accounts *accounts, const struct process *process)
{
    struct program_account *program = program_of(accounts, process->program.name);
    if (!program || !process->threads)
        return;
    struct wall_account threads = threads_account(process);
    program->processes++;
    wall_account_add(&program->threads, &threads);
}

static int64_t worked_ns(const struct wall_account *account)
{
    return account->ns[WALL_COMPUTING] + account->ns[WALL_CPU];
}

static bool only_joins(const struct wall_account *account)
{
    return (double)worked_ns(account) < IDLE_PART * (double)account->wall_ns &&
           (double)account->ns[WALL_LOCK] > JOIN_PART * (double)account->wall_ns;
}

struct wall_account process_leading_account(const struct process *process)
{
    const struct process_threads *list = process->threads;
    struct wall_account first = {0}, busiest = list ? list->busiest : first;
    for (size_t i = 0; list && i < list->count; i++) {
        struct wall_account account = process_thread_account(process, &list->threads[i]);
        if (list->threads[i].id == process->pid)
            first = account;
        else if (worked_ns(&account) > worked_ns(&busiest))
            busiest = account;
    }
    return only_joins(&first) && worked_ns(&busiest) > worked_ns(&first) ? busiest : first;
}

struct wall_account process_path_account(
    const struct process *process, const struct wall_account *living)
{
    struct wall_account account = process_leading_account(process), children = {0};
    if (process->threads)
        children = process->threads->children;
    if (living)
        wall_account_add(&children, living);
    wall_account_explain_child(&account, &children);
    return account;
}

/* Returns what a thread does now. Only a first thread that may do something else than at the
 * last moment is read again. `view` NULL: the process has ended, and so has a zombie. */
static enum wall_cause cause_now(
    struct process *process, struct thread *thread, bool has_worked, struct process_view *view)
{
    enum wall_cause cause = (enum wall_cause)thread->cause;
    if (!view || process_is_zombie(process) || thread->id != process->pid ||
        (!has_worked && cause != WALL_COMPUTING))
        return cause;
    return process_state_read(process, thread, view);
}

/* Returns what is known of a thread now; the next tick subtracts it. */
static struct thread_before known_of(const struct process *process, const struct thread *thread)
{
    return (struct thread_before){process_thread_wall_ns(process, thread), thread->run_ns,
        thread->wait_ns, thread->samples, process_state_cause(thread->cause)};
}

/*
 * Where its time went since the tick before. Where no sample fell into that, what it does now says
 * what it did when it did not run. If it is ready to run, that is what it did so far; or it waited
 * for a CPU, if it never slept, or did next to nothing. The kernel counts a wait when it is over:
 * `before` has it until then.
 */
static struct wall_account take_recent(
    struct process *process, struct thread *thread, struct process_view *view)
{
    struct thread_before before = thread->before;
    struct wall_samples samples = thread->samples;
    thread->before = known_of(process, thread);
    int64_t wall_ns = thread->before.wall_ns - before.wall_ns;
    int64_t run_ns = thread->run_ns - before.run_ns, wait_ns = thread->wait_ns - before.wait_ns;
    wait_ns = wait_ns > 0 ? wait_ns : 0;
    int64_t worked_ns = run_ns + wait_ns;
    if (samples.count > before.samples.count) {
        wall_samples_subtract(&samples, &before.samples);
    } else if (wall_ns > worked_ns) {
        bool is_idle = (double)worked_ns < IDLE_PART * (double)wall_ns;
        enum wall_cause cause =
            process_state_cause(cause_now(process, thread, worked_ns > 0, view));
        thread->before.cause = cause;
        if (cause != WALL_COMPUTING) {
            samples = (struct wall_samples){0};
            samples.ns[cause] = 1;
        } else if (process->threads->states == PROCESS_STATES_KNOWN &&
                   (is_idle || samples.count == 0)) {
            /* It may have slept until it was to run. */
            int64_t rest_ns = wall_ns - worked_ns;
            wait_ns += before.cause == WALL_COMPUTING ? rest_ns : rest_ns / 2;
            samples = (struct wall_samples){0};
            samples.ns[before.cause] = 1;
        }
    }
    thread->before.wait_ns = before.wait_ns + wait_ns;
    return wall_account_of(wall_ns, run_ns, wait_ns, &samples);
}

/* Returns the account of its leading thread since the last call. */
static struct wall_account recent_account(struct process *process, struct process_view *view)
{
    struct process_threads *list = process->threads;
    struct wall_account first = {0}, busiest = {0};
    for (size_t i = 0; i < list->count; i++) {
        struct wall_account account = take_recent(process, &list->threads[i], view);
        if (list->threads[i].id == process->pid)
            first = account;
        else if (worked_ns(&account) > worked_ns(&busiest))
            busiest = account;
    }
    return only_joins(&first) && worked_ns(&busiest) > worked_ns(&first) ? busiest : first;
}

void process_account_close(struct process *process, struct process *parent)
{
    struct process_threads *list = parent ? process_threads_of(parent) : NULL;
    if (!list || !process->threads)
        return;
    struct wall_account account = process_path_account(process, NULL);
    wall_account_add(&list->children, &account);
    account = recent_account(process, NULL);
    wall_account_explain_child(&account, &process->threads->recent_children);
    wall_account_add(&list->recent_children, &account);
}

/* ---- the tree, since the tick before ---- */

/* Its parent, where that waits for children: what this one does is then what its parent does. */
static struct process_threads *waiting_parent(
    const struct process_tree *tree, const struct process *process)
{
    struct process *parent =
        process->is_main ? NULL : process_tree_get(tree, process_parent_pid(process));
    bool waits = parent && parent->threads && parent->threads->recent.ns[WALL_CHILD] > 0;
    return waits ? parent->threads : NULL;
}

struct wall_account process_tree_recent_account(struct process_tree *tree)
{
    struct process *main = process_tree_main(tree);
    if (!main || !main->threads)
        return (struct wall_account){0};
    struct process_threads *first = main->threads;
    first->recent = recent_account(main, &tree->view);
    bool waits = first->recent.ns[WALL_CHILD] > 0;
    /* The tree has parents before their children. What a process did while its parent did not wait
     * is no part of a later tick. */
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        struct process_threads *list = process->threads;
        if (process->is_main || !list)
            continue;
        bool is_awaited = waits && waiting_parent(tree, process);
        list->recent = is_awaited ? recent_account(process, &tree->view) : (struct wall_account){0};
        for (size_t k = 0; !is_awaited && k < list->count; k++)
            list->threads[k].before = known_of(process, &list->threads[k]);
    }
    for (size_t i = tree->count; i-- > 0;) {
        struct process_threads *list = tree->processes[i]->threads;
        if (!list)
            continue;
        struct process_threads *parent =
            list->recent.wall_ns != 0 ? waiting_parent(tree, tree->processes[i]) : NULL;
        wall_account_explain_child(&list->recent, &list->recent_children);
        list->recent_children = (struct wall_account){0};
        if (parent)
            wall_account_add(&parent->recent_children, &list->recent);
    }
    return first->recent;
}
