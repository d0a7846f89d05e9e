#include "machine/os/node_lock.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name that another user took is left to them: everybody who needs this lock tries the next one.
 */
#define MAX_NAMES 16

const char *const node_lock_folders[] = {"/dev/shm", "/run/lock", NULL};

void node_lock_init(struct node_lock *lock, const char *const *folders, const char *name)
{
    *lock = (struct node_lock){.fd = -1};
    while (*folders && access(*folders, W_OK | X_OK) != 0)
        folders++;
    if (*folders)
        text_fit(lock->name, sizeof lock->name, "%s/gpu-tracker-%u-%s", *folders,
            (unsigned)geteuid(), name);
}

static void close_file(struct node_lock *lock)
{
    file_close_fd(&lock->fd);
    lock->is_held = false;
}

/* Returns whether we own the file: where everybody can write, it may be another user's. */
static bool is_ours(const struct stat *info)
{
    return S_ISREG(info->st_mode) && info->st_uid == geteuid() && info->st_nlink <= 1;
}

/* Opens the file of the lock. False: there is none, and none can be made. */
static bool open_file(struct node_lock *lock)
{
    struct stat info;
    if (lock->fd >= 0 && fstat(lock->fd, &info) == 0 && info.st_nlink > 0)
        return true;
    close_file(lock); /* the holder that has ended removed it */
    for (int i = 0; i < MAX_NAMES && lock->fd < 0 && lock->name[0]; i++) {
        text_fit(lock->path, sizeof lock->path, i > 0 ? "%s-%d" : "%s", lock->name, i);
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (lock->fd >= 0 && (fstat(lock->fd, &info) != 0 || !is_ours(&info)))
            close_file(lock);
    }
    return lock->fd >= 0;
}

/* Writes who holds the lock, for those who are refused. */
static void write_holder(struct node_lock *lock, const char *self)
{
    lock->holder[0] = '\0';
    if (ftruncate(lock->fd, 0) == 0 && pwrite(lock->fd, self, strlen(self), 0) < 0)
        return; /* others then do not know whose it is */
}

bool node_lock_try(struct node_lock *lock, const char *self)
{
    struct stat info;
    bool was_held = lock->is_held;
    for (int tries = 0; tries < 3; tries++) {
        if (!open_file(lock))
            return true;
        /* A lock of the process, not of the open file: a fork would have that too, and keep it
         * after its parent ended. */
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        lock->is_held =
            fcntl(lock->fd, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN);

        /* It may have been removed after it was opened: then others lock a new one. */
        if (lock->is_held && (fstat(lock->fd, &info) != 0 || info.st_nlink == 0))
            continue;
        break;
    }
    if (!lock->is_held) {
        ssize_t length = pread(lock->fd, lock->holder, sizeof lock->holder - 1, 0);
        lock->holder[length > 0 ? length : 0] = '\0';
    } else if (!was_held)
        write_holder(lock, self);
    return lock->is_held;
}

void node_lock_release(struct node_lock *lock)
{
    if (lock->is_held)
        unlink(lock->path);
    close_file(lock);
}
