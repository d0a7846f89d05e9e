#include "base/error.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>

int error_set(struct gput_error *error, enum gput_code code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->code = code;
        error->errno_value = 0;
        text_fit_list(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}

int error_set_exists(struct gput_error *error, const char *path)
{
    error_set(error, GPUT_ERROR_EXISTS, "File %s already exists.", path);
    if (error)
        error->errno_value = EEXIST;
    return GPUT_ERROR_EXISTS;
}

int error_copy(struct gput_error *error, const struct gput_error *from)
{
    if (error)
        *error = *from;
    return from->code;
}

enum gput_code error_code_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOMEM:
        return GPUT_ERROR_MEMORY;
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
        return GPUT_ERROR_NOT_FOUND;
    case EEXIST:
        return GPUT_ERROR_EXISTS;
    case EACCES:
    case EPERM:
        return GPUT_ERROR_PERMISSION;
    case ESRCH:
        return GPUT_ERROR_GONE;
    case EMFILE:
    case ENFILE:
        return GPUT_ERROR_FILES;
    case ENOSYS:
    case EOPNOTSUPP:
        return GPUT_ERROR_UNSUPPORTED;
    case EINVAL:
        return GPUT_ERROR_INVALID;
    default:
        return GPUT_ERROR_IO;
    }
}

/* Sets the message, followed by the reason of the kernel in words. */
static void set_errno(struct gput_error *error, enum gput_code code, int errno_value,
    const char *format, va_list arguments)
{
    if (!error)
        return;
    error->code = code;
    error->errno_value = errno_value;
    /* A long path is truncated rather than the reason. */
    char reason[128];
    /* Write the reason in words; for a file that is too large, it names the limit. */
    struct rlimit limit;
    if (errno_value == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        text_fit(reason, sizeof reason, "%s (ulimit -f allows %llu bytes)", strerror(errno_value),
            (unsigned long long)limit.rlim_cur);
    else
        text_fit(reason, sizeof reason, "%s", strerror(errno_value));
    size_t size = sizeof error->message;
    text_fit_list(error->message, size - strlen(": ") - strlen(reason), format, arguments);
    size_t length = strlen(error->message);
    text_fit(error->message + length, size - length, ": %s", reason);
}

int error_set_errno(struct gput_error *error, int errno_value, const char *format, ...)
{
    enum gput_code code = error_code_of_errno(errno_value);
    va_list arguments;
    va_start(arguments, format);
    set_errno(error, code, errno_value, format, arguments);
    va_end(arguments);
    return code;
}

int error_set_errno_as(
    struct gput_error *error, enum gput_code code, int errno_value, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_errno(error, code, errno_value, format, arguments);
    va_end(arguments);
    return code;
}

int error_memory(struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_MEMORY, "Out of memory.");
}
