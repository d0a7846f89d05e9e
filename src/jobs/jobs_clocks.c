/*
 * Clocks of machines. Launchers start all ranks of a job within seconds, and most jobs end
 * together: where both the starts and the ends of a machine's ranks are off by the same time, its
 * clock is.
 */
#include "jobs/jobs.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

/* Within it starts are as launchers make them. */
#define BARRIER_SECONDS 5.0
/* Starts and ends count as off by the same within so many seconds, or that part of the offset:
 * ranks of one job do not take equally long. */
#define ALIKE_SECONDS 2.0
#define ALIKE_PART 0.02

struct spread {
    double middle, width; /* NaN: there are no times */
};

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static struct spread spread_of(
    const struct gput_jobs *jobs, const struct jobs_machine *machine, bool of_ends)
{
    size_t count = 0;
    double *times = calloc(machine->count + 1, sizeof *times);
    if (!times)
        return (struct spread){NAN, NAN};
    for (size_t i = machine->first; i < machine->first + machine->count; i++) {
        double time = of_ends ? jobs->ranks[i].end : jobs->ranks[i].start;
        if (!isnan(time))
            times[count++] = time;
    }
    qsort(times, count, sizeof *times, compare);
    struct spread spread = {jobs_median(times, count), count ? times[count - 1] - times[0] : NAN};
    free(times);
    return spread;
}

/* The machine of the lowest rank: its clock is taken for right. */
static const struct jobs_machine *reference_of(
    const struct gput_jobs *jobs, const struct jobs_job *job)
{
    size_t first = job->first;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        if (jobs->ranks[i].rank < jobs->ranks[first].rank)
            first = i;
    }
    return &jobs->machines[jobs->ranks[first].machine];
}

static void correct(struct gput_jobs *jobs, struct jobs_machine *machine)
{
    machine->clock_is_corrected = true;
    for (size_t i = machine->first; i < machine->first + machine->count; i++) {
        jobs->ranks[i].start -= machine->clock_offset_seconds;
        jobs->ranks[i].end -= machine->clock_offset_seconds;
    }
}

/* What the kernels say of both clocks; "": nothing. */
static void describe(const struct jobs_machine *machine, const struct jobs_machine *reference,
    char *text, size_t size)
{
    text[0] = '\0';
    if (machine->clock[0] && reference->clock[0])
        text_fit(text, size, "by their kernels the clock of %s is %s, that of %s %s", machine->name,
            machine->clock, reference->name, reference->clock);
}

static void compare_clock(
    struct gput_jobs *jobs, struct jobs_machine *machine, const struct jobs_machine *reference)
{
    struct spread start = spread_of(jobs, machine, false), end = spread_of(jobs, machine, true);
    struct spread from = spread_of(jobs, reference, false), to = spread_of(jobs, reference, true);
    double starts = start.middle - from.middle, ends = end.middle - to.middle;
    double width = fmax(start.width, from.width);
    double apart = isnan(ends) ? width : fabs(starts - ends) / 2;
    char evidence[256];
    describe(machine, reference, evidence, sizeof evidence);
    bool are_alike = fabs(starts - ends) <= fmax(ALIKE_SECONDS, ALIKE_PART * fabs(starts)) + width;
    machine->clock_offset_seconds = starts; /* ends depend on the work */
    machine->clock_doubt_seconds = fmax(apart, width);
    if (!(fabs(starts) > BARRIER_SECONDS + width))
        return;
    if (!isnan(ends) && are_alike) {
        correct(jobs, machine);
        jobs_find(jobs, (double)machine->job, "clock", evidence[0] ? evidence : NULL,
            "The clock of %s is off by %.1f s against that of %s, give or take %.1f s: starts and "
            "ends of their ranks are off by the same. Its times are corrected by that",
            machine->name, machine->clock_offset_seconds, reference->name,
            machine->clock_doubt_seconds);
    } else {
        machine->clock_is_doubtful = true;
        jobs_find(jobs, (double)machine->job, "late_start", evidence[0] ? evidence : NULL,
            "The ranks on %s started %.1f s %s those on %s, or its clock is off: %s. The job's "
            "time does not include theirs",
            machine->name, fabs(starts), starts > 0 ? "after" : "before", reference->name,
            isnan(ends) ? "without an end that is not known"
                        : "their ends are not off by the same");
    }
}

void jobs_compare_clocks(struct gput_jobs *jobs, struct jobs_job *job)
{
    const struct jobs_machine *reference = reference_of(jobs, job);
    for (size_t i = 0; i < jobs->n_machines; i++) {
        struct jobs_machine *machine = &jobs->machines[i];
        machine->clock_offset_seconds =
            machine->job != jobs->ranks[job->first].job ? machine->clock_offset_seconds : 0;
        if (machine->job == jobs->ranks[job->first].job && machine != reference)
            compare_clock(jobs, machine, reference);
    }
}
