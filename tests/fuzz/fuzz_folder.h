/*
 * Where targets keep files: in memory, unless the caller has a folder for them (FUZZ_FOLDER).
 */
#pragma once

#include <stdlib.h>

static inline const char *fuzz_folder(void)
{
    const char *folder = getenv("FUZZ_FOLDER");
    return folder ? folder : "/dev/shm";
}
