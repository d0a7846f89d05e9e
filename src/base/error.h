/*
 * Fills a caller's `struct gput_error`, and returns failures in one line.
 */
#pragma once

#include <gputracker/error.h>

/*
 * Writes the code and the formatted message to `error` (which may be NULL) and returns the code, so
 * that a failing function ends with `return error_set(error, GPUT_ERROR_…, "…", …);`.
 */
int error_set(struct gput_error *error, enum gput_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The code for an errno value: ENOENT is NOT_FOUND, EACCES PERMISSION, and so on. */
enum gput_code error_code_of_errno(int errno_value);

/* error_set() with the code of `errno_value`, its number, and ": strerror" added to the message. */
int error_set_errno(struct gput_error *error, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with another code than that of `errno_value`. */
int error_set_errno_as(struct gput_error *error, enum gput_code code, int errno_value,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* `File x already exists.`, with EEXIST: what an option to overwrite would allow. */
int error_set_exists(struct gput_error *error, const char *path);

/* All of another error; returns its code. */
int error_copy(struct gput_error *error, const struct gput_error *from);

/* Out of memory: the code, and one fixed sentence. */
int error_memory(struct gput_error *error);

/* Returns from the calling function when `expression` gives anything but GPUT_OK. */
#define TRY(expression)                                                                            \
    do {                                                                                           \
        int try_code_ = (expression);                                                              \
        if (try_code_ != GPUT_OK)                                                                  \
            return try_code_;                                                                      \
    } while (0)
