/*
 * The peak of RSS since any earlier mark. Each mark of a process ends a segment, of which the
 * kernel said the peak (VmHWM), and begins the next one. Calls may nest and overlap in any way.
 *
 * Kept are only segments above all later ones: what came before a higher one is not a peak of any
 * call that goes on. Where there are too many, two neighbors become one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

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
