/*
 * Records calls of chosen Python functions, which python/sitecustomize.py reports through ctypes.
 */
#include "region_thread.h"

#define EXPORTED __attribute__((visibility("default")))

static struct regions python;

static void open_once(void)
{
    regions_open(&python, "python");
}

EXPORTED void *gput_region_domain(const char *module);
EXPORTED void gput_region_push(void *domain, const char *function);
EXPORTED void gput_region_pop(void *domain);

/* Returns the domain of a module; NULL: nothing can be recorded. */
void *gput_region_domain(const char *module)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return python.path ? regions_domain(&python, module) : NULL;
}

void gput_region_push(void *domain, const char *function)
{
    region_push(&python, domain, function);
}

void gput_region_pop(void *domain)
{
    region_pop(&python, domain);
}
