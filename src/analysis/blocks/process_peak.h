/*
 * The kernel's peak of RSS of this process (VmHWM), which is read and reset by several readers at
 * once. A program may have this code in it several times, as its own library and as collectors,
 * and each copy has readers. What they share is a page of the process that is found by its name in
 * /proc/self/maps. Each reader gets the peak since its own last reading. The page stays mapped
 * until the process ends; a forked child does not have it, and maps its own.
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
    pid_t process;   /* which has that page */
    unsigned reader; /* its place there */
    struct kept_file status, clear;
};

struct process_peak_reading {
    int64_t rss_bytes;     /* now */
    int64_t peak_bytes;    /* since the last reading of the same reader */
    int64_t highest_bytes; /* of the whole process, since its execve() */
};

/* Begins to read. Errors: /proc/self/clear_refs cannot be written; GPUT_ERROR_MEMORY, also where
 * there are PROCESS_PEAK_READERS already. */
int process_peak_open(struct process_peak *peak, struct gput_error *error);

/* Reads, and resets the kernel's figure. False: not possible. Any thread. */
bool process_peak_read(struct process_peak *peak, struct process_peak_reading *reading);

/* Also in a forked child, which does not have the page. */
void process_peak_close(struct process_peak *peak);

/* The kernel's figure, which others may have reset. False: it cannot be read. */
bool process_peak_high_water(int64_t *bytes);

/* The page, for who does not reset: what others read is there. NULL: no process can reset it here.
 * Valid as long as the process. */
const struct process_peak_page *process_peak_page(void);

/* The highest figure that a reader has taken from the kernel; 0: none has. `page` may be NULL. */
int64_t process_peak_taken(const struct process_peak_page *page);

/*
 * ---- Peaks of calls ----
 *
 * The peak of RSS since any earlier mark. Each mark of a process ends a segment, of which the
 * kernel said the peak (VmHWM), and begins the next one. Calls may nest and overlap in any way.
 *
 * Kept are only segments above all later ones: what came before a higher one is not a peak of any
 * call that goes on. Where there are too many, two neighbors become one.
 */
#define PEAK_SEGMENTS_MAX 1024

/* All zero: no mark so far. */
struct peak_segments {
    size_t count;
    struct peak_segment {
        int64_t first_end_ns; /* of the first segment that became part of it */
        int64_t end_ns;
        int64_t bytes;
    } segments[PEAK_SEGMENTS_MAX]; /* ever lower */
};

/* Adds the segment that ends now. Times rise. */
void peak_segments_add(struct peak_segments *peaks, int64_t end_ns, int64_t bytes);

/* The peak of all segments that end after that time; SUB_TRACKING_UNKNOWN: there is none, or it
 * is not known any more. */
int64_t peak_segments_since(const struct peak_segments *peaks, int64_t time_ns);
