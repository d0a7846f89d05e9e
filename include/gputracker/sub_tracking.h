/*
 * Sub-tracking files: combining several into one, and adding a mark from outside the marked
 * program. Marking inside a program: <gputracker/blocks.h>.
 *
 *     const char *const parts[] = {"rank-0.csv", "rank-1.csv"};
 *     gput_sub_tracking_combine("all.csv", parts, 2, NULL, &error);
 */
#ifndef GPUTRACKER_SUB_TRACKING_H
#define GPUTRACKER_SUB_TRACKING_H

#include <gputracker/blocks.h>
#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of combining. Sized: see gputracker/sized.h. */
struct gput_sub_tracking_options {
    size_t size; /**< set by gput_sub_tracking_options_default() */
    /** Files of different formats may be combined; the result has the format of its extension.
     * Default: all must have the same extension. */
    bool mix;
    /** Called repeatedly with the completed share of the work, 0 to 1. NULL: none. */
    void (*progress)(void *user, double done);
    /** Called with one line (no newline) for each warning. NULL: none. */
    void (*warn)(void *user, const char *message);
    void *user;     /**< passed to both */
    unsigned cores; /**< number of cores that combine large .csv files; 0: one. See
                       gput_usable_cores() */
};

/** Sets the defaults in a struct of that size; for gput_sub_tracking_options_default(). */
GPUT_API void gput_sub_tracking_options_init(
    struct gput_sub_tracking_options *options, size_t size);

/** The defaults above, without callbacks. */
static inline struct gput_sub_tracking_options gput_sub_tracking_options_default(void)
{
    struct gput_sub_tracking_options options;
    gput_sub_tracking_options_init(&options, sizeof options);
    return options;
}

/**
 * Combines sub-tracking files into a new one: their rows in the order of `paths`. Memory does not
 * grow with the number of files or rows, and one file at a time is open. The new file is written to
 * a temporary path and renamed when it is complete. It has the optional columns (thread ids, exact
 * figures) that any of the files has.
 *
 * Errors: GPUT_ERROR_EXISTS (`Cannot create sub-tracking file x. File already exists.`),
 * GPUT_ERROR_INVALID (`File a does not end with the same extension as x. Must end in ".csv".`),
 * GPUT_ERROR_NOT_FOUND, GPUT_ERROR_FORMAT (one is not a sub-tracking file), GPUT_ERROR_IO,
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_sub_tracking_combine(const char *output, const char *const *paths, size_t n_paths,
    const struct gput_sub_tracking_options *options, struct gput_error *error);

/** The same for all files of a directory, sorted by name. */
GPUT_API int gput_sub_tracking_combine_directory(const char *output, const char *directory,
    const struct gput_sub_tracking_options *options, struct gput_error *error);

/**
 * Adds a mark of this moment to a .csv or .sqlite file, for shell scripts and the like; a missing
 * file is created. The columns of an existing file may be in any order; unknown ones stay empty.
 * Several programs may add to one file at the same time. A truncated last line of a .csv file,
 * which no reader counts, is removed.
 *
 * Errors: GPUT_ERROR_INVALID (the extension), GPUT_ERROR_FORMAT (the file is not a sub-tracking
 * file), GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_sub_tracking_mark(const char *path, int64_t process_id, const char *name,
    enum gput_block_position position, struct gput_error *error);

/**
 * Derives phases from the samples of a session: the times between changes of CPU use, RAM, GPU use
 * and GPU RAM. They become code blocks "derived:phase 1" … of a process in a new sub-tracking file.
 * `*n_phases` is their number; 0: nothing changes beyond noise, and there is no file. More than
 * 2,048 samples are first averaged in groups of equal size. Memory does not grow with their number.
 *
 * Errors: those of reading a tracking file (gput_analysis_create()) and of writing,
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_sub_tracking_derive(const char *output, const char *tracking_file,
    int64_t process_id, size_t *n_phases, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
