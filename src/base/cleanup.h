/*
 * Variables that clean up after themselves when their block ends, however it ends: by TRY(), return
 * or break. Such a variable is set where it is declared, also to NULL, -1 or {0}.
 *
 *     CLEANUP_FREE char *folder = NULL;
 *     CLEANUP_STR struct str text = {0};
 *     TRY(file_target_folder(path, &folder, error));
 *     TRY(file_read(folder, &text, error));
 *     *found = STEAL(folder);
 *     return GPUT_OK;
 *
 * What is cleaned up can still be handed to the caller: STEAL() and STEAL_FD() empty the variable.
 * The value of `return` is computed first, so it may use the variable; errno stays as it is.
 */
#pragma once

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calls `function` with the address of the variable. A struct of ours has such a function already,
 * whose name ends in `_finish` or `_close`: `CLEANUP(part_file_close) struct part_file part = …`.
 */
#define CLEANUP(function) __attribute__((cleanup(function)))

/* Frees memory; NULL is fine. */
#define CLEANUP_FREE CLEANUP(cleanup_free)
/* Frees a string's memory. */
#define CLEANUP_STR CLEANUP(str_finish)
/* Closes a descriptor unless it is negative. */
#define CLEANUP_FD CLEANUP(cleanup_fd)
/* Closes a FILE that was read; of one that was written, the caller has to check fclose(). */
#define CLEANUP_FILE CLEANUP(cleanup_file)
/* Closes a folder that opendir() opened. */
#define CLEANUP_DIR CLEANUP(cleanup_dir)

/*
 * Defines `CLEANUP(destroy_pointer)` for a pointer to `type` that `destroy` frees, once in the
 * header that declares `destroy`. It is not called for NULL.
 *
 *     CLEANUP_DEFINE(struct doc, doc_destroy)
 *     CLEANUP(doc_destroy_pointer) struct doc *root = NULL;
 */
#define CLEANUP_DEFINE(type, destroy)                                                              \
    static inline void destroy##_pointer(type **pointer)                                           \
    {                                                                                              \
        if (*pointer)                                                                              \
            destroy(*pointer);                                                                     \
    }

/* The pointer's value; the variable becomes NULL, so that the caller has what it pointed to. */
#define STEAL(pointer)                                                                             \
    ({                                                                                             \
        __typeof__(pointer) stolen_ = (pointer);                                                   \
        (pointer) = NULL;                                                                          \
        stolen_;                                                                                   \
    })

/* The descriptor; the variable becomes -1. */
#define STEAL_FD(fd)                                                                               \
    ({                                                                                             \
        int stolen_fd_ = (fd);                                                                     \
        (fd) = -1;                                                                                 \
        stolen_fd_;                                                                                \
    })

static inline void cleanup_free(void *pointer)
{
    void *memory; /* copied: the variable has another type than void * */
    memcpy(&memory, pointer, sizeof memory);
    int before = errno;
    free(memory);
    errno = before;
}

static inline void cleanup_fd(const int *fd)
{
    int before = errno;
    if (*fd >= 0)
        close(*fd);
    errno = before;
}

static inline void cleanup_file(FILE **file)
{
    int before = errno;
    if (*file)
        fclose(*file);
    errno = before;
}

static inline void cleanup_dir(DIR **folder)
{
    int before = errno;
    if (*folder)
        closedir(*folder);
    errno = before;
}
