/*
 * Opens a timeline in Perfetto's viewer: a small server hands the file to the page of
 * https://ui.perfetto.dev in a browser on this machine. The file stays on this machine.
 *
 *     struct gput_perfetto *perfetto;
 *     if (gput_perfetto_create("timeline.json", NULL, &perfetto, &error) == GPUT_OK) {
 *         puts(gput_perfetto_url(perfetto));
 *         gput_perfetto_wait(perfetto, -1, &error);
 *         gput_perfetto_destroy(perfetto);
 *     }
 */
#ifndef GPUTRACKER_PERFETTO_H
#define GPUTRACKER_PERFETTO_H

#include <gputracker/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_perfetto; /**< a timeline that is served */

/**
 * Serves a file (of gput_timeline_merge(), or any that Perfetto reads) until it was fetched once.
 * `address` NULL: 127.0.0.1:9001, the only one from which Perfetto's page may fetch. Another
 * "HOST:PORT" is for a page of your own.
 *
 * Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION (the file), GPUT_ERROR_IO (the port is in
 * use), GPUT_ERROR_INVALID (the address), GPUT_ERROR_MEMORY. `*perfetto` is NULL then.
 */
GPUT_API int gput_perfetto_create(const char *path, const char *address,
    struct gput_perfetto **perfetto, struct gput_error *error);

/** The address to open in a browser. Valid as long as `perfetto`. */
GPUT_API const char *gput_perfetto_url(const struct gput_perfetto *perfetto);

/**
 * Waits until the file was fetched. Errors: GPUT_ERROR_STATE when `stop_fd` (a signalfd, an eventfd
 * …; -1: none) became readable before, GPUT_ERROR_IO.
 */
GPUT_API int gput_perfetto_wait(
    struct gput_perfetto *perfetto, int stop_fd, struct gput_error *error);

/** Stops the server, and frees it. NULL is fine. */
GPUT_API void gput_perfetto_destroy(struct gput_perfetto *perfetto);

#ifdef __cplusplus
}
#endif

#endif
