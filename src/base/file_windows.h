/*
 * Windows of a regular file that several threads scan at once, each from where an item seems to
 * begin: in the middle of a file that has to be guessed. What a window holds is known to be true
 * when the reader of the file in order arrives exactly where the window's first item begins.
 * Nothing before that may matter to what follows. Any other window is of no use, and costs time
 * alone.
 *
 * A window holds plain items: it ends before what is damaged, unusual or reaches beyond it. The
 * reader in order deals with that.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NUL bytes after the text. */
#define FILE_WINDOW_PADDING 32
/* Files smaller than this are not worth the threads. */
#define FILE_WINDOWS_MIN (4u << 20)

/* The first member of the window of a reader. */
struct file_window {
    uint64_t at;       /* of the text in the file */
    const char *text;  /* text[-1] is the byte before it; nothing is before the first of a file */
    const char *limit; /* items that begin before this are the window's */
    const char *end;   /* of the text: some more than the limit, padded */
    bool is_known;     /* an item begins at `text`; else to be guessed */
    void *user;

    /* Set by scan(): */
    const char *first; /* the first item; NULL: there is none */
    const char *after; /* where the item after the last one begins, or something else */
};

struct file_window_class {
    size_t size; /* of the reader's window, which begins as zeroes and is used again */
    void (*scan)(struct file_window *window);
    void (*finish)(struct file_window *window);
};

struct file_windows;

/* For `cores` threads that include the caller. `fd` belongs to the caller, `user` is for scan().
 * Memory: half a MiB for each thread and two more, besides what windows hold. Errors:
 * GPUT_ERROR_UNSUPPORTED: it is not a regular file, or a small one. */
int file_windows_create(int fd, unsigned cores, const struct file_window_class *class, void *user,
    struct file_windows **windows, struct gput_error *error);

/* The window that begins exactly at that offset, where an item begins; NULL: none does. Offsets
 * never decrease. The window holds until the next call. */
struct file_window *file_windows_at(struct file_windows *windows, uint64_t at);

/* The offset in the file of what stands there in a window. */
static inline uint64_t file_window_place(const struct file_window *window, const char *at)
{
    return window->at + (uint64_t)(at - window->text);
}

/* Returns where the first line of the window begins, for scan(); NULL: none does. */
const char *file_window_line(const struct file_window *window);

/* The size of the file when the windows were made. */
uint64_t file_windows_file_size(const struct file_windows *windows);

void file_windows_destroy(struct file_windows *windows); /* NULL is fine */
