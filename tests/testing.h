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

/* The tests of a file, as TEST() lists them. */
static struct CMUnitTest listed_tests[128] __attribute__((unused));
static size_t n_listed_tests __attribute__((unused));

/*
 * TEST(name) { … } is a test. TEST_WITH() is one with functions that run before and after it; NULL
 * is none. Each lists itself before main() runs, in the order of the file.
 */
#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor(1000 + __LINE__))) static void list_##name(void)                    \
    {                                                                                              \
        listed_tests[n_listed_tests++] =                                                           \
            (struct CMUnitTest)cmocka_unit_test_setup_teardown(name, set_up, tear_down);           \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Runs the tests of the file, set_up before all of them and tear_down at the end; NULL is none. */
#define run_listed_tests(set_up, tear_down)                                                        \
    _cmocka_run_group_tests("tests", listed_tests, n_listed_tests, set_up, tear_down)

/* A file of tests, of which a program has many (tests/unit_tests.c). */
struct test_file {
    const char *path;
    int (*run)(void);
    struct test_file *next;
};

void test_file_add(struct test_file *file);

/* TEST_FILE { … } at the end of a file of tests runs them, and returns how many failed; RUN_TESTS()
 * needs no more than that. */
#define TEST_FILE                                                                                  \
    static int run_test_file(void);                                                                \
    __attribute__((constructor)) static void add_test_file(void)                                   \
    {                                                                                              \
        static struct test_file this_test_file = {__FILE__, run_test_file, NULL};                  \
        test_file_add(&this_test_file);                                                            \
    }                                                                                              \
    static int run_test_file(void)
#define RUN_TESTS(set_up, tear_down)                                                               \
    TEST_FILE                                                                                      \
    {                                                                                              \
        return run_listed_tests(set_up, tear_down);                                                \
    }

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
