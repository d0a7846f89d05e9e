#include "track/claim.h"

#include "base/file.h"

#include <gputracker/rank.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME_TRIES = 100 };

bool claim_holds(const struct claim *claim, const char *path)
{
    struct stat ours, there;
    return claim->fd >= 0 && fstat(claim->fd, &ours) == 0 && stat(path, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Locks what was opened. Some network file systems have no locks: there, only what is new is ours.
 */
static int lock(struct claim *claim, const char *path, bool replaces)
{
    if (flock(claim->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return EBUSY;
        return claim->is_made || replaces ? 0 : EEXIST;
    }
    return claim_holds(claim, path) ? 0 : EAGAIN; /* another one has put its file there */
}

static int finish(int failure, struct claim *claim)
{
    if (failure && claim->fd >= 0)
        close(claim->fd);
    if (failure)
        *claim = CLAIM_NONE;
    return failure;
}

/* A file that is there. EAGAIN: it has gone, or has changed. */
static int claim_existing(const char *path, bool replaces, struct claim *claim)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return errno == ENOENT ? EAGAIN : errno;
    if (!S_ISREG(info.st_mode))
        return 0;
    if (info.st_size > 0 && !replaces)
        return EEXIST;
    claim->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (claim->fd < 0)
        return errno == ENOENT ? EAGAIN : errno;
    int failure = lock(claim, path, replaces);
    if (failure == 0 && !replaces && fstat(claim->fd, &info) == 0 && info.st_size > 0)
        failure = EEXIST;
    return finish(failure, claim);
}

int claim_file(const char *path, bool replaces, struct claim *claim)
{
    int failure = EAGAIN;
    struct stat link;
    struct gput_error ignored;
    *claim = CLAIM_NONE;
    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode) &&
        (stat(path, &link) != 0 || file_check(path, &ignored) != GPUT_OK))
        return 0; /* whoever writes there says why not */
    for (int tries = 0; failure == EAGAIN && tries < MAX_NAME_TRIES; tries++) {
        claim->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        claim->is_made = claim->fd >= 0;
        if (claim->is_made)
            failure = finish(lock(claim, path, true), claim);
        else if (errno != EEXIST)
            return errno;
        else
            failure = claim_existing(path, replaces, claim);
    }
    return failure == EAGAIN ? EBUSY : failure;
}

/* Whether a folder has a recording of power; with `removes` it has none afterwards. */
static bool has_recording(const char *folder, bool removes)
{
    static const char *const names[] = {"power_metrics.json", "power_metrics.sqlite",
        "power_metrics.sqlite-wal", "power_metrics.sqlite-shm", "metadata.json",
        "metadata.json.session.json"};
    bool has_one = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (removes)
            unlink(path);
        has_one |= i < 2 && access(path, F_OK) == 0;
    }
    return has_one;
}

int claim_recording(const char *path, bool replaces, struct claim *claim)
{
    *claim = CLAIM_NONE;
    claim->is_made = mkdir(path, 0777) == 0;
    if (!claim->is_made && errno != EEXIST)
        return errno;
    claim->fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    if (claim->fd < 0)
        return errno == ENOTDIR ? 0 : errno; /* whoever writes there says so */
    int failure = lock(claim, path, replaces);
    if (failure == 0 && has_recording(path, replaces))
        failure = EEXIST;
    return finish(failure == EAGAIN ? EBUSY : failure, claim);
}

int claim_free_file(const char *path, bool replaces, struct claim *claim, char **name)
{
    struct gput_error ignored;
    int failure = ENOMEM;
    *name = strdup(path);
    for (int tries = 0; *name && tries < MAX_NAME_TRIES; tries++) {
        failure = claim_file(*name, replaces, claim);
        if (failure != EEXIST && failure != EBUSY)
            break;
        free(*name);
        *name = NULL;
        gput_rank_free_path(path, name, &ignored);
    }
    if (failure) {
        free(*name);
        *name = NULL;
    }
    return failure;
}

void claim_release(struct claim *claim, const char *path)
{
    struct stat info;
    if (claim->is_made && claim_holds(claim, path) && fstat(claim->fd, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            rmdir(path);
        else if (info.st_size == 0)
            unlink(path);
    }
    if (claim->fd >= 0)
        close(claim->fd);
    *claim = CLAIM_NONE;
}
