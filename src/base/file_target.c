#include "base/file_target.h"

#include "base/str.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as many links as the kernel follows */

/* The file that a path resolves to. */
struct target {
    char *path;  /* owned */
    bool direct; /* one of the links is a magic link, whose target is not a path */
};

/* Returns the folder of a link. NULL: out of memory. */
char *file_target_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Applies the kernel's rule for links in shared folders. A link whose status cannot be read is not
 * followed. */
static bool may_follow(const char *path, const struct stat *link)
{
    struct stat info;
    char *folder = file_target_folder(path);
    bool is_known = folder && stat(folder, &info) == 0;
    free(folder);
    if (!is_known)
        return false;
    bool is_open_to_all = (info.st_mode & S_ISVTX) && (info.st_mode & S_IWOTH);
    return !is_open_to_all || link->st_uid == geteuid() || link->st_uid == info.st_uid;
}

/*
 * Reads the link at `at`; `*length` is -1 where there is none. Uses one descriptor, so that owner
 * and target are of the same link.
 */
static int read_link(const char *path, const char *at, char *link, size_t size, ssize_t *length,
    struct gput_error *error)
{
    struct stat info;
    *length = -1;
    int fd = open(at, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        return error_set_errno(error, errno, "Cannot write %s", path);
    if (fd < 0) /* opening it for writing reports why */
        return GPUT_OK;
    int code = GPUT_OK;
    if (fstat(fd, &info) == 0 && S_ISLNK(info.st_mode)) {
        *length = readlinkat(fd, "", link, size);
        if (!may_follow(at, &info))
            code = error_set(error, GPUT_ERROR_PERMISSION,
                "Cannot write %s: %s is a link owned by another user, in a folder that everybody "
                "can write to. Name another file.",
                path, at);
    }
    close(fd);
    return code;
}

/* Follows symbolic links to the file that would be written. */
static int follow_links(const char *path, struct target *target, struct gput_error *error)
{
    char link[4096];
    ssize_t length = 0;
    *target = (struct target){.path = strdup(path)};
    for (int links = 0; target->path && !target->direct && links < MAX_LINKS; links++) {
        int code = read_link(path, target->path, link, sizeof link - 1, &length, error);
        if (code == GPUT_OK && length < 0)
            return GPUT_OK;
        if (code != GPUT_OK) {
            free(target->path);
            return code;
        }
        link[length] = '\0';
        /* /dev/stdout and /proc/self/fd/1 belong to the system; /dev/shm belongs to users. */
        target->direct = text_begins_with(target->path, "/proc/") ||
                         (text_begins_with(target->path, "/dev/") &&
                             !text_begins_with(target->path, "/dev/shm/"));
        /* A relative link starts at the folder of the link. */
        struct str full = {0};
        const char *slash = link[0] == '/' ? NULL : strrchr(target->path, '/');
        if (slash)
            str_append_bytes(&full, target->path, (size_t)(slash - target->path) + 1);
        str_append(&full, link);
        char *next = str_steal(&full);
        free(target->path);
        target->path = next;
    }
    if (!target->path)
        return error_memory(error);
    if (target->direct)
        return GPUT_OK;
    free(target->path);
    return error_set_errno(error, ELOOP, "Cannot write %s", path);
}

int file_target(const char *path, char **target, struct gput_error *error)
{
    struct target found;
    TRY(follow_links(path, &found, error));
    *target = found.path;
    return GPUT_OK;
}

bool file_is_written_directly(const char *path)
{
    struct stat info;
    struct target target;
    if (stat(path, &info) != 0 || follow_links(path, &target, NULL) != GPUT_OK)
        return false;
    free(target.path);
    return target.direct || !S_ISREG(info.st_mode);
}

int file_target_open(const char *path, int flags, mode_t mode, int *fd, struct gput_error *error)
{
    struct target target = {0};
    *fd = -1;
    /* O_EXCL refuses every link itself. */
    if (!(flags & O_EXCL))
        TRY(follow_links(path, &target, error));
    if (!target.path || target.direct)
        *fd = open(path, flags | O_CLOEXEC, mode);
    else
        *fd = open(target.path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    int failure = errno;
    free(target.path);
    if (*fd >= 0)
        return GPUT_OK;
    int code = error_set_errno(
        error, failure, flags & O_CREAT ? "Cannot create %s" : "Cannot write %s", path);
    errno = failure;
    return code;
}
