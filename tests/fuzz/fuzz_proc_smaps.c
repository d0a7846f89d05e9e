/* /proc/PID/smaps, which is read without a NUL after it: never past the end, always to an end. */
#include "machine/os/proc_smaps.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1);
    if (!exact)
        abort();
    if (size)
        memcpy(exact, data, size);
    struct proc_smaps_cursor cursor = proc_smaps_start(exact, size);
    struct memory_mapping mapping;
    size_t count = 0;
    while (proc_smaps_next(&cursor, &mapping))
        if (++count > size)
            abort();
    free(exact);
    return 0;
}
