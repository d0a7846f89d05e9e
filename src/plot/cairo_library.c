#include "plot/cairo_library.h"

#include <dlfcn.h>
#include <string.h>

/* It depends on all that is needed. */
#define PATH "libpangocairo-1.0.so.0"

#define REMEDY                                                                                     \
    "A picture in PNG or PDF needs the libraries cairo and Pango (Debian: apt-get install "        \
    "libpangocairo-1.0-0); SVG needs nothing. %s"

/* They keep caches that live as long as the process: they are never unloaded. */
int cairo_library_open(struct cairo_library *library, struct gput_error *error)
{
    void *handle = dlopen(PATH, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        return error_set(error, GPUT_ERROR_UNSUPPORTED, REMEDY, dlerror());
#define FIND(type, name, arguments)                                                                \
    {                                                                                              \
        void *found = dlsym(handle, #name);                                                        \
        memcpy(&library->name, &found, sizeof found);                                              \
        if (!found)                                                                                \
            return error_set(error, GPUT_ERROR_UNSUPPORTED, REMEDY, #name " is not in them.");     \
    }
    CAIRO_FUNCTIONS(FIND)
#undef FIND
    return GPUT_OK;
}
