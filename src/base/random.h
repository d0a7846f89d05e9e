/* Random bytes for names that others must not have, and random numbers that a seed repeats. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* From the kernel; before Linux 3.17 from /dev/urandom. Zeroes where there is neither. */
void random_fill(void *bytes, size_t size);

/* The next of a sequence that its first state repeats (xorshift). A state of 0 stays 0. */
uint64_t random_next(uint64_t *state);
