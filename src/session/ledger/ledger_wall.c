/*
 * Where the wall time of the tree went.
 */
#include "session/ledger/ledger.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/str.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_PROGRAMS 6
/* Programs for which main waited in pipes are named from this share of its time on; their
 * maximum number, and that of their causes: */
#define SHOWN_WAIT_PART 0.05
#define SHOWN_WAITS 3
#define SHOWN_WAIT_CAUSES 2

/* ---- what is known of the living ---- */

/* Adds up what living children did, those of children first: the tree has parents before their
 * children. */
static void add_living_children(struct ledger *ledger)
{
    const struct process_tree *tree = ledger->snapshot->tree;
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->processes[i]->threads)
            tree->processes[i]->threads->living = (struct wall_account){0};
    }
    for (size_t i = tree->count; i-- > 0;) {
        struct process *process = tree->processes[i];
        if (process->is_main || !process->threads || process->state == PROCESS_FINAL)
            continue;
        struct process *parent = process_log_get(&ledger->log, process_parent_pid(process));
        struct wall_account account = process_path_account(process, &process->threads->living);
        if (parent && parent->threads)
            wall_account_add(&parent->threads->living, &account);
    }
}

/* Returns the accounts by program name, with those of living processes. */
static struct program_accounts programs_so_far(const struct ledger *ledger)
{
    struct program_accounts programs = ledger->log.programs;
    const struct process_tree *tree = ledger->snapshot->tree;
    const struct process *main = ledger->log.main;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process->is_main && process->state != PROCESS_FINAL)
            program_accounts_add(&programs, process);
    }
    if (main)
        program_accounts_add(&programs, main);
    return programs;
}

static int by_computing(const void *a, const void *b)
{
    const struct program_account *left = a, *right = b;
    int64_t left_ns = left->threads.ns[WALL_COMPUTING];
    int64_t right_ns = right->threads.ns[WALL_COMPUTING];
    return (left_ns < right_ns) - (left_ns > right_ns);
}

/* "cc1 12 x 41 s of 60 s; make 1 x 0.2 s of 61 s": time on a CPU, of the time of their threads. */
static void name_programs(struct program_accounts *programs, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    qsort(programs->programs, programs->count, sizeof programs->programs[0], by_computing);
    for (size_t i = 0; i < programs->count && i < SHOWN_PROGRAMS; i++) {
        const struct program_account *program = &programs->programs[i];
        char ran[HUMAN_SIZE], lived[HUMAN_SIZE];
        int length = snprintf(text + used, size - used, "%s%s (%llu process%s) %s of %s",
            used > 0 ? "; " : "", program->name[0] ? program->name : "?",
            (unsigned long long)program->processes, program->processes == 1 ? "" : "es",
            human_seconds(clock_seconds_of_ns(program->threads.ns[WALL_COMPUTING]), ran),
            human_seconds(clock_seconds_of_ns(program->threads.wall_ns), lived));
        if (length < 0 || (size_t)length >= size - used) {
            text[used] = '\0';
            return;
        }
        used += (size_t)length;
    }
}

/* ---- all of it ---- */

/*
 * Returns the account of threads that were seen at some moments, and of which all time is known.
 * A moment does not show whether a thread ran or waited for a CPU: these are in proportion to
 * all its time.
 */
static struct wall_account account_of_moments(
    const struct wall_samples *samples, const struct wall_account *all)
{
    struct wall_account account = {.samples = samples->count};
    int64_t ran_ns = all->ns[WALL_COMPUTING], waited_ns = all->ns[WALL_CPU];
    for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
        account.ns[i] = samples->ns[i];
        account.wall_ns += samples->ns[i];
    }
    if (ran_ns + waited_ns > 0)
        account.ns[WALL_CPU] = (int64_t)((double)account.ns[WALL_COMPUTING] * (double)waited_ns /
                                         (double)(ran_ns + waited_ns));
    account.ns[WALL_COMPUTING] -= account.ns[WALL_CPU];
    return account;
}

/* Appends the largest shares of what others did: "70 % computing, 20 % storage". */
static void append_shares(struct str *text, const struct wall_account *account)
{
    static const char *const words[] = {
#define WORD(ID, name, word, meaning) word,
        WALL_CAUSES(WORD)
#undef WORD
    };
    struct wall_account rest = *account;
    for (int n = 0; n < SHOWN_WAIT_CAUSES; n++) {
        int largest = 0;
        for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
            if (rest.ns[i] > rest.ns[largest])
                largest = i;
        }
        double percent = 100 * (double)rest.ns[largest] / (double)account->wall_ns;
        if (percent < 1)
            return;
        str_printf(text, "%s%.0f %% %s", n > 0 ? ", " : "", percent, words[largest]);
        rest.ns[largest] = 0;
    }
}

/* A child of main that sleeps in a pipe did what the process at the other end did: of "sh -c 'tar |
 * gzip'", where both are waited for, one works and the other one waits for it. Main's own pipes
 * stay as they are. */
static void explain_pipes(struct ledger_wall *wall, const struct pipe_waits *pipes)
{
    struct wall_samples meanwhile = {0};
    int64_t awaited_ns = 0;
    for (size_t i = 0; i < pipes->count; i++) {
        const struct pipe_wait *wait = &pipes->waits[i];
        awaited_ns += wait->is_main ? 0 : wait->ns - wait->polled_ns;
        for (int k = 0; k < WALL_CAUSE_COUNT && !wait->is_main; k++)
            meanwhile.ns[k] += wait->meanwhile.ns[k];
    }
    struct wall_account account = account_of_moments(&meanwhile, &wall->others);
    double all_ns = (double)wall->others.ns[WALL_PIPE];
    int64_t of_children_ns = wall->path.ns[WALL_PIPE] - wall->main_thread.ns[WALL_PIPE];
    if (awaited_ns <= 0 || of_children_ns <= 0 || account.wall_ns <= 0)
        return;
    double part = fmin((double)awaited_ns / fmax(all_ns, 1), 1);
    int64_t moved_ns = (int64_t)((double)of_children_ns * part);
    wall->path.ns[WALL_PIPE] -= moved_ns;
    int64_t given_ns = 0;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
        int64_t ns =
            (int64_t)((double)moved_ns * ((double)account.ns[i] / (double)account.wall_ns));
        wall->path.ns[i] += ns;
        given_ns += ns;
    }
    wall->path.ns[WALL_UNKNOWN] += moved_ns - given_ns;
}

static int by_wait(const void *a, const void *b)
{
    const struct pipe_wait *left = a, *right = b;
    return (left->ns < right->ns) - (left->ns > right->ns);
}

/* "python3 read a pipe of 4 python3 processes for 3.1 s (70 % computing, 20 % storage)". */
static void name_awaited(const struct ledger *ledger, char *text, size_t size)
{
    CLEANUP_STR struct str list = {0};
    struct pipe_waits pipes = ledger->snapshot->waits->pipes;
    const struct ledger_wall *wall = &ledger->wall;
    qsort(pipes.waits, pipes.count, sizeof pipes.waits[0], by_wait);
    for (size_t i = 0; i < pipes.count && i < SHOWN_WAITS; i++) {
        const struct pipe_wait *wait = &pipes.waits[i];
        char count[24] = "", seconds[HUMAN_SIZE];
        struct wall_account account = account_of_moments(&wait->meanwhile, &wall->others);
        if ((double)wait->ns < SHOWN_WAIT_PART * (double)wall->path.wall_ns || account.wall_ns == 0)
            break;
        if (wait->n_holders > 1)
            snprintf(count, sizeof count, "%zu ", wait->n_holders);
        str_printf(&list, "%s%s %s a pipe of %s%s%s for %s (", list.length > 0 ? "; " : "",
            wait->waiter, wait->is_write ? "wrote to" : "read", count, wait->holder,
            wait->n_holders > 1 ? " processes" : "",
            human_seconds(clock_seconds_of_ns(wait->ns), seconds));
        append_shares(&list, &account);
        str_append_char(&list, ')');
    }
    text_fit(text, size, "%s", str_text(&list));
}

double ledger_quota_part(const struct ledger *ledger)
{
    struct run_queue_times times = process_log_run_queue(&ledger->log);
    double held = ledger->quota.held_seconds, waited = clock_seconds_of_ns(times.wait_ns);
    return held > 0 && waited > 0 ? fmin(held / waited, 1) : 0;
}

void ledger_update_wall(struct ledger *ledger)
{
    struct ledger_wall *wall = &ledger->wall;
    const struct process *main = ledger->log.main;
    if (!main || !main->threads || ledger->settings->mode == SESSION_SELF)
        return;
    quota_group_update(&ledger->quota);
    add_living_children(ledger);
    struct program_accounts programs = programs_so_far(ledger);
    wall->main_thread = process_leading_account(main);
    wall->path = process_path_account(main, &main->threads->living);
    wall->others = (struct wall_account){0};
    for (size_t i = 0; i < programs.count; i++)
        wall_account_add(&wall->others, &programs.programs[i].threads);
    wall_account_subtract(&wall->others, &wall->main_thread);
    if (ledger->snapshot->waits)
        wall->while_gpu_idle =
            account_of_moments(&ledger->snapshot->waits->while_gpu_idle, &wall->main_thread);
    if (ledger->snapshot->waits)
        wall->others_while_gpu_idle =
            account_of_moments(&ledger->snapshot->waits->others_while_gpu_idle, &wall->others);
    if (ledger->snapshot->waits) {
        explain_pipes(wall, &ledger->snapshot->waits->pipes);
        name_awaited(ledger, wall->awaited, sizeof wall->awaited);
    }
    double part = ledger_quota_part(ledger);
    wall_account_split_quota(&wall->main_thread, part);
    wall_account_split_quota(&wall->path, part);
    wall_account_split_quota(&wall->others, part);
    wall_account_split_quota(&wall->while_gpu_idle, part);
    wall_account_split_quota(&wall->others_while_gpu_idle, part);
    name_programs(&programs, wall->programs, sizeof wall->programs);
}

static struct gput_wall wall_of(const struct wall_account *account)
{
    struct gput_wall wall = {.seconds = NAN, .samples = NAN};
    for (int i = 0; i < WALL_CAUSE_COUNT; i++)
        wall.seconds_of[i] = account->wall_ns > 0 ? clock_seconds_of_ns(account->ns[i]) : NAN;
    if (account->wall_ns <= 0)
        return wall;
    wall.seconds = clock_seconds_of_ns(account->wall_ns);
    wall.samples = (double)account->samples;
    return wall;
}

void ledger_fill_wall(const struct ledger *ledger, struct gput_results *results)
{
    const struct ledger_wall *wall = &ledger->wall;
    results->time_went = wall_of(&wall->path);
    results->main_thread = wall_of(&wall->main_thread);
    results->other_threads = wall_of(&wall->others);
    results->gpu_idle = wall_of(&wall->while_gpu_idle);
    results->gpu_idle_others = wall_of(&wall->others_while_gpu_idle);
    int64_t gpu_ns = ledger->snapshot->waits ? ledger->snapshot->waits->gpu_ns : 0;
    results->gpu_known_seconds = gpu_ns > 0 ? clock_seconds_of_ns(gpu_ns) : NAN;
    text_fit(results->programs, sizeof results->programs, "%s", wall->programs);
    text_fit(results->awaited, sizeof results->awaited, "%s", wall->awaited);
}

void ledger_add_wall_source(const struct ledger *ledger, struct gput_results *results)
{
    const struct process *main = ledger->log.main;
    bool is_refused = main && main->threads && main->threads->states == PROCESS_STATES_REFUSED;
    if (ledger->settings->mode == SESSION_SELF)
        results_add_source(results, "time_went", GPUT_SOURCE_UNAVAILABLE,
            "threads of the tracker are in this process, too");
    else if (isnan(results->time_went.seconds))
        results_add_source(results, "time_went", GPUT_SOURCE_UNAVAILABLE,
            "no thread of the command could be read");
    else
        results_add_source(results, "time_went", GPUT_SOURCE_SAMPLED,
            "computing and waiting for a CPU: schedstat of each thread%s; the rest is divided by "
            "%.0f samples at random moments of what threads sleep in (%s); main is followed into "
            "the children that it waits for",
            ledger->events->has_exit_records ? " and exit records (taskstats)" : "",
            results->time_went.samples,
            is_refused ? "stat alone: this user may not read wchan" : "wchan, syscall");
}
