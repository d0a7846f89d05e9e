/*
 * The results of many ranks as one job: what ranks, machines and jobs used, which ranks are slow,
 * failed or missing, and advice with its evidence.
 *
 *     const char *const paths[] = {"results"};
 *     struct gput_fleet *fleet;
 *     char *text;
 *     if (gput_fleet_create(paths, 1, &fleet, &error) == GPUT_OK &&
 *         gput_fleet_render(fleet, GPUT_SUMMARY, &text, NULL, &error) == GPUT_OK) {
 *         fputs(text, stdout);
 *         free(text);
 *     }
 *     gput_fleet_destroy(fleet);
 */
#ifndef GPUTRACKER_FLEET_H
#define GPUTRACKER_FLEET_H

#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/table.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_fleet; /**< made by gput_fleet_create() */

/**
 * Reads reports in JSON, tracking files and what killed sessions left: files, and all of them in
 * folders and the folders below. Files of one session are put together, sessions become ranks of
 * jobs. One that cannot be read, or is of something else, is a finding and no failure. Samples are
 * read as a stream: memory grows with the ranks alone, by about a kilobyte each.
 *
 * On success the caller frees `*fleet` by gput_fleet_destroy(); on failure it is NULL. Errors:
 * GPUT_ERROR_INVALID (no session in any of them), GPUT_ERROR_NOT_FOUND and the like (a path),
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_fleet_create(
    const char *const *paths, size_t count, struct gput_fleet **fleet, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_fleet_destroy(struct gput_fleet *fleet);

/**
 * The tables "jobs", "machines", "ranks" and "findings" in base units. Ranks, machines and findings
 * have the number of their job, from 0.
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_fleet_tables(
    const struct gput_fleet *fleet, struct gput_tables **tables, struct gput_error *error);

/**
 * A summary for people (GPUT_SUMMARY), all tables (GPUT_JSON), or the ranks (GPUT_CSV). Result and
 * errors: see gputracker/format.h.
 */
GPUT_API int gput_fleet_render(const struct gput_fleet *fleet, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
