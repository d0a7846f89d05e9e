/*
 * The results of many ranks as one job: what ranks, machines and jobs used, which ranks are slow,
 * failed or missing, and advice with its evidence.
 *
 *     const char *const paths[] = {"results"};
 *     struct gput_jobs *jobs;
 *     char *text;
 *     if (gput_jobs_create(paths, 1, &jobs, &error) == GPUT_OK &&
 *         gput_jobs_render(jobs, GPUT_FORMAT_SUMMARY, &text, NULL, &error) == GPUT_OK) {
 *         fputs(text, stdout);
 *         free(text);
 *     }
 *     gput_jobs_destroy(jobs);
 */
#ifndef GPUTRACKER_JOBS_H
#define GPUTRACKER_JOBS_H

#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/table.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_jobs; /**< made by gput_jobs_create() */

/**
 * Reads reports in JSON, tracking files and resource usage files of killed sessions. Each path is
 * such a file, or a folder: then all of them in it and below. Files of one session are combined,
 * and sessions become ranks of jobs. An unreadable or unrelated file is a finding, not a failure.
 * Samples are read as a stream: memory grows with the ranks alone, by about a kilobyte each.
 *
 * On success the caller frees `*jobs` by gput_jobs_destroy(); on failure it is NULL. Errors:
 * GPUT_ERROR_INVALID (no session in any of them), GPUT_ERROR_NOT_FOUND and the like (a path),
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_jobs_create(
    const char *const *paths, size_t count, struct gput_jobs **jobs, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_jobs_destroy(struct gput_jobs *jobs);

/**
 * The tables "jobs", "machines", "ranks", "allocations" (all that ran under one id of a scheduler)
 * and "findings" in base units. Ranks, machines and findings have the number of their job, from 0.
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_jobs_tables(
    const struct gput_jobs *jobs, struct gput_tables **tables, struct gput_error *error);

/**
 * The table "sessions": a row for each of the ranks, with all that its report or tracking file says
 * about the whole session: its identity, its limits, its files, and its figures in base units
 * (bytes, seconds, joules). The columns have the names that a tracking file has for them
 * ("max_combined_ram_bytes"). Figures of a session that was killed are missing. The files are read
 * again: a file that is gone by then leaves a row of missing cells.
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_jobs_sessions(
    const struct gput_jobs *jobs, struct gput_tables **tables, struct gput_error *error);

/**
 * A summary for people (GPUT_FORMAT_SUMMARY), all tables (GPUT_FORMAT_JSON), or the ranks
 * (GPUT_FORMAT_CSV). Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_jobs_render(const struct gput_jobs *jobs, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
