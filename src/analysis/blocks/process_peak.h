/*
 * The kernel's peak of RSS of this process (VmHWM), read and reset by several readers at once. A
 * program may contain several copies of this code, in its own library and in collectors, each with
 * readers. They share a page of the process, found by its name in /proc/self/maps. Each reader gets
 * the peak since its own last reading. The page stays mapped until the process ends; a forked child
 * does not have it, and maps its own.
 */
#pragma once

#include "base/error.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_PEAK_READERS 64

struct process_peak_page;

struct process_peak {
    struct process_peak_page *page;
    pid_t process;   /* the process that has the page */
    unsigned reader; /* its slot in the page */
    struct kept_file status, clear;
};

struct process_peak_reading {
    int64_t rss_bytes;     /* now */
    int64_t peak_bytes;    /* since the reader's last reading */
    int64_t highest_bytes; /* of the whole process, since its execve() */
};

/* Begins to read. Errors: /proc/self/clear_refs cannot be written; GPUT_ERROR_MEMORY, also if there
 * are PROCESS_PEAK_READERS already. */
int process_peak_open(struct process_peak *peak, struct gput_error *error);

/* Takes a reading, and resets the kernel's figure. Returns false if that is not possible. May be
 * called by any thread. */
bool process_peak_read(struct process_peak *peak, struct process_peak_reading *reading);

/* Frees the slot and closes the files; also in a forked child, which does not have the page. */
void process_peak_close(struct process_peak *peak);

/* Reads the kernel's figure, which others may have reset. Returns false if it cannot be read. */
bool process_peak_high_water(int64_t *bytes);

/* Returns the page, for users that do not reset the peak: it has what readers have read. NULL: no
 * reader can reset it. Valid until the process ends. */
const struct process_peak_page *process_peak_page(void);

/* Returns the highest peak that a reader has reset; 0: none. `page` may be NULL. */
int64_t process_peak_taken(const struct process_peak_page *page);

/*
 * ---- Peaks of calls ----
 *
 * The peak of RSS since any earlier mark. Each mark of a process ends a segment, whose peak is the
 * kernel's VmHWM, and begins the next one. Calls may nest and overlap in any way.
 *
 * Only segments that are higher than all later ones are kept, as a segment before a higher one is
 * not the peak of any open call. If there are too many, neighbours are merged.
 */
#define PEAK_SEGMENTS_MAX 1024

/* All zero: no mark so far. */
struct peak_segments {
    size_t count;
    struct peak_segment {
        int64_t first_end_ns; /* end of the first segment that was merged into it */
        int64_t end_ns;
        int64_t bytes;
    } segments[PEAK_SEGMENTS_MAX]; /* in descending order of `bytes` */
};

/* Adds the segment that ends now. Times must increase. */
void peak_segments_add(struct peak_segments *peaks, int64_t end_ns, int64_t bytes);

/* Returns the peak of all segments that end after that time; SUB_TRACKING_UNKNOWN: there is none,
 * or it is no longer known. */
int64_t peak_segments_since(const struct peak_segments *peaks, int64_t time_ns);
