#include "machine/gpu/fdinfo.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fdinfo info;
    uint64_t shared;
    /* A copy of its own, so that reading past the end is seen. */
    char *text = malloc(size ? size : 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    if (fdinfo_parse(text, size, &info) == GPUT_OK) {
        fdinfo_ram_bytes(&info, false, &shared);
        fdinfo_ram_bytes(&info, true, &shared);
    }
    free(text);
    return 0;
}
