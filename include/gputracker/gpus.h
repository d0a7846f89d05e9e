/*
 * Which processes use which GPU now, and how much of it, and what the GPU itself reports: clocks,
 * temperature, power and its limit, why it is slowed, links, health. Nothing is tracked.
 *
 *     struct gput_gpus *gpus;
 *     char *text;
 *     if (gput_gpus_create(NULL, &gpus, &error) == GPUT_OK &&
 *         gput_gpus_render(gpus, GPUT_FORMAT_JSON, &text, NULL, &error) == GPUT_OK)
 *         puts(text);
 *     gput_gpus_destroy(gpus);
 */
#ifndef GPUTRACKER_GPUS_H
#define GPUTRACKER_GPUS_H

#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/session.h>
#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_gpus; /**< made by gput_gpus_create(); used by one thread at a time */

/**
 * Opens the drivers and reads all GPUs once. Uses the roots, nvml_path, gpu_brand, gpu_uuids and
 * gpu_parts of `options`; NULL: the defaults. Takes a moment, and seconds where a driver is slow.
 *
 * With gpu_parts, figures of the parts of the chip are means over the time between two readings;
 * the first reading takes a quarter of a second for that.
 *
 * On success the caller frees `*gpus` by gput_gpus_destroy(); on failure it is NULL. No GPU is not
 * an error. Errors: GPUT_ERROR_INVALID (the brand), GPUT_ERROR_NOT_FOUND (a UUID),
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_gpus_create(
    const struct gput_session_options *options, struct gput_gpus **gpus, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_gpus_destroy(struct gput_gpus *gpus);

/** Reads all GPUs again. Errors: GPUT_ERROR_MEMORY; `gpus` is then unchanged. */
GPUT_API int gput_gpus_update(struct gput_gpus *gpus, struct gput_error *error);

/** Why there is no GPU, as one sentence; NULL when there is one. Belongs to `gpus`. `*is_failure`
 * (may be NULL): true if there is one that cannot be read, is lost, or has a driver that does not
 * answer. */
GPUT_API const char *gput_gpus_missing(const struct gput_gpus *gpus, bool *is_failure);

/**
 * As tables: "gpus" has a row for each GPU with all its figures, "processes" one for each process
 * on each GPU. Columns say their unit; `missing` says of a GPU what it does not report and why.
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_gpus_tables(
    const struct gput_gpus *gpus, struct gput_tables **tables, struct gput_error *error);

/** The same as text for people, or as JSON. Result and errors: see gputracker/format.h. */
GPUT_API int gput_gpus_render(const struct gput_gpus *gpus, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
