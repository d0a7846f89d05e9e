/*
 * Files in a folder that no loader reads, although they are of a session.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/*
 * Whether a file begins as a session's: its tracker was killed as it wrote, the disk was full, or
 * a part of it was copied. `reason` is why a loader refused it, and what is wrong with it where
 * that says more.
 */
bool report_damage_is(const char *path, struct gput_error *reason);
