#include "base/sized.h"

#include <string.h>

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the size that a caller's struct begins with. */
static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

void sized_init(void *to, size_t size, const void *defaults, size_t known)
{
    memset(to, 0, size);
    memcpy(to, defaults, smaller_of(size, known));
    memcpy(to, &size, sizeof size);
}

int sized_read(void *to, size_t known, const void *given, struct gput_error *error)
{
    if (!given)
        return GPUT_OK;
    size_t size = size_of(given);
    if (size < sizeof size)
        return error_set(error, GPUT_ERROR_INVALID,
            "Options without a size: begin with the defaults, gput_…_options_default().");
    for (size_t i = known; i < size; i++) {
        if (((const char *)given)[i])
            return error_set(error, GPUT_ERROR_UNSUPPORTED,
                "The program sets an option that libgputracker " GPUT_VERSION
                " does not know. Please install the version that it was built with.");
    }
    memcpy(to, given, smaller_of(size, known));
    memcpy(to, &known, sizeof known);
    return GPUT_OK;
}

void sized_write(void *to, const void *result, size_t known)
{
    size_t size = size_of(to);
    memset(to, 0, size);
    memcpy(to, result, smaller_of(size, known));
    memcpy(to, &size, sizeof size);
}
