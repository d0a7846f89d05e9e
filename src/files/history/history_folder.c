#include "files/history/history_folder.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Kinds of file systems that several machines may have mounted (linux/magic.h and their sources):
 * NFS, SMB and CIFS, Lustre, GPFS, Ceph, BeeGFS, AFS, FUSE (sshfs), 9P, OrangeFS, PanFS. */
static const unsigned long network_kinds[] = {0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x0bd00bd0,
    0x47504653, 0x00c36400, 0x19830326, 0x5346414f, 0x6b414653, 0x65735546, 0x01021997, 0x20030528,
    0xaad7aaea};

/* Whether the folder is on such a file system, or its nearest parent that exists. */
static bool is_on_network(const char *path)
{
    CLEANUP_FREE char *parent = strdup(path);
    struct statfs info;
    while (parent && parent[0] && statfs(parent, &info) != 0) {
        char *slash = strrchr(parent, '/');
        if (errno != ENOENT || !slash || slash == parent)
            return false;
        *slash = '\0';
    }
    for (size_t i = 0; parent && i < sizeof network_kinds / sizeof *network_kinds; i++) {
        if ((unsigned long)(unsigned)info.f_type == network_kinds[i])
            return true;
    }
    return false;
}

int history_folder_init(struct history_folder *folder, const char *path, struct gput_error *error)
{
    char host[65];
    *folder = (struct history_folder){.path = path};
    if (gethostname(host, sizeof host) != 0 || !host[0])
        strcpy(host, "localhost");
    host[sizeof host - 1] = '\0';
    for (char *at = host; *at; at++) {
        if (*at == '/')
            *at = '_';
    }
    if (asprintf(&folder->database, "%s/history.%s.sqlite", path, host) < 0)
        folder->database = NULL;
    if (asprintf(&folder->rows, "%s/history.%s.rows", path, host) < 0)
        folder->rows = NULL;
    if (asprintf(&folder->mark, "%s/history.on", path) < 0)
        folder->mark = NULL;
    folder->is_network = is_on_network(path);
    return folder->database && folder->rows && folder->mark ? GPUT_OK : error_memory(error);
}

void history_folder_finish(struct history_folder *folder)
{
    free(folder->database);
    free(folder->rows);
    free(folder->mark);
    *folder = (struct history_folder){0};
}

int history_folder_make(const char *path, struct gput_error *error)
{
    CLEANUP_FREE char *part = strdup(path);
    struct stat info;
    if (!part)
        return error_memory(error);
    if (mkdir(path, 0700) == 0)
        return GPUT_OK;
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0700);
        *slash = '/';
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_set_errno(error, errno, "Cannot make the folder %s", path);
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return error_set(error, GPUT_ERROR_INVALID, "%s is not a folder.", path);
    return GPUT_OK;
}

int history_folder_write(
    const char *path, const char *bytes, size_t length, struct gput_error *error)
{
    CLEANUP_STR struct str temporary = {0};
    str_printf(&temporary, "%s.%ld.part", path, (long)getpid());
    if (temporary.failed)
        return error_memory(error);
    int fd = open(temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot write %s", path);
    int code = file_write_fd(fd, path, bytes, length, error);
    if (close(fd) != 0 && code == GPUT_OK)
        code = error_set_errno(error, errno, "Cannot write %s", path);
    if (code == GPUT_OK && rename(temporary.data, path) != 0)
        code = error_set_errno(error, errno, "Cannot write %s", path);
    if (code != GPUT_OK)
        unlink(temporary.data);
    return code;
}
