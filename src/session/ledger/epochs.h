/*
 * What timestamps are ahead of the monotonic clock, which stands still while the machine is
 * suspended: more from then on.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* All zeroes: nothing is known yet. */
struct epochs {
    struct {
        int64_t since_ns; /* monotonic clock */
        int64_t ahead_ns;
    } * list; /* owned */
    size_t count;
};

/* Both clocks at one moment, later than those before. Without memory it is not noted. */
void epochs_add(struct epochs *epochs, int64_t monotonic_ns, int64_t time_ns);

/* The timestamp of a time of the monotonic clock, of which one moment at least was added. What was
 * just before or after a suspension, between two moments, is dated as if it were before. */
int64_t epochs_date_ns(const struct epochs *epochs, int64_t monotonic_ns);

void epochs_finish(struct epochs *epochs);
