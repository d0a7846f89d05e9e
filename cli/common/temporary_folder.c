#include "common/temporary_folder.h"

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "/gpu-tracker-XXXXXX"

/* Removes the files of a folder, and the folder. */
static void remove_files(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}

/* ---- The process that outlives this one ---- */

/* Forked twice: a child of this process would be taken for one of the command's. */
static void start_guard(struct temporary_folder *folder)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        if (fork() == 0) {
            /* Do nothing until no process holds the other end of the pipe. */
            char byte;
            int null = open("/dev/null", O_RDWR);
            sigset_t all;
            sigfillset(&all);
            sigprocmask(SIG_SETMASK, &all, NULL);
            setsid(); /* what the terminal sends is not for it */
            prctl(PR_SET_NAME, "gpu-tracker-tmp");
            for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
                dup2(null, i);
            while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
                ;
            remove_files(folder->path);
        }
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    folder->alive_fd = ends[1];
}

/* ---- The folder ---- */

int temporary_folder_make(struct temporary_folder *folder, const char *root, const char *purpose,
    struct gput_error *error)
{
    *folder = (struct temporary_folder){.alive_fd = -1};
    root = root && root[0] ? root : "/tmp";
    char *path = malloc(strlen(root) + sizeof NAME);
    if (!path)
        return error_memory(error);
    sprintf(path, "%s" NAME, root);
    if (!mkdtemp(path)) {
        int failure = errno;
        free(path);
        return error_set(error, GPUT_ERROR_IO,
            "Cannot keep %s in %s: %s. TMPDIR can name another folder.", purpose, root,
            strerror(failure));
    }
    folder->path = path;
    start_guard(folder); /* without one the folder is only removed by an orderly end */
    return GPUT_OK;
}

void temporary_folder_remove(struct temporary_folder *folder)
{
    if (!folder->path)
        return;
    remove_files(folder->path);
    if (folder->alive_fd >= 0)
        close(folder->alive_fd);
    free(folder->path);
    *folder = (struct temporary_folder){.alive_fd = -1};
}
