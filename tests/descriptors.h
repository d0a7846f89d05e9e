/*
 * Descriptors of the test itself: how many are open, and how many may be.
 */
#pragma once

#include "testing.h"

#include <fcntl.h>
#include <sys/resource.h>

static inline int descriptors_open(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Returns how many might be before. */
static inline rlim_t descriptors_limit(rlim_t count)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}
