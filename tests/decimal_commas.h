/*
 * A locale in which 1.5 is "1,5", whichever are installed.
 */
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers as glibc reads them (locale/loadlocale.c). False: it was not written. */
static inline bool decimal_commas_write(const char *path)
{
    const struct {
        uint32_t magic, count, places[6];
        char point[4], separator[4], grouping[4];
        uint32_t point_code, separator_code;
        char codeset[8];
    } file = {0x20031115 ^ 1, 6, {32, 36, 40, 44, 48, 52}, ",", "", {CHAR_MAX}, ',', 0, "UTF-8"};
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool is_written = fd >= 0 && write(fd, &file, sizeof file) == (ssize_t)sizeof file;
    return fd >= 0 && close(fd) == 0 && is_written;
}

/* Sets it; setlocale(LC_NUMERIC, "C") ends it. False: this libc reads its locales from elsewhere.
 */
static inline bool decimal_commas_set(void)
{
    char root[] = "/tmp/gput-locale-XXXXXX", folder[64], path[80];
    if (!mkdtemp(root))
        return false;
    snprintf(folder, sizeof folder, "%s/commas", root);
    snprintf(path, sizeof path, "%s/LC_NUMERIC", folder);
    setenv("LOCPATH", root, 1);
    bool is_set = mkdir(folder, 0700) == 0 && decimal_commas_write(path) &&
                  setlocale(LC_NUMERIC, "commas") && localeconv()->decimal_point[0] == ',';
    unsetenv("LOCPATH");
    unlink(path);
    rmdir(folder);
    rmdir(root);
    return is_set;
}
