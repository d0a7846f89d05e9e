/*
 * What every unit test includes: cmocka, and the few helpers that many tests share.
 */
#pragma once

/* cmocka wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

/* Path of a file or folder below tests/fixtures. Static text, changed by the next call. */
static inline const char *fixture(const char *name)
{
    static char path[4096];
    const char *root = getenv("GPUT_TEST_FIXTURES");
    snprintf(path, sizeof path, "%s/%s", root ? root : "tests/fixtures", name);
    return path;
}

/*
 * Ends a test that cannot run here. cmocka's own skip() is "not ok" in the TAP of its
 * version 1.1.5, which Meson takes for a failure, so no test may call it; tools/run-tests.py
 * counts this remark instead.
 */
#undef skip
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        print_message("# skipped: %s\n", reason);                                                  \
        return;                                                                                    \
    } while (0)
