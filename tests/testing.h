/*
 * What every unit test includes: cmocka, and the few helpers that many tests share.
 */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

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

#endif
