/*
 * Limits on the resources of a tracked command: exceeding one warns, or terminates the command.
 * Use is compared at each sample; a rise and fall between two samples is not seen.
 *
 *     struct gput_session_options options = gput_session_options_default();
 *     struct gput_limits limits = gput_limits_default();
 *     limits.enforce = true;
 *     options.limits = &limits;
 *     if (gput_limits_parse("ram=8GB", &limits, &error) == GPUT_OK)
 *         gput_session_create(&options, &session, &error);
 */
#ifndef GPUTRACKER_LIMITS_H
#define GPUTRACKER_LIMITS_H

#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The resources that can be limited, for main and its descendants together. */
enum gput_limit_kind {
    GPUT_LIMIT_RAM,         /**< "ram": bytes, as of each sample */
    GPUT_LIMIT_GPU_RAM,     /**< "gpu_ram": bytes, as of each sample */
    GPUT_LIMIT_SECONDS,     /**< "seconds": wall time */
    GPUT_LIMIT_CPU_SECONDS, /**< "cpu_seconds": CPU time, as of each sample */
    GPUT_LIMIT_KIND_COUNT,  /**< grows with later versions */
};

/** Limits of a session. Sized: see gputracker/sized.h. */
struct gput_limits {
    size_t size; /**< set by gput_limits_default() */
    /** Terminate the whole tree when a limit is exceeded: SIGTERM, and SIGKILL `grace_seconds`
     * later. Otherwise warn, once per limit. */
    bool enforce;
    double grace_seconds;                 /**< time from SIGTERM to SIGKILL; 0: the default, 5 s */
    double values[GPUT_LIMIT_KIND_COUNT]; /**< in bytes or seconds, by enum gput_limit_kind; 0: no
                                          limit. Grows with later versions */
};

/** Sets the defaults in a struct of that size; for gput_limits_default(). */
GPUT_API void gput_limits_init(struct gput_limits *limits, size_t size);

/** No limits. */
static inline struct gput_limits gput_limits_default(void)
{
    struct gput_limits limits;
    gput_limits_init(&limits, sizeof limits);
    return limits;
}

/** "ram", "gpu_ram", "seconds" or "cpu_seconds". Static text. NULL: this version of the
 * library has no such kind. */
GPUT_API const char *gput_limit_kind_name(enum gput_limit_kind kind);

/**
 * Reads a limit as a user writes it and puts it into `limits`: "ram=8GB", "gpu_ram=500MiB",
 * "seconds=90", "cpu_seconds=1.5". Sizes take B, KB, MB, GB, TB or K, M, G, T (powers of 1000) and
 * KiB, MiB, GiB, TiB (powers of 1024) in any case; without, they are bytes. Times take s, m, h, d;
 * without, they are seconds.
 *
 * Errors: GPUT_ERROR_INVALID, with a message that names the limit and what it should be.
 */
GPUT_API int gput_limits_parse(
    const char *text, struct gput_limits *limits, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
