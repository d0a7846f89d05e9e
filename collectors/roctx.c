/*
 * Records the ranges that programs mark for AMD's tools (rocTX). The library is preloaded: its
 * functions are called instead of those of libroctx64.so, whichever version a program asks for.
 * They also call those, so that a tool of AMD sees the ranges, too.
 */
#include "region_named.h"
#include "region_thread.h"

#include <dlfcn.h>

#define EXPORTED __attribute__((visibility("default")))

static struct regions roctx;
static struct region_domain *domain;

/* The functions that would be called without this library; NULL: there are none. */
static int (*next_push)(const char *);
static int (*next_pop)(void);
static uint64_t (*next_start)(const char *);
static void (*next_stop)(uint64_t);

static void open_once(void)
{
    *(void **)&next_push = dlsym(RTLD_NEXT, "roctxRangePushA");
    *(void **)&next_pop = dlsym(RTLD_NEXT, "roctxRangePop");
    *(void **)&next_start = dlsym(RTLD_NEXT, "roctxRangeStartA");
    *(void **)&next_stop = dlsym(RTLD_NEXT, "roctxRangeStop");
    if (regions_open(&roctx, "roctx"))
        domain = regions_domain(&roctx, NULL);
}

static void ensure_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
}

EXPORTED int roctxRangePushA(const char *message);
EXPORTED int roctxRangePop(void);
EXPORTED uint64_t roctxRangeStartA(const char *message);
EXPORTED void roctxRangeStop(uint64_t id);

int roctxRangePushA(const char *message)
{
    ensure_open();
    int depth = next_push ? next_push(message) : -1;
    int own_depth = domain ? region_push(&roctx, domain, message) : -1;
    return next_push ? depth : own_depth;
}

int roctxRangePop(void)
{
    ensure_open();
    int own_depth = domain ? region_pop(&roctx, domain) : -1;
    return next_pop ? next_pop() : own_depth;
}

uint64_t roctxRangeStartA(const char *message)
{
    static _Atomic uint64_t n_started;
    ensure_open();
    struct region_key key = {
        {next_start ? next_start(message) : atomic_fetch_add(&n_started, 1) + 1}};
    if (domain)
        region_named_begin(&roctx, domain, &key, message);
    return key.parts[0];
}

void roctxRangeStop(uint64_t id)
{
    struct region_key key = {{id}};
    ensure_open();
    if (domain)
        region_named_end(&roctx, &key);
    if (next_stop)
        next_stop(id);
}
