/* Implements the library's interface for builds that link SQLite. */
#include "files/sqlite_library.h"

int sqlite_library_load(struct gput_error *error)
{
    (void)error;
    return GPUT_OK;
}
