/*
 * SQLite, loaded when a file of its form is opened: most commands have none, and linking it at
 * their start would take longer than all of their own. Its functions have their usual names and
 * <sqlite3.h>; those that are used are listed in sqlite_library.c. A build with -Dbundled=true
 * links SQLite itself.
 */
#pragma once

#include "base/error.h"

/* Call it before a database is opened; a second call does nothing. The library stays loaded.
 * Errors: GPUT_ERROR_UNSUPPORTED. */
int sqlite_library_load(struct gput_error *error);
