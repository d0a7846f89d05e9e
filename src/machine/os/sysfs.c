#include "machine/os/sysfs.h"

#include "base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sysfs_path(char path[SYSFS_PATH_SIZE], const char *folder, const char *name)
{
    int length = snprintf(path, SYSFS_PATH_SIZE, "%s/%s", folder, name);
    return length > 0 && length < SYSFS_PATH_SIZE;
}

long sysfs_read_bytes(const char *folder, const char *name, void *bytes, size_t size)
{
    char path[SYSFS_PATH_SIZE];
    if (!sysfs_path(path, folder, name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, bytes, size);
    int saved = errno;
    close(fd);
    errno = saved;
    return length;
}

bool sysfs_read_line(const char *folder, const char *name, char *line, size_t size)
{
    long length = sysfs_read_bytes(folder, name, line, size - 1);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return length >= 0;
}

bool sysfs_read_uint64(const char *folder, const char *name, uint64_t *value)
{
    char text[64];
    if (!sysfs_read_line(folder, name, text, sizeof text))
        return false;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
    if (end == text || errno || text[0] == '-') {
        errno = EINVAL;
        return false;
    }
    *value = number;
    return true;
}

bool sysfs_read_double(const char *folder, const char *name, double *value)
{
    char text[64];
    return sysfs_read_line(folder, name, text, sizeof text) &&
           number_parse_double(text, text + strlen(text), value);
}

bool sysfs_read_uevent(const char *folder, const char *key, char *value, size_t size)
{
    char text[4096];
    long length = sysfs_read_bytes(folder, "uevent", text, sizeof text - 1);
    size_t key_length = strlen(key);
    text[length > 0 ? length : 0] = '\0';
    for (const char *line = text; *line;) {
        size_t line_length = strcspn(line, "\n");
        if (line_length > key_length && strncmp(line, key, key_length) == 0 &&
            line[key_length] == '=') {
            snprintf(
                value, size, "%.*s", (int)(line_length - key_length - 1), line + key_length + 1);
            return true;
        }
        line += line_length + (line[line_length] == '\n');
    }
    return false;
}

bool sysfs_is_suspended(const char *device_folder)
{
    char status[32];
    return sysfs_read_line(device_folder, "power/runtime_status", status, sizeof status) &&
           (strcmp(status, "suspended") == 0 || strcmp(status, "suspending") == 0);
}

int sysfs_failure(int errno_value)
{
    return errno_value == ENOENT || errno_value == ENOTDIR ? 0 : errno_value;
}

long sysfs_next_numbered(const char *folder, const char *prefix, long last)
{
    DIR *directory = opendir(folder);
    if (!directory) {
        errno = sysfs_failure(errno);
        return -1;
    }
    long best = -1;
    size_t length = strlen(prefix);
    for (const struct dirent *entry; errno = 0, (entry = readdir(directory));) {
        const char *digits = entry->d_name + length;
        if (strncmp(entry->d_name, prefix, length) != 0 || *digits < '0' || *digits > '9')
            continue;
        const char *end = digits + strlen(digits);
        int64_t number;
        if (number_parse_int64(digits, end, &number) == end && number > last &&
            (best < 0 || number < best))
            best = (long)number;
    }
    int failure = errno;
    closedir(directory);
    errno = failure;
    return failure ? -1 : best;
}
