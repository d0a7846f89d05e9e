#include "base/space_reserve.h"

#include "base/file_target.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void space_reserve_open(struct space_reserve *reserve, const char *path, size_t bytes)
{
    char *folder = file_target_folder(path);
    reserve->fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
    free(folder);
    reserve->bytes = 0;
    space_reserve_fill(reserve, bytes);
}

void space_reserve_fill(struct space_reserve *reserve, size_t bytes)
{
    if (reserve->fd < 0 || reserve->bytes >= bytes)
        return;
    /* posix_fallocate() would write zeroes where the file system cannot reserve. */
    if (fallocate(reserve->fd, 0, 0, (off_t)bytes) == 0)
        reserve->bytes = bytes;
    else if (ftruncate(reserve->fd, (off_t)reserve->bytes) != 0)
        space_reserve_close(reserve);
}

void space_reserve_release(struct space_reserve *reserve, size_t kept)
{
    if (reserve->fd < 0 || reserve->bytes <= kept)
        return;
    if (ftruncate(reserve->fd, (off_t)kept) == 0)
        reserve->bytes = kept;
    else
        space_reserve_close(reserve);
}

void space_reserve_close(struct space_reserve *reserve)
{
    if (reserve->fd >= 0)
        close(reserve->fd);
    *reserve = (struct space_reserve){.fd = -1};
}
