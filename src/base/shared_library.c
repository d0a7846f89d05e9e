#include "base/shared_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

bool shared_library_can_load(void)
{
    void *self = dlopen(NULL, RTLD_LAZY);
    if (self)
        dlclose(self);
    return self;
}

bool shared_library_is_of_root(const char *path, char resolved[PATH_MAX])
{
    char part[PATH_MAX];
    if (!realpath(path, resolved))
        return false;
    strcpy(part, resolved);
    for (;;) {
        struct stat info;
        if (stat(part, &info) != 0 || info.st_uid != 0 || info.st_mode & (S_IWGRP | S_IWOTH))
            return false;
        if (strcmp(part, "/") == 0)
            return true;
        char *last = strrchr(part, '/');
        last[last == part] = '\0'; /* the folder above it */
    }
}

/* Finds the folder of the C library, such as "/lib/x86_64-linux-gnu". False: it is not known. */
static bool find_system_folder(char folder[PATH_MAX])
{
    struct link_map *map = NULL;
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    bool is_known = library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] == '/';
    if (is_known)
        snprintf(
            folder, PATH_MAX, "%.*s", (int)(strrchr(map->l_name, '/') - map->l_name), map->l_name);
    if (library)
        dlclose(library);
    return is_known;
}

/* Finds a library that only root can have put there; false: there is none. */
static bool find_of_root(const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX] = "", wanted[2 * PATH_MAX];
    bool is_known = find_system_folder(folder);
    if (strchr(name, '/'))
        return shared_library_is_of_root(name, path);
    const char *const parts[][2] = {
        {"", folder}, {"/usr", folder}, {"/usr", "/lib64"}, {"/usr", "/lib"}};
    for (size_t i = is_known ? 0 : 2; i < sizeof parts / sizeof *parts; i++) {
        snprintf(wanted, sizeof wanted, "%s%s/%s", parts[i][0], parts[i][1], name);
        if (shared_library_is_of_root(wanted, path))
            return true;
    }
    return false;
}

void *shared_library_open(const char *name, int flags, const char **why)
{
    char path[PATH_MAX];
    bool is_privileged = getauxval(AT_SECURE) != 0;
    if (is_privileged && !find_of_root(name, path)) {
        *why = "this program has rights that its user lacks, so it loads only libraries of folders "
               "of the system that root alone can write";
        return NULL;
    }
    void *library = dlopen(is_privileged ? path : name, flags);
    *why = library ? NULL : dlerror();
    return library;
}

const char *shared_library_load(const char *name, const struct shared_symbol *symbols)
{
    const char *why;
    void *library = shared_library_open(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, &why);
    if (!library)
        return why;
    for (const struct shared_symbol *symbol = symbols; symbol->name; symbol++) {
        void *found = dlsym(library, symbol->name);
        if (!found)
            return dlerror();
        memcpy(symbol->function, &found, sizeof found);
    }
    return NULL;
}
