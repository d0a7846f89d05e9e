#include "base/error.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int error_set(struct gput_error *error, enum gput_code code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->code = code;
        text_fit_list(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
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

int error_set_errno(struct gput_error *error, int errno_value, const char *format, ...)
{
    enum gput_code code = error_code_of_errno(errno_value);

    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->code = code;
        /* A long path is truncated rather than the reason. */
        const char *reason = strerror(errno_value);
        size_t size = sizeof error->message;
        text_fit_list(error->message, size - strlen(": ") - strlen(reason), format, arguments);
        va_end(arguments);

        size_t length = strlen(error->message);
        text_fit(error->message + length, size - length, ": %s", reason);
    }
    return code;
}

int error_memory(struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_MEMORY, "Out of memory.");
}
