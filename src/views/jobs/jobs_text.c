/* The summary for people. */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Maximum number of ranks that are all listed. If there are more, only those that stand out are.
 * */
#define MAX_LISTED 16
/* Width of the names of machines; longer ones are cut. */
#define MAX_MACHINE_WIDTH 16
/* Width of the names of files. */
#define MAX_FILE_WIDTH 24
/* Maximum number of machines named in a line about clocks. */
#define MAX_CLOCKS 3
/* Width of a duration. */
#define TIME_WIDTH 11
/* The column of waiting for a CPU is shown if any rank waited for longer than this. */
#define MIN_CPU_WAIT_PERCENT 5.0
/* Width of the page. */
#define BAR_WIDTH 20

/* Returns how much a rank stands out; the worst are listed first. */
enum concern { UNCONCERNING, STRAGGLER, UNFINISHED, FAILED };

/* Returns how much a rank stands out. */
static enum concern concern_of(const struct jobs_rank *rank)
{
    return jobs_has_failed(rank)      ? FAILED
           : jobs_is_unfinished(rank) ? UNFINISHED
           : rank->is_straggler       ? STRAGGLER
                                      : UNCONCERNING;
}

/* The columns of the table of ranks that depend on the job: the table has to fit a terminal. */
struct layout {
    int number_width, machine_width;
    bool has_same_names; /* base names do not distinguish files */
    size_t common;       /* bytes that all paths begin with, up to a folder's end */
    bool has_gpu, has_waited, has_cpu_wait;
    bool has_commands; /* the sessions of a list ran different programs */
};

/* True where files have the same base name: workflow engines run each step in a folder of its
 * own. */
static void compare_paths(
    const struct gput_jobs *jobs, const struct jobs_job *job, struct layout *layout)
{
    const char *first = jobs->ranks[job->first].path;
    size_t length = (size_t)(file_base_name(first) - first);
    for (size_t i = job->first + 1; i < job->first + job->count; i++) {
        const char *path = jobs->ranks[i].path;
        layout->has_same_names |= strcmp(file_base_name(path), file_base_name(first)) == 0;
        while (length > 0 && (strncmp(first, path, length) != 0 || first[length - 1] != '/'))
            length--;
    }
    layout->common = length;
}

/* Finds which columns the table of ranks has, and how wide they are. */
static struct layout lay_out(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    struct layout layout = {.number_width = (int)fmax(5, (double)strlen(job->noun)),
        .machine_width = (int)strlen("machine")};
    compare_paths(jobs, job, &layout);
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        int length = (int)strlen(rank->node);
        if (length > layout.machine_width)
            layout.machine_width = length < MAX_MACHINE_WIDTH ? length : MAX_MACHINE_WIDTH;
        layout.has_gpu |= !isnan(rank->gpu_percent);
        layout.has_waited |= !isnan(rank->waited_seconds);
        layout.has_cpu_wait |= jobs_cpu_wait_percent(rank) >= MIN_CPU_WAIT_PERCENT;
        layout.has_commands |=
            job->is_list && strcmp(rank->command, jobs->ranks[job->first].command) != 0;
    }
    return layout;
}

/* Writes the line of a rank. */
static void write_rank(const struct jobs_rank *rank, const struct layout *layout, struct str *text)
{
    char number[24], seconds[HUMAN_SIZE], cpu[HUMAN_SIZE], ram[HUMAN_SIZE], waited[HUMAN_SIZE];
    char gpu[24] = "n/a", cpu_wait[24] = "n/a";
    snprintf(number, sizeof number, "%.20s",
        rank->ranks[0]  ? rank->ranks
        : rank->task[0] ? rank->task
                        : "-");
    if (!isnan(rank->rank))
        snprintf(number, sizeof number, "%.0f", rank->rank);
    if (!isnan(rank->gpu_percent))
        snprintf(gpu, sizeof gpu, "%.0f %%", rank->gpu_percent);
    if (!isnan(jobs_cpu_wait_percent(rank)))
        snprintf(cpu_wait, sizeof cpu_wait, "%.0f %%", jobs_cpu_wait_percent(rank));
    human_seconds(rank->seconds, seconds);
    human_seconds(rank->cpu_seconds, cpu);
    human_seconds(rank->waited_seconds, waited);
    str_printf(text, "  %*s  %-*.*s %*s %*s %8s", layout->number_width, number,
        layout->machine_width, layout->machine_width, rank->node, utf8_field(seconds, TIME_WIDTH),
        seconds, utf8_field(cpu, TIME_WIDTH), cpu, human_bytes(rank->max_ram_bytes, ram));
    if (layout->has_gpu)
        str_printf(text, " %5s", gpu);
    if (layout->has_cpu_wait)
        str_printf(text, " %8s", cpu_wait);
    if (layout->has_waited)
        str_printf(text, " %*s", utf8_field(waited, TIME_WIDTH), waited);
    str_append(text, "  ");

    const char *stopped_by = jobs_stopped_by(rank);
    if (stopped_by)
        str_printf(text, "stopped by %s", stopped_by);
    else if (rank->signal > 0)
        str_printf(text, "signal %.0f", rank->signal);
    else if (!isnan(rank->exit_status))
        str_printf(text, "exit %.0f", rank->exit_status);
    else
        str_append(text, jobs_is_unfinished(rank) ? "no end known" : "tracking ended");
    if (rank->limit_enforced[0])
        str_printf(text, ", %s limit exceeded", rank->limit_enforced);
    else if (jobs_is_out_of_memory(rank))
        str_append(text, ", out of memory");

    str_append(text, rank->is_straggler ? ", straggler" : "");
    str_append(text, rank->ram_is_at_least ? ", RAM at least" : "");
    if (strcmp(number, "-") == 0) /* steps of a workflow, workers: known by their files */
        str_printf(text, "  %.*s", MAX_FILE_WIDTH,
            layout->has_same_names ? rank->path + layout->common : file_base_name(rank->path));
    if (layout->has_commands && rank->command[0]) {
        size_t start = text->length;
        str_printf(text, "  %s", rank->command);
        screen_sanitize(text, start);
    }
    str_append(text, "\n");
}

/* "3 of 4 ranks", "1 session of ranks 0-2", "1 session of rank 1 (known: 1 of 2)" */
static void write_count(const struct gput_jobs *jobs, const struct jobs_job *job, struct str *text)
{
    size_t listed = 0;
    bool has_sessions = strcmp(job->session_noun, job->noun) != 0;
    bool is_plural = job->count > 1 || (!has_sessions && job->missing > 0);
    str_printf(text, "%zu", job->present);
    if (job->missing > 0)
        str_printf(text, " of %.0f", job->world_size);
    str_printf(text, " %s%s", job->session_noun, is_plural ? "s" : "");
    for (size_t i = job->first; i < job->first + job->count && listed < MAX_LISTED; i++) {
        const char *ranks = jobs->order[i]->ranks;
        const char *first = job->count > 1 || strpbrk(ranks, "-,") ? " of ranks " : " of rank ";
        if (ranks[0])
            str_printf(text, "%s%s", listed++ == 0 ? first : ", ", ranks);
    }
    if (job->retried > 0)
        str_printf(text, " (%zu started again)", job->retried);
    if (job->known_ranks < job->world_size)
        str_printf(text, " (known: %.0f of %.0f)", job->known_ranks, job->world_size);
}

/* Writes a share as a bar, like jobstats; nothing where it is unknown. */
static void write_bar(double percent, struct str *text)
{
    if (isnan(percent))
        return;
    int filled = (int)fmin(round(percent / 100 * BAR_WIDTH), BAR_WIDTH);
    str_append_char(text, '[');
    for (int i = 0; i < BAR_WIDTH; i++)
        str_append_char(text, i < filled ? '|' : ' ');
    str_append(text, "] ");
}

/* Writes the RAM of the machine closest to its limit, and of the largest session. */
static void write_ram(const struct jobs_job *job, struct str *text)
{
    char ram[HUMAN_SIZE], allowed[HUMAN_SIZE], share[HUMAN_SIZE];
    str_append(text, "  RAM      ");
    write_bar(job->ram_percent, text);
    if (!isnan(job->ram_percent)) {
        str_printf(text, "%s%s of %s", job->ram_is_at_least ? "at least " : "",
            human_bytes(job->machine_ram_bytes, ram), human_bytes(job->allowed_ram_bytes, allowed));
        if (job->n_machines > 1)
            str_printf(text, " on %s, the fullest machine", job->fullest);
        str_printf(text, " (%s)", human_share(job->ram_percent, share));
    }
    if (!isnan(job->ram_percent) && job->count == job->n_machines) { /* both are the same */
        str_append_char(text, '\n');
        return;
    }
    str_printf(text, "%s%s%s in the largest %s\n", isnan(job->ram_percent) ? "" : ", ",
        job->ram_is_at_least ? "at least " : "", human_bytes(job->max_ram_bytes, ram),
        job->session_noun);
}

/* Writes what the job used. */
static void write_figures(const struct jobs_job *job, struct str *text)
{
    char cpu[HUMAN_SIZE], energy[HUMAN_SIZE], slowest[HUMAN_SIZE], median[HUMAN_SIZE],
        cores[JOBS_CORES_SIZE], busy[HUMAN_SIZE], share[HUMAN_SIZE];
    str_append(text, "  CPU      ");
    if (!job->is_list || job->count == 1)
        write_bar(job->efficiency_percent, text);
    if (isnan(job->efficiency_percent))
        str_printf(text, "%s of CPU time%s\n", human_seconds(job->cpu_seconds, cpu),
            isnan(job->core_seconds) ? "" : ", not known of all");
    else
        str_printf(text, "%s of %s busy%s (%s), %s of CPU time\n",
            human_cores(job->cpu_seconds / (job->is_list ? job->run_seconds : job->seconds), busy),
            jobs_format_cores(job->cores, cores), job->is_array ? " on average" : "",
            human_share(job->efficiency_percent, share), human_seconds(job->cpu_seconds, cpu));
    write_ram(job, text);
    if (job->gpus > 0) {
        /* Write what the ranks used of their GPUs. */
        char ram[HUMAN_SIZE];
        str_printf(text, "  GPU      %.0f GPU%s", job->gpus, job->gpus > 1 ? "s" : "");
        if (!isnan(job->gpu_percent))
            str_printf(text, ", %.0f %% used on average", job->gpu_percent);
        if (!isnan(job->max_gpu_ram_bytes))
            str_printf(text, ", %s of GPU RAM in the largest %s",
                human_bytes(job->max_gpu_ram_bytes, ram), job->session_noun);
        str_append(text, "\n");
    }
    if (!isnan(job->energy_joules))
        str_printf(text, "  Energy   %s: each machine and GPU once\n",
            human_joules(job->energy_joules, energy));
    if (job->count > 1 && !job->is_list)
        str_printf(text, "  Balance  slowest %s %s, median %s\n", job->noun,
            human_seconds(job->slowest_seconds, slowest),
            human_seconds(job->median_seconds, median));
}

/* Appends the machines whose offset comes from one source, and their largest doubt. */
static void write_clocks_by(const struct gput_jobs *jobs, const struct jobs_job *job,
    const char *source, bool *is_first, struct str *text)
{
    char doubt[HUMAN_SIZE];
    double largest = NAN;
    size_t count = 0;
    CLEANUP_STR struct str names = {0};
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        const struct jobs_machine *machine = &jobs->machines[i];
        if (strcmp(machine->clock_source, source) != 0)
            continue;
        largest = fmax(largest, machine->clock_doubt_seconds);
        if (count++ < MAX_CLOCKS)
            str_printf(&names, "%s%.*s", count > 1 ? ", " : "", MAX_FILE_WIDTH, machine->name);
    }
    if (count > MAX_CLOCKS)
        str_printf(&names, " and %zu more", count - MAX_CLOCKS);
    if (count > 0) {
        str_printf(text, "%s%s: %s", *is_first ? "  Clocks   " : "; ", source, str_text(&names));
        if (largest > 0)
            str_printf(text, " (to within %s)", human_seconds(largest, doubt));
        *is_first = false;
    }
}

/* True where a finding is about everything under a scheduler id, of which this job is the last
 * part. */
static bool is_of_allocation(const struct gput_jobs *jobs, const struct jobs_finding *finding)
{
    bool is_kind = strcmp(finding->kind, "ask") == 0 || strcmp(finding->kind, "idle_time") == 0;
    size_t allocation = is_kind ? jobs->jobs[(size_t)finding->job].allocation : 0;
    return allocation > 0 && jobs->allocations[allocation - 1].n_jobs > 1;
}

/* Writes the findings about a job, or about the files where `job` is NaN. */
static void write_findings(
    const struct gput_jobs *jobs, double job, bool of_allocation, struct str *text)
{
    for (size_t i = 0; i < jobs->n_findings; i++) {
        const struct jobs_finding *finding = &jobs->findings[i];
        if (is_of_allocation(jobs, finding) != of_allocation)
            continue;
        if (finding->job == job || (isnan(job) && isnan(finding->job))) {
            str_printf(text, "  - %s.\n", finding->text);
            if (finding->evidence)
                str_printf(text, "    %s\n", finding->evidence);
        }
    }
}

/* Writes how often all ranks were restarted, as torchrun does when one fails. */
static void write_restarts(
    const struct gput_jobs *jobs, const struct jobs_job *job, struct str *text)
{
    double restarts = INFINITY;
    for (size_t i = job->first; i < job->first + job->count; i++)
        restarts = fmin(restarts, fmax(jobs->ranks[i].restarts, 0));
    if (restarts > 0 && !isinf(restarts))
        str_printf(text, ", after %.0f restart%s", restarts, restarts > 1 ? "s" : "");
}

/* Returns the program that the job ran; "" if its ranks ran different ones. */
static void write_command(
    const struct gput_jobs *jobs, const struct jobs_job *job, struct str *text)
{
    const char *command = jobs->ranks[job->first].command;
    for (size_t i = 1; i < job->count; i++) {
        if (strcmp(jobs->ranks[job->first + i].command, command) != 0)
            return;
    }
    if (!command[0])
        return;
    size_t start = text->length;
    str_printf(text, "  Command  %s", command);
    screen_sanitize(text, start);
    str_append_char(text, '\n');
}

/* Writes what the scheduler knows of the job: its script, its owner and its time limit. */
static void write_script(const struct jobs_allocation *allocation, struct str *text)
{
    char seconds[HUMAN_SIZE], limit[HUMAN_SIZE], share[HUMAN_SIZE];
    if (allocation->job_name[0]) {
        size_t start = text->length;
        str_printf(text, "  Script   %s%s%s", allocation->job_name,
            allocation->user[0] ? " of " : "", allocation->user);
        screen_sanitize(text, start);
        str_append_char(text, '\n');
    }
    if (isnan(allocation->time_percent))
        return;
    str_append(text, "  Time     ");
    write_bar(allocation->time_percent, text);
    str_printf(text, "%s of a limit of %s (%s)\n", human_seconds(allocation->seconds, seconds),
        human_seconds(allocation->time_limit_seconds, limit),
        human_share(allocation->time_percent, share));
}

/* Writes the sums over everything that ran under one scheduler id. */
static void write_allocation(
    const struct gput_jobs *jobs, const struct jobs_allocation *allocation, struct str *text)
{
    char run[HUMAN_SIZE], all[HUMAN_SIZE], busy[HUMAN_SIZE], share[HUMAN_SIZE], cpu[HUMAN_SIZE],
        ram[HUMAN_SIZE], allowed[HUMAN_SIZE], cores[JOBS_CORES_SIZE];
    str_printf(text, "All of job %s: %zu sessions on %zu machine%s", allocation->job_id,
        allocation->n_sessions, allocation->n_machines, allocation->n_machines > 1 ? "s" : "");
    if (!isnan(allocation->seconds))
        str_printf(text, ", which ran for %s of %s", human_seconds(allocation->run_seconds, run),
            human_seconds(allocation->seconds, all));
    str_append_char(text, '\n');
    write_script(allocation, text);
    str_append(text, "  CPU      ");
    write_bar(allocation->efficiency_percent, text);
    if (!isnan(allocation->efficiency_percent))
        str_printf(text, "%s of %s busy (%s), ",
            human_cores(allocation->cpu_seconds / allocation->seconds, busy),
            jobs_format_cores(allocation->cores, cores),
            human_share(allocation->efficiency_percent, share));
    str_printf(text, "%s of CPU time\n  RAM      ", human_seconds(allocation->cpu_seconds, cpu));
    write_bar(allocation->ram_percent, text);
    str_printf(text, "%s%s", allocation->ram_is_at_least ? "at least " : "",
        human_bytes(allocation->machine_ram_bytes, ram));
    if (!isnan(allocation->ram_percent))
        str_printf(text, " of %s", human_bytes(allocation->allowed_ram_bytes, allowed));
    if (allocation->n_machines > 1)
        str_printf(text, " on %s, the fullest machine", allocation->fullest);
    if (!isnan(allocation->ram_percent))
        str_printf(text, " (%s)", human_share(allocation->ram_percent, share));
    str_append_char(text, '\n');
    write_findings(jobs, (double)(allocation->first_job + allocation->n_jobs - 1), true, text);
    str_append_char(text, '\n');
}

/* Writes the whole summary of a job. */
static void write_job(const struct gput_jobs *jobs, size_t index, struct str *text)
{
    char seconds[HUMAN_SIZE], all[HUMAN_SIZE];
    const struct jobs_job *job = &jobs->jobs[index];
    const struct jobs_allocation *allocation =
        job->allocation > 0 ? &jobs->allocations[job->allocation - 1] : NULL;
    const char *launcher = jobs->ranks[job->first].launcher;
    size_t length = strlen(launcher);
    if (strncmp(launcher, job->name, length) == 0 && strchr(",", job->name[length]))
        launcher = ""; /* a job without an id, also its "run 2" */
    if (!job->is_list || jobs->ranks[job->first].job_id[0]) {
        str_printf(text, "Job %s%s%s%s", job->name, launcher[0] ? " (" : "", launcher,
            launcher[0] ? ")" : "");
        write_restarts(jobs, job, text);
        str_append(text, ": ");
    }
    write_count(jobs, job, text);
    str_printf(text, " on %zu machine%s, %s", job->n_machines, job->n_machines > 1 ? "s" : "",
        human_seconds(job->is_list ? job->run_seconds : job->seconds, seconds));
    if (job->is_list && job->count > 1)
        str_printf(text, " of %s from the first start to the last end (separate runs, not one job)",
            human_seconds(job->seconds, all));
    str_append_char(text, '\n');
    write_command(jobs, job, text);
    if (allocation && allocation->n_jobs == 1)
        write_script(allocation, text);
    write_figures(job, text);

    /* Write how the clocks of several machines were compared. */
    static const char *const sources[] = {JOBS_CLOCK_REFERENCE, JOBS_CLOCK_BOOT, JOBS_CLOCK_MARKS,
        JOBS_CLOCK_ENDS, JOBS_CLOCK_STARTS, JOBS_CLOCK_NONE};
    bool is_first = true;
    for (size_t i = 0; i < sizeof sources / sizeof *sources && job->n_machines > 1; i++)
        write_clocks_by(jobs, job, sources[i], &is_first, text);
    str_append(text, is_first ? "" : "\n");

    size_t listed = 0;
    struct layout layout = lay_out(jobs, job);
    enum concern least = job->count > MAX_LISTED ? STRAGGLER : UNCONCERNING;
    for (int concern = FAILED; concern >= (int)least; concern--) {
        for (size_t i = job->first; i < job->first + job->count && listed < MAX_LISTED; i++) {
            if ((int)concern_of(jobs->order[i]) != concern)
                continue;
            if (listed++ == 0) {
                /* Write the names of the columns of ranks. */
                str_printf(text, "  %*s  %-*s %*s %*s %8s", layout.number_width, job->noun,
                    layout.machine_width, "machine", TIME_WIDTH, "wall time", TIME_WIDTH,
                    "CPU time", "RAM");
                if (layout.has_gpu)
                    str_printf(text, " %5s", "GPU");
                if (layout.has_cpu_wait)
                    str_printf(text, " %8s", "CPU wait");
                if (layout.has_waited)
                    str_printf(text, " %*s", TIME_WIDTH, "waited");
                str_append(text, "  end\n");
            }
            write_rank(jobs->order[i], &layout, text);
        }
    }
    if (listed == 0)
        str_printf(
            text, "  none of %zu %ss stands out (-f csv lists all)\n", job->count, job->noun);
    else if (listed < job->count)
        str_printf(text, "  and %zu more (-f csv lists all)\n", job->count - listed);

    write_findings(jobs, (double)index, false, text);
    str_append(text, "\n");
}

void jobs_write_text(const struct gput_jobs *jobs, struct str *text)
{
    bool has_of_files = false;
    for (size_t i = 0; i < jobs->n_jobs; i++) {
        size_t number = jobs->jobs[i].allocation;
        bool is_last = i + 1 == jobs->n_jobs || jobs->jobs[i + 1].allocation != number;
        write_job(jobs, i, text);
        if (number > 0 && is_last && jobs->allocations[number - 1].n_jobs > 1)
            write_allocation(jobs, &jobs->allocations[number - 1], text);
    }
    for (size_t i = 0; i < jobs->n_findings; i++)
        has_of_files |= isnan(jobs->findings[i].job);
    if (has_of_files)
        str_append(text, "Files\n");
    write_findings(jobs, NAN, false, text);
    if (jobs->files_left_out > 0)
        str_printf(text, "%.0f other file%s ignored.\n", jobs->files_left_out,
            jobs->files_left_out > 1 ? "s were" : " was");
}
