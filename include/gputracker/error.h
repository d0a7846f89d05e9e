/*
 * Errors of the gpu-tracker library.
 *
 * Every function that can fail returns an int: GPUT_OK (0) or one of the codes below. Functions
 * that take a `struct gput_error *` fill it on failure with the same code and one sentence. It
 * names the subject (a file, a pid, an option) and, where there is one, the remedy. The struct
 * belongs to the caller, needs no clean-up, and may be NULL when only the code is needed. On
 * success it is unchanged.
 *
 * The library never prints, never exits and never aborts.
 *
 *     int code = gput_session_track_pid(session, 4711, &error);
 *     if (code == GPUT_ERROR_NOT_FOUND)
 *         fprintf(stderr, "%s\n", error.message);
 */
#ifndef GPUTRACKER_ERROR_H
#define GPUTRACKER_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/** Marks a function that the shared library exports. */
#define GPUT_API __attribute__((visibility("default")))

/** Error codes. The values are part of the ABI. */
enum gput_code {
    GPUT_OK = 0,
    GPUT_ERROR_MEMORY = 1,     /**< out of memory */
    GPUT_ERROR_INVALID = 2,    /**< an invalid argument or option */
    GPUT_ERROR_FORMAT = 3,     /**< malformed text or file */
    GPUT_ERROR_NOT_FOUND = 4,  /**< no such file, process, command, device or name */
    GPUT_ERROR_EXISTS = 5,     /**< a file exists and overwriting was not requested */
    GPUT_ERROR_PERMISSION = 6, /**< the system denies access */
    GPUT_ERROR_IO = 7, /**< reading or writing failed half-way (a full disk, a broken pipe) */
    GPUT_ERROR_UNSUPPORTED = 8, /**< not supported by this machine, kernel or driver */
    GPUT_ERROR_STATE = 9,       /**< called out of order: stop before start, for example */
    GPUT_ERROR_GONE = 10,       /**< a process or device that existed does not exist any more */
    GPUT_ERROR_FILES = 11, /**< no more files can be opened: ulimit -n, or the system's limit */
};

/** An error: its code, errno and message. Final. */
struct gput_error {
    enum gput_code code;
    int errno_value; /**< errno of the call that failed (ENOSPC, EEXIST …); 0: no call failed */
    char message[1024]; /**< one line without a newline at its end, UTF-8, always terminated */
};

#ifdef __cplusplus
}
#endif

#endif
