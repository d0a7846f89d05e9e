#include "track/spool.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "common/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of one copying step. */
#define STEP_BYTES (256 * 1024)
/* A folder with less is full. */
#define NEEDED_BYTES ((size_t)256 * 1024)

/* ---- Writing ---- */

/* Whether a report and the first samples fit. An errno, or 0. */
static int find_space(const char *folder)
{
    static const char zeroes[4096];
    char path[PATH_MAX];
    int failure = 0;
    snprintf(path, sizeof path, "%s/space", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    for (size_t done = 0; done < NEEDED_BYTES && !failure; done += sizeof zeroes) {
        ssize_t written = write(fd, zeroes, sizeof zeroes);
        if (written != (ssize_t)sizeof zeroes)
            failure = written < 0 ? errno : ENOSPC;
    }
    close(fd);
    unlink(path);
    return failure;
}

int spool_begin(struct spool *spool, const char *root, struct gput_error *error)
{
    *spool = (struct spool){0};
    if (asprintf(&spool->folder, "%s/gpu-tracker-XXXXXX", root) < 0) {
        spool->folder = NULL;
        return error_memory(error);
    }
    int failure = mkdtemp(spool->folder) ? 0 : errno;
    if (!failure) {
        failure = find_space(spool->folder);
        if (!failure)
            return GPUT_OK;
        rmdir(spool->folder);
    }
    free(spool->folder);
    spool->folder = NULL;
    bool is_full = failure == ENOSPC || failure == EDQUOT;
    return error_set(error, is_full ? GPUT_ERROR_STATE : GPUT_ERROR_IO,
        "Cannot spool files in %.400s: %s.%s", root, strerror(failure),
        is_full ? "" : " --spool names a folder.");
}

/* Without it files are spooled all the same. */
static void leave_note(struct spool *spool, const char *place)
{
    char host[65] = "", *note, *folder;
    gethostname(host, sizeof host - 1);
    size_t length = strlen(place);
    while (length > 1 && place[length - 1] == '/')
        length--;
    if (spool->note || asprintf(&note, "%.*s.spooled", (int)length, place) < 0)
        return;
    int fd = open(note, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        free(note);
        return;
    }
    folder = realpath(spool->folder, NULL);
    dprintf(fd, "host %s\nfolder %s\n", host, folder ? folder : spool->folder);
    free(folder);
    close(fd);
    spool->note = note;
}

int spool_place(
    struct spool *spool, size_t number, const char *place, char **local, struct gput_error *error)
{
    char *folder = NULL;
    size_t end = place ? strlen(place) : 0, begin;
    while (end > 1 && place[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && place[begin - 1] != '/';)
        begin--;
    if (asprintf(&folder, "%s/%zu", spool->folder, number) < 0 ||
        asprintf(local, "%s/%.*s", folder, place ? (int)(end - begin) : 14,
            place ? place + begin : "results-so-far") < 0 ||
        (mkdir(folder, 0700) != 0 && errno == ENOMEM)) {
        free(folder);
        *local = NULL;
        return error_memory(error);
    }
    free(folder);
    if (place)
        leave_note(spool, place);
    return GPUT_OK;
}

/* ---- Moving ---- */

struct move {
    void (*warn)(void *user, const char *text);
    void *user;
    bool failed;
};

static void complain(struct move *move, const char *from, const char *to, const char *why)
{
    char text[MESSAGE_LINE_SIZE];
    snprintf(text, sizeof text, "%.380s could not be moved (%.120s): it stays at %.380s.", to, why,
        from);
    move->failed = true;
    move->warn(move->user, text);
}

/* Copies a file to another file system, where it gets its name when it is complete. */
static int copy_file(const char *from, const char *to, struct gput_error *error)
{
    CLEANUP_FD int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    CLEANUP(file_writing_discard) struct file_writing file = {.fd = -1};
    CLEANUP_FREE char *bytes = malloc(STEP_BYTES);
    if (fd < 0)
        return error_set(error, GPUT_ERROR_IO, "%s: %s", from, strerror(errno));
    if (!bytes)
        return error_memory(error);
    TRY(file_writing_begin(to, &file, error));
    for (ssize_t length = 1; length != 0;) {
        length = read(fd, bytes, STEP_BYTES);
        if (length < 0 && errno != EINTR)
            return error_set(error, GPUT_ERROR_IO, "%s: %s", from, strerror(errno));
        if (length > 0)
            TRY(file_writing_add(&file, bytes, (size_t)length, error));
    }
    return file_writing_end(&file, error);
}

/* Opening a pipe would wait for one. */
static bool has_reader(const char *pipe)
{
    int fd = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Moves a file, and copies it where it cannot be renamed. False: it stays, with a warning. */
static bool move_file(struct move *move, const char *from, const char *to)
{
    struct gput_error error;
    struct stat info;
    bool is_there = stat(to, &info) == 0;
    if ((!is_there || S_ISREG(info.st_mode)) && rename(from, to) == 0)
        return true;
    int code = is_there && S_ISFIFO(info.st_mode) && !has_reader(to)
                   ? error_set(&error, GPUT_ERROR_IO, "it is a pipe without a reader")
                   : copy_file(from, to, &error);
    if (code != GPUT_OK) {
        complain(move, from, to, error.message);
        return false;
    }
    unlink(from);
    return true;
}

#define IDENTITY ".session.json"

/* Returns whether it is the manifest of a file that is moved, too. */
static bool is_identity_of_another(const char *path)
{
    char other[PATH_MAX];
    int length = snprintf(other, sizeof other, "%s", path);
    char *end = other + length - strlen(IDENTITY);
    if (length < (int)sizeof IDENTITY || strcmp(end, IDENTITY) != 0)
        return false;
    *end = '\0';
    return access(other, F_OK) == 0;
}

/* A tracking file and its identity: one without the other would be another session. */
static void move_with_identity(struct move *move, const char *from, const char *to)
{
    char source[PATH_MAX], target[PATH_MAX];
    int length = snprintf(source, sizeof source, "%s" IDENTITY, from);
    int other = snprintf(target, sizeof target, "%s" IDENTITY, to);
    bool has_identity =
        length < (int)sizeof source && other < (int)sizeof target && access(source, F_OK) == 0;
    if (has_identity && !move_file(move, source, target))
        complain(move, from, to, "its .session.json could not");
    else if (!move_file(move, from, to) && has_identity)
        move_file(move, target, source);
}

/* All that is in a folder; a recording of power is a folder in it. Names that begin with `name`
 * begin with `new_name` afterwards. */
static void move_all(
    struct move *move, const char *from, const char *to, const char *name, const char *new_name)
{
    char source[PATH_MAX], target[PATH_MAX];
    const struct dirent *entry;
    struct stat info;
    DIR *folder = opendir(from);
    while (folder && (entry = readdir(folder)) != NULL) {
        const char *rest = entry->d_name;
        if (strcmp(rest, ".") == 0 || strcmp(rest, "..") == 0)
            continue;
        bool is_named = strncmp(rest, name, strlen(name)) == 0;
        int length = snprintf(source, sizeof source, "%s/%s", from, rest);
        int other = snprintf(target, sizeof target, "%s/%s%s", to, is_named ? new_name : "",
            rest + (is_named ? strlen(name) : 0));
        if (length >= (int)sizeof source || other >= (int)sizeof target ||
            lstat(source, &info) != 0)
            continue;
        if (!S_ISDIR(info.st_mode)) {
            if (!is_identity_of_another(source))
                move_with_identity(move, source, target);
        } else if (mkdir(target, 0777) != 0 && errno != EEXIST) {
            complain(move, source, target, strerror(errno));
        } else {
            move_all(move, source, target, "", "");
        }
    }
    if (folder)
        closedir(folder);
    rmdir(from); /* where nothing stays */
}

/* Splits a path in its text. Returns its last part. */
static const char *split(char *path, const char **folder)
{
    for (size_t end = strlen(path); end > 1 && path[end - 1] == '/';)
        path[--end] = '\0';
    char *slash = strrchr(path, '/');
    *folder = !slash ? "." : slash == path ? "/" : path;
    if (slash)
        *slash = '\0';
    return slash ? slash + 1 : path;
}

bool spool_move(
    const char *local, const char *place, void (*warn)(void *user, const char *text), void *user)
{
    struct move move = {.warn = warn, .user = user};
    char from[PATH_MAX], to[PATH_MAX];
    const char *folder, *new_folder;
    if (!place)
        unlink(local);
    snprintf(from, sizeof from, "%s", local);
    snprintf(to, sizeof to, "%s", place ? place : local);
    const char *name = split(from, &folder), *new_name = split(to, &new_folder);
    if (place)
        move_all(&move, folder, new_folder, name, new_name);
    else
        rmdir(folder);
    return !move.failed;
}

void spool_remove_note(struct spool *spool)
{
    if (spool->note)
        unlink(spool->note);
}

void spool_finish(struct spool *spool)
{
    if (spool->folder)
        rmdir(spool->folder);
    free(spool->note);
    free(spool->folder);
    *spool = (struct spool){0};
}
