#include "base/shared_library.h"

#include <dlfcn.h>
#include <string.h>

bool shared_library_can_load(void)
{
    void *self = dlopen(NULL, RTLD_LAZY);
    if (self)
        dlclose(self);
    return self;
}

const char *shared_library_load(const char *name, const struct shared_symbol *symbols)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return dlerror();
    for (const struct shared_symbol *symbol = symbols; symbol->name; symbol++) {
        void *found = dlsym(library, symbol->name);
        if (!found)
            return dlerror();
        memcpy(symbol->function, &found, sizeof found);
    }
    return NULL;
}
