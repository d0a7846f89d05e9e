#include "base/kept_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool kept_file_open(struct kept_file *file, const char *path, int flags)
{
    struct stat opened = {0};
    file->fd = open(path, flags | O_CLOEXEC);
    if (file->fd >= 0 && fstat(file->fd, &opened) != 0) {
        close(file->fd);
        file->fd = -1;
    }
    file->device = opened.st_dev;
    file->inode = opened.st_ino;
    return file->fd >= 0;
}

bool kept_file_is_open(const struct kept_file *file)
{
    struct stat there;
    return file->fd >= 0 && fstat(file->fd, &there) == 0 && there.st_dev == file->device &&
           there.st_ino == file->inode;
}

int kept_file_fd(struct kept_file *file, const char *path, int flags)
{
    if (!kept_file_is_open(file))
        kept_file_open(file, path, flags);
    return file->fd;
}

void kept_file_close(struct kept_file *file)
{
    if (kept_file_is_open(file))
        close(file->fd);
    file->fd = -1;
}
