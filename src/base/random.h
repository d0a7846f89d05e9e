/* Random bytes for names that others must not have. */
#pragma once

#include <stddef.h>

/* From the kernel; before Linux 3.17 from /dev/urandom. Zeroes where there is neither. */
void random_fill(void *bytes, size_t size);
