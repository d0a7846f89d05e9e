/*
 * Environments of tests: lines NAME=VALUE, NULL at the end.
 */
#pragma once

#include <stddef.h>
#include <string.h>

static inline const char *test_variable(void *lines, const char *name)
{
    size_t length = strlen(name);
    for (const char *const *line = lines; *line; line++)
        if (strncmp(*line, name, length) == 0 && (*line)[length] == '=')
            return *line + length + 1;
    return NULL;
}

#define VARIABLES(...)                                                                             \
    test_variable, (void *)(const char *const[])                                                   \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
