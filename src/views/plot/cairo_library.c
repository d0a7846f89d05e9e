#include "views/plot/cairo_library.h"

#include "base/shared_library.h"

#include <stddef.h>

/* It depends on all that is needed. */
#define PATH "libpangocairo-1.0.so.0"

#define REMEDY                                                                                     \
    "A picture in PNG or PDF needs the libraries cairo and Pango (Debian: apt-get install "        \
    "libpangocairo-1.0-0); SVG needs nothing. %s"

int cairo_library_open(struct cairo_library *library, struct gput_error *error)
{
#define SYMBOL(type, name, arguments) {#name, &library->name},
    const struct shared_symbol symbols[] = {CAIRO_FUNCTIONS(SYMBOL){NULL, NULL}};
#undef SYMBOL
    if (!shared_library_can_load())
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "A picture in PNG or PDF needs the libraries cairo and Pango, which this statically "
            "linked gpu-tracker cannot load; SVG needs nothing.");
    const char *missing = shared_library_load(PATH, symbols);
    return missing ? error_set(error, GPUT_ERROR_UNSUPPORTED, REMEDY, missing) : GPUT_OK;
}
