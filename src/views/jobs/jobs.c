#include "views/jobs/jobs.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Why a file that was named alone has no results. */
static bool is_reason(const struct gput_jobs *jobs, const char *path)
{
    return jobs->n_findings == 1 && jobs->findings[0].text &&
           text_begins_with(jobs->findings[0].text, path) &&
           jobs->findings[0].text[strlen(path)] == ' ';
}

/* Finds the first finding of a kind; NULL: there is none. */
static const struct jobs_finding *find_kind(const struct gput_jobs *jobs, const char *kind)
{
    for (size_t i = 0; i < jobs->n_findings; i++) {
        if (strcmp(jobs->findings[i].kind, kind) == 0)
            return &jobs->findings[i];
    }
    return NULL;
}

/* Reads all files and makes jobs of their ranks. */
static int make(
    struct gput_jobs *jobs, const char *const *paths, size_t count, struct gput_error *error)
{
    /* One of several that is not there is a finding. */
    size_t n_read = 0;
    for (size_t i = 0; i < count; i++) {
        struct gput_error reason;
        if (jobs_read(jobs, paths[i], &reason) == GPUT_OK)
            n_read++;
        else
            jobs_add_finding(
                jobs, NAN, "unreadable", reason.message, "%s could not be read", paths[i]);
    }
    TRY(n_read == 0 && count > 0 ? jobs_read(jobs, paths[0], error) : GPUT_OK);

    if (!jobs->failed && jobs->n_ranks == 0 && count == 1 && is_reason(jobs, paths[0]))
        return error_set(error, GPUT_ERROR_INVALID, "%s",
            jobs->findings[0].evidence ? jobs->findings[0].evidence : jobs->findings[0].text);
    if (!jobs->failed && jobs->n_ranks == 0) {
        /* A rank whose files are on another machine, or cannot be read, is all there is. */
        const char *path = count > 0 ? paths[0] : "nothing",
                   *more = count > 1 ? " and the others" : "";
        const struct jobs_finding *spooled = find_kind(jobs, "spooled");
        const struct jobs_finding *unreadable = find_kind(jobs, "unreadable");
        const struct jobs_finding *first = unreadable ? unreadable : jobs->findings;
        if (spooled)
            return error_set(error, GPUT_ERROR_INVALID,
                "There are no results of sessions in %.300s%s, but files stayed where they were "
                "spooled: %.400s.",
                path, more, spooled->evidence ? spooled->evidence : "");
        if (first)
            return error_set(error, GPUT_ERROR_INVALID,
                "There are no results of sessions in %.200s%s: %.300s%s%.400s%s.", path, more,
                first->text, first->evidence ? " (" : "", first->evidence ? first->evidence : "",
                first->evidence ? ")" : "");
        return error_set(error, GPUT_ERROR_INVALID,
            "There are no results of sessions in %.400s%s: name reports in JSON (-o x.json), "
            "tracking "
            "files (--tf), or folders with them.",
            path, more);
    }
    if (jobs->n_marks > 0)
        jobs_add_finding(jobs, NAN, "marks",
            "gpu-tracker sub-track analyze shows their code blocks",
            jobs->n_marks > 1 ? "%s and %zu more have marks of code blocks"
                              : "%s has marks of code blocks",
            jobs->marks[0].path, jobs->n_marks - 1);
    if (!jobs->failed)
        jobs_sort(jobs);
    if (!jobs->failed && jobs->n_machines > jobs->n_jobs)
        jobs_find_ranks_of_marks(jobs);
    for (size_t i = 0; i < jobs->n_jobs && !jobs->failed; i++) {
        jobs_compare_clocks(jobs, &jobs->jobs[i]);
        jobs_add_up(jobs, &jobs->jobs[i]);
    }
    if (!jobs->failed)
        jobs_add_allocations(jobs);
    for (size_t i = 0; i < jobs->n_jobs && !jobs->failed; i++)
        jobs_advise(jobs, &jobs->jobs[i]);
    return jobs->failed ? error_memory(error) : GPUT_OK;
}

int gput_jobs_create(
    const char *const *paths, size_t count, struct gput_jobs **jobs, struct gput_error *error)
{
    *jobs = NULL;
    struct gput_jobs *made = calloc(1, sizeof *made);
    int code = made ? make(made, paths, count, error) : error_memory(error);
    if (code == GPUT_OK)
        *jobs = made;
    else
        gput_jobs_destroy(made);
    return code;
}

void gput_jobs_destroy(struct gput_jobs *jobs)
{
    if (!jobs)
        return;
    for (size_t i = 0; i < jobs->n_ranks; i++) {
        free(jobs->ranks[i].path);
        free(jobs->ranks[i].report);
    }
    for (size_t i = 0; i < jobs->n_findings; i++) {
        free(jobs->findings[i].text);
        free(jobs->findings[i].evidence);
    }
    for (size_t i = 0; i < jobs->n_marks; i++)
        free(jobs->marks[i].path);
    free(jobs->marks);
    free(jobs->order);
    free(jobs->ranks);
    free(jobs->gpus);
    free(jobs->jobs);
    free(jobs->machines);
    free(jobs->allocations);
    free(jobs->findings);
    free(jobs);
}
