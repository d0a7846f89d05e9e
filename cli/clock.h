/*
 * The monotonic clock in milliseconds, as poll() counts.
 */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <stdint.h>

int64_t now_ms(void);

#endif
