#include "machine/process/process_accounts.h"

#include "machine/process/process_threads.h"

#include <string.h>

/* A first thread that waits for others has run for less than this part of its time, and slept in a
 * lock (join) for more than that part. */
#define IDLE_PART 0.05
#define JOIN_PART 0.8

/* Of those with a program's name only. */
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

void process_account_close(struct process *process, struct process *parent)
{
    struct process_threads *list = parent ? process_threads_of(parent) : NULL;
    if (!list || !process->threads)
        return;
    struct wall_account account = process_path_account(process, NULL);
    wall_account_add(&list->children, &account);
}
