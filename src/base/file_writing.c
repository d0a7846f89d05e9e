#include "base/clock.h"
#include "base/file.h"
#include "base/file_target.h"
#include "base/thread.h"

#include <gputracker/file.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The interval of retries to open a pipe without a reader. */
#define READER_POLL_MS 50

/* Sets the mode that open() would have given: temporary files are private. */
static void set_default_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask);
}

/* Opens the temporary file, unnamed where the file system can do that. */
static int open_temporary(struct file_writing *writing, struct gput_error *error)
{
    struct stat old;
    bool exists = stat(writing->target, &old) == 0;
    struct str temporary_path = {0};
    str_printf(&temporary_path, "%s.XXXXXX", writing->target);
    writing->temporary_path = str_steal(&temporary_path);
    if (!writing->temporary_path)
        return error_memory(error);

    /* Open an unnamed file (O_TMPFILE) in the folder of `path`; -1 where the file system does not
     * support it, or /proc, through which it is linked, is missing. */
    char *folder = file_target_folder(writing->target);
    int fd = -1;
    if (folder && access("/proc/self/fd", X_OK) == 0)
        fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    free(folder);
    writing->fd = fd;

    writing->unnamed = writing->fd >= 0;
    if (!writing->unnamed)
        writing->fd = mkostemp(writing->temporary_path, O_CLOEXEC);
    if (writing->fd >= 0) {
        set_default_mode(writing->fd, exists ? &old : NULL);
        return GPUT_OK;
    }
    int code = error_set_errno(error, errno, "Cannot write %s", writing->path);
    free(writing->temporary_path); /* there is no such file */
    writing->temporary_path = NULL;
    return code;
}

static int has_no_reader(const char *path, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO, "Cannot write %s: it has no reader.", path);
}

/* Opens a pipe once it has a reader; no system call waits for that with a timeout. */
static int open_directly(struct file_writing *writing, struct gput_error *error)
{
    int flags = O_WRONLY | O_APPEND | (writing->stop_fd >= 0 ? O_NONBLOCK : 0);
    struct pollfd stop = {.fd = writing->stop_fd, .events = POLLIN};
    for (;;) {
        struct stat info;
        int code = file_target_open(writing->path, flags, 0, &writing->fd, error);
        bool lacks_reader = code != GPUT_OK && errno == ENXIO && writing->stop_fd >= 0 &&
                            stat(writing->path, &info) == 0 && S_ISFIFO(info.st_mode);
        if (!lacks_reader)
            return code;
        if (poll(&stop, 1, READER_POLL_MS) > 0)
            return has_no_reader(writing->path, error);
    }
}

/* Writes to a pipe or the like, whose reader may block, until `stop_fd` is readable. */
static int write_directly(
    struct file_writing *writing, const char *bytes, size_t length, struct gput_error *error)
{
    struct pollfd events[] = {
        {.fd = writing->fd, .events = POLLOUT}, {.fd = writing->stop_fd, .events = POLLIN}};
    while (length > 0) {
        ssize_t done = write(writing->fd, bytes, length);
        if (done >= 0) {
            bytes += done;
            length -= (size_t)done;
        } else if (errno == EAGAIN) {
            int ready = poll(events, 2, -1);
            if (ready > 0 && !events[0].revents)
                return has_no_reader(writing->path, error);
            if (ready < 0 && errno != EINTR) /* EINVAL: fewer descriptors are allowed than two */
                return error_set_errno(error, errno, "Cannot write %s", writing->path);
        } else if (errno != EINTR) {
            return error_set_errno(error, errno, "Cannot write %s", writing->path);
        }
    }
    return GPUT_OK;
}

int file_writing_begin_until(
    const char *path, int stop_fd, struct file_writing *writing, struct gput_error *error)
{
    int code = GPUT_OK;
    *writing = (struct file_writing){.fd = -1, .path = strdup(path), .stop_fd = stop_fd};
    if (!writing->path)
        return error_memory(error);
    if (file_is_written_directly(path)) {
        code = open_directly(writing, error);
    } else {
        code = file_target(path, &writing->target, error);
        if (code == GPUT_OK)
            code = open_temporary(writing, error);
    }
    if (code != GPUT_OK)
        file_writing_discard(writing);
    return code;
}

int file_writing_begin(const char *path, struct file_writing *writing, struct gput_error *error)
{
    return file_writing_begin_until(path, -1, writing, error);
}

int file_writing_add(
    struct file_writing *writing, const void *bytes, size_t length, struct gput_error *error)
{
    if (writing->stop_fd >= 0 && !writing->target)
        return write_directly(writing, bytes, length, error);
    return file_write_fd(writing->fd, writing->path, bytes, length, error);
}

/* Links an unnamed file to the temporary path, so that it can be renamed to the target. */
static bool link_temporary_path(struct file_writing *writing)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char *end = writing->temporary_path + strlen(writing->temporary_path) - 6, link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", writing->fd);
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t random = (uint64_t)clock_monotonic_ns() ^ (uint64_t)getpid() << 40;
        for (int i = 0; i < 6; i++, random /= sizeof letters - 1)
            end[i] = letters[random % (sizeof letters - 1)];
        if (linkat(AT_FDCWD, link, AT_FDCWD, writing->temporary_path, AT_SYMLINK_FOLLOW) == 0) {
            writing->unnamed = false;
            return true;
        }
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* ---- Surviving a power loss ---- */

/* A slow disk is waited for no longer than that: then the file is like any that was just written.
 */
#define SYNC_NS (2 * NS_PER_SECOND)
#define SYNC_STACK_BYTES ((size_t)64 << 10)

/* A descriptor that a thread of its own syncs; whoever is last frees it. */
struct sync {
    int fd; /* owned */
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done, is_left;
};

/* Frees a sync; whoever finishes last, caller or thread, calls it. */
static void free_sync(struct sync *sync)
{
    pthread_cond_destroy(&sync->done);
    pthread_mutex_destroy(&sync->lock);
    close(sync->fd);
    free(sync);
}

/* Flushes a file in a thread of its own, as fsync() may hang. */
static void *run_sync(void *user)
{
    struct sync *sync = user;
    fsync(sync->fd);
    pthread_mutex_lock(&sync->lock);
    sync->is_done = true;
    bool is_left = sync->is_left;
    pthread_cond_signal(&sync->done);
    pthread_mutex_unlock(&sync->lock);
    if (is_left)
        free_sync(sync);
    return NULL;
}

/* Takes the descriptor. */
static struct sync *start_sync(int fd)
{
    struct sync *sync = fd >= 0 ? malloc(sizeof *sync) : NULL;
    if (!sync) {
        file_close_fd(&fd);
        return NULL;
    }
    *sync = (struct sync){.fd = fd};
    pthread_mutex_init(&sync->lock, NULL);
    bool has_condition = thread_condition_init(&sync->done) == 0;
    if (has_condition && thread_start(NULL, SYNC_STACK_BYTES, run_sync, sync) == 0)
        return sync;
    free_sync(sync);
    return NULL;
}

/* Lets what was written reach the disk, if that does not take long. Takes the descriptor; -1: there
 * is none. */
static void sync_for_a_while(int fd)
{
    struct timespec until = clock_timespec_of_ns(clock_monotonic_ns() + SYNC_NS);
    struct sync *sync = start_sync(fd);
    if (!sync)
        return;
    pthread_mutex_lock(&sync->lock);
    while (!sync->is_done && pthread_cond_timedwait(&sync->done, &sync->lock, &until) == 0)
        ;
    bool is_done = sync->is_done;
    sync->is_left = !is_done;
    pthread_mutex_unlock(&sync->lock);
    if (is_done)
        free_sync(sync);
}

/* Gives a complete file its name: only when its content is on the disk, for else the name can be
 * there after a power loss, and the content not. False with errno set. */
static bool link_into_place(struct file_writing *writing)
{
    if (writing->temporary_path)
        sync_for_a_while(fcntl(writing->fd, F_DUPFD_CLOEXEC, 0));
    bool named = !writing->unnamed || link_temporary_path(writing);
    if (close(writing->fd) != 0)
        named = false;
    writing->fd = -1;
    if (!named || !writing->temporary_path)
        return named;
    if (rename(writing->temporary_path, writing->target) != 0)
        return false;
    char *folder = file_target_folder(writing->target);
    sync_for_a_while(folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
    free(folder);
    free(writing->temporary_path);
    writing->temporary_path = NULL;
    return true;
}

int file_writing_end(struct file_writing *writing, struct gput_error *error)
{
    int code = GPUT_OK;
    if (!link_into_place(writing))
        code = error_set_errno(error, errno, "Cannot write %s", writing->path);
    file_writing_discard(writing);
    return code;
}

void file_writing_discard(struct file_writing *writing)
{
    if (writing->fd >= 0)
        close(writing->fd);
    if (writing->temporary_path && !writing->unnamed)
        unlink(writing->temporary_path);
    free(writing->temporary_path);
    free(writing->target);
    free(writing->path);
    *writing = (struct file_writing){.fd = -1};
}

/* Writes a whole file, and replaces the target by it. */
static int write_once(
    const char *path, const void *bytes, size_t length, int stop_fd, struct gput_error *error)
{
    struct file_writing writing;
    TRY(file_writing_begin_until(path, stop_fd, &writing, error));
    int code = file_writing_add(&writing, bytes, length, error);
    if (code == GPUT_OK)
        return file_writing_end(&writing, error);
    file_writing_discard(&writing);
    return code;
}

int file_write_until(
    const char *path, const void *bytes, size_t length, int stop_fd, struct gput_error *error)
{
    struct gput_error reason;
    bool is_direct = file_is_written_directly(path);
    int code = write_once(path, bytes, length, stop_fd, &reason);
    for (int tries = 1; tries < FILE_TRIES && code != GPUT_OK && !is_direct &&
                        file_failure_may_pass(reason.errno_value);
         tries++) {
        file_pause_before_retry();
        code = write_once(path, bytes, length, stop_fd, &reason);
    }
    if (code != GPUT_OK && error)
        *error = reason;
    return code;
}

int file_write_atomic(const char *path, const void *bytes, size_t length, struct gput_error *error)
{
    return file_write_until(path, bytes, length, -1, error);
}

int gput_file_write(const char *path, const void *bytes, size_t length, struct gput_error *error)
{
    return file_write_atomic(path, bytes, length, error);
}
