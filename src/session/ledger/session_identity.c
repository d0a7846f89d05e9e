#include "session/ledger/session_identity.h"

#include "base/clock.h"
#include "base/command_name.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "machine/os/cpu_count.h"
#include "machine/os/environment.h"
#include "machine/os/launcher.h"
#include "machine/os/passwd.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"

#include <gputracker/gputracker.h>

#include <math.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Where exec generations are not known: a process that was started this long ago has called
 * execve(), as a rule, or will not. */
#define EXEC_WITHIN_NS (NS_PER_SECOND / 2)
/* As many processes without a launcher belong to no job: the rest is not read. */
#define MAX_UNSUCCESSFUL 512
/* Words of a command line that is read from a process. More do not fit into an identity. */
#define MAX_COMMAND_WORDS 512
/* At one tick. */
#define MAX_READINGS 64

#define FIT(member, ...) text_fit(identity->member, sizeof identity->member, __VA_ARGS__)

void session_identity_init(struct session_identity *state)
{
    memset(state, 0, sizeof *state);
    identity_forget(&state->known);
}

/* ---- The machine, and the process ---- */

/* "2026-01-31T23:59:59.123456Z" */
static void format_time(int64_t time_ns, char *text, size_t size)
{
    struct tm utc;
    char second[24];
    time_t seconds = (time_t)(time_ns / NS_PER_SECOND);
    if (!gmtime_r(&seconds, &utc) || !strftime(second, sizeof second, "%Y-%m-%dT%H:%M:%S", &utc))
        return;
    text_fit(text, size, "%s.%06dZ", second, (int)(time_ns % NS_PER_SECOND / 1000));
}

static bool is_own_or_child(const struct session_settings *settings)
{
    return settings->mode == SESSION_LAUNCHED || settings->mode == SESSION_SELF;
}

static void read_user(struct gput_identity *identity, const struct session_settings *settings,
    pid_t pid, launcher_variable *variable, void *environment)
{
    struct proc_status status = {.uid = geteuid()};
    if (!is_own_or_child(settings) &&
        proc_status_read(settings->options.procfs_root, pid, &status, NULL) != GPUT_OK)
        return;
    passwd_read(
        status.uid, variable(environment, "LOGNAME"), identity->user, sizeof identity->user);
}

/* Reads the words of a running process's command line into `line`, and where they are into `words`,
 * which ends with NULL. */
static void read_command_line(const struct session_settings *settings, pid_t pid, struct str *line,
    const char *words[MAX_COMMAND_WORDS])
{
    size_t count = 0;
    if (procfs_read_bounded(settings->calls, settings->options.procfs_root, pid, "cmdline", line,
            NULL) == GPUT_OK) {
        const char *end = str_text(line) + line->length;
        for (const char *word = str_text(line); word < end && count + 1 < MAX_COMMAND_WORDS;
             word += strlen(word) + 1)
            words[count++] = word;
    }
    words[count] = NULL;
}

/* The whole command where command lines are asked for. Otherwise the program and its script,
 * because other arguments may be secrets. */
static void read_command(struct gput_identity *identity, const struct session_settings *settings,
    pid_t pid, char *const argv[])
{
    struct str line = {0}, text = {0};
    const char *read_words[MAX_COMMAND_WORDS], *name[COMMAND_NAME_WORDS];
    const char *const *words = (const char *const *)argv;
    if (!words) {
        read_command_line(settings, pid, &line, read_words);
        words = read_words;
    }
    if (!settings->options.command_lines) {
        command_name_of(words, name);
        words = name;
    }
    for (size_t i = 0; words[i]; i++) {
        str_append(&text, i ? " " : "");
        str_append(&text, words[i]);
    }
    FIT(command, "%s", str_text(&text));
    str_finish(&text);
    str_finish(&line);
}

/* A session of a script may have several, one after the other. */
static void add_run(struct session_identity *state, const char *run)
{
    struct gput_identity *identity = &state->known;
    if (!run || (state->has_run && strcmp(identity->run, run) == 0))
        return;
    FIT(run, "%s", state->has_run ? "" : run);
    state->has_run = true;
}

/* Used where the environment has none. */
static void add_run_of_process(struct session_identity *state, struct bounded_calls *calls,
    const char *procfs_root, pid_t pid, bool is_descendant)
{
    char address[sizeof state->known.run];
    if (strcmp(state->known.launcher, "MPICH") == 0 && state->are_of_descendants == is_descendant &&
        (is_descendant || !state->has_run) &&
        hydra_read(calls, procfs_root, pid, address, sizeof address, NULL) == GPUT_OK)
        add_run(state, address);
}

void session_identity_begin(struct session_identity *state, const struct session_settings *settings,
    const struct container *container, pid_t pid, char *const argv[])
{
    const char *procfs_root = settings->options.procfs_root;
    struct gput_identity *identity = &state->known;
    struct environment environment = {0};
    launcher_variable *variable =
        is_own_or_child(settings) ? environment_own_variable : environment_variable;
    session_identity_init(state);
    char boot_id[64];
    if (gethostname(identity->host, sizeof identity->host) != 0)
        identity->host[0] = '\0';
    identity->host[sizeof identity->host - 1] = '\0';
    if (procfs_read(procfs_root, PROCFS_SYSTEM, "sys/kernel/random/boot_id", boot_id,
            sizeof boot_id, NULL, NULL) == GPUT_OK)
        FIT(boot_id, "%.*s", (int)strcspn(boot_id, "\n"), boot_id);
    FIT(version, "%s", gput_version());
    /* In containers, too, it is the machine's. */
    struct timex clock = {0};
    if (adjtimex(&clock) >= 0)
        FIT(clock, "%s", clock.status & STA_UNSYNC ? "unsynchronized" : "synchronized");
    int64_t ago_ns = clock_monotonic_ns() - settings->start_ns;
    format_time(wall_clock_ns() - ago_ns, identity->start, sizeof identity->start);
    FIT(session_id, "%s", settings->id);
    FIT(within, "%s", settings->within);
    if (settings->options.tracking_file)
        FIT(tracking_file, "%s", file_base_name(settings->options.tracking_file));
    if (settings->options.energy_folder)
        FIT(energy_folder, "%s", file_base_name(settings->options.energy_folder));
    if (pid == 0)
        return;
    if (!is_own_or_child(settings))
        environment_read(settings->calls, procfs_root, pid, &environment, NULL);
    identity->pid = pid;
    read_user(identity, settings, pid, variable, &environment);
    read_command(identity, settings, pid, argv);
    /* In a pod the host name is its name. */
    const char *name = variable(&environment, "APPTAINER_NAME");
    FIT(cgroup, "%s", container->cgroup);
    FIT(container, "%s", container->id);
    FIT(pod, "%s",
        variable(&environment, "KUBERNETES_SERVICE_HOST") ? identity->host : container->pod);
    if (!name)
        name = variable(&environment, "SINGULARITY_NAME");
    if (name && !identity->container[0])
        FIT(container, "%s", name);
    if (settings->has_own_procfs)
        cpu_list_allowed(pid, identity->cpus, sizeof identity->cpus);
    session_identity_add(state, variable, &environment, false);
    add_run_of_process(state, settings->calls, procfs_root, pid, false);
    environment_finish(&environment);
}

/* ---- The job ---- */

static double known_number(long number)
{
    return number < 0 ? NAN : (double)number;
}

void session_identity_format_ranks(const long *ranks, size_t count, char *text, size_t size)
{
    struct str list = {0};
    for (size_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && ranks[last + 1] == ranks[last] + 1;)
            last++;
        str_printf(&list, "%s%ld", i ? "," : "", ranks[i]);
        if (last > i)
            str_printf(&list, "%s%ld", last == i + 1 ? "," : "-", ranks[last]);
    }
    text_fit(text, size, "%s", str_text(&list));
    str_finish(&list);
}

/* Adds a rank, in ascending order, unless it is known. */
static void add_rank(struct session_identity *state, long rank)
{
    size_t at = 0;
    while (at < state->n_ranks && state->ranks[at] < rank)
        at++;
    if (rank < 0 || state->n_ranks == IDENTITY_MAX_RANKS ||
        (at < state->n_ranks && state->ranks[at] == rank))
        return;
    memmove(&state->ranks[at + 1], &state->ranks[at], (state->n_ranks - at) * sizeof(long));
    state->ranks[at] = rank;
    state->n_ranks++;
}

/* Which of GNU parallel's jobs a descendant is says nothing of the session that has all of them. */
static void forget_parallel(struct launcher *launcher)
{
    if (!launcher->sequence)
        return;
    launcher->sequence = NULL;
    if (!launcher->job)
        launcher->step = NULL;
    if (launcher->depth == 0)
        launcher->run = NULL;
}

/* Ids of a job and where it runs: those of an outer launcher hold for all that it started. */
static void add_job(struct gput_identity *identity, const struct launcher *launcher)
{
    if (launcher->job && !identity->job_id[0])
        FIT(job_id, "%s%s%s", launcher->job, launcher->array_task ? "_" : "",
            launcher->array_task ? launcher->array_task : "");
    if ((launcher->element || launcher->sequence) && !identity->task[0])
        FIT(task, "%s%s%s", launcher->element ? launcher->element : "",
            launcher->element && launcher->sequence ? "_" : "",
            launcher->sequence ? launcher->sequence : "");
    if (launcher->step && !identity->step[0])
        FIT(step, "%s", launcher->step);
    if (launcher->run && launcher->depth == 0 && !identity->run[0]) /* of GNU parallel */
        FIT(run, "%s", launcher->run);
    if (launcher->job_name && !identity->job_name[0])
        FIT(job_name, "%s", launcher->job_name);
    if (isnan(identity->time_limit_seconds))
        identity->time_limit_seconds = launcher->time_limit_seconds;
    if (launcher->node[0])
        FIT(node, "%s", launcher->node);
    if (launcher->node_rank >= 0)
        identity->node_rank = (double)launcher->node_rank;
    if (launcher->node_count >= 0)
        identity->node_count = (double)launcher->node_count;
    if (launcher->restarts >= 0)
        identity->restarts = fmax((double)launcher->restarts, identity->restarts);
}

/* Whether all ranks that the launcher names were seen, or it names no number. */
static bool are_all_seen(const struct session_identity *state)
{
    const struct gput_identity *identity = &state->known;
    double expected = isnan(identity->local_size) ? identity->world_size : identity->local_size;
    return isnan(expected) || (double)state->n_ranks >= expected;
}

/* A single rank is the rank of the session. */
static void fill_ranks(
    struct session_identity *state, const struct launcher *launcher, bool is_known_rank)
{
    struct gput_identity *identity = &state->known;
    bool is_one = state->n_ranks == 1 && (!state->are_of_descendants || are_all_seen(state));
    if (is_one && !is_known_rank) {
        identity->rank = known_number(state->ranks[0]);
        identity->local_rank = known_number(launcher->local_rank);
    } else if (!is_one) {
        identity->rank = identity->local_rank = NAN;
    }
    if (state->n_ranks > 0)
        FIT(ranks_of, "%s", state->are_of_descendants ? "descendants" : "main");
    session_identity_format_ranks(
        state->ranks, state->n_ranks, identity->ranks, sizeof identity->ranks);
}

void session_identity_add(
    struct session_identity *state, launcher_variable *variable, void *user, bool is_descendant)
{
    struct gput_identity *identity = &state->known;
    struct launcher launcher;
    launcher_parse(variable, user, &launcher);
    if (is_descendant)
        forget_parallel(&launcher);
    state->unsuccessful += launcher.depth == 0;
    add_job(identity, &launcher);
    if (launcher.depth < state->depth || launcher.depth == 0)
        return;
    if (launcher.depth > state->depth) {
        state->depth = launcher.depth;
        state->n_ranks = 0;
        state->are_of_descendants = is_descendant;
        identity->rank = identity->local_rank = NAN;
        identity->ranks_of[0] = identity->run[0] = '\0';
        state->has_run = false;
        FIT(launcher, "%s", launcher.name);
        identity->world_size = known_number(launcher.world_size);
        identity->local_size = known_number(launcher.local_size);
    }
    if (state->are_of_descendants == is_descendant)
        add_run(state, launcher.run);
    size_t before = state->n_ranks;
    add_rank(state, launcher.rank);
    fill_ranks(state, &launcher, before == state->n_ranks);
}

/* Whether the environment of its present program was read: execve() replaces it. */
static bool is_read(const struct process *process)
{
    const struct polled *polled = process->polled;
    return polled->environment.is_read &&
           polled->environment.exec_generation == polled->exec_generation;
}

/* A launcher sets the variables of a rank in execve(): before it a process has those of who forked
 * it. */
static bool is_past_exec(const struct process *process, int64_t now_ns)
{
    return process->polled->exec_generation != 0 || process->start.at_ns <= now_ns - EXEC_WITHIN_NS;
}

static void note_read(struct process *process)
{
    process->polled->environment = (struct environment_reading){
        .is_read = true, .exec_generation = process->polled->exec_generation};
}

static void read_process(struct session_identity *state, struct bounded_calls *calls,
    const char *procfs_root, pid_t pid, struct environment *environment)
{
    if (environment_read(calls, procfs_root, pid, environment, NULL) != GPUT_OK)
        return;
    session_identity_add(state, environment_variable, environment, true);
    add_run_of_process(state, calls, procfs_root, pid, true);
}

/* Forks have the environment of their parent: that of one of them is that of all. */
void session_identity_read_processes(struct session_identity *state, const char *procfs_root,
    const struct process_log *log, int64_t now_ns)
{
    const struct process_tree *tree = log->options.tree;
    struct environment environment = {0};
    unsigned readings = 0;
    for (EACH_OPEN_PROCESS(&tree->table, process)) {
        if (state->unsuccessful >= MAX_UNSUCCESSFUL || readings >= MAX_READINGS)
            break;
        if (process->is_main || !process->polled || is_read(process) ||
            !is_past_exec(process, now_ns))
            continue;
        struct process *origin = process_tree_forked_from(tree, process);
        note_read(process);
        if (origin && is_read(origin))
            continue;
        if (origin)
            note_read(origin);
        readings++;
        read_process(state, tree->view.calls, procfs_root, process->pid, &environment);
    }
    environment_finish(&environment);
}

void session_identity_add_sample(struct session_identity *state, int64_t time_ns)
{
    struct gput_identity *identity = &state->known;
    if (identity->tracking_file[0] && !identity->first_sample[0])
        format_time(time_ns, identity->first_sample, sizeof identity->first_sample);
}

/* ---- The end ---- */

void session_identity_end(struct session_identity *state, int status)
{
    struct gput_identity *identity = &state->known;
    if (!identity->end[0])
        format_time(wall_clock_ns(), identity->end, sizeof identity->end);
    if (WIFEXITED(status))
        identity->exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status))
        identity->signal = WTERMSIG(status);
}
