/* Random bytes for names that others must not have. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

/* From the kernel; before Linux 3.17 from /dev/urandom. Zeroes where there is neither. */
void random_fill(void *bytes, size_t size);

#endif
