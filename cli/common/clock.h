/*
 * The monotonic clock in milliseconds, as poll() counts.
 */
#pragma once

#include <stdint.h>

int64_t now_ms(void);
